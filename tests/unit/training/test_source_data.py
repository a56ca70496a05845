"""What a reader of sources is trained on: contexts, rates of replacement, what the teacher reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from datasets import Dataset

from pronmetric.data.collate import Example
from pronmetric.pronouns.corrupt import ConfusionTable, CorruptionRates
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.text.context import Source
from pronmetric.training.examples import people_text
from pronmetric.training.examples.labelled import Corrupter
from pronmetric.training.examples.planning import Step
from pronmetric.training.source import data as source_data
from pronmetric.training.source.data import SourceData, SourceSteps, joined, translation, without_context

ROW = {"text": "You saw her.", "context": ["It rained."], "source": "Ihr saht sie.", "source_context": ["Es regnete."]}
RNG = np.random.default_rng(0)
TABLE = ConfusionTable({"you": {"we": 1}, "her": {"him": 1}})


def made(**chances: float) -> Any:
    return translation(ROW, np.random.default_rng(1), Corrupter(TABLE), CorruptionRates.raw(0.0), **chances).example


def test_a_text_without_context_has_a_source_without_context() -> None:
    assert made() == ("It rained.", "You saw her.", ((0, 3), (8, 11)), Source("Ihr saht sie.", ("Es regnete.",)))
    assert made(alone=1.0) == without_context(made()) == ("", *made()[1:3], Source("Ihr saht sie."))
    assert made(dropped=1.0).source is None and without_context(made(dropped=1.0)).source is None


def test_a_joined_text_has_its_context_and_the_source_of_it() -> None:
    found = joined({**ROW, "source_context": ["Es war kalt.", "Es regnete."]})
    assert (found["text"], found["context"]) == ("It rained. You saw her.", [])
    assert (found["source"], found["source_context"]) == ("Es regnete. Ihr saht sie.", ["Es war kalt."])
    assert joined({**ROW, "context": []}) == {**ROW, "context": []}


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_text_is_joined_in_each_epoch_or_in_none(share: float) -> None:
    settings: Any = SimpleNamespace(seed=1, source=SimpleNamespace(joined=share))
    reads = [[source_data._as_read(ROW, index, settings) is not ROW for index in range(200)] for _ in range(2)]
    assert reads[0] == reads[1] and abs(sum(reads[0]) / 200 - share) < 0.1


def test_forms_that_only_a_source_decides_are_replaced_as_often_as_others(
    monkeypatch: pytest.MonkeyPatch, train_settings: Any
) -> None:
    found: list[CorruptionRates] = []

    def seen(row: Any, rng: Any, corrupter: Any, rates: CorruptionRates, **_: float) -> None:
        found.append(rates)

    monkeypatch.setattr(source_data, "translation", seen)
    objective = train_settings({}).objective
    assert objective.corruption.emphasis["you"] < 1
    settings = SimpleNamespace(
        objective=objective,
        source=SimpleNamespace(dropped=0.1, alone=0.1, joined=0.0, deleted=0.0),
        seed=1,
        data=SimpleNamespace(micro_batch=64),
        trainer=SimpleNamespace(accelerator="cpu"),
    )
    labeller: Any = None
    steps = SourceSteps([], [ROW], labeller, Corrupter(TABLE), settings=settings)  # type: ignore[arg-type]
    steps.items(Step("pairs", (0,), (0,)))
    (rates,) = found
    assert rates.emphasis == {} and (rates.same_slot_share, rates.must_agree) == (0.5, 0.5)


def test_a_text_that_people_judged_is_right_as_far_as_they_did_not_mark_it() -> None:
    row = {
        "text": "She saw it and him.",
        "context": ["Ann came."],
        "source": "S",
        "source_context": ["A"],
        "kind": "marks",
        "raters": ["a", "b", "c"],
        "pronouns": [
            {"start": 0, "end": 3, "form": "she", "marked_by": ["a", "b"]},
            {"start": 8, "end": 10, "form": "it", "marked_by": ["c"]},
            {"start": 15, "end": 18, "form": "him", "marked_by": []},
        ],
        "mended": "",
    }
    found = people_text.people_text(row, RNG, ENGLISH)
    spans = ((0, 3), (8, 10), (15, 18))
    assert found.example == Example("Ann came.", "She saw it and him.", spans, Source("S", ("A",)))
    assert found.right == (0.0, 0.5, 1.0) and found.labelled
    assert found.gaps == ()
    alone = {
        **row,
        "raters": ["a"],
        "pronouns": [{"start": 0, "end": 3, "form": "she", "marked_by": ["a"]}],
        "source": "",
    }
    of_one = people_text.people_text(alone, RNG, ENGLISH)
    assert of_one.right == (0.0,) and of_one.example.source is None


def test_a_mark_of_one_of_several_raters_counts_little_on_a_form_of_style() -> None:
    row = {
        "text": "This and it.",
        "kind": "marks",
        "context": [],
        "source": "S",
        "source_context": [],
        "raters": ["a", "b", "c"],
        "pronouns": [
            {"start": 0, "end": 4, "form": "this", "marked_by": ["a"]},
            {"start": 9, "end": 11, "form": "it", "marked_by": ["b"]},
        ],
        "unjudged": [],
        "mended": "",
    }
    assert people_text.people_text(row, RNG, ENGLISH).right == (0.8, 0.5)
    both = [{**each, "marked_by": ["a", "b"]} for each in row["pronouns"]]  # type: ignore[attr-defined]
    assert people_text.people_text({**row, "pronouns": both}, RNG, ENGLISH).right == (0.0, 0.0)


def test_a_corrected_text_is_read_as_corrected_by_chance_unless_a_part_was_rewritten() -> None:
    row = {
        "text": "saw it.",
        "kind": "edits",
        "context": [],
        "source": "S",
        "source_context": [],
        "raters": ["editor"],
        "pronouns": [{"start": 4, "end": 6, "form": "it", "marked_by": ["editor"]}],
        "gaps": [{"start": 0, "form": "she"}],
        "unjudged": [],
        "mended": "She saw him.",
    }
    read = [people_text.people_text(row, np.random.default_rng(seed), ENGLISH) for seed in range(40)]
    assert {(each.example.text, each.right, each.gaps) for each in read} == {
        ("saw it.", (0.0,), ("she", "", "")),
        ("She saw him.", (1.0, 1.0), ("", "", "", "")),
    }
    rewritten = {**row, "unjudged": [[0, 3]]}
    texts = {people_text.people_text(rewritten, np.random.default_rng(seed), ENGLISH).example.text for seed in range(9)}
    assert texts == {"saw it."}


def test_gaps_of_a_corrected_text_are_known_where_it_was_not_rewritten() -> None:
    row = {
        "text": "saw it and left again.",
        "kind": "edits",
        "context": [],
        "source": "S",
        "source_context": [],
        "raters": ["editor"],
        "pronouns": [{"start": 4, "end": 6, "form": "it", "marked_by": []}],
        "gaps": [{"start": 0, "form": "she"}],
        "unjudged": [[7, 7], [11, 21]],
        "mended": "",
    }
    assert people_text.people_text(row, RNG, ENGLISH).gaps == ("she", "", None, None, None, "")


def test_pronouns_without_a_counterpart_in_the_source_are_replaced_more_often() -> None:
    row = {**ROW, "text": "I know that you went and you are right.", "source": "Ich weiß.", "language": "de"}
    seeds, rates = range(300), CorruptionRates.raw(0.2)
    shares = []
    for invented in (False, True):
        items = [
            translation(row, np.random.default_rng(seed), Corrupter(TABLE), rates, invented=invented) for seed in seeds
        ]
        shares.append(np.mean([[right == 0 for right in item.right[1:]] for item in items]))
    assert shares[0] == pytest.approx(0.2, abs=0.05) and shares[1] == pytest.approx(0.4, abs=0.06)
    unknown = {**row, "language": "xx"}
    found = [translation(unknown, np.random.default_rng(3), Corrupter(TABLE), rates, invented=each) for each in (0, 1)]
    assert found[0] == found[1]


def test_deleted_pronouns_are_missing_before_the_next_word() -> None:
    row = {**ROW, "text": "I saw her and she saw me."}
    found = [
        translation(row, np.random.default_rng(seed), Corrupter(TABLE), CorruptionRates.raw(0.0), deleted=0.4)
        for seed in range(40)
    ]
    assert all(len(item.gaps) == len(ENGLISH.words(item.example.text)) for item in found)
    shorter = [item for item in found if any(item.gaps)]
    assert 5 < len(shorter) < 35  # half of the texts keep all pronouns
    for item in shorter:
        text = item.example.text
        assert len(item.right) + sum(map(bool, item.gaps)) <= 4
        assert [text[a:b].lower() for a, b in item.example.spans] == [each.form for each in ENGLISH.find(text)]
    assert translation(row, np.random.default_rng(1), Corrupter(TABLE), CorruptionRates.raw(0.0)).gaps == ()


@pytest.mark.parametrize(
    ("soft", "hard", "taught"), [(0.0, 2.0, ["pairs"]), (1.0, 2.0, ["passages", "pairs"]), (0.0, 0.0, [])]
)
def test_the_teacher_reads_only_what_is_learned_from_it(soft: float, hard: float, taught: list[str]) -> None:
    data: Any = SimpleNamespace(
        settings=SimpleNamespace(objective=SimpleNamespace(soft_detection=soft)), options=SimpleNamespace(hard=hard)
    )
    read: Any = SourceData.taught
    assert read.fget(data) == taught


def test_a_language_that_is_left_out_has_no_texts_that_people_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Dataset.from_dict({"lp": ["et-en", "ru-en", "et-en"], "pronouns": [["she"], ["he"], []]})
    monkeypatch.setattr(people_text.arrow, "read_manifest", lambda folder: {"splits": {"people_train": {}}})
    monkeypatch.setattr(people_text.arrow, "read_people", lambda folder, split: rows)
    for without, left in ((None, ["et-en", "ru-en"]), (["ru"], ["et-en"])):
        data: Any = SimpleNamespace(folder="x", options=SimpleNamespace(people=0.5, without=without))
        assert SourceData._read_people(data)["lp"] == left
