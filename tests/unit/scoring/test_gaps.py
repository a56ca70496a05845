"""What the outputs of a gap head say: which gaps lack a pronoun, and which."""

from __future__ import annotations

import numpy as np
import pytest

from pronmetric.checkpoint.model_config import Calibration
from pronmetric.data.collate import Encoded
from pronmetric.scoring.gaps import GapReader
from pronmetric.scoring.score import SegmentScore
from pronmetric.text.words import words

FORMS = ["he", "er", "sie"]
EVEN = Calibration(scale=2.0, bias=-1.0)


def row(gaps: list[int], at: list[int]) -> Encoded:
    none = np.zeros(0, np.int64)
    at_words = np.array(at, np.int64)
    return Encoded(0, none, none, none, none, cut=0, windows=1, gaps=np.array(gaps, np.int64), gap_word=at_words)


def outputs(*lines: list[float]) -> np.ndarray:
    """The outputs at the words of a row (words, 1 + forms), of which the first stands before the text."""
    return np.array([[9.0, 0.0, 0.0, 0.0], *lines])


def test_gaps_of_several_rows_are_those_of_the_text() -> None:
    found = GapReader(FORMS, EVEN).read(
        [
            (row([0, 1], [1, 2]), outputs([0.5, 3.0, 1.0, 2.0], [-9.0, 0.0, 1.0, 0.0])),
            (row([2], [1]), outputs([1.5, 0.0, 0.0, 1.0])),
        ]
    )
    assert found.words.tolist() == [0, 1, 2] and found.forms == ["he", "er", "sie"]
    assert found.probabilities.tolist() == pytest.approx([0.5, 1 / (1 + np.exp(19)), 1 / (1 + np.exp(-2))])
    text = "gab ihm alles"
    segment = found.add_to(SegmentScore(None, ()), words(text))
    assert segment.missing == pytest.approx(sum(found.probabilities))
    assert [(gap.start, gap.form) for gap in segment.gaps] == [(0, "he"), (8, "sie")]  # that of 1 e-9 is not listed


def test_only_forms_of_the_language_may_be_missing() -> None:
    found = GapReader(FORMS, EVEN, own=("sie", "er")).read([(row([0], [1]), outputs([0.5, 3.0, 1.0, 2.0]))])
    assert found.forms == ["sie"]


def test_a_text_without_words_has_no_gap() -> None:
    found = GapReader(FORMS, EVEN).read([(row([], []), outputs())])
    assert not len(found.words) and found.add_to(SegmentScore(None, ()), []).missing == 0.0
