"""Significance against enumeration, scipy and arithmetic written out."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from pronmetric.errors import PronmetricError
from pronmetric.eval.significance import Totals, difference, holm, interval, no_worse, randomisation, totals


def pair(units: int, seed: int, shift: float = 0.0) -> tuple[Totals, Totals]:
    """Two systems with unequal numbers of pronouns; A is `shift` better a pronoun."""
    rng = np.random.default_rng(seed)
    counts_a, counts_b = rng.integers(1, 6, size=(2, units)).astype(float)
    return (
        Totals(counts_a * (rng.uniform(0.4, 0.8, units) + shift), counts_a),
        Totals(counts_b * rng.uniform(0.4, 0.8, units), counts_b),
    )


def test_totals_add_up_by_document() -> None:
    found = totals([0.5, 1.0, 0.25, 0.0], [1, 2, 1, 0], ["x", "y", "x", "y"])
    assert found.sums.tolist() == [0.75, 1.0]  # x: 0.5 + 0.25, y: 1.0 + 0
    assert found.counts.tolist() == [2, 2]
    assert found.mean() == pytest.approx(1.75 / 4)


def test_totals_need_a_unit_for_each_segment() -> None:
    with pytest.raises(PronmetricError, match="got 1 units for 2 segments"):
        totals([0.5, 1.0], [1, 2], ["x"])


def test_a_system_without_pronouns_has_no_mean_and_no_interval() -> None:
    nothing = Totals(np.zeros(5), np.zeros(5))
    assert np.isnan(nothing.mean())
    assert interval(nothing) is None


def test_three_documents_give_no_interval() -> None:
    assert interval(Totals(np.array([1.5, 0.5, 1.0, 0.0]), np.array([2.0, 1.0, 2.0, 0.0]))) is None


def test_the_interval_of_a_bounded_score_is_inside_its_bounds() -> None:
    almost = Totals(np.array([199.0, 200.0, 200.0, 197.0]), np.full(4, 2.0))
    low, high = interval(almost, (0.0, 100.0)) or (0, 0)
    assert 0 < low < 99.5 < high <= 100
    unbounded = interval(almost)
    assert unbounded is not None and unbounded[1] > 100


def test_units_without_pronouns_change_nothing() -> None:
    a, b = pair(12, seed=5)
    padded = [Totals(np.append(t.sums, [0.0, 0.0]), np.append(t.counts, [0.0, 0.0])) for t in (a, b)]
    assert interval(padded[0]) == interval(a)
    assert difference(*padded) == difference(a, b)
    assert randomisation(*padded, seed=1) == randomisation(a, b, seed=1)


def test_with_as_many_pronouns_it_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(11)
    first, second = rng.uniform(size=(2, 12))
    theirs = stats.ttest_rel(first, second)
    ends = theirs.confidence_interval(0.95)
    found = difference(Totals(3 * first, np.full(12, 3.0)), Totals(3 * second, np.full(12, 3.0)))
    assert found == pytest.approx((theirs.statistic * 0 + np.mean(first - second), ends.low, ends.high, theirs.pvalue))


def test_difference_against_arithmetic() -> None:
    # A: 2 pronouns each, scores 1 1 1 1 of 2, mean 0.5. B: 1 pronoun each, 0 0.5 0 0.5, mean 0.25. Difference 0.25.
    # residuals (x - r y) / Y: A 0 0 0 0; B (-0.25 0.25 -0.25 0.25) / 4; their squares sum to 1 / 64; times 4 / 3
    a, b = Totals(np.ones(4), np.full(4, 2.0)), Totals(np.array([0.0, 0.5, 0.0, 0.5]), np.ones(4))
    found, margin = difference(a, b), 3.182446305284263 * math.sqrt(4 / 3 / 64)
    assert (found.value, found.low, found.high) == pytest.approx((0.25, 0.25 - margin, 0.25 + margin))
    assert found.p == pytest.approx(2 * stats.t.sf(0.25 / math.sqrt(4 / 3 / 64), 3))


def test_randomisation_against_all_swaps() -> None:
    a, b = pair(10, seed=3, shift=0.06)
    extreme, observed = 0, abs(a.mean() - b.mean())
    for swap in product([False, True], repeat=10):
        s = np.array(swap)
        new_a = np.where(s, b.sums, a.sums).sum() / np.where(s, b.counts, a.counts).sum()
        new_b = np.where(s, a.sums, b.sums).sum() / np.where(s, a.counts, b.counts).sum()
        extreme += abs(new_a - new_b) >= observed - 1e-12
    exact = extreme / 2**10
    assert 0.01 < exact < 0.9  # neither end, where every test agrees
    assert randomisation(a, b, resamples=50_000, seed=6) == pytest.approx(exact, abs=0.01)


def test_randomisation_agrees_with_scipy_where_counts_are_equal() -> None:
    rng = np.random.default_rng(11)
    first, second = rng.uniform(size=(2, 12))
    ones = np.ones(12)
    exact = stats.permutation_test(
        (first, second), lambda x, y: np.mean(x) - np.mean(y), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert randomisation(Totals(first, ones), Totals(second, ones), resamples=50_000, seed=2) == pytest.approx(
        exact, abs=0.01
    )


def test_few_units_have_an_exact_p() -> None:
    a, b = pair(7, seed=3, shift=0.06)
    swaps = np.array(list(product([0.0, 1.0], repeat=7)))
    sums, counts = swaps @ (b.sums - a.sums), swaps @ (b.counts - a.counts)
    new = (a.sums.sum() + sums) / (a.counts.sum() + counts) - (b.sums.sum() - sums) / (b.counts.sum() - counts)
    exact = np.mean(np.abs(new) >= abs(a.mean() - b.mean()) - 1e-12)
    assert randomisation(a, b, seed=1) == randomisation(a, b, seed=2) == exact


def test_swapping_the_systems_mirrors_everything() -> None:
    a, b = pair(25, seed=9, shift=0.03)
    forward, backward = difference(a, b), difference(b, a)
    assert backward.value == -forward.value
    assert forward.low is not None and forward.high is not None
    assert (backward.low, backward.high) == pytest.approx((-forward.high, -forward.low), abs=1e-12)
    assert backward.p == forward.p
    assert randomisation(b, a, seed=5) == randomisation(a, b, seed=5)


def test_equal_systems_do_not_differ() -> None:
    a, _ = pair(15, seed=1)
    assert difference(a, a) == (0, None, None, 1)  # an interval without width is no interval
    assert randomisation(a, a, seed=2) == 1


def test_the_same_difference_everywhere_has_no_t_test() -> None:
    a = Totals(np.full(8, 1.5), np.full(8, 2.0))
    b = Totals(np.full(8, 1.0), np.full(8, 2.0))
    assert difference(a, b) == (0.25, None, None, None)
    assert randomisation(a, b, seed=0) == 2 / 2**8


def test_a_clear_difference_is_found_and_no_p_value_is_zero() -> None:
    a, b = pair(40, seed=4, shift=0.5)
    found = difference(a, b)
    assert found.p is not None and 0 < found.p < 1e-6 and found.low is not None and found.low > 0
    assert randomisation(a, b, resamples=999, seed=1) == 1 / 1000


@pytest.mark.parametrize("units", [7, 20])
def test_p_values_of_equal_systems_are_uniform(units: int) -> None:
    found = [randomisation(*pair(units, seed=seed), resamples=199, seed=seed) for seed in range(300)]
    assert stats.kstest(np.array(found, dtype=float), "uniform").pvalue > 0.01
    of_t = [difference(*pair(units, seed=seed)).p for seed in range(300)]
    assert stats.kstest(np.array(of_t, dtype=float), "uniform").pvalue > 0.01


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_interval_excludes_zero_exactly_where_p_is_below_the_rest(level: float) -> None:
    told = []
    for seed in range(60):
        units, shift = 4 + seed % 12, (seed % 7) / 20
        found = difference(*pair(units, seed=seed, shift=shift), level=level)
        if found.p is None:
            continue  # almost all pronouns in one document
        assert found.low is not None and found.high is not None and found.low <= found.value <= found.high
        assert (found.low > 0 or found.high < 0) == (found.p < 1 - level)
        told.append(found.p < 1 - level)
    assert {True, False} == set(told)


@pytest.mark.parametrize("margin", [0.0, 0.05, 0.2])
def test_no_worse_counts_the_swaps_against_the_other_less_the_margin(margin: float) -> None:
    a, b = pair(6, seed=3)
    less = Totals(b.sums - margin * b.counts, b.counts)
    above = []
    for swap in product([False, True], repeat=6):
        one, two = (
            np.where(np.array(swap)[:, None], np.stack(y, axis=1), np.stack(x, axis=1)).sum(axis=0)
            for x, y in ((a, less), (less, a))
        )
        above.append(one[0] / one[1] - two[0] / two[1] >= a.mean() - less.mean() - 1e-12)
    assert no_worse(a, b, margin=margin, seed=0) == pytest.approx(sum(above) / 64)


def test_no_worse_is_surer_with_a_larger_margin_and_never_surer_than_all_swaps() -> None:
    a, b = pair(6, seed=3)
    found = [no_worse(a, b, margin=margin, seed=0) for margin in (-1.0, 0.0, 0.1, 1.0)]
    assert found == sorted(found, reverse=True)
    assert (found[0], found[-1]) == (1.0, 1 / 64)


def test_a_text_that_is_worse_by_the_margin_is_rarely_called_no_worse() -> None:
    drawn = [no_worse(*pair(20, seed=seed, shift=-0.1), margin=0.1, resamples=199, seed=seed) for seed in range(300)]
    assert stats.kstest(np.array(drawn, dtype=float), "uniform").pvalue > 0.01


def test_three_units_give_neither_interval_nor_p() -> None:
    a, b = pair(3, seed=1)
    assert difference(a, b)[1:] == (None, None, None)
    assert randomisation(a, b, seed=1) is None and no_worse(a, b, margin=1.0, seed=1) is None


def test_one_side_without_pronouns_gives_no_test() -> None:
    a, _ = pair(6, seed=1)
    nothing = Totals(np.zeros(6), np.zeros(6))
    assert difference(a, nothing)[1:] == (None, None, None)
    assert randomisation(a, nothing, seed=0) is None


def test_seeds_draw_anew_and_zero_is_one() -> None:
    a, b = pair(30, seed=6)
    assert randomisation(a, b, seed=0) == randomisation(a, b, seed=0)
    assert len({randomisation(a, b, seed=seed) for seed in range(5)}) > 1


def test_many_units_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = pair(30, seed=6)
    whole = randomisation(a, b, seed=0)
    monkeypatch.setattr("pronmetric.eval.resampling.BLOCK", 100)
    assert randomisation(a, b, seed=0) == whole


def test_holm_steps_down() -> None:
    # sorted 0.01 x 4 = 0.04, 0.02 x 3 = 0.06, 0.03 x 2 = 0.06, 0.5 x 1 = 0.5
    assert holm([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    assert holm([0.2]) == [0.2]


def test_systems_of_other_units_are_refused() -> None:
    with pytest.raises(PronmetricError, match="got 3 and 4"):
        difference(pair(3, seed=0)[0], pair(4, seed=0)[0])
