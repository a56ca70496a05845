"""Bootstrap resampling of whole clusters (documents, segments, systems), in blocks of bounded memory.

The same seed gives the same resamples, whatever the size of a block. 0 is a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError

SEED = 12345
"""The seed that the commands and `PronounMetric` use by default."""
LEVEL = 0.95
MINIMUM = 5
"""The least number of clusters for a paired interval or the interval of a correlation."""
DRAWS = 2000
BLOCK = 1_000_000
"""Random numbers in memory at a time."""

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
"""(generator, number of resamples) -> (figures, resamples); resamples with an undefined figure may be left out."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its interval; `low` and `high` are None with fewer than two clusters."""

    value: float
    low: float | None
    high: float | None


def number_clusters(clusters: Iterable[Hashable]) -> tuple[NDArray[np.intp], int]:
    """The index of each item's cluster, in order of first appearance, and the number of clusters.

    >>> number_clusters(["x", "y", "x"])
    (array([0, 1, 0]), 2)
    """
    numbers: dict[Hashable, int] = {}
    index = np.array([numbers.setdefault(cluster, len(numbers)) for cluster in clusters], dtype=np.intp)
    return index, len(numbers)


def draw_units(rng: np.random.Generator, draws: int, units: int) -> NDArray[np.int64]:
    """Units drawn with replacement, (resamples, units)."""
    return rng.integers(units, size=(draws, units))


def draw_counts(rng: np.random.Generator, draws: int, units: int) -> NDArray[np.float64]:
    """The number of times each unit is drawn, (resamples, units); each row sums to `units`."""
    return rng.multinomial(units, np.full(units, 1 / units), size=draws).astype(float)


def resample(draw: Draw, *, resamples: int, width: int, seed: int) -> NDArray[np.float64]:
    """The figures of all resamples, (figures, resamples); `width` numbers are in memory for each resample."""
    rng = np.random.default_rng(seed)
    step = max(1, BLOCK // width)
    blocks = [draw(rng, min(step, resamples - start)) for start in range(0, resamples, step)]
    return np.concatenate(blocks, axis=1)


def percentile_interval(values: NDArray[np.float64] | Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """The central interval that contains a share `level` of the resampled values."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def divide(numerators: ArrayLike, denominators: ArrayLike) -> NDArray[np.float64]:
    """The quotients, NaN if the denominator is not above 0."""
    below = np.asarray(denominators, dtype=float)
    return np.divide(numerators, below, out=np.full(below.shape, np.nan), where=below > 0)


def cluster_bootstrap(
    values: ArrayLike, clusters: Sequence[Hashable], *, draws: int = DRAWS, level: float = LEVEL, seed: int = 0
) -> Estimate:
    """Mean of `values` and its percentile interval over resamples of whole clusters.

    For a paired interval, give the differences of two conditions on the same items.

    Raises:
        PronmetricError: no value, a value that is not finite, or different numbers of clusters and values.
    """
    values = np.asarray(values, dtype=float)
    if len(values) != len(clusters) or not len(values):
        raise PronmetricError(f"a bootstrap needs one cluster for each value: got {len(clusters)} for {len(values)}")
    if not np.isfinite(values).all():
        raise PronmetricError("a bootstrap needs finite values; leave out items without a value")
    index, number = number_clusters(clusters)
    totals, sizes = np.bincount(index, weights=values), np.bincount(index)
    mean = float(values.mean())
    if number < 2:
        return Estimate(mean, None, None)

    def means(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        drawn = draw_units(rng, count, number)
        return (totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))[None]

    return Estimate(mean, *percentile_interval(resample(means, resamples=draws, width=number, seed=seed)[0], level))


def difference_of_means(
    values: ArrayLike,
    first: Sequence[bool],
    clusters: Sequence[Hashable],
    *,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
) -> Estimate:
    """Mean of the `first` values minus that of the others, and its percentile interval over resamples of clusters.

    A resample without a value on one side is left out.

    Raises:
        PronmetricError: one side has no value, or there are different numbers of values, sides and clusters.
    """
    values, one = np.asarray(values, dtype=float), np.asarray(first, dtype=bool)
    if not len(values) == len(one) == len(clusters) or not one.any() or one.all():
        raise PronmetricError(
            f"a difference needs values on both sides, each with a cluster: got {int(one.sum())} of {len(values)} on "
            f"the first, {len(clusters)} clusters"
        )
    index, number = number_clusters(clusters)
    sums = np.stack([np.bincount(index, values * side, number) for side in (one, ~one)])  # (sides, clusters)
    sizes = np.stack([np.bincount(index, side, number) for side in (one, ~one)])

    def differences(drawn: NDArray[np.int64]) -> NDArray[np.float64]:
        means = divide(sums[:, drawn].sum(axis=-1), sizes[:, drawn].sum(axis=-1))
        return means[0] - means[1]

    whole = float(differences(np.arange(number)))
    if number < 2:
        return Estimate(whole, None, None)
    found = resample(
        lambda rng, count: differences(draw_units(rng, count, number))[None],
        resamples=draws,
        width=4 * number,
        seed=seed,
    )[0]
    return Estimate(whole, *percentile_interval(found[np.isfinite(found)], level))
