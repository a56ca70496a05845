"""What the outputs of a gap head say: which gaps lack a pronoun, and which."""

from __future__ import annotations

import numpy as np
import pytest

from pronmetric.checkpoint.model_config import Calibration
from pronmetric.scoring.gaps import GapReader
from pronmetric.scoring.score import SegmentScore
from pronmetric.text.words import words

FORMS = ["he", "er", "sie"]
EVEN = Calibration(scale=2.0, bias=-1.0)


def row(words: list[int], *outputs: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """The words after the gaps of a row, and the outputs of the head there (gaps, 1 + forms)."""
    return np.array(words, np.int64), np.array(outputs).reshape(len(words), 1 + len(FORMS))


def test_gaps_of_several_rows_are_those_of_the_text() -> None:
    found = GapReader(FORMS, EVEN).read(
        [
            row([0, 1], [0.5, 3.0, 1.0, 2.0], [-9.0, 0.0, 1.0, 0.0]),
            row([2], [1.5, 0.0, 0.0, 1.0]),
        ]
    )
    assert found.words.tolist() == [0, 1, 2] and found.forms == ["he", "er", "sie"]
    assert found.probabilities.tolist() == pytest.approx([0.5, 1 / (1 + np.exp(19)), 1 / (1 + np.exp(-2))])
    text = "gab ihm alles"
    segment = found.add_to(SegmentScore(None, ()), words(text))
    assert segment.missing == pytest.approx(sum(found.probabilities))
    assert [(gap.start, gap.form) for gap in segment.gaps] == [(0, "he"), (8, "sie")]  # that of 1 e-9 is not listed


def test_only_forms_of_the_language_may_be_missing() -> None:
    found = GapReader(FORMS, EVEN, own=("sie", "er")).read([row([0], [0.5, 3.0, 1.0, 2.0])])
    assert found.forms == ["sie"]


def test_a_text_without_words_has_no_gap() -> None:
    found = GapReader(FORMS, EVEN).read([row([])])
    assert not len(found.words) and found.add_to(SegmentScore(None, ()), []).missing == 0.0
