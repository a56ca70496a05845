"""The page of pronoun prediction: two macro averages, a row for each model, and the tags of its data."""

from __future__ import annotations

import pytest

from benchmarks.checkpoint import pronoun_prediction
from pronmetric.lab.clpp import data as clpp

CLASSES = clpp.task(pronoun_prediction.PAIR).classes


def test_the_page_has_both_macro_averages_and_names_the_models_that_are_missing() -> None:
    slots = {**dict.fromkeys(CLASSES, 0), "he": 30, "it": 1000}
    recalls = {label: {"recall": {"he": 60.0, "it": 90.0}.get(label, 0.0)} for label in CLASSES}
    model = {"macro_recall": 16.67, "macro_f1": 20.0, "accuracy": 89.126, "classes": recalls, "cpu_seconds": 12}
    data = {"systems": 6, "parts": {part: {"segments": 1234, **slots} for part in pronoun_prediction.PARTS}}
    text = pronoun_prediction.page({"date": "d", "command": "c", "data": data, "models": {"maxent": model}})
    assert "| maxent | 16.67 | 75.00 | 20.00 | 89.13 | 60.0 | 90.0 | 12 |" in text
    assert "| train | 1,234 | 30 | 0 | 1,000 |" in text and "macro R of 2 classes" in text
    words = " ".join(text.split())
    assert "Not run: majority, baseline, svm" in text and "at most 22.2 here. The second one" in words
    assert "attention: 8 epochs. `docs" in words
    text = pronoun_prediction.page(
        {"date": "d", "command": "c", "data": data, "models": {"maxent": model}, "encoder": "mbert"}
    )
    assert "encoder: mbert, 2 epochs and 12 words on each side. `docs" in " ".join(text.split())


@pytest.mark.parametrize(
    ("word", "linked", "tag"),
    [("They", [], "PRON"), ("lamp", ["alte", "Lampe"], "NOUN"), ("old", ["alte"], "X"), ("12", [], "NUM")],
)
def test_the_tag_of_a_word_is_by_tables_and_by_capitals(word: str, linked: list[str], tag: str) -> None:
    assert pronoun_prediction.factored(word, linked) == f"{word}|{word.lower()}|{tag}"
