"""Sums of a ratio: merged as in one pass; intervals against arithmetic written out, and their coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pronmetric.eval.ratio_sums import SHARE, RatioSums, wilson

T3 = 3.182446305284263  # Student's 97.5 % quantile with 3 degrees of freedom


def test_the_interval_of_four_units() -> None:
    # ratio 8 / 8 = 1; residuals -1, 2, -1, 0; their squares sum to 6; as many pronouns in each: 4 effective units
    sums = RatioSums.of([1.0, 4.0, 1.0, 2.0], [2, 2, 2, 2])
    assert (sums.ratio(), sums.effective()) == (1.0, 4.0)
    margin = T3 * math.sqrt(4 / 3 * 6) / 8
    assert sums.interval() == pytest.approx((1 - margin, 1 + margin), abs=1e-9)


def test_units_of_other_sizes_count_for_less() -> None:
    # weights 1, 1, 1, 3: 36 / 12 = 3 effective units, 2 degrees of freedom; ratio 1; residuals -0.5, 0.5, 0.5, -0.5
    sums = RatioSums.of([0.5, 1.5, 1.5, 2.5], [1, 1, 1, 3])
    assert (sums.ratio(), sums.effective()) == (1.0, 3.0)
    assert sums.variance() == pytest.approx(3 / 2 * 1 / 36)
    margin = 4.302652729911275 * math.sqrt(1.5 / 36)
    assert sums.interval() == pytest.approx((1 - margin, 1 + margin), abs=1e-9)


def test_the_interval_of_a_share() -> None:
    # shares 0.5, 1, 1, 0.5 of 4 units; p = 0.75, variance 4 / 3 * 0.25 / 16 = 1 / 48: 0.1875 * 48 = 9 draws
    low, high = RatioSums.of([0.5, 1.0, 1.0, 0.5], [1, 1, 1, 1]).interval(SHARE) or (0, 0)
    a, b = T3**2 / 9, T3**2 / 18
    margin = T3 / 3 * math.sqrt(0.1875 + T3**2 / 36) / (1 + a)
    assert (low, high) == pytest.approx(((0.75 + b) / (1 + a) - margin, (0.75 + b) / (1 + a) + margin), abs=1e-9)


def test_bounds_scale_and_mirror_the_interval() -> None:
    values, weights = [0.5, 1.0, 1.0, 0.25, 0.75], [1, 2, 1, 1, 3]
    low, high = RatioSums.of(values, weights).interval(SHARE) or (0, 0)
    scaled = RatioSums.of([100 * value for value in values], weights).interval((0.0, 100.0))
    assert scaled == pytest.approx((100 * low, 100 * high))
    rest = RatioSums.of([w - v for v, w in zip(values, weights, strict=True)], weights).interval(SHARE)
    assert rest == pytest.approx((1 - high, 1 - low))


def test_units_without_a_weight_do_not_count() -> None:
    assert RatioSums.of([1.0, 0.0, 3.0], [1, 0, 1]) == RatioSums.of([1.0, 3.0], [1, 1])


@pytest.mark.parametrize("units", [0, 1, 3])
def test_too_few_units_have_no_interval(units: int) -> None:
    sums = RatioSums.of(np.arange(units, dtype=float), np.ones(units))
    assert sums.interval() is None and sums.interval((0.0, 9.0)) is None


def test_one_unit_with_almost_everything_has_no_interval() -> None:
    assert RatioSums.of([1.0, 2.0, 1.0, 500.0], [1, 2, 2, 900]).interval() is None


def test_no_interval_is_without_width() -> None:
    same = RatioSums.of([0.1, 0.3] * 9, [1, 3] * 9)
    assert same.variance() == 0
    assert same.interval() is None
    low, high = same.interval(SHARE) or (0, 0)
    assert 0 < low < 0.1 < high < 1
    for value, ends in ((1.0, (0.838, 1.0)), (0.0, (0.0, 0.162))):  # 20 draws: 20 / (20 + t^2)
        found = RatioSums.of([value] * 20, [1] * 20).interval(SHARE)
        expected = (20 / (20 + 2.0930240544082634**2), 1.0) if value else (0.0, 1 - 20 / (20 + 2.0930240544082634**2))
        assert found == pytest.approx(expected, abs=1e-9) and found == pytest.approx(ends, abs=0.02)


def test_wilson_is_that_of_the_book() -> None:
    # Agresti and Coull 1998: 9 of 10 with z = 1.96: 0.596 to 0.982
    assert wilson(0.9, 0.09 / 10, 10, t=1.959964) == pytest.approx((0.596, 0.982), abs=1e-3)


def test_merged_sums_are_those_of_one_pass() -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.random(1000), rng.integers(0, 4, 1000)
    merged = RatioSums()
    for at in range(0, 1000, 170):
        merged = merged.merge(RatioSums.of(values[at : at + 170], weights[at : at + 170]))
    assert merged == pytest.approx(RatioSums.of(values, weights), rel=1e-12)


@pytest.mark.parametrize("documents", [5, 20, 100])
def test_95_percent_intervals_hold_the_truth_in_95_percent(documents: int) -> None:
    rng = np.random.default_rng(documents)
    held = 0
    for _ in range(1000):
        pronouns = rng.integers(10, 60, documents).astype(float)
        scores = rng.normal(0.8, 0.08, documents)  # documents differ: not 65 %, as over segments
        low, high = RatioSums.of(scores * pronouns, pronouns).interval(SHARE) or (0, 0)
        held += low <= 0.8 <= high
    assert 925 <= held <= 975  # the standard error is 7


def test_a_large_offset_does_not_hide_the_variance() -> None:
    rng = np.random.default_rng(2)
    values, weights = rng.normal(scale=0.1, size=200), np.ones(200)
    expected = RatioSums.of(values, weights).variance()
    moved = RatioSums.of(values + 1e6, weights)
    merged = RatioSums.of(values[:50] + 1e6, weights[:50]).merge(RatioSums.of(values[50:] + 1e6, weights[50:]))
    old = RatioSums(200, values.sum(), 200.0, float(values @ values), float(values.sum()), 200.0)  # about 0
    assert moved.variance() == pytest.approx(expected, rel=1e-4)
    assert merged.variance() == pytest.approx(expected, rel=1e-4)
    assert old.variance() == pytest.approx(expected) and old.merge(RatioSums()).variance() == pytest.approx(expected)
    assert moved.interval() is not None
