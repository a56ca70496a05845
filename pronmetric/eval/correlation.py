"""Correlation of a metric's system scores with human scores of the same systems; numpy only.

Pearson's r, Spearman's rho (average ranks), Kendall's tau-b and pairwise accuracy (Kocmi et al. 2021), each with a
percentile bootstrap interval, expanded for small numbers. `correlate` resamples systems: the interval shows the
variation over other systems. `correlate_segments` resamples segments, the same for all systems: the interval shows the
variation over other texts, for these systems. Higher is better for both kinds of scores.

Relative to Kocmi et al.: pairs of systems with the same human score have no order and are left out of pairwise
accuracy. On other pairs, equal scores of the metric are wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import (
    LEVEL,
    divide,
    draw_counts,
    draw_units,
    order_of,
    percentile_interval,
    resample,
)
from pronmetric.eval.scaling import scaled
from pronmetric.eval.significance import Totals

RESAMPLES = 2000
"""Of a bootstrap. More: the ends of intervals vary less with the seed, and take longer."""
MINIMUM = 5
"""The least number of systems, or of segments or documents, for the interval of a correlation."""

_Array = NDArray[np.float64]
_Draw = Callable[[np.random.Generator, int], tuple[_Array, _Array]]


@dataclass(frozen=True, slots=True)
class Correlation:
    """A figure and its interval; None if undefined, as for equal scores of all systems."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Correlations:
    """Four figures of agreement, the first three in [-1, 1], pairwise accuracy in [0, 1]; higher is better.

    systems: those compared. left_out: those without a metric score or human score. resampled: "systems" or "segments";
    there are `units` of them. No figure has an interval with fewer than `MINIMUM` units. With two systems the first
    three figures are 1 or -1 whatever the scores.
    """

    pearson: Correlation
    spearman: Correlation
    kendall: Correlation
    pairwise: Correlation
    systems: tuple[str, ...]
    left_out: tuple[str, ...]
    resampled: str
    units: int


def pearson(x: ArrayLike, y: ArrayLike) -> _Array:
    """Pearson's r along the last axis; NaN if one side is constant.

    >>> float(pearson([1.0, 2.0, 4.0], [2.0, 4.0, 8.0]))
    1.0
    """
    x, y = scaled(_finite(x)), scaled(_finite(y))
    if not x.size or not y.size:
        return np.full(np.broadcast_shapes(x.shape, y.shape)[:-1], np.nan)
    dx, dy = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    norm = np.sqrt((dx**2).sum(axis=-1) * (dy**2).sum(axis=-1))
    constant = (np.ptp(x, axis=-1) == 0) | (np.ptp(y, axis=-1) == 0)  # rounding may give them a variance above 0
    return np.clip(divide((dx * dy).sum(axis=-1), np.where(constant, 0, norm)), -1, 1)


def spearman(x: ArrayLike, y: ArrayLike) -> _Array:
    """Spearman's rho along the last axis: Pearson's r of the ranks; equal values have their average rank.

    >>> float(spearman([1.0, 2.0, 4.0], [10.0, 11.0, 50.0]))
    1.0
    """
    return pearson(_orders(x).sum(axis=-1), _orders(y).sum(axis=-1))  # twice the average rank, less a constant


def kendall(x: ArrayLike, y: ArrayLike) -> _Array:
    """Kendall's tau-b along the last axis; NaN if one side is constant.

    >>> round(float(kendall([1.0, 2.0, 3.0], [1.0, 3.0, 2.0])), 4)
    0.3333
    """
    a, b = _orders(x), _orders(y)
    both = (-2, -1)
    return divide((a * b).sum(axis=both), np.sqrt((a**2).sum(axis=both) * (b**2).sum(axis=both)))


def pairwise(metric: ArrayLike, human: ArrayLike) -> _Array:
    """Share of pairs with different human scores that the metric orders alike; NaN without such a pair, or with NaN.

    >>> round(float(pairwise([0.1, 0.3, 0.2], [1.0, 2.0, 3.0])), 4)
    0.6667
    """
    a, b = _orders(metric), _orders(human)
    share = divide((a * b > 0).sum(axis=(-2, -1)), (b != 0).sum(axis=(-2, -1)))
    return np.where(np.isnan(a + b).any(axis=(-2, -1)), np.nan, share)


_FIGURES = (pearson, spearman, kendall, pairwise)


def correlate(
    metric: Mapping[str, float | None],
    human: Mapping[str, float | None],
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int,
) -> Correlations:
    """Correlate the metric and human scores of systems; intervals resample systems.

    A resample in which a figure is undefined, such as one system many times, is left out of its interval.

    Raises:
        PronmetricError: fewer than two systems have a score on both sides, or a score is infinite.
    """
    systems, left_out = _common(metric, human)
    x, y = (np.array([scores[system] for system in sorted(systems)], dtype=float) for scores in (metric, human))

    def draw(rng: np.random.Generator, draws: int) -> tuple[_Array, _Array]:
        drawn = draw_units(rng, draws, len(systems))
        return x[drawn], y[drawn]

    r, rho, tau, pairs = _figures(x, y, draw, units=len(systems), width=0, resamples=resamples, level=level, seed=seed)
    return Correlations(r, rho, tau, pairs, systems, left_out, resampled="systems", units=len(systems))


def correlate_segments(
    metric: Mapping[str, Totals],
    human: Mapping[str, Totals] | Mapping[str, float | None],
    *,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int,
) -> Correlations:
    """Correlate systems whose scores are means over segments; intervals resample segments.

    `metric` holds the sum and the number of scores in each segment (number 1 for a segment score, several for pronoun
    scores, 0 for none); a system's score is the total sum over the total number. `human` holds the same for the same
    segments, or one score per system, which is then constant over the resamples.

    A resample in which a system has no score at all is left out of the intervals.
    Resampling adds noise to that of the text, so that the intervals are slightly too low; one near 1 may end below the
    figure itself.

    Raises:
        PronmetricError: fewer than two systems have a score on both sides, a score is infinite, or the systems have
            different numbers of segments.
    """
    systems, left_out = _common(metric, human)
    a = [metric[system] for system in sorted(systems)]
    b = [human[system] for system in sorted(systems)]
    lengths = {len(part) for side in (*a, *b) if isinstance(side, Totals) for part in side}
    if len(lengths) != 1:
        raise PronmetricError(f"expected the same segments for each system, got {sorted(lengths)} segments")
    (segments,) = lengths
    order = order_of(*(part for side in (*a, *b) if isinstance(side, Totals) for part in side))
    x, y = _Side(a, order), _Side(b, order)
    all_once = np.ones((1, segments))

    def draw(rng: np.random.Generator, draws: int) -> tuple[_Array, _Array]:
        times = draw_counts(rng, draws, segments)
        return x.scores(times), y.scores(times)

    r, rho, tau, pairs = _figures(
        x.scores(all_once)[0],
        y.scores(all_once)[0],
        draw,
        units=segments,
        width=segments,
        resamples=resamples,
        level=level,
        seed=seed,
    )
    return Correlations(r, rho, tau, pairs, systems, left_out, resampled="segments", units=segments)


def draw_figure(
    metric: ArrayLike,
    human: ArrayLike,
    figure: Callable[[ArrayLike, ArrayLike], _Array],
    *,
    seed: int | Sequence[int],
    resamples: int = RESAMPLES,
) -> _Array:
    """A figure of all systems of a test set, then of each draw of as many systems; NaN if undefined.

    With the same seed the draws are the same for all metrics.
    """
    x, y = np.array(metric, dtype=float), np.array(human, dtype=float)
    drawn = draw_units(np.random.default_rng(seed), resamples, len(x))
    places = np.concatenate([np.arange(len(x))[None], drawn])
    return figure(x[places], y[places])


def average_draws(values: Sequence[_Array], *, units: int, level: float = LEVEL) -> Correlation:
    """The mean over test sets of what `draw_figure` gives; undefined figures are left out, None if all are.

    units: the systems of all test sets.
    """
    table = np.array(values)
    known = np.asarray(~np.isnan(table).all(axis=0))
    if not known[0]:
        return Correlation(None, None, None)
    means = np.nanmean(table[:, known], axis=0)
    return _correlation(float(means[0]), means[1:], units, level)


class _Side:
    """The scores of all systems on one side, given the number of times each segment was drawn, in the given order."""

    def __init__(self, systems: Sequence[Totals | float | None], order: NDArray[np.intp]) -> None:
        totals = [system for system in systems if isinstance(system, Totals)]
        self._fixed = None if totals else np.array(systems, dtype=float)
        self._sums = np.array([system.sums[order] for system in totals], dtype=float)
        self._counts = np.array([system.counts[order] for system in totals], dtype=float)

    def scores(self, times: _Array) -> _Array:
        """The score of each system for each row of `times` (resamples, segments)."""
        if self._fixed is not None:
            return np.broadcast_to(self._fixed, (len(times), len(self._fixed)))
        return divide(times @ self._sums.T, times @ self._counts.T)


def _figures(
    x: _Array,
    y: _Array,
    draw: _Draw,
    *,
    units: int,
    width: int,
    resamples: int,
    level: float,
    seed: int,
) -> list[Correlation]:
    """Each figure with its interval; `width` numbers are drawn in addition to the pairs of systems."""
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise PronmetricError("an infinite score has no correlation; give finite ones, None where there is none")
    values = [float(figure(x, y)) for figure in _FIGURES]
    drawn = np.full((len(_FIGURES), 0), np.nan)
    if units >= MINIMUM:

        def figures(rng: np.random.Generator, draws: int) -> _Array:
            a, b = draw(rng, draws)
            known = ~np.isnan(a + b).any(axis=-1)
            return np.array([figure(a[known], b[known]) for figure in _FIGURES])

        drawn = resample(figures, resamples=resamples, width=max(len(x) ** 2, width), seed=seed)
    return [_correlation(value, row[~np.isnan(row)], units, level) for value, row in zip(values, drawn, strict=True)]


def _correlation(value: float, drawn: _Array, units: int, level: float) -> Correlation:
    if math.isnan(value):
        return Correlation(None, None, None)
    if not len(drawn):
        return Correlation(value, None, None)
    return Correlation(value, *(percentile_interval(drawn, units, level) or (None, None)))


def _finite(values: ArrayLike) -> _Array:
    values = np.asarray(values, dtype=float)
    if np.isinf(values).any():
        raise PronmetricError("an infinite score has no correlation; give finite ones, None where there is none")
    return values


def _orders(values: ArrayLike) -> _Array:
    """(..., n) -> (..., n, n): 1 if the first of two is greater, -1 if it is less, 0 if they are equal."""
    values = _finite(values)
    return np.sign(values[..., :, None] - values[..., None, :])


def _is_known(score: Totals | float | None) -> bool:
    if isinstance(score, Totals):
        return bool(score.counts.sum() > 0)
    return score is not None and not math.isnan(score)


def _common(
    metric: Mapping[str, Totals] | Mapping[str, float | None],
    human: Mapping[str, Totals] | Mapping[str, float | None],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The systems scored on both sides, in the metric's order, and the others."""
    both = tuple(s for s in metric if s in human and _is_known(metric[s]) and _is_known(human[s]))
    if len(both) < 2:
        raise PronmetricError(
            f"expected two or more systems with a score on both sides, found {len(both)}; the metric has "
            f"{', '.join(metric) or 'none'}; people have {', '.join(human) or 'none'}"
        )
    return both, tuple(s for s in dict.fromkeys((*metric, *human)) if s not in both)
