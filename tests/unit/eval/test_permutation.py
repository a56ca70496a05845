"""Permutation tests against the enumeration of all permutations, and what they say of equal and unequal metrics."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.kendall import calibrate
from pronmetric.eval.permutation import RESAMPLES, segment_matrix, swap_pairs, swap_scores
from pronmetric.eval.segment_correlation import mean_figure


def noisy(seed: int, shape: tuple[int, int], *noise: float) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    human = rng.normal(size=shape)
    return human, *(human + level * rng.normal(size=shape) for level in noise)


@pytest.mark.parametrize("figure", ["pearson", "spearman", "tau_b"])
def test_swapped_scores_against_all_swaps(figure: str) -> None:
    human, first, second = noisy(3, (2, 5), 0.9, 1.1)
    second = 100 * second + 7  # another scale
    a, b = ((side - side.mean()) / side.std() for side in (first, second))
    statistic = mean_figure(figure)
    observed = statistic(a, human) - statistic(b, human)
    differences = []
    for bits in product([False, True], repeat=10):
        swap = np.array(bits).reshape(2, 5)
        differences.append(statistic(np.where(swap, b, a), human) - statistic(np.where(swap, a, b), human))
    exact = np.mean(np.array(differences) >= observed - 1e-12)
    assert 0.02 < exact < 0.98
    found = swap_scores(first, second, human, statistic, resamples=4000, seed=1)
    assert found.difference == pytest.approx(observed)
    assert found.first_better == pytest.approx(exact, abs=0.03)
    assert found.second_better == pytest.approx(np.mean(np.array(differences) <= observed + 1e-12), abs=0.03)


def test_swapped_pairs_against_all_swaps() -> None:
    human = np.array([[0.0, 0.0, 1.0, 2.0], [1.0, 0.0, 0.0, np.nan]])
    first = np.array([[0.0, 0.1, 1.0, 2.0], [1.0, 0.2, 0.0, np.nan]])
    second = np.array([[2.0, 1.0, 1.5, 1.2], [0.0, 0.5, 0.1, np.nan]])
    thresholds = (0.1, 0.0)
    verdicts = []  # group, first right, second right
    for group, (x, z, y) in enumerate(zip(first, second, human, strict=True)):
        for i in range(4):
            for j in range(i):
                if np.isnan(y[i] - y[j]):
                    continue
                right = [
                    abs(m[i] - m[j]) <= t if y[i] == y[j] else abs(m[i] - m[j]) > t and (m[i] > m[j]) == (y[i] > y[j])
                    for m, t in zip((x, z), thresholds, strict=True)
                ]
                verdicts.append((group, *right))
    assert len(verdicts) == 6 + 3
    sizes = np.array([6, 3])

    def difference(swaps: tuple[bool, ...]) -> float:
        sums = np.zeros(2)
        for (group, one, other), swap in zip(verdicts, swaps, strict=True):
            sums[group] += (int(other) - int(one)) if swap else (int(one) - int(other))
        return float((sums / sizes).mean())

    observed = difference((False,) * 9)
    all_swaps = np.array([difference(swaps) for swaps in product([False, True], repeat=9)])
    found = swap_pairs(first, second, human, thresholds, resamples=20_000, seed=2)
    assert found.difference == pytest.approx(observed)
    assert found.first_better == pytest.approx(np.mean(all_swaps >= observed - 1e-12), abs=0.015)
    assert found.second_better == pytest.approx(np.mean(all_swaps <= observed + 1e-12), abs=0.015)


@pytest.mark.parametrize("average", ["none", "sys", "item"])
@pytest.mark.parametrize("figure", ["pearson", "spearman", "tau_b", "tau_eq", "acc_eq"])
def test_a_clear_difference_is_found_in_any_order(figure: str, average: str) -> None:
    human, good, bad, worse = noisy(0, (6, 30), 0.3, 3.0, 9.0)
    found = segment_matrix(
        {"worse": worse, "good": good, "bad": bad}, human, figure=figure, average=average, resamples=99, seed=0
    )
    p = {a: dict(zip(found.metrics, row, strict=True)) for a, row in zip(found.metrics, found.p, strict=True)}
    assert p["good"]["bad"] == p["good"]["worse"] == 1 / 100
    assert p["worse"]["good"] == p["bad"]["good"] == 1
    assert all(p[name][name] is None for name in p)


def test_equal_metrics_do_not_differ() -> None:
    human, metric = noisy(1, (4, 10), 1.0)
    for figure in ("pearson", "acc_eq"):
        found = segment_matrix({"a": metric, "b": metric}, human, figure=figure, average="item", resamples=50, seed=0)
        assert found.p == ((None, 1.0), (1.0, None))


def test_p_values_of_equally_good_metrics_are_spread_out() -> None:
    found = []
    for seed in range(60):
        human, first, second = noisy(seed, (3, 12), 1.0, 1.0)
        found.append(swap_scores(first, second, human, mean_figure("pearson"), resamples=99, seed=seed).first_better)
    assert 0.35 < np.mean(np.array(found, dtype=float)) < 0.65
    assert min(found) < 0.15 and max(found) > 0.85  # type: ignore[type-var, operator]


def test_systems_with_one_score_each() -> None:
    human, good, bad = noisy(2, (1, 12), 0.05, 2.0)
    found = swap_scores(good, bad, human, mean_figure("tau_b"), resamples=200, seed=0)
    assert found.first_better is not None and found.first_better < 0.05


def test_a_constant_metric_has_no_p_value_but_of_its_accuracy() -> None:
    human, metric = noisy(4, (4, 10), 0.1)
    sides = {"constant": np.full_like(human, 0.1), "metric": metric}
    assert segment_matrix(sides, human, figure="pearson", average="none", seed=0).p == ((None, None), (None, None))
    found = segment_matrix(sides, human, figure="acc_eq", average="item", seed=0).p
    assert found[1][0] == 1 / (RESAMPLES + 1)


def test_a_seed_draws_the_same_again() -> None:
    human, first, second = noisy(6, (4, 10), 1.0, 1.1)
    draw = [swap_scores(first, second, human, mean_figure("tau_b"), resamples=200, seed=s) for s in (0, 0, 1)]
    assert draw[0] == draw[1] != draw[2]
    thresholds = calibrate(first.T, human.T).threshold, calibrate(second.T, human.T).threshold
    pairs = [swap_pairs(first.T, second.T, human.T, thresholds, seed=s) for s in (0, 0, 1)]
    assert pairs[0] == pairs[1] != pairs[2]


def test_wrong_input_is_refused() -> None:
    human, first, second = noisy(7, (2, 4), 1.0, 1.0)
    statistic = mean_figure("pearson")
    with pytest.raises(PronmetricError, match="same outputs"):
        swap_scores(first, second[:1], human, statistic, seed=0)
    second[0, 0] = np.nan
    with pytest.raises(PronmetricError, match="same missing scores"):
        swap_scores(first, second, human, statistic, seed=0)
    with pytest.raises(PronmetricError, match=r"one of pearson, .* as the figure, got 'bleu'"):
        segment_matrix({"a": first}, human, figure="bleu", average="item", seed=0)
