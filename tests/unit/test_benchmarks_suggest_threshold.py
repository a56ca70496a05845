"""The default threshold of `suggest` and the figures in its help are those of the benchmark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import suggest_threshold
from benchmarks.calibration import Noised, Sentence
from benchmarks.scoring import Result
from pronmetric.cli.suggest import DESCRIPTION
from pronmetric.errors import InputError
from pronmetric.scoring.alternatives import THRESHOLD


def test_the_default_is_the_threshold_with_the_best_f1() -> None:
    figures = json.loads(suggest_threshold.PAGE.with_suffix(".json").read_text(encoding="utf-8"))["figures"]
    both = figures["samples"]["both"]
    chosen = both["curve"][f"{THRESHOLD:.2f}"]
    assert suggest_threshold.best(both["curve"]) == figures["threshold"] == THRESHOLD
    assert f"threshold of {THRESHOLD:g}" in DESCRIPTION
    assert f"{100 * chosen['precision']:.0f} % of the pronouns below" in DESCRIPTION
    assert f"{100 * chosen['recall']:.0f} % of the wrong pronouns" in DESCRIPTION
    assert f"about {100 * both['wrong'] / both['pronouns']:.0f} %" in DESCRIPTION


def test_a_replaced_pronoun_without_a_score_is_missed() -> None:
    texts = [Noised("He saw it and us.", (), "d", ((0, 2), (14, 16)))]
    results = [
        Result(
            score=0.5,
            pronouns=[{"start": 0, "end": 2, "probability": 0.25}, {"start": 7, "end": 9, "probability": 0.75}],
        )
    ]
    wrong, probabilities = suggest_threshold.labelled(texts, results)
    assert (wrong, probabilities) == ([True, False, True], [0.25, 0.75, None])
    rows = suggest_threshold.curve(wrong, probabilities)
    assert rows["0.50"] == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3)}
    assert rows["0.80"] == {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    assert suggest_threshold.best(rows) == 0.3  # the lowest of equal ones


def test_sentences_of_documents_have_the_sentences_before_them_as_context(tmp_path: Path) -> None:
    (tmp_path / "books").mkdir()
    (tmp_path / "books" / "a.txt").write_text("Maria came. He saw the dog. It barked at them.\n", encoding="utf-8")
    allowed = {
        Sentence("He saw the dog.", ("Maria came.",), "books/a.1"),
        Sentence("It barked at them.", ("Maria came.", "He saw the dog."), "books/a.1"),
    }
    found = set()
    for seed in range(9):
        try:
            found |= set(suggest_threshold.english(tmp_path, size=1, seed=seed))
        except InputError:  # the sentence without a pronoun was drawn
            continue
    assert found == allowed


def test_too_few_sentences_are_an_error() -> None:
    with pytest.raises(InputError, match="lower --size"):
        suggest_threshold.drawn([Sentence("He left.", (), "d")], size=2)
