"""Means of items that come in clusters (documents, reference sentences), with intervals by Student's t.

Items of a cluster are alike, so that the clusters are what varies: see `ratio_sums`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.ratio_sums import SHARE, RatioSums
from pronmetric.eval.resampling import LEVEL, MINIMUM, draw_units, number_clusters, order_clusters, percentile_interval


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure and its interval; `low` and `high` are None with too few clusters."""

    value: float
    low: float | None
    high: float | None


def bootstrap(
    figure: Callable[[NDArray[np.float64]], float | None], clusters: Sequence[Hashable], *, draws: int, seed: int
) -> Estimate | None:
    """A figure of weighted items with its percentile interval over resamples of whole clusters; None if it has none.

    figure: of how often each item counts; None where it is undefined, such as an area without a wrong item: such
    resamples are left out. clusters: of each item; fewer than `MINIMUM` give no interval.
    """
    index, number = order_clusters(clusters)
    value = figure(np.ones(len(index)))
    if value is None:
        return None
    rng = np.random.default_rng(seed)
    counts = (np.bincount(draw_units(rng, 1, number)[0], minlength=number) for _ in range(draws))
    drawn = [figure(count[index].astype(float)) for count in counts] if number >= MINIMUM else []
    kept = [each for each in drawn if each is not None]
    ends = percentile_interval(kept, number) if len(kept) > 1 else None
    return Estimate(value, *(ends or (None, None)))


def cluster_mean(values: ArrayLike, clusters: Sequence[Hashable], *, level: float = LEVEL) -> Estimate:
    """Mean of `values` with its interval over clusters.

    For a paired interval, give the differences of two conditions on the same items. The interval is None with
    too few clusters (see `RatioSums.interval`) and where all clusters have the same mean.

    Raises:
        PronmetricError: no value, a value that is not finite, or different numbers of clusters and values.
    """
    return _estimate(values, clusters, None, level)


def cluster_share(values: ArrayLike, clusters: Sequence[Hashable], *, level: float = LEVEL) -> Estimate:
    """Mean of `values` in [0, 1], such as right or wrong, with its interval inside [0, 1]; else as `cluster_mean`.

    >>> cluster_share([True, False], ["x", "x"])
    Estimate(value=0.5, low=None, high=None)
    """
    return _estimate(values, clusters, SHARE, level)


def _estimate(
    values: ArrayLike, clusters: Sequence[Hashable], bounds: tuple[float, float] | None, level: float
) -> Estimate:
    values = np.asarray(values, dtype=float)
    if len(values) != len(clusters) or not len(values):
        raise PronmetricError(f"an interval needs one cluster for each value: got {len(clusters)} for {len(values)}")
    if not np.isfinite(values).all():
        raise PronmetricError("an interval needs finite values; leave out items without a value")
    index, _ = number_clusters(clusters)
    sums = RatioSums.of(np.bincount(index, weights=values), np.bincount(index))
    low, high = sums.interval(bounds, level=level) or (None, None)
    return Estimate(float(values.mean()), low, high)
