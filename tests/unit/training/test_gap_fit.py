"""Calibrations of gaps in a target language: on what people inserted, else on deleted pronouns at people's rate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pronmetric.data.collate import Example
from pronmetric.pronouns.languages import language
from pronmetric.schema import JudgedGap, JudgedPronoun, JudgedText
from pronmetric.text.context import Source
from pronmetric.training.after import gap_fit
from pronmetric.training.after.people_fit import FEWEST_GAPS
from pronmetric.training.examples.prepared import Folder, Prepared

GERMAN = language("de")
REFERENCES = [
    Example("", f"Er gab ihm {number} Briefe.", (), Source(f"He gave him {number} letters."))
    for number in range(10, 1000)
]


def edited(number: int, *, inserted: bool) -> JudgedText:
    """A text with one pronoun, before whose number a post-editor put another one or not."""
    text = f"Er gab {number} Briefe."
    gaps = (JudgedGap(7, "ihm", ("editor",)),) if inserted else ()
    return JudgedText(
        str(number), "edits", "own", "en-de", str(number), "s", ("editor",), text, (), "He gave it.", (),
        (JudgedPronoun(0, 2, "er", (), None),), gaps,
    )  # fmt: skip


def folder(splits: Sequence[str] = ()) -> Folder:
    return Folder(Path("own"), {"splits": dict.fromkeys(splits)}, "0" * 8, Prepared(GERMAN.forms, 2, GERMAN))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap head whose logit is 2 where the word before is *gab*, as where *ihm* was deleted, and -2 elsewhere."""

    def gaps_of(_: Any, __: Any, examples: Sequence[Example], **___: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        found = []
        for each in examples:
            words = [word.text for word in GERMAN.words(each.text)]
            logits = [[2.0 if k and words[k - 1] == "gab" and words[k] != "ihm" else -2.0] for k in range(len(words))]
            found.append((np.arange(len(words)), np.array(logits)))
        return found

    monkeypatch.setattr(gap_fit, "gaps_of", gaps_of)


def fit(of: Folder, references: Sequence[Example] = REFERENCES) -> gap_fit.GapFit:
    return gap_fit.fit(Any, Any, of, references, dtype=torch.float32, show=False)  # type: ignore[arg-type]


def people(
    monkeypatch: pytest.MonkeyPatch, *, train: Sequence[JudgedText], development: Sequence[JudgedText]
) -> Folder:
    """A folder with these texts that people judged."""
    given = dict(zip(gap_fit.arrow.PEOPLE_SPLITS, (train, development), strict=False))
    monkeypatch.setattr(gap_fit.arrow, "read_people", lambda _, split: given[split])
    monkeypatch.setattr(gap_fit.arrow, "to_judged", lambda row: row)
    monkeypatch.setattr(gap_fit.people_decision, "development", lambda _: list(development))
    return folder(list(given))


def test_a_shortened_text_has_labels_where_a_pronoun_is_missing() -> None:
    seen = set[str]()
    for number, text in enumerate(REFERENCES[:200]):
        shorter, gaps = gap_fit.shorten(text, np.random.default_rng(number), GERMAN)
        words = GERMAN.words(shorter.text)
        assert len(gaps) == len(words)
        assert [shorter.text[a:b].lower() for a, b in shorter.spans] == [p.form for p in GERMAN.find(shorter.text)]
        missing = [(form, words[k].text) for k, form in enumerate(gaps) if form]
        assert len(missing) + len(shorter.spans) == 2 and shorter.source == text.source
        seen |= {form for form, _ in missing}
        assert all(after == ("Gab" if form == "er" else words[-3].text) for form, after in missing)
    assert seen == {"er", "ihm"}


@pytest.mark.usefixtures("reads")
def test_without_edits_deleted_pronouns_calibrate_at_a_given_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gap_fit.people_decision, "development", lambda _: [])
    found = fit(folder())
    assert found.calibration is not None and found.record is not None
    assert found.record["on"] == gap_fit.DELETED and found.record["rate"] == gap_fit.WITHOUT_EDITS
    assert 60 < found.record["missing"] < 300 and found.figures.keys() == {"development/deleted_de"}
    assert 0.5 < found.figures["development/deleted_de"] < 1  # *ihm* is found, *er* is not
    p = [1 / (1 + np.exp(-(found.calibration.scale * z + found.calibration.bias))) for z in (2.0, -2.0)]
    assert p[0] > 10 * p[1]
    few = fit(folder(), REFERENCES[:20])
    assert (few.calibration, few.record, few.figures) == (None, None, {})


@pytest.mark.usefixtures("reads")
def test_insertions_calibrate_where_there_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    development = [edited(number, inserted=number % 4 == 0) for number in range(10, 10 + 4 * FEWEST_GAPS)]
    found = fit(people(monkeypatch, train=[], development=development))
    assert found.record == {"on": gap_fit.INSERTED, "missing": FEWEST_GAPS} and found.calibration is not None
    assert found.figures.keys() == {"people/missing_de", "development/deleted_de"}
    few = fit(people(monkeypatch, train=[], development=development[: 4 * FEWEST_GAPS - 4]))
    assert few.record is not None and few.record["on"] == gap_fit.DELETED
    assert few.record["rate"] == gap_fit.WITHOUT_EDITS, "too few insertions to tell the rate"
    more = people(monkeypatch, train=development, development=development[: 4 * FEWEST_GAPS - 4])
    assert gap_fit.insertions(more) == pytest.approx(0.25)
