"""Texts that people judged in the training of a model without sources: soft labels, corrected pairs, their shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import PreTrainedTokenizerFast

from pronmetric.data.collate import Collator, Example
from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.pronouns.finder import FORMS
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.schema import JudgedGap, JudgedPronoun, JudgedText, Pair
from pronmetric.training.examples import people_text
from pronmetric.training.examples.batches import Labelled
from pronmetric.training.examples.datamodule import PronounData
from pronmetric.training.examples.prepared import Prepared
from pronmetric.training.settings import Train

RATERS = ("a", "b", "c")
EDITED: dict[str, Any] = {
    "text": "Saw it near the house.",
    "kind": "edits",
    "context": ["Ann came."],
    "source": "S",
    "source_context": ["A"],
    "raters": ["editor"],
    "pronouns": [{"start": 4, "end": 6, "form": "it", "marked_by": ["editor"]}],
    "gaps": [{"start": 0, "form": "she"}],
    "unjudged": [],
    "mended": "She saw him near the house.",
}
OTHER = {
    **EDITED,
    "kind": "marks",
    "raters": list(RATERS),
    "pronouns": [{"start": 4, "end": 6, "form": "it", "marked_by": ["b"]}],
    "gaps": [],
    "mended": "",
}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_text_is_read_without_its_source_in_its_context() -> None:
    found = people_text.target_text(OTHER, rng(), ENGLISH, context="respective", plain=0.0)
    assert found.example == Example("Ann came.", "Saw it near the house.", ((4, 6),))
    assert (found.right, found.labelled, found.gaps) == ((0.5,), True, ())
    alone = people_text.target_text(OTHER, rng(), ENGLISH, context="none", plain=1.0)
    assert alone.example == Example("", ENGLISH.writing.flatten("Saw it near the house."), ((4, 6),))
    read = [people_text.target_text(EDITED, rng(seed), ENGLISH, context="common", plain=0.0) for seed in range(20)]
    assert {each.example.text: each.right for each in read} == {
        "Saw it near the house.": (0.0,),
        "She saw him near the house.": (1.0, 1.0),
    }


@pytest.mark.parametrize("plain", [0.0, 1.0])
def test_a_corrected_text_is_better_than_the_text(plain: float) -> None:
    better, worse = people_text.mended_pair(EDITED, rng(), ENGLISH, context="common", plain=plain)
    texts = "She saw him near the house.", "Saw it near the house."
    flat = ENGLISH.writing.flatten if plain else str
    assert (better.example.text, worse.example.text) == tuple(map(flat, texts))
    assert {better.example.context, worse.example.context} == {flat("Ann came.")}
    assert (better.example.source, worse.example.source) == (None, None)
    assert (better.right, worse.right) == ((1.0, 1.0), (0.0,))
    assert (better.kind, worse.kind) == ("system", "system")  # the pair head's: they differ in number
    assert better.labelled and worse.labelled
    rewritten = {**EDITED, "unjudged": [[16, 21]]}
    assert not any(
        each.labelled for each in people_text.mended_pair(rewritten, rng(), ENGLISH, context="none", plain=0)
    )


def judged(number: int, *, marked: bool = False, mended: str = "") -> JudgedText:
    text = f"It saw him at house {number} and they left."
    marks = ("editor",) if marked or mended else ()
    return JudgedText(
        id=str(number),
        kind="edits" if mended else "marks",
        testset="own",
        lp="et-en",
        doc=str(number),
        system="s",
        raters=("editor",),
        text=text,
        context=("Ann came.",),
        source="S",
        source_context=("A",),
        pronouns=(
            JudgedPronoun(0, 2, "it", marks),
            JudgedPronoun(7, 10, "him"),
            JudgedPronoun(text.index("they"), text.index("they") + 4, "they"),
        ),
        gaps=(JudgedGap(0, "she", ("editor",)),) if mended else (),
        mended=mended,
    )


TEXTS = [
    *(judged(number, marked=number % 5 == 0) for number in range(20)),
    *(judged(number, mended=f"She saw him at house {number} and they left.") for number in range(20, 24)),
]
Make = Callable[..., PronounData]


@pytest.fixture(scope="module")
def folder(make_prepared: Callable[..., Path], sample_pairs: list[Pair], sample: Path) -> Path:
    lines = (sample / "ref.txt").read_text(encoding="utf-8").splitlines()
    return make_prepared(train=sample_pairs[4:], development=sample_pairs[:4], passages=lines, people=TEXTS)


@pytest.fixture
def make(tiny_tokenizer: PreTrainedTokenizerFast, train_settings: Callable[..., Train]) -> Make:
    def data(folder: Path, **objective: Any) -> PronounData:
        given = {"pair_share": 0.4, "source_share": None, "antecedent": 0.0, "form_weight": None, **objective}
        keys = {f"objective.{name}": value for name, value in given.items()}
        keys |= {"data.dir": str(folder), "data.pieces": 256, "trainer.max_epochs": 20, "data.development": 0}
        collator = Collator(Subwords(tiny_tokenizer), max_pieces=128, separator=False)
        return PronounData(train_settings(keys), collator, prepared=Prepared(FORMS, 2))

    return data


def drawn(data: PronounData, kind: str) -> Counter[int]:
    return Counter(row for step in data.steps() if step.kind == kind for row in step.rows)


def test_texts_have_their_share_of_the_passages_and_those_with_a_mark_theirs(make: Make, folder: Path) -> None:
    data = make(folder, people=0.3)
    times, first, lengths = drawn(data, "passages"), len(data._passages), data._known.lengths
    pieces = {row: number * lengths[row] for row, number in times.items()}
    own = {row: number for row, number in pieces.items() if row >= first}
    assert sum(own.values()) / sum(pieces.values()) == pytest.approx(0.3, abs=0.02)
    marked = [row for row in own if any(each.marked_by for each in TEXTS[row - first].pronouns)]
    assert len(marked) == 8
    assert sum(own[row] for row in marked) / sum(own.values()) == pytest.approx(people_text.MARKED, abs=0.04)
    mix = data.mix(len(data.steps()))
    assert mix["people_train"]["share"] == pytest.approx(0.3, abs=0.02) and mix["people_train"]["passages"] == 24
    pairs = drawn(data, "pairs")
    assert max(pairs) < len(data._pairs)  # without people_pairs there are none


@pytest.mark.parametrize("system_share", [None, 0.6])
def test_corrected_texts_have_their_share_of_the_pairs(make: Make, folder: Path, system_share: float | None) -> None:
    data = make(folder, people_pairs=0.25, system_share=system_share)
    times = drawn(data, "pairs")
    pieces = {row: number * data._pair_lengths[row] for row, number in times.items()}
    own = sum(number for row, number in pieces.items() if row >= len(data._pairs))
    assert own / sum(pieces.values()) == pytest.approx(0.25, abs=0.03)
    assert {row - len(data._pairs) for row in pieces if row >= len(data._pairs)} == {0, 1, 2, 3}
    texts = [each.text for each in data.texts()]
    assert texts.count("She saw him at house 20 and they left.") == 1


def batches(data: PronounData, first: int = 0) -> list[Labelled]:
    data.first = first
    data.trainer = SimpleNamespace(global_rank=0, world_size=1, max_steps=12)  # type: ignore[assignment]
    return [item for (parts,) in data.train_dataloader() for item in parts]


def test_a_run_goes_on_with_the_batches_that_are_left(make: Make, folder: Path) -> None:
    whole, rest = (batches(make(folder, people=0.5, people_pairs=0.5), first) for first in (0, 5))
    tail = whole[-len(rest) :]
    for one, other in zip(tail, rest, strict=True):
        assert torch.equal(one.batch.ids, other.batch.ids) and torch.equal(one.right, other.right)
    assert any(item.system.any() for item in whole)


def test_where_nobody_judged_texts_the_file_and_the_cure_are_named(
    make: Make, tiny_prepared: Path, make_prepared: Callable[..., Path], sample_pairs: list[Pair]
) -> None:
    for name in ("people", "people_pairs"):
        with pytest.raises(InputError, match=f"prepare with data.people, or set objective.{name}=0") as refused:
            make(tiny_prepared, **{name: 0.2}).setup()
        assert str(tiny_prepared) in str(refused.value)
    marks: Sequence[JudgedText] = TEXTS[:4]
    unedited = make_prepared(
        train=sample_pairs, development=sample_pairs[:4], passages=["He saw it there."], people=marks
    )
    make(unedited, people=0.2).setup()
    with pytest.raises(
        InputError, match=r"with post-edits whose pronouns were corrected, or set objective.people_pairs"
    ):
        make(unedited, people_pairs=0.2).setup()
