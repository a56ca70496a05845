"""Resampling against enumeration, scipy and arithmetic written out."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from pronmetric.errors import PronmetricError
from pronmetric.eval.significance import Totals, holm, interval, paired_bootstrap, randomisation, totals


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
    nothing = Totals(np.zeros(3), np.zeros(3))
    assert np.isnan(nothing.mean())
    assert interval(nothing, seed=0) is None


def test_one_document_gives_no_interval() -> None:
    assert interval(Totals(np.array([1.5, 0.0]), np.array([2.0, 0.0])), seed=0) is None


def test_equal_documents_give_an_interval_without_width() -> None:
    low, high = interval(Totals(np.full(20, 1.5), np.full(20, 2.0)), seed=3) or (0, 0)
    assert (low, high) == pytest.approx((0.75, 0.75))


def test_units_without_pronouns_change_nothing() -> None:
    a, b = pair(12, seed=5)
    padded = [Totals(np.append(t.sums, [0.0, 0.0]), np.append(t.counts, [0.0, 0.0])) for t in (a, b)]
    assert interval(padded[0], seed=1) == interval(a, seed=1)
    assert paired_bootstrap(*padded, seed=1) == paired_bootstrap(a, b, seed=1)
    assert randomisation(*padded, seed=1) == randomisation(a, b, seed=1)


def test_interval_agrees_with_scipy() -> None:
    system, _ = pair(60, seed=2)
    ours = interval(system, resamples=20_000, seed=1)
    theirs = stats.bootstrap(
        (system.sums, system.counts),
        lambda sums, counts, axis: sums.sum(axis=axis) / counts.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        method="percentile",
        random_state=np.random.default_rng(7),
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=2e-3)


def test_bootstrap_against_a_plain_loop() -> None:
    a, b = pair(9, seed=8, shift=0.05)
    drawn = np.random.default_rng(4).integers(9, size=(200, 9))
    differences = np.array([a.sums[d].sum() / a.counts[d].sum() - b.sums[d].sum() / b.counts[d].sum() for d in drawn])
    observed = a.sums.sum() / a.counts.sum() - b.sums.sum() / b.counts.sum()
    found = paired_bootstrap(a, b, resamples=200, seed=4)
    assert found is not None
    assert found.difference == pytest.approx(observed)
    distances = np.abs(differences - differences.mean())
    margin = np.sort(distances)[190]  # p < 0.05 allows (hits + 1) / 201 with 9 hits: the 10th largest distance, of 200
    assert (found.low, found.high) == pytest.approx((observed - margin, observed + margin))
    assert found.a_better == pytest.approx(np.mean(differences > 0))
    extreme = np.sum(distances >= abs(observed))
    assert found.p == pytest.approx((extreme + 1) / 201)


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


def test_swapping_the_systems_mirrors_everything() -> None:
    a, b = pair(25, seed=9, shift=0.03)
    forward, backward = paired_bootstrap(a, b, seed=5), paired_bootstrap(b, a, seed=5)
    assert forward is not None and backward is not None
    assert backward.difference == -forward.difference
    assert forward.low is not None and forward.high is not None
    assert (backward.low, backward.high) == pytest.approx((-forward.high, -forward.low), abs=1e-12)
    assert backward.p == forward.p
    assert backward.a_better == pytest.approx(1 - forward.a_better)
    assert randomisation(b, a, seed=5) == randomisation(a, b, seed=5)


def test_equal_systems_do_not_differ() -> None:
    a, _ = pair(15, seed=1)
    found = paired_bootstrap(a, a, seed=2)
    assert found is not None
    assert (found.difference, found.low, found.high, found.p, found.a_better) == (0, 0, 0, 1, 0.5)
    assert randomisation(a, a, seed=2) == 1


def test_a_clear_difference_is_found_and_no_p_value_is_zero() -> None:
    a, b = pair(40, seed=4, shift=0.5)
    found = paired_bootstrap(a, b, resamples=999, seed=1)
    assert found is not None and found.p == 1 / 1000 and found.low is not None and found.low > 0
    assert randomisation(a, b, resamples=999, seed=1) == 1 / 1000


def test_p_values_of_equal_systems_are_uniform() -> None:
    found = [randomisation(*pair(20, seed=seed), resamples=199, seed=seed) for seed in range(200)]
    assert stats.kstest(np.array(found, dtype=float), "uniform").pvalue > 0.01


@pytest.mark.parametrize("resamples", [20, 39, 200, 999, 1000])
def test_the_interval_excludes_zero_exactly_where_p_is_below_5_percent(resamples: int) -> None:
    told = []
    for seed in range(60):
        units, shift = 5 + seed % 12, (seed % 7) / 20
        found = paired_bootstrap(*pair(units, seed=seed, shift=shift), resamples=resamples, seed=seed)
        assert found is not None and found.low is not None and found.high is not None and found.p is not None
        assert found.low <= found.difference <= found.high
        assert (found.low > 0 or found.high < 0) == (found.p < 0.05)
        told.append(found.p < 0.05)
    assert {True, False} == set(told)


def test_the_interval_touches_zero_where_p_is_5_percent() -> None:
    # 39 resamples: with 1 hit p is 2 / 40, which is not below 0.05
    edge = [
        found
        for seed in range(3000)
        if (found := paired_bootstrap(*pair(6, seed=seed, shift=0.1), resamples=39, seed=seed)) and found.p == 2 / 40
    ]
    assert edge
    assert all(found.low is not None and found.high is not None and found.low <= 0 <= found.high for found in edge)


def test_other_levels_are_consistent_too() -> None:
    for seed in range(40):
        found = paired_bootstrap(*pair(12, seed=seed, shift=0.06), level=0.8, resamples=100, seed=seed)
        assert found is not None and found.low is not None and found.high is not None and found.p is not None
        assert (found.low > 0 or found.high < 0) == (found.p < 0.2)


def test_too_few_resamples_are_refused() -> None:
    with pytest.raises(PronmetricError, match="at least 20 resamples for a 95% interval, got 19"):
        paired_bootstrap(*pair(9, seed=0), resamples=19, seed=0)


def test_few_units_give_neither_interval_nor_bootstrap_p() -> None:
    a, b = pair(4, seed=1)
    found = paired_bootstrap(a, b, seed=1)
    assert found is not None and (found.low, found.high, found.p) == (None, None, None)
    assert (randomisation(a, b, seed=1) or 0) > 0.1  # of 16 swaps two or more are as extreme


def test_one_side_without_pronouns_gives_no_test() -> None:
    a, _ = pair(6, seed=1)
    nothing = Totals(np.zeros(6), np.zeros(6))
    assert paired_bootstrap(a, nothing, seed=0) is None
    assert randomisation(a, nothing, seed=0) is None


def test_seeds_draw_anew_and_zero_is_one() -> None:
    a, b = pair(30, seed=6)
    assert interval(a, seed=0) == interval(a, seed=0)
    assert interval(a, seed=0) != interval(a, seed=1)
    assert paired_bootstrap(a, b, seed=0) != paired_bootstrap(a, b, seed=1)


def test_many_units_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = pair(30, seed=6)
    whole = interval(a, seed=0), paired_bootstrap(a, b, seed=0), randomisation(a, b, seed=0)
    monkeypatch.setattr("pronmetric.eval.resampling.BLOCK", 100)
    assert (interval(a, seed=0), paired_bootstrap(a, b, seed=0), randomisation(a, b, seed=0)) == whole


def test_holm_steps_down() -> None:
    # sorted 0.01 x 4 = 0.04, 0.02 x 3 = 0.06, 0.03 x 2 = 0.06, 0.5 x 1 = 0.5
    assert holm([0.5, 0.01, 0.03, 0.02]) == pytest.approx([0.5, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    assert holm([0.2]) == [0.2]


def test_systems_of_other_units_are_refused() -> None:
    with pytest.raises(PronmetricError, match="got 3 and 4"):
        paired_bootstrap(pair(3, seed=0)[0], pair(4, seed=0)[0], seed=0)
