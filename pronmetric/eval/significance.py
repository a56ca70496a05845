"""Significance of system scores and of their differences, by resampling documents; numpy only.

A system's score is a ratio, the sum of its pronouns' scores over their number, so that whole units (documents, or
segments if documents are unknown) are resampled with both their sums and their counts. Units without a
pronoun are left out.

Koehn 2004 (paired bootstrap), Riezler and Maxwell 2005 (approximate randomisation), Holm 1979. p values are
two-sided and count the observed sample among the resamples, (hits + 1) / (resamples + 1), so none is 0.

The interval and the p value of the paired bootstrap belong to the same test: the distribution of the resamples'
distances from their mean estimates the differences due to chance. p is the share of distances that are at least the
observed difference; the interval is the difference plus and minus the distance that a share 1 - level of them reach
(Hall 1988, symmetric bootstrap interval). So the interval excludes 0 exactly if p < 1 - level.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import (
    LEVEL,
    MINIMUM,
    divide,
    draw_units,
    number_clusters,
    percentile_interval,
    resample,
)

RESAMPLES = 1000
FEWEST = 20  # resamples needed for p < 0.05
_DIGITS = 12  # differences that agree to so many decimals are equal


class Totals(NamedTuple):
    """Sum of the pronoun scores and number of pronouns of each unit."""

    sums: NDArray[np.float64]
    counts: NDArray[np.float64]

    def mean(self) -> float:
        """Mean over all pronouns; NaN if there is none."""
        return float(divide(self.sums.sum(), self.counts.sum()))


class Bootstrap(NamedTuple):
    """Paired bootstrap of A minus B.

    difference: of the means over all pronouns. low, high: its symmetric interval. p: two-sided, from the resamples
    shifted to mean 0; below 1 - level exactly if the interval excludes 0. The three are None with fewer than
    `MINIMUM` units, too few for resampling. a_better: share of resamples in which A is ahead (a tie counts one half).
    """

    difference: float
    low: float | None
    high: float | None
    p: float | None
    a_better: float


def totals(sums: ArrayLike, counts: ArrayLike, units: Iterable[Hashable] | None = None) -> Totals:
    """Totals of segments, or of their `units` (one for each segment), in order of first appearance.

    >>> totals([1.0, 0.5, 0.0], [1, 1, 2], ["x", "y", "x"])
    Totals(sums=array([1. , 0.5]), counts=array([3., 1.]))
    """
    sums, counts = np.array(sums, dtype=np.float64), np.array(counts, dtype=np.float64)
    if units is None:
        return Totals(sums, counts)
    index, number = number_clusters(units)
    if not len(index) == len(sums) == len(counts):
        raise PronmetricError(f"each segment needs one unit: got {len(index)} units for {len(sums)} segments")
    by_unit = np.zeros((2, number))
    np.add.at(by_unit[0], index, sums)
    np.add.at(by_unit[1], index, counts)
    return Totals(*by_unit)


def interval(
    system: Totals, *, resamples: int = RESAMPLES, level: float = LEVEL, seed: int
) -> tuple[float, float] | None:
    """Percentile interval of a system's mean over all pronouns; None with fewer than two units that have a pronoun."""
    _check(system)
    kept = system.counts > 0
    if kept.sum() < 2:
        return None
    means = _bootstrap([Totals(system.sums[kept], system.counts[kept])], resamples, seed)[0]
    return percentile_interval(means, level)


def paired_bootstrap(
    a: Totals, b: Totals, *, resamples: int = RESAMPLES, level: float = LEVEL, seed: int
) -> Bootstrap | None:
    """Paired bootstrap over units, the same for A and B; None with fewer than two units that have a pronoun.

    Swapping A and B changes the sign of the difference and mirrors the interval; p stays.

    Raises:
        PronmetricError: the systems have different units, or there are too few resamples for p < 1 - level.
    """
    a, b = _pair(a, b)
    _hits_allowed(resamples, level)
    if len(a.sums) < 2:
        return None
    means = _bootstrap([a, b], resamples, seed)
    drawn = means[0] - means[1]
    drawn = drawn[~np.isnan(drawn)]  # a resample in which one side has no pronoun
    difference = a.mean() - b.mean()
    if (len(drawn) + 1) * (1 - level) <= 1 or np.isnan(difference):
        return None
    ahead = float((np.sum(drawn > 0) + 0.5 * np.sum(drawn == 0)) / len(drawn))
    if len(a.sums) < MINIMUM:
        return Bootstrap(difference, None, None, None, ahead)
    distances = np.abs(drawn - drawn.mean())
    margin = np.sort(distances)[::-1][_hits_allowed(len(drawn), level)].round(_DIGITS)
    observed = round(difference, _DIGITS)
    return Bootstrap(
        difference, float(observed - margin), float(observed + margin), _p(distances, abs(difference)), ahead
    )


def randomisation(a: Totals, b: Totals, *, resamples: int = RESAMPLES, seed: int) -> float | None:
    """Two-sided p value of the difference: the outputs of each unit are swapped with probability one half.

    None with fewer than two units that have a pronoun, or if one side has no pronoun at all.
    """
    a, b = _pair(a, b)
    observed = a.mean() - b.mean()
    if len(a.sums) < 2 or np.isnan(observed):
        return None

    def swap_sides(rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
        swap = rng.integers(2, size=(draws, len(a.sums))).astype(float)
        sums, counts = swap @ (b.sums - a.sums), swap @ (b.counts - a.counts)
        new_a = divide(a.sums.sum() + sums, a.counts.sum() + counts)
        new_b = divide(b.sums.sum() - sums, b.counts.sum() - counts)
        return np.asarray(new_a - new_b)[None]

    drawn = resample(swap_sides, resamples=resamples, width=len(a.sums), seed=seed)[0]
    return _p(np.abs(drawn[~np.isnan(drawn)]), abs(observed))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: rejecting where the adjusted p < alpha keeps the family-wise error below alpha.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]

    Raises:
        PronmetricError: a value outside [0, 1], or NaN.
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise PronmetricError(f"expected p values in [0, 1], got {p}")
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def _pair(a: Totals, b: Totals) -> tuple[Totals, Totals]:
    if len(a.sums) != len(b.sums):
        raise PronmetricError(f"expected the same units on both sides, got {len(a.sums)} and {len(b.sums)}")
    _check(a)
    _check(b)
    kept = (a.counts > 0) | (b.counts > 0)
    return Totals(a.sums[kept], a.counts[kept]), Totals(b.sums[kept], b.counts[kept])


def _check(system: Totals) -> None:
    if not (np.isfinite(system.sums).all() and np.isfinite(system.counts).all() and (system.counts >= 0).all()):
        raise PronmetricError("expected a finite sum and a count from 0 for each unit; leave out units without a score")


def _bootstrap(systems: Sequence[Totals], resamples: int, seed: int) -> NDArray[np.float64]:
    units = len(systems[0].sums)

    def means(rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
        drawn = draw_units(rng, draws, units)
        return np.stack([divide(s.sums[drawn].sum(axis=1), s.counts[drawn].sum(axis=1)) for s in systems])

    return resample(means, resamples=resamples, width=units, seed=seed)


def _p(drawn: NDArray[np.float64], observed: float) -> float:
    hits = int(np.sum(drawn.round(_DIGITS) >= round(observed, _DIGITS)))  # equal up to rounding counts
    return (hits + 1) / (len(drawn) + 1)


def _hits_allowed(resamples: int, level: float) -> int:
    """The largest number of hits with which p < 1 - level."""
    allowed = math.ceil(round((1 - level) * (resamples + 1), 9)) - 2
    if allowed < 0:
        needed = math.floor(round(1 / (1 - level), 9))
        raise PronmetricError(f"expected at least {needed} resamples for a {level:.0%} interval, got {resamples}")
    return allowed
