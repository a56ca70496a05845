"""Significance of system scores and of their differences, over documents; numpy only.

A system's score is a ratio, the sum of its pronouns' scores over their number, so that whole units (documents, or
segments if documents are unknown) are what varies, with both their sums and their counts. Units without a pronoun are
left out. Nothing is said of fewer than `MINIMUM` units.

- Intervals are those of Student's t (`ratio_sums`); `difference` also gives the p value of the t test, which is below
  1 - level exactly if the interval excludes 0.
- `randomisation` (Riezler and Maxwell 2005) needs no distribution: if the systems are alike, their outputs can be
  swapped in each unit. With few units all swaps are counted and p is exact. It is the test to trust; with fewer than 6
  units its p cannot be below 0.05. `no_worse` is the same test with a margin, one-sided.
- `holm` (Holm 1979) adjusts the p values of several pairs of systems.

p values are two-sided but that of `no_worse`, and never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval import student
from pronmetric.eval.ratio_sums import RatioSums
from pronmetric.eval.resampling import LEVEL, MINIMUM, divide, number_clusters, order_of, resample

RESAMPLES = 1000
"""Drawn ways to swap; no p is below 1 / (1 + this number)."""
FEWEST = 20  # resamples needed for p < 0.05
_DIGITS = 12  # differences that agree to so many decimals are equal


class Totals(NamedTuple):
    """Sum of the pronoun scores and number of pronouns of each unit."""

    sums: NDArray[np.float64]
    counts: NDArray[np.float64]

    def mean(self) -> float:
        """Mean over all pronouns; NaN if there is none."""
        return float(divide(self.sums.sum(), self.counts.sum()))


class Difference(NamedTuple):
    """A minus B, of the means over all pronouns.

    low, high: its interval. p: two-sided, of the t test, below 1 - level exactly if the interval excludes 0. Interval
    and p are None with fewer than `MINIMUM` units, or almost all pronouns in one; the interval also where the
    difference is the same in all units, and p where that is not 0.
    """

    value: float
    low: float | None
    high: float | None
    p: float | None


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
    system: Totals, bounds: tuple[float, float] | None = None, *, level: float = LEVEL
) -> tuple[float, float] | None:
    """The interval of a system's mean over all pronouns; see `RatioSums.interval`."""
    _check(system)
    return RatioSums.of(system.sums, system.counts).interval(bounds, level=level)


def difference(a: Totals, b: Totals, *, level: float = LEVEL) -> Difference:
    """The difference of two systems on the same units, with its interval and test.

    The variance is that of the sum of both ratios' residuals in each unit, so that what the systems have in common
    (hard documents) does not count. Swapping A and B changes the sign and mirrors the interval; p stays.

    Raises:
        PronmetricError: the systems have different units.
    """
    a, b = _pair(a, b)
    value = a.mean() - b.mean()
    effective = [1 / float(((side.counts / side.counts.sum()) ** 2).sum()) for side in (a, b) if side.counts.any()]
    if len(a.sums) < MINIMUM or len(effective) < 2 or min(effective) < 2:
        return Difference(value, None, None, None)
    residuals = [
        math.sqrt(units / (units - 1)) * (side.sums - side.mean() * side.counts) / side.counts.sum()
        for side, units in zip((a, b), effective, strict=True)
    ]
    error = math.sqrt(float(((residuals[0] - residuals[1]) ** 2).sum()))
    scale = max(abs(side.mean()) for side in (a, b))
    if error <= 10.0**-_DIGITS * scale:
        return Difference(value, None, None, 1.0 if round(value, _DIGITS) == 0 else None)
    freedom = min(effective) - 1
    margin = student.quantile((1 + level) / 2, freedom) * error
    return Difference(value, value - margin, value + margin, student.two_sided(value / error, freedom))


def randomisation(a: Totals, b: Totals, *, resamples: int = RESAMPLES, seed: int) -> float | None:
    """Two-sided p value of the difference: the outputs of each unit are swapped with probability one half.

    Where there are no more than `resamples` ways to swap, each counts once and p is exact; else they are drawn, and
    the observed one counts as one of them. None with fewer than `MINIMUM` units that have a pronoun, or if one side has
    no pronoun at all. The same for B against A.
    """
    a, b = _pair(a, b)
    better, worse = (b, a) if b.mean() > a.mean() else (a, b)
    return _randomise(better, worse, np.abs, resamples=resamples, seed=seed)


def no_worse(a: Totals, b: Totals, *, margin: float, resamples: int = RESAMPLES, seed: int) -> float | None:
    """One-sided p value of "A is worse than B by `margin` or more"; where it is below alpha, A is no worse than B.

    The non-inferiority test by randomisation: if A were worse by exactly the margin, its outputs could be swapped with
    those of B less the margin. With so few units that all swaps are counted, p cannot be below 1 / 2^units. None where
    `randomisation` is None.

    Raises:
        PronmetricError: the systems have different units.
    """
    a, b = _pair(a, b)
    return _randomise(a, Totals(b.sums - margin * b.counts, b.counts), np.asarray, resamples=resamples, seed=seed)


def _randomise(
    a: Totals, b: Totals, size: Callable[[ArrayLike], NDArray[np.float64]], *, resamples: int, seed: int
) -> float | None:
    """The share of swaps whose difference is at least the observed one, by its `size`."""
    observed, units = a.mean() - b.mean(), len(a.sums)
    if units < MINIMUM or np.isnan(observed):
        return None

    order = order_of(a.sums, a.counts, b.sums, b.counts)
    a, b = (Totals(side.sums[order], side.counts[order]) for side in (a, b))

    def swapped(swap: NDArray[np.float64]) -> NDArray[np.float64]:
        sums, counts = swap @ (b.sums - a.sums), swap @ (b.counts - a.counts)
        new_a = divide(a.sums.sum() + sums, a.counts.sum() + counts)
        new_b = divide(b.sums.sum() - sums, b.counts.sum() - counts)
        return size(new_a - new_b)

    if 2**units <= resamples:
        ways = (np.arange(2**units)[:, None] >> np.arange(units) & 1).astype(float)
        return _share(swapped(ways), float(size(observed)), added=0)
    drawn = resample(
        lambda rng, draws: swapped(rng.integers(2, size=(draws, units)).astype(float))[None],
        resamples=resamples,
        width=units,
        seed=seed,
    )[0]
    return _share(drawn, float(size(observed)), added=1)


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


def _share(drawn: NDArray[np.float64], observed: float, *, added: int) -> float:
    """The share of differences that are at least the observed one, equal up to rounding; `added` to both numbers."""
    drawn = drawn[~np.isnan(drawn)]  # one side may have no pronoun
    hits = int(np.sum(drawn.round(_DIGITS) >= round(observed, _DIGITS)))
    return (hits + added) / (len(drawn) + added)
