"""Sums of a ratio, which can be merged, and its interval by Student's t, right from few units on.

The ratio of units (documents, segments) with values x and weights y is r = sum(x) / sum(y). The variance of the ratio
estimator is m / (m - 1) * sum((x - r * y)^2) / sum(y)^2 (Cochran 1977, Sampling Techniques, section 6.3), which needs
only six sums. Those of squares are of x - c * y, with the ratio as the centre c, so that large values do not hide their
variance. m is the effective number of units, sum(y)^2 / sum(y^2) (Kish 1965, Survey Sampling, section 11.7): the number
of units if all have the same weight, less if a few units have most of it. Student's t has m - 1 degrees of freedom.

A ratio that is bounded (a share, a mean of probabilities) has the interval of Wilson (1927) with the same variance and
the same t: as many independent draws as would give that variance (design effect). It stays within the bounds, and is
right where the ratio is near one of them and the values are skewed.
"""

from __future__ import annotations

import math
import operator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pronmetric.eval import student
from pronmetric.eval.resampling import LEVEL, MINIMUM

SHARE = (0.0, 1.0)
"""The bounds of shares and probabilities."""
COUNT = (0.0, math.inf)
"""The bounds of what is counted for each of something else, such as missing pronouns for each pronoun."""
_ROUNDING = 1e-15  # relative; a sum of squares below it is one of rounding errors
_PRECISION = 1e-13  # the same of bounded values, which are computed in single precision


class RatioSums(NamedTuple):
    """Sums over the units with a weight or a value other than 0; xx and xy: of the values less `centre` x weight."""

    units: int = 0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0
    yy: float = 0.0
    centre: float = 0.0

    @classmethod
    def of(cls, values: ArrayLike, weights: ArrayLike) -> RatioSums:
        """The sums of units, (units,) each; units with neither weight nor value are left out.

        >>> RatioSums.of([0.5, 0.0, 2.0], [1, 0, 3])
        RatioSums(units=2, x=2.5, y=4.0, xx=0.03125, xy=0.25, yy=10.0, centre=0.625)
        """
        x, y = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        kept = (y > 0) | (x != 0)
        x, y = x[kept], y[kept]
        values_sum, weights_sum = float(x.sum()), float(y.sum())
        centre = values_sum / weights_sum if weights_sum else 0.0
        rest = x - centre * y
        return cls(len(x), values_sum, weights_sum, float(rest @ rest), float(rest @ y), float(y @ y), centre)

    def merge(self, other: RatioSums) -> RatioSums:
        """The sums of the units of both.

        >>> RatioSums.of([0.5], [1]).merge(RatioSums.of([1.5], [3])) == RatioSums.of([0.5, 1.5], [1, 3])
        True
        """
        x, y = self.x + other.x, self.y + other.y
        centre = x / y if y else 0.0
        xx, xy = map(operator.add, self._squares(centre), other._squares(centre))
        return RatioSums(self.units + other.units, x, y, xx, xy, self.yy + other.yy, centre)

    def _squares(self, centre: float) -> tuple[float, float]:
        """`xx` and `xy` about another centre."""
        moved = self.centre - centre
        return self.xx + 2 * moved * self.xy + moved**2 * self.yy, self.xy + moved * self.yy

    def ratio(self) -> float | None:
        """The ratio; None without a weight."""
        return self.x / self.y if self.y else None

    def effective(self) -> float:
        """The effective number of units; 0 without a weight.

        >>> RatioSums.of([1.0, 1.0], [2, 2]).effective(), RatioSums.of([1.0, 1.0], [1, 3]).effective()
        (2.0, 1.6)
        """
        return self.y**2 / self.yy if self.y else 0.0

    def variance(self, *, rounding: float = _ROUNDING) -> float | None:
        """The variance of the ratio; None with fewer than `MINIMUM` units, or fewer than 2 effective ones.

        rounding: the share of the sum of squares up to which it is 0.
        """
        ratio, effective = self.ratio(), self.effective()
        if ratio is None or self.units < MINIMUM or effective < 2:
            return None
        squares = self._squares(ratio)[0]
        if squares <= rounding * (self._squares(0.0)[0] + ratio**2 * self.yy):
            return 0.0
        return effective / (effective - 1) * squares / self.y**2

    def interval(
        self, bounds: tuple[float, float] | None = None, *, level: float = LEVEL
    ) -> tuple[float, float] | None:
        """The interval of the ratio; bounds: the least and the greatest ratio that is possible, None if unbounded.

        Without a greatest ratio (`COUNT`) it is that of an unbounded one, from the least ratio on. None without a
        variance, and of an unbounded ratio that is the same in all units. A bounded ratio that is the same in all
        units has the interval of as many independent draws as there are effective units.

        >>> [round(end, 3) for end in RatioSums.of([1.0] * 20, [1] * 20).interval(SHARE)]
        [0.82, 1.0]
        """
        low, high = (-math.inf, math.inf) if bounds is None else bounds
        ratio, variance = self.ratio(), self.variance(rounding=_ROUNDING if high == math.inf else _PRECISION)
        if ratio is None or variance is None:
            return None
        t = student.quantile((1 + level) / 2, self.effective() - 1)
        if high == math.inf:
            margin = t * math.sqrt(variance)
            return (max(low, ratio - margin), ratio + margin) if variance else None
        width = high - low
        share = min(1.0, max(0.0, (ratio - low) / width))
        below, above = wilson(share, variance / width**2, self.effective(), t=t)
        return low + width * below, low + width * above


def wilson(share: float, variance: float, units: float, *, t: float) -> tuple[float, float]:
    """Wilson's interval of a share in [0, 1] with this variance; of so many independent draws where that is 0.

    t: the quantile of the interval's level.
    """
    spread = share * (1 - share)
    draws = spread / variance if variance > 0 and spread > 0 else units
    centre = (share + t * t / (2 * draws)) / (1 + t * t / draws)
    margin = t / (1 + t * t / draws) * math.sqrt(spread / draws + (t / (2 * draws)) ** 2)
    return max(0.0, min(share, centre - margin)), min(1.0, max(share, centre + margin))
