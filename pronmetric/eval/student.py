"""Student's t distribution for any degrees of freedom, also fractional ones; without scipy, whose import is slow.

The tail is the regularised incomplete beta function, by its continued fraction (Abramowitz and Stegun 1964, 26.7.1 and
26.5.8); above `_MANY` degrees of freedom the quantile is an expansion around the normal one (26.7.5), and the tail is
that of Wallace (1959), with a relative error below 1e-5 for all p from 1e-9.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

from pronmetric.errors import PronmetricError

_MANY = 1000.0  # degrees of freedom, above which the expansions are exact to 1e-7
_NORMAL = NormalDist()


def two_sided(t: float, freedom: float) -> float:
    """P(|T| >= |t|), in [0, 1].

    >>> round(two_sided(2.776445, 4), 6)
    0.05
    """
    _check(freedom)
    if freedom > _MANY:
        z = math.sqrt(freedom * math.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)
        return math.erfc(z / math.sqrt(2))
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2)


@lru_cache(maxsize=4096)
def quantile(probability: float, freedom: float) -> float:
    """The t with P(T <= t) = probability, 1/2 <= probability < 1.

    >>> round(quantile(0.975, 4), 6)
    2.776445

    Raises:
        PronmetricError: another probability, or no degrees of freedom.
    """
    _check(freedom)
    if not 0.5 <= probability < 1:
        raise PronmetricError(f"expected a probability from 0.5 to below 1 for a Student quantile, got {probability}")
    if probability == 0.5:
        return 0.0
    z = _NORMAL.inv_cdf(probability)
    if freedom > _MANY:
        first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
        return z + first / freedom + second / freedom**2
    tail, t = 2 * (1 - probability), z
    log_scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    for _ in range(100):  # the tail is convex, so that Newton's steps from the left do not pass the root
        density = math.exp(log_scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (two_sided(t, freedom) - tail) / (2 * density)
        t += step
        if abs(step) <= 1e-12 * t:
            break
    return t


def _check(freedom: float) -> None:
    if not freedom > 0:
        raise PronmetricError(f"expected degrees of freedom above 0, got {freedom}")


def _incomplete_beta(x: float, a: float) -> float:
    """I_x(a, 1/2)."""
    if x in (0.0, 1.0):
        return x
    b = 0.5
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by the method of Lentz."""
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    fraction = d
    for m in range(1, 1000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 + term * d, 1 + term / c
            d, c = 1 / (d if abs(d) > tiny else tiny), c if abs(c) > tiny else tiny
            fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return fraction
