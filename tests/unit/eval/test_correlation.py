"""Correlations of systems against arithmetic written out, scipy, and enumeration of the bootstrap."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from pronmetric.errors import PronmetricError
from pronmetric.eval.correlation import (
    correlate,
    correlate_segments,
    kendall,
    pairwise,
    pearson,
    spearman,
)
from pronmetric.eval.significance import Totals

X = [1.0, 2.0, 3.0, 4.0]
Y = [1.0, 3.0, 2.0, 5.0]
TIED = [1.0, 3.0, 3.0, 5.0]


def scores(values: list[float]) -> dict[str, float | None]:
    return {f"s{i}": value for i, value in enumerate(values)}


def flat(values: np.ndarray) -> Totals:
    """One score in each segment."""
    return Totals(values, np.ones(len(values)))


def test_pearson_by_hand() -> None:
    # deviations -1.5 -.5 .5 1.5 and -1.75 .25 -.75 2.25: products 2.625 - .125 - .375 + 3.375 = 5.5
    # squares 5 and 3.0625 + .0625 + .5625 + 5.0625 = 8.75
    assert float(pearson(X, Y)) == pytest.approx(5.5 / (5 * 8.75) ** 0.5)


def test_spearman_by_hand() -> None:
    # ranks 1 2 3 4 and 1 3 2 4: 1 - 6 (0 + 1 + 1 + 0) / (4 (16 - 1))
    assert float(spearman(X, Y)) == pytest.approx(1 - 12 / 60)
    # ranks 1 2 3 4 and 1 2.5 2.5 4: deviations' products 2.25 + 0 + 0 + 2.25, squares 5 and 4.5
    assert float(spearman(X, TIED)) == pytest.approx(4.5 / (5 * 4.5) ** 0.5)


def test_kendall_by_hand() -> None:
    assert float(kendall(X, Y)) == pytest.approx((5 - 1) / 6)  # one of six pairs is turned round
    assert float(kendall(X, TIED)) == pytest.approx(5 / (6 * 5) ** 0.5)  # five ordered pairs, all alike


def test_pairwise_accuracy_by_hand() -> None:
    assert float(pairwise(X, Y)) == pytest.approx(5 / 6)
    assert float(pairwise(X, TIED)) == 1  # people's tie is left out
    assert float(pairwise(TIED, X)) == pytest.approx(5 / 6)  # the metric's tie is wrong


def test_monotone_change_of_the_metric_changes_only_pearson() -> None:
    bent = np.exp(X)
    for figure in (spearman, kendall, pairwise):
        assert figure(bent, Y) == pytest.approx(figure(X, Y))
    assert pearson(bent, Y) != pytest.approx(pearson(X, Y))


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_scipy_with_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(5, size=(2, 12)).astype(float)
    assert float(pearson(x, y)) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert float(spearman(x, y)) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert float(kendall(x, y)) == pytest.approx(stats.kendalltau(x, y).statistic)


def test_the_last_axis_is_that_of_the_systems() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 3, 6))
    for figure in (pearson, spearman, kendall, pairwise):
        assert figure(x, y).tolist() == pytest.approx([float(figure(a, b)) for a, b in zip(x, y, strict=True)])


def test_equal_scores_of_all_systems_leave_no_figure() -> None:
    found = correlate(scores([0.1] * 6), scores([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), seed=0)  # mean(0.1 ...) is not 0.1
    assert [found.pearson.value, found.spearman.value, found.kendall.value] == [None, None, None]
    assert found.pearson.low is None
    assert found.pairwise.value == 0  # each pair that people ordered is tied
    found = correlate(scores([1.0, 2.0]), scores([0.7, 0.7]), seed=0)
    assert found.pairwise.value is None


def test_systems_without_a_score_are_reported() -> None:
    metric = {"a": 1.0, "b": 2.0, "c": None, "d": float("nan"), "only": 3.0}
    human = {"b": 5.0, "a": 4.0, "c": 1.0, "d": 1.0, "HUMAN": 9.0}
    found = correlate(metric, human, seed=0)
    assert found.systems == ("a", "b")
    assert found.left_out == ("c", "d", "only", "HUMAN")
    assert (found.resampled, found.units) == ("systems", 2)
    assert found.kendall.value == 1 and found.kendall.low is None


def test_names_that_do_not_meet_are_an_error_that_shows_them() -> None:
    with pytest.raises(PronmetricError, match=r"found 0; the metric has a; people have A"):
        correlate({"a": 1.0}, {"A": 1.0}, seed=0)
    with pytest.raises(PronmetricError, match="two or more systems"):
        correlate({}, {}, seed=0)


def test_an_infinite_score_is_an_error() -> None:
    with pytest.raises(PronmetricError, match="infinite"):
        correlate({"a": 1.0, "b": float("inf")}, {"a": 1.0, "b": 2.0}, seed=0)


def test_the_interval_over_systems_is_that_of_all_draws() -> None:
    x, y = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([2.0, 1.0, 4.0, 3.0, 5.0])
    drawn = np.array(list(product(range(5), repeat=5)))
    values = kendall(x[drawn], y[drawn])
    # Student's t with 4 degrees of freedom, 2.776, times sqrt(5 / 4) is 3.104: 0.1 % on each side
    low, high = np.quantile(values[~np.isnan(values)], [0.00095, 0.99905])
    found = correlate(scores(x.tolist()), scores(y.tolist()), resamples=20_000, seed=0).kendall
    assert found.value == pytest.approx(0.6)  # (8 - 2) / 10
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.06)


def test_seed_decides_the_draws() -> None:
    rng = np.random.default_rng(1)
    x, y = (scores(rng.normal(size=8).tolist()) for _ in range(2))
    assert correlate(x, y, seed=0) == correlate(x, y, seed=0)
    assert correlate(x, y, seed=0).pearson != correlate(x, y, seed=1).pearson


def test_segments_add_up_to_the_systems() -> None:
    # of 3, 1 and 2 pronouns: a (1 + 0 + 1) / 6, b (3 + 0 + 1) / 6, c (3 + 1) / (3 + 2), having none in the middle
    metric = {
        "a": Totals(np.array([1.0, 0.0, 1.0]), np.array([3.0, 1.0, 2.0])),
        "b": Totals(np.array([3.0, 0.0, 1.0]), np.array([3.0, 1.0, 2.0])),
        "c": Totals(np.array([3.0, 0.0, 1.0]), np.array([3.0, 0.0, 2.0])),
    }
    human = {"a": 1.0, "b": 2.0, "c": 4.0}
    found = correlate_segments(metric, human, seed=0)
    assert found.pearson.value == pytest.approx(float(pearson([2 / 6, 4 / 6, 4 / 5], [1, 2, 4])))
    assert (found.resampled, found.units, found.pearson.low) == ("segments", 3, None)


def test_segments_without_a_score_do_not_count() -> None:
    metric = {
        "a": Totals(np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0])),
        "b": Totals(np.array([0.0, 2.0, 0.0]), np.array([0.0, 1.0, 0.0])),
        "c": Totals(np.zeros(3), np.zeros(3)),
    }
    found = correlate_segments(metric, {"a": 0.0, "b": 1.0, "c": 2.0}, seed=0)  # means 0.5 and 2, and none
    assert (found.pairwise.value, found.left_out) == (1.0, ("c",))


def test_the_interval_over_segments_narrows_with_their_number() -> None:
    rng = np.random.default_rng(0)
    quality = np.linspace(0, 1, 8)
    human: dict[str, float | None] = scores(quality.tolist())

    def width(segments: int) -> float:
        noise = rng.normal(scale=2, size=(8, segments))
        metric = {f"s{i}": flat(quality[i] + noise[i]) for i in range(8)}
        found = correlate_segments(metric, human, resamples=300, seed=0).pearson
        assert found.low is not None and found.high is not None
        return found.high - found.low

    assert width(2000) < width(50)


def test_the_interval_over_segments_is_that_of_drawing_them_one_by_one() -> None:
    rng = np.random.default_rng(3)
    x, y = np.arange(6)[:, None] + rng.normal(scale=4, size=(2, 6, 30))
    metric, human = ({f"s{i}": flat(row) for i, row in enumerate(side)} for side in (x, y))
    found = correlate_segments(metric, human, resamples=4000, seed=0).pearson
    drawn = rng.integers(30, size=(4000, 30))
    values = pearson(x[:, drawn].mean(axis=-1).T, y[:, drawn].mean(axis=-1).T)
    assert found.value == pytest.approx(float(pearson(x.mean(axis=1), y.mean(axis=1))))
    assert (found.low, found.high) == pytest.approx(
        tuple(np.quantile(values, [0.0188, 0.9812])), abs=0.06
    )  # t of 29, 2.045, times sqrt(30 / 29)


def test_equal_segments_give_no_interval() -> None:
    metric = {f"s{i}": flat(np.full(10, float(i * i))) for i in range(4)}
    found = correlate_segments(metric, scores([0.0, 1.0, 2.0, 3.0]), seed=0)
    assert found.pearson.value is not None and (found.pearson.low, found.pearson.high) == (None, None)


def test_draws_in_which_a_system_has_no_score_are_left_out() -> None:
    metric = {f"s{i}": flat(np.arange(6.0) + i) for i in range(3)}
    metric["s1"] = Totals(np.array([0, 0, 0, 0, 0, 3.5]), np.array([0, 0, 0, 0, 0, 1.0]))  # about a third of draws
    found = correlate_segments(metric, scores([1.0, 2.0, 3.0]), seed=0).pearson
    assert found.low is not None and found.high is not None and -1 <= found.low <= found.high <= 1


def test_other_numbers_of_segments_are_an_error() -> None:
    metric = {"a": flat(np.ones(3)), "b": flat(np.ones(4))}
    with pytest.raises(PronmetricError, match=r"same segments for each system, got \[3, 4\]"):
        correlate_segments(metric, {"a": 1.0, "b": 2.0}, seed=0)


@pytest.mark.parametrize("factor", [1e160, 1e-170, 1e300, 5e-310])
def test_huge_and_tiny_scores_have_their_correlation(factor: float) -> None:
    assert float(pearson(np.array(X) * factor, Y)) == pytest.approx(float(pearson(X, Y)), rel=1e-6)


def test_an_interval_without_width_is_none() -> None:
    x = {f"s{k}": 0.1 * k for k in range(6)}
    found = correlate(x, {name: 3 * value + 0.7 for name, value in x.items()}, resamples=200, seed=1)
    for one in (found.pearson, found.spearman, found.kendall, found.pairwise):
        assert one.value == pytest.approx(1.0) and (one.low, one.high) == (None, None)
