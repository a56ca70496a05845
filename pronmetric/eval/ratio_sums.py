"""Sums of a ratio, which can be merged, and its normal interval: for more units than fit in memory.

The ratio of units with values x and weights y is sum(x) / sum(y). Its variance is that of the ratio estimator,
n / (n - 1) * sum((x - ratio * y)^2) / sum(y)^2 (Cochran 1977, Sampling Techniques, section 6.3), which needs only six
sums. For many units the interval is that of the bootstrap.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pronmetric.eval.resampling import LEVEL


class RatioSums(NamedTuple):
    """Sums over the units with a weight above 0."""

    units: int = 0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0
    yy: float = 0.0

    @classmethod
    def of(cls, values: ArrayLike, weights: ArrayLike) -> RatioSums:
        """The sums of units, (units,) each; units without a weight are left out.

        >>> RatioSums.of([0.5, 0.0, 2.0], [1, 0, 3])
        RatioSums(units=2, x=2.5, y=4.0, xx=4.25, xy=6.5, yy=10.0)
        """
        x, y = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
        x, y = x[y > 0], y[y > 0]
        return cls(len(x), float(x.sum()), float(y.sum()), float(x @ x), float(x @ y), float(y @ y))

    def merge(self, other: RatioSums) -> RatioSums:
        """The sums of the units of both.

        >>> RatioSums.of([0.5], [1]).merge(RatioSums.of([2.0], [3])) == RatioSums.of([0.5, 2.0], [1, 3])
        True
        """
        return RatioSums(
            self.units + other.units,
            self.x + other.x,
            self.y + other.y,
            self.xx + other.xx,
            self.xy + other.xy,
            self.yy + other.yy,
        )

    def ratio(self) -> float | None:
        """The ratio; None without a unit."""
        return self.x / self.y if self.units else None

    def interval(self, *, level: float = LEVEL) -> tuple[float, float] | None:
        """The normal interval of the ratio; None with fewer than two units."""
        ratio = self.ratio()
        if ratio is None or self.units < 2:
            return None
        squares = max(0.0, self.xx - 2 * ratio * self.xy + ratio**2 * self.yy)
        error = math.sqrt(self.units / (self.units - 1) * squares) / self.y
        margin = NormalDist().inv_cdf((1 + level) / 2) * error
        return ratio - margin, ratio + margin
