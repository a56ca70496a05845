from __future__ import annotations

import math

import numpy as np
import pytest

from pronmetric.checkpoint.config import TIE, tie_threshold
from pronmetric.errors import PronmetricError
from pronmetric.eval.ties import choose_threshold, three_way


@pytest.mark.parametrize(
    ("differences", "rate", "threshold"),
    [
        ([0.1, -0.3, 0.6, 0.9], 0.0, 0.0),
        ([0.1, -0.3, 0.6, 0.9], 0.25, 0.2),  # half-way from 0.1 to 0.3
        ([0.9, 0.6, 0.3, 0.1], 0.5, 0.45),
        ([0.1, -0.3, 0.6, 0.9], 1.0, 0.9),
        ([0.1, -0.3, 0.6, 0.9], 0.375, 0.2),  # 1/4 and 1/2 are as near: the smaller
        ([0.1, -0.3, 0.6, 0.9], 0.4, 0.45),
        ([0.0, 0.0, 0.5, 0.5], 0.1, 0.0),  # equal scores tie with every threshold
        ([0.0, 0.0, 0.5, 0.5], 0.6, 0.0),
        ([0.0, 0.0, 0.5, 0.5], 0.9, 0.5),
        ([0.2, 0.2, 0.2, 0.8], 0.5, 0.5),  # 0 or 3/4 of them, 3/4 is nearer
        ([0.4], 0.4, 0.0),
        ([-0.4], 0.6, 0.4),
    ],
)
def test_choose_threshold(differences: list[float], rate: float, threshold: float) -> None:
    assert choose_threshold(differences, rate) == pytest.approx(threshold)


def test_no_other_threshold_comes_nearer() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        differences = np.round(rng.normal(size=30), 1)
        rate = rng.random()
        share = np.mean(np.abs(differences) <= choose_threshold(differences, rate))
        every = [np.mean(np.abs(differences) <= x) for x in np.linspace(0, 4, 400)]
        assert abs(share - rate) <= min(abs(s - rate) for s in every) + 1e-12


@pytest.mark.parametrize(
    ("differences", "rate", "message"),
    [([], 0.1, "got 0 numbers"), ([0.1, math.nan], 0.1, "finite"), ([0.1], 1.5, "got 1.5"), ([0.1], -0.1, "got -0.1")],
)
def test_no_threshold(differences: list[float], rate: float, message: str) -> None:
    with pytest.raises(PronmetricError, match=message):
        choose_threshold(differences, rate)


def test_three_way() -> None:
    people = ["A", "A", "B", "tie", "tie", "B"]
    scores = [(0.9, 0.1), (0.52, 0.5), (0.1, 0.9), (0.5, 0.54), (0.2, 0.8), (None, 0.4)]
    found = three_way(people, scores, list("abcdef"), threshold=0.05)
    assert found.table["A"] == {"A": 1, "B": 0, "tie": 1, "null": 0}
    assert found.table["B"] == {"A": 0, "B": 1, "tie": 0, "null": 1}
    assert found.table["tie"] == {"A": 0, "B": 1, "tie": 1, "null": 0}
    assert found.accuracy.value == pytest.approx(3 / 6)
    assert (found.people_ties, found.metric_ties) == (pytest.approx(2 / 6), pytest.approx(2 / 6))
    assert found.accuracy.low is not None and found.accuracy.low < 0.5


def test_the_tie_threshold_of_a_checkpoint() -> None:
    assert tie_threshold({TIE: 0.02}, name="x") == 0.02
    assert tie_threshold({TIE: 0}, name="x") == 0.0
    with pytest.raises(PronmetricError, match=r"checkpoint x has no tie threshold .* give `tie=` a number"):
        tie_threshold({}, name="x")
    for wrong in (-0.1, "0.1", True, math.inf, math.nan):
        with pytest.raises(PronmetricError, match="expected a tie threshold from 0"):
            tie_threshold({TIE: wrong}, name="x")
