"""Resampling: the bootstrap of whole clusters (documents, segments, systems) in bounded memory, and shuffled contexts.

The bootstrap is for figures that are no ratio of sums (correlations, F1, the area under a curve); ratios have
`ratio_sums`. The same seed gives the same resamples, whatever the size of a block and the order of the units: units are
drawn in the order of their labels, or of their values where they have none. 0 is a seed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from statistics import NormalDist
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval import student

SEED = 12345
"""The seed that the commands and `PronounMetric` use by default."""
LEVEL = 0.95
"""Of all confidence intervals."""
MINIMUM = 4
"""The least number of clusters (documents, segments) for an interval or a test."""
DRAWS = 2000
"""Resamples of a bootstrap. More: the ends of intervals vary less with the seed, and take longer."""
BLOCK = 1_000_000
"""Random numbers in memory at a time."""

_DIGITS = 9  # values that agree so far, relative to the largest, have no order

T = TypeVar("T")
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
"""(generator, number of resamples) -> (figures, resamples); resamples with an undefined figure may be left out."""


def number_clusters(clusters: Iterable[Hashable]) -> tuple[NDArray[np.intp], int]:
    """The index of each item's cluster, in order of first appearance, and the number of clusters.

    >>> number_clusters(["x", "y", "x"])
    (array([0, 1, 0]), 2)
    """
    numbers: dict[Hashable, int] = {}
    index = np.array([numbers.setdefault(cluster, len(numbers)) for cluster in clusters], dtype=np.intp)
    return index, len(numbers)


def order_clusters(clusters: Iterable[Hashable]) -> tuple[NDArray[np.intp], int]:
    """The index of each item's cluster, in the order of the clusters' labels, and the number of clusters.

    >>> order_clusters(["y", "x", "y"])
    (array([1, 0, 1]), 2)
    """
    labels = list(clusters)
    place = {label: number for number, label in enumerate(sorted(set(labels), key=repr))}
    return np.array([place[label] for label in labels], dtype=np.intp), len(place)


def order_of(*values: ArrayLike) -> NDArray[np.intp]:
    """The order of units by their values, (units,) or (rows, units) each, the first row first; NaN is last.

    Values that differ in rounding only are equal, so that the order of sums within a unit does not count.

    >>> order_of([2.0, 1.0, 2.0], [5, 6, 4])
    array([1, 2, 0])
    """
    table = np.vstack([np.asarray(each, dtype=float) for each in values])
    largest = np.abs(np.where(np.isnan(table), 0.0, table)).max(axis=1, initial=0.0, keepdims=True)
    return np.lexsort(np.round(table / np.where(largest > 0, largest, 1.0), _DIGITS)[::-1])


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


def percentile_interval(
    values: NDArray[np.float64] | Sequence[float], units: int, level: float = LEVEL
) -> tuple[float, float] | None:
    """The expanded percentile interval of a figure, from its values in resamples of so many `units`, from 2.

    The percentiles are those of Student's t with the variance's n / (n - 1), since plain ones are too narrow with few
    units (Hesterberg 2015, "What Teachers Should Know About the Bootstrap", section 3.2). None if all values are
    equal up to rounding: an interval without width is none.
    """
    reach = student.quantile((1 + level) / 2, units - 1) * math.sqrt(units / (units - 1))
    outside = NormalDist().cdf(-reach)
    low, high = map(float, np.quantile(values, [outside, 1 - outside]))
    return (low, high) if high - low > 10.0**-_DIGITS * max(abs(low), abs(high)) else None


def divide(numerators: ArrayLike, denominators: ArrayLike) -> NDArray[np.float64]:
    """The quotients, NaN if the denominator is not above 0."""
    below = np.asarray(denominators, dtype=float)
    return np.divide(numerators, below, out=np.full(below.shape, np.nan), where=below > 0)


def shuffle_contexts(
    contexts: Sequence[T], *, items: Sequence[Hashable], groups: Sequence[Hashable], seed: int = 0
) -> list[T]:
    """Assign each item the context of an item of another group (document), and each context to one item.

    Contrasts of the same item (sentence) get the same shuffled context. Raises PronmetricError if one
    group holds more than half of the items.
    """
    seen = {item: number for number, item in reversed(list(enumerate(items)))}
    first = {item: seen[item] for item in sorted(seen, key=repr)}
    counts = Counter(groups[number] for number in first.values())
    sizes = {group: counts[group] for group in sorted(counts, key=repr)}
    largest = max(sizes.values())
    if 2 * largest > len(first):
        raise PronmetricError(
            f"shuffled context needs documents of which none holds more than half of the sentences, "
            f"got one with {largest} of {len(first)}; measure more data"
        )
    rng = np.random.default_rng(seed)
    rank = dict(zip(sizes, rng.permutation(len(sizes)), strict=True))
    numbers = [list(first.values())[i] for i in rng.permutation(len(first))]
    order = sorted(numbers, key=lambda number: rank[groups[number]])
    donors = order[largest:] + order[:largest]  # a shift by the largest group's size leaves no item in its group
    shuffled = {items[number]: contexts[donor] for number, donor in zip(order, donors, strict=True)}
    return [shuffled[item] for item in items]
