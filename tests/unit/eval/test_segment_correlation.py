"""Figures of segments against scipy group by group; the averages; what is undefined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pronmetric.errors import PronmetricError
from pronmetric.eval.segment_correlation import (
    AVERAGES,
    FIGURES,
    Mean,
    common,
    pearson_rows,
    segment_figures,
    spearman_rows,
)


def scores(seed: int, systems: int, segments: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    human = rng.integers(4, size=(systems, segments)).astype(float)
    metric = human + rng.integers(-2, 3, size=human.shape)
    metric[rng.uniform(size=human.shape) < 0.1] = np.nan
    human[rng.uniform(size=human.shape) < 0.1] = np.nan
    return metric, human


def by_hand(metric: np.ndarray, human: np.ndarray, average: str, figure: object) -> tuple[float, int, int]:
    """The mean over groups that have the figure, how many have, and how many have two scores but no figure."""
    groups = {
        "none": [(metric.ravel(), human.ravel())],
        "sys": list(zip(metric, human, strict=True)),
        "item": list(zip(metric.T, human.T, strict=True)),
    }[average]
    values, undefined = [], 0
    for x, y in groups:
        there = ~np.isnan(x) & ~np.isnan(y)
        if there.sum() < 2:
            continue
        if np.ptp(x[there]) == 0 or np.ptp(y[there]) == 0:
            undefined += 1
            continue
        values.append(figure(x[there], y[there]).statistic)  # type: ignore[operator]
    return float(np.mean(values)), len(values), undefined


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("tau_b", stats.kendalltau),
        ("tau_c", lambda x, y: stats.kendalltau(x, y, variant="c")),
    ],
)
def test_scipy_averaged(average: str, name: str, figure: object) -> None:
    metric, human = scores(0, 4, 80)
    value, groups, undefined = by_hand(metric, human, average, figure)
    result = segment_figures(metric, human, average=average).figures[name]
    assert (result.groups, result.undefined) == (groups, undefined)
    assert result.value == pytest.approx(value)


def test_the_averages_differ_where_systems_and_segments_do() -> None:
    # a is better than b on both sides in each segment; within a system the metric is the wrong way round
    human = np.array([[10.0, 11.0, 12.0], [0.0, 1.0, 2.0]])
    metric = np.array([[12.0, 11.0, 10.0], [2.0, 1.0, 0.0]])
    by = {average: segment_figures(metric, human, average=average) for average in AVERAGES}
    assert by["item"].figures["tau_b"] == Mean(1.0, 3, 0)
    assert by["sys"].figures["tau_b"] == Mean(-1.0, 2, 0)
    assert by["none"].figures["tau_b"] == Mean(pytest.approx((9 - 6) / 15), 1, 0)  # type: ignore[arg-type]
    assert [(by[a].groups, by[a].pairs, by[a].scores) for a in AVERAGES] == [(1, 15, 6), (2, 6, 6), (3, 3, 6)]


def test_groups_without_a_figure_are_counted() -> None:
    nan = np.nan
    human = np.array([[1.0, 1.0, nan, 2.0], [2.0, 1.0, 3.0, 3.0]])
    metric = np.array([[1.0, 1.0, 5.0, nan], [2.0, 2.0, 6.0, 4.0]])
    found = segment_figures(metric, human, average="item")
    assert (found.groups, found.small, found.scores) == (2, 2, 4)
    assert found.figures["pearson"] == Mean(1.0, 1, 1)  # people tie the second segment
    assert found.figures["tau_eq"].groups == 2
    assert found.figures["acc_eq"].value == 0.5 and found.threshold == 0  # from 1 on both pairs would be tied


def test_a_constant_metric_has_no_correlation_but_an_accuracy() -> None:
    human = np.array([[1.0, 1.0, 3.0], [2.0, 1.0, 3.0]])
    found = segment_figures(np.full_like(human, 0.1), human, average="item")
    for name in ("pearson", "spearman", "tau_b", "tau_c"):
        assert found.figures[name].value is None and found.figures[name].undefined == 3
    assert found.figures["acc_eq"] == Mean(pytest.approx(2 / 3), 3, 0)  # type: ignore[arg-type]
    assert found.figures["tau_10"] == Mean(-1.0, 1, 2)


def test_a_single_system() -> None:
    metric, human = np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]])
    assert segment_figures(metric, human, average="sys").figures["tau_b"].value == pytest.approx(1 / 3)
    with pytest.raises(PronmetricError, match=r"two or more scores of one segment .* found none; try the average sys"):
        segment_figures(metric, human, average="item")


def test_nothing_in_common() -> None:
    nan = np.nan
    with pytest.raises(PronmetricError, match="two or more scores that the metric and people both have, found none"):
        segment_figures([[1.0, nan]], [[nan, 1.0]], average="none")


def test_wide_and_narrow_rows_have_the_same_ranks() -> None:
    metric, human = scores(4, 3, 60)
    wide = [np.hstack([side, np.full((3, 30), np.nan)]) for side in (metric, human)]
    assert spearman_rows(*wide) == pytest.approx(spearman_rows(metric, human))


def test_rounding_leaves_a_constant_row_without_a_figure() -> None:
    assert np.isnan(pearson_rows([[0.1] * 6], [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])).all()


def test_all_metrics_are_held_against_the_same_scores() -> None:
    nan = np.nan
    found = common({"a": [[1.0, nan, 3.0]], "b": [[1.0, 2.0, nan]]})
    assert [np.isnan(matrix).tolist() for matrix in found.values()] == [[[False, True, True]]] * 2
    with pytest.raises(PronmetricError, match=r"same systems and segments of each, got a: \(1, 2\), b: \(1, 3\)"):
        common({"a": [[1.0, 2.0]], "b": [[1.0, 2.0, 3.0]]})


def test_wrong_input_is_refused() -> None:
    with pytest.raises(PronmetricError, match="infinite"):
        segment_figures([[1.0, np.inf]], [[1.0, 2.0]], average="none")
    with pytest.raises(PronmetricError, match="one of none, sys, item as the average, got 'all'"):
        segment_figures([[1.0, 2.0]], [[1.0, 2.0]], average="all")
    with pytest.raises(PronmetricError, match=r"\(systems, segments\), got the shape \(2,\)"):
        segment_figures([1.0, 2.0], [1.0, 2.0], average="none")


def test_every_figure_is_named_once() -> None:
    metric, human = scores(5, 3, 5)
    assert list(segment_figures(metric, human, average="item").figures) == [*FIGURES, "acc_eq"]


@pytest.mark.parametrize("factor", [1e160, 1e-170])
def test_huge_and_tiny_scores_have_their_correlation(factor: float) -> None:
    x, y = scores(3, 4, 30)
    assert pearson_rows(x * factor, y) == pytest.approx(pearson_rows(x, y), rel=1e-9)
