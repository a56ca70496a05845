"""Correlation of a metric's segment scores with human scores, averaged as in mt-metrics-eval; numpy only.

Scores are (systems, segments), NaN if missing. What is correlated depends on `average`:

- "none": all scores as one list;
- "sys": the segments of each system, then the mean over systems;
- "item": the systems' scores of each segment, then the mean over segments.

Pearson's r, Spearman's rho (average ranks), the variants of Kendall's tau and the accuracy with calibrated ties of
`pronmetric.eval.kendall`. Groups in which a figure is undefined (one side is constant) are left out of its mean, as in
mt-metrics-eval, and counted. Higher is better on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.kendall import CalibratedAccuracy, calibrate, pair_scores, tau
from pronmetric.eval.scaling import scaled

AVERAGES = NONE, SYS, ITEM = ("none", "sys", "item")
_NARROW = 64  # groups up to this size are ranked together

_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a figure over groups, None if no group has it; the numbers of groups with and without it."""

    value: float | None
    groups: int
    undefined: int


@dataclass(frozen=True, slots=True)
class SegmentFigures:
    """All figures of a metric, by the names in `FIGURES` and "acc_eq"; numbers of groups and scores.

    scores: with a human score, in groups of two or more. groups: number of those. small: groups with one score, which
    have no pair. threshold: tie threshold of the metric in "acc_eq". pairs: of scores, in all groups. sought: number
    of pairs on which the threshold was searched.
    """

    figures: dict[str, Mean]
    scores: int
    groups: int
    small: int
    threshold: float
    pairs: int
    sought: int


def group_scores(scores: ArrayLike, average: str) -> _Array:
    """(systems, segments) as (groups, scores)."""
    matrix = np.asarray(scores, dtype=float)
    if matrix.ndim != 2:
        raise PronmetricError(f"expected (systems, segments), got the shape {matrix.shape}")
    if average not in AVERAGES:
        raise PronmetricError(f"expected one of {', '.join(AVERAGES)} as the average, got {average!r}")
    return matrix.reshape(1, -1) if average == NONE else matrix if average == SYS else np.ascontiguousarray(matrix.T)


def common(scores: Mapping[str, ArrayLike]) -> dict[str, _Array]:
    """The matrices with NaN wherever one of them is missing.

    Raises:
        PronmetricError: they have different shapes.
    """
    matrices = {name: np.asarray(matrix, dtype=float) for name, matrix in scores.items()}
    if len({matrix.shape for matrix in matrices.values()}) > 1:
        shapes = ", ".join(f"{name}: {matrix.shape}" for name, matrix in matrices.items())
        raise PronmetricError(f"expected the same systems and segments of each, got {shapes}")
    missing = np.any([np.isnan(matrix) for matrix in matrices.values()], axis=0)
    return {name: np.where(missing, np.nan, matrix) for name, matrix in matrices.items()}


def pearson_rows(metric: ArrayLike, human: ArrayLike) -> _Array:
    """Pearson's r of each row, (groups,); NaN if a side is constant or there are fewer than two scores.

    >>> pearson_rows([[1.0, 2.0, np.nan], [1.0, 1.0, 1.0]], [[2.0, 3.0, 4.0], [1.0, 2.0, 3.0]])
    array([ 1., nan])
    """
    x, y = map(scaled, pair_scores(metric, human))
    there = ~np.isnan(x)
    number = np.maximum(1, there.sum(axis=1, keepdims=True))
    dx, dy = (np.where(there, side, 0.0) for side in (x, y))
    dx, dy = (np.where(there, side - side.sum(axis=1, keepdims=True) / number, 0.0) for side in (dx, dy))
    norm = np.sqrt((dx**2).sum(axis=1) * (dy**2).sum(axis=1))
    norm = np.where(_constant(x, there) | _constant(y, there), 0.0, norm)  # rounding may give them a variance above 0
    r = np.divide((dx * dy).sum(axis=1), norm, out=np.full(len(x), np.nan), where=norm > 0)
    return np.asarray(np.clip(r, -1, 1))


def spearman_rows(metric: ArrayLike, human: ArrayLike) -> _Array:
    """Spearman's rho of each row: Pearson's r of the ranks; equal scores have their average rank."""
    x, y = pair_scores(metric, human)
    return pearson_rows(_ranks(x), _ranks(y))


FIGURES: dict[str, Callable[[ArrayLike, ArrayLike], _Array]] = {
    "pearson": pearson_rows,
    "spearman": spearman_rows,
    "tau_b": lambda metric, human: tau(metric, human, variant="b"),
    "tau_c": lambda metric, human: tau(metric, human, variant="c"),
    "tau_10": lambda metric, human: tau(metric, human, variant="10"),
    "tau_eq": lambda metric, human: tau(metric, human, variant="23"),
}
ACC_EQ = "acc_eq"


def segment_figures(metric: ArrayLike, human: ArrayLike, *, average: str, seed: int = 0) -> SegmentFigures:
    """All figures of a metric's scores and the human scores, each (systems, segments).

    `seed`: of the sample of pairs on which the threshold is searched if there are more than `kendall.PAIRS`.

    Raises:
        PronmetricError: different shapes, an infinite score, no group with two scores on both sides.
    """
    x, y = pair_scores(group_scores(metric, average), group_scores(human, average))
    sizes = (~np.isnan(x)).sum(axis=1)
    x, y = x[sizes > 1], y[sizes > 1]
    if not len(x):
        raise PronmetricError(_nothing(average))
    best: CalibratedAccuracy = calibrate(x, y, seed=seed)
    figures = {name: mean(figure(x, y)) for name, figure in FIGURES.items()} | {ACC_EQ: mean(best.accuracy)}
    return SegmentFigures(
        figures,
        scores=int(sizes[sizes > 1].sum()),
        groups=len(x),
        small=int((sizes == 1).sum()),
        threshold=best.threshold,
        pairs=best.pairs,
        sought=best.sought,
    )


def mean(values: _Array) -> Mean:
    """The mean of the groups that have a value.

    >>> mean(np.array([0.5, np.nan, 1.0]))
    Mean(value=0.75, groups=2, undefined=1)
    """
    known = values[~np.isnan(values)]
    return Mean(float(known.mean()) if len(known) else None, len(known), len(values) - len(known))


def mean_figure(figure: str) -> Callable[[_Array, _Array], float]:
    """A figure of `FIGURES` as the mean over the rows that have it; NaN if none has."""
    rows = FIGURES[figure]

    def statistic(metric: _Array, human: _Array) -> float:
        value = mean(rows(metric, human)).value
        return math.nan if value is None else value

    return statistic


def _nothing(average: str) -> str:
    what = {NONE: "", SYS: " of one system", ITEM: " of one segment"}[average]
    cure = {NONE: "", SYS: "; try the average item or none", ITEM: "; try the average sys or none"}[average]
    return f"expected two or more scores{what} that the metric and people both have, found none{cure}"


def _constant(values: _Array, there: NDArray[np.bool_]) -> NDArray[np.bool_]:
    low = np.where(there, values, np.inf).min(axis=1, initial=np.inf)
    high = np.where(there, values, -np.inf).max(axis=1, initial=-np.inf)
    return low >= high


def _ranks(values: _Array) -> _Array:
    """Average ranks in each row; NaN stays."""
    if values.shape[1] <= _NARROW:
        below = (values[:, :, None] > values[:, None, :]).sum(axis=2)
        equal = (values[:, :, None] == values[:, None, :]).sum(axis=2)
        return np.where(np.isnan(values), np.nan, below + (equal + 1) / 2)
    ranks = np.full(values.shape, np.nan)
    for row, ranked in zip(values, ranks, strict=True):
        there = ~np.isnan(row)
        _, place, counts = np.unique(row[there], return_inverse=True, return_counts=True)
        ranked[there] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks
