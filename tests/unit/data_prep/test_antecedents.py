"""Annotated documents as running text, and passages of them whose pronouns' antecedents are learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from data_prep.coreference import antecedents
from data_prep.coreference.antecedents import natural
from data_prep.coreference.conll import Annotated, Mention, read_folder
from pronmetric.checkpoint import files
from pronmetric.data import arrow
from pronmetric.data.collate import Collator, Example
from pronmetric.data.pieces import Pieces
from pronmetric.nn.loss import antecedent as loss
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.text.words import words
from pronmetric.training.examples import labelled as examples
from pronmetric.training.examples.batches import Labelled, Labeller
from pronmetric.training.examples.labelled import LabelledExample
from pronmetric.training.examples.swaps import Names
from pronmetric.training.module import Length, ScorerModule
from pronmetric.training.objective import MixedCorruption
from pronmetric.training.settings import Train

FOLDER = Path(__file__).parents[2] / "fixtures" / "coreference"
DOCUMENT, OTHER = read_folder(FOLDER)
TEXT = "The cat of Ann slept. It rained. She fed it, and they left. Vets came, who had no food with them."
TABLE = ConfusionTable({"she": {"he": 5}, "it": {"he": 1, "they": 2}, "they": {"it": 3}, "them": {"it": 1}})
REFERRED = [[], ["ann"], ["the", "cat", "of", "ann"], [], [], ["vets"]]  # of It, She, it, they, who and them


def as_rows(document: Annotated) -> Iterator[dict[str, Any]]:
    return map(arrow.to_row, antecedents.passages(document))


def corrupted(
    seed: int, row: dict[str, Any] | None = None, names: Names | None = None, **changes: Any
) -> LabelledExample:
    options: dict[str, Any] = {
        "rate": 0.6,
        "power": 0.5,
        "same_slot_share": 0.7,
        "joint": 0.3,
        "must_agree": 0.0,
    }
    options |= {"emphasis": {}, "plain": 0.5, "clean": 0.1, "context": 0.6}
    options |= {"gender_swap": 0.0, "name_swap": 0.0, "fresh": 0.0, "tie": 0.0, **changes}
    row = next(as_rows(DOCUMENT)) if row is None else row
    return examples.passage(
        row, np.random.default_rng(seed), examples.Corrupter(TABLE, names=names), MixedCorruption(**options)
    )


def referred(found: LabelledExample) -> list[list[str]]:
    """The words of each pronoun's antecedent."""
    before, after = (words(text) for text in found.example[:2])
    shown = [word.text.lower() for word in (*before, *after)]
    number = {word.start: len(before) + n for n, word in enumerate(after)}
    each = zip(found.example.spans, found.antecedents, strict=True)
    return [[shown[number[start] + distance] for distance in distances] for (start, _), distances in each]


# Passages


def test_text_is_written_naturally() -> None:
    tokens = "He said \" no - one ( else ) ca n't \" . “ Why ? ” It cost $ 5 , didn't it ?".split()
    assert natural(tokens) == "He said \"no-one (else) can't\". “Why?” It cost $5, didn't it?"
    assert natural(DOCUMENT.tokens) == TEXT


def test_a_passage_names_the_words_of_its_antecedents() -> None:
    (row,) = as_rows(DOCUMENT)
    assert (row["text"], row["source"], row["doc"]) == (TEXT, "coreference", "OWN_cat")
    assert row["forms"] == ("it", "she", "it", "they", "who", "them")
    assert row["antecedents"] == [
        {"word": 9, "antecedent": (3,)},
        {"word": 11, "antecedent": (0, 1, 2, 3)},
        {"word": 25, "antecedent": (17,)},
    ]


def test_each_passage_begins_in_the_middle_of_the_last_one() -> None:
    tokens = "Ann left . She slept .".split() * 40
    mentions = tuple(Mention(at, at + 1, "ann") for at in range(0, 240, 3))
    rows = list(as_rows(Annotated("long", tuple(tokens), mentions)))
    # sentences of three words that begin within 116 words from word 0, 58, 116 and 174
    assert [len(words(row["text"])) for row in rows] == [117, 114, 117, 66]
    assert [row["text"][:3] for row in rows] == ["Ann", "Ann", "She", "Ann"]
    assert rows[1]["antecedents"][:2] == [{"word": 3, "antecedent": (0,)}, {"word": 9, "antecedent": (0, 6)}]
    assert rows[2]["antecedents"][0] == {"word": 6, "antecedent": (3,)}  # its first pronoun has none within it
    assert list(as_rows(Annotated("none", tuple(tokens), ()))) == []


# Examples


def test_antecedents_stay_with_pronouns_whatever_is_replaced() -> None:
    replaced, contexts = 0, set()
    for seed in range(60):
        found = corrupted(seed)
        assert referred(found) == REFERRED[-len(found.right) :]
        replaced += sum(not right for right, own in zip(found.right, found.antecedents, strict=True) if own)
        contexts.add(found.example.context.lower().replace(".", ""))
    assert replaced > 20 and contexts >= {"", "the cat of ann slept"}


def test_antecedents_stay_with_names_and_genders_that_change() -> None:
    names = Names([["Ann", "Eva"]], [["Karl", "Olaf"]])
    seen = set()
    for seed in range(40):
        _, she, it, *_ = referred(corrupted(seed, context=0.0, name_swap=1.0, gender_swap=0.5, names=names))
        assert it == ["the", "cat", "of", *she]
        seen.update(she)
    assert seen == {"ann", "eva", "karl", "olaf"}


def test_nothing_is_known_of_words_that_did_not_stay_one_for_one() -> None:
    class Longer(Names):
        def swap(self, text: str, rng: np.random.Generator, *, other_gender: bool = False) -> str:
            return text.replace("Ann", "Mary Ann")

    found = corrupted(0, name_swap=1.0, names=Longer([], []))
    assert "mary ann" in f"{found.example.context} {found.example.text}".lower() and found.antecedents == ()


def test_other_passages_have_none() -> None:
    for row in ({"text": TEXT}, {"text": TEXT, "antecedents": None}):
        assert corrupted(3, row) == corrupted(3)._replace(antecedents=())


# Batches


@pytest.fixture(scope="module")
def loaded(tiny_checkpoint: Callable[..., Path]) -> files.Checkpoint:
    return files.load(tiny_checkpoint(max_pieces=128))


@pytest.fixture(scope="module")
def pieces(loaded: files.Checkpoint) -> Pieces:
    return loaded.pieces


def batch(pieces: Pieces, items: Sequence[LabelledExample], *, max_pieces: int = 128) -> Labelled:
    return Labeller(Collator(pieces, max_pieces=max_pieces, separator=True)).batch(items, pairs=False, name="x")


def items() -> Iterator[LabelledExample]:
    """The one document, the other, which is shorter, and a text without an antecedent."""
    for row in (*as_rows(DOCUMENT), *as_rows(OTHER), {"text": "It rained."}):
        yield corrupted(0, row, rate=0.0, joint=0.0, plain=0.0, context=0.0)


def test_a_batch_has_the_positions_of_antecedents(pieces: Pieces) -> None:
    found = batch(pieces, list(items())).antecedent
    assert found is not None and found.shape == (3, 6, 27)
    where = [[found[row, slot].nonzero().flatten().tolist() for slot in range(6)] for row in range(3)]
    assert where[0] == [[], [3], [0, 1, 2, 3], [], [], [17]]
    assert where[1] == [[0], [2, 3, 4], [0], [13, 14], [0], []]  # He, it, his, It (his dog), him
    assert where[2] == [[]] * 6
    assert batch(pieces, list(items())[2:]).antecedent is None
    moved = batch(pieces, list(items())).to("meta")
    assert moved.antecedent is not None and moved.antecedent.device.type == "meta"
    assert batch(pieces, list(items())[2:]).to("meta").antecedent is None


def test_an_antecedent_that_was_cut_is_out_of_reach(pieces: Pieces) -> None:
    example = Example("The cat of Ann slept. It rained.", "She fed it.", ((0, 3), (8, 10)))
    item = LabelledExample(example, (1.0, 1.0), True, ((-6,), (-11, -10, -9, -8)))
    reached = set()
    for most in range(12, 72, 4):
        found = batch(pieces, [item], max_pieces=most)
        assert len(found.batch.ids) == 1 and found.antecedent is not None
        first = 13 - int(found.batch.word_mask.sum())  # of the words that are left
        for slot, own in enumerate(([3], [0, 1, 2, 3])):
            expected = [word - first for word in own if word >= first]
            assert found.antecedent[0, slot].nonzero().flatten().tolist() == expected
        reached.add(int(found.antecedent.sum()))
    assert {0, 5} <= reached


def test_padding_changes_nothing(loaded: files.Checkpoint, pieces: Pieces) -> None:
    def value(given: Sequence[LabelledExample]) -> float:
        found = batch(pieces, given)
        assert found.antecedent is not None
        return loss(model(found.batch).weights, found.antecedent, found.places.antecedent).item()

    model = loaded.model.eval()
    long, short, none = items()
    with torch.no_grad():
        alone = value([long]), value([short])
        assert value([long, short, none]) == pytest.approx((3 * alone[0] + 5 * alone[1]) / 8, rel=1e-4)
        assert value([short, none]) == pytest.approx(alone[1], rel=1e-4)


# Training


def test_attention_to_antecedents_is_learned(
    tiny_checkpoint: Callable[..., Path], train_settings: Callable[..., Train]
) -> None:
    loaded = files.load(tiny_checkpoint(max_pieces=128))
    settings = train_settings()
    module = ScorerModule(
        loaded.model,
        loss=settings.loss,
        objective=settings.objective,
        optim=settings.optim,
        length=Length(1, 1.0),
        seed=1,
    )
    item = batch(loaded.pieces, [*items(), *(corrupted(seed, clean=0.0) for seed in range(6))])
    assert item.antecedent is not None and 0.0 in item.right[item.antecedent.any(-1)]
    optimizer = torch.optim.AdamW(module.parameters(), lr=5e-3)
    attended = []
    for _ in range(50):
        out = module.scorer(item.batch)
        attended.append((out.weights * item.antecedent).sum(-1)[item.antecedent.any(-1)].mean().item())
        parts = module.losses(out, item)
        assert set(parts) == {"detection", "antecedent"}
        optimizer.zero_grad()
        (parts["detection"] + parts["antecedent"]).backward()
        optimizer.step()
    assert attended[-1] > attended[0] + 0.3
    assert "antecedent" not in module.losses(out, replace(item, antecedent=None))
    assert "antecedent" not in module.losses(out._replace(weights=None), item)
