"""Sums of a ratio: merged as in one pass; the interval is that of the ratio estimator, and near the bootstrap's."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pronmetric.eval.ratio_sums import RatioSums
from pronmetric.eval.significance import Totals, interval


def test_the_interval_of_three_units() -> None:
    # ratio 6 / 4 = 1.5; residuals -0.5, 1.0, -0.5; their squares sum to 1.5; n / (n - 1) = 1.5
    sums = RatioSums.of([1.0, 4.0, 1.0], [1, 2, 1])
    assert sums.ratio() == 1.5
    margin = 1.959963984540054 * math.sqrt(1.5 * 1.5) / 4
    assert sums.interval() == pytest.approx((1.5 - margin, 1.5 + margin), abs=1e-12)


def test_units_without_a_weight_do_not_count() -> None:
    assert RatioSums.of([1.0, 0.0, 3.0], [1, 0, 1]) == RatioSums.of([1.0, 3.0], [1, 1])


def test_too_few_units() -> None:
    assert RatioSums.of([], []).ratio() is None and RatioSums.of([0.0], [0]).interval() is None
    assert RatioSums.of([0.5], [1]).ratio() == 0.5 and RatioSums.of([0.5], [1]).interval() is None


def test_equal_units_have_an_interval_of_width_0() -> None:
    low, high = RatioSums.of([0.1] * 9, [1] * 9).interval() or (0, 1)
    assert low == pytest.approx(0.1, abs=1e-7) and high == pytest.approx(0.1, abs=1e-7)


def test_merged_sums_are_those_of_one_pass() -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.random(1000), rng.integers(0, 4, 1000)
    merged = RatioSums()
    for at in range(0, 1000, 170):
        merged = merged.merge(RatioSums.of(values[at : at + 170], weights[at : at + 170]))
    assert merged == pytest.approx(RatioSums.of(values, weights), rel=1e-12)


def test_the_interval_is_near_that_of_the_bootstrap() -> None:
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 4, 3000)
    sums = np.array([rng.beta(5, 1, n).sum() for n in counts])
    low, high = RatioSums.of(sums, counts).interval() or (0.0, 0.0)
    expected = interval(Totals(sums, counts.astype(float)), resamples=4000, seed=1)
    assert expected is not None
    width = expected[1] - expected[0]
    assert abs(low - expected[0]) < 0.05 * width and abs(high - expected[1]) < 0.05 * width
