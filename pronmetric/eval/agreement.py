"""Gwet's AC1: agreement of raters beyond chance, with its standard error and interval.

Gwet 2008, "Computing inter-rater reliability and its variance in the presence of high agreement",
British Journal of Mathematical and Statistical Psychology 61; for several raters, with missing ratings;
items (not raters) are the sample.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval import student
from pronmetric.eval.resampling import (
    DRAWS,
    LEVEL,
    MINIMUM,
    draw_counts,
    number_clusters,
    order_of,
    percentile_interval,
    resample,
)

_ROUNDING = 1e-9  # standard errors up to this are 0 but for rounding


@dataclass(frozen=True, slots=True)
class Agreement:
    """AC1 in [-1, 1], higher is better; 1 is full agreement, 0 is chance.

    error, low, high: standard error and interval, None with one category or one item; the interval also where the error
    is 0. It is clipped to 1 and to the least AC1 of so many raters and categories. items: those with a rating;
    rated_twice: those with two or more, which determine agreement.
    """

    ac1: float
    error: float | None
    low: float | None
    high: float | None
    observed: float
    chance: float
    items: int
    rated_twice: int
    categories: int


def gwet_ac1(ratings: ArrayLike, *, declared: bool = True, level: float = LEVEL) -> Agreement:
    """Agreement of ratings (items, categories): how many raters put the item into the category.

    declared=True counts every column as a category, even if nobody used it (which changes AC1);
    declared=False counts only used ones. Items without a rating are dropped; those with one count
    for chance, not for agreement. Raises PronmetricError if no item has two ratings.

    >>> round(gwet_ac1([[2, 0], [2, 0], [1, 1]]).ac1, 4)
    0.5385
    """
    r = checked_ratings(ratings)
    r = r[r.sum(axis=1) > 0]
    if not declared:
        r = r[:, r.sum(axis=0) > 0]
    total = r.sum(axis=1)
    several = total >= 2
    items, rated_twice, categories = len(r), int(several.sum()), r.shape[1]
    if not rated_twice:
        raise PronmetricError(f"AC1 needs an item with at least two ratings, got {items} items with at most one")
    if categories == 1:
        return Agreement(1.0, None, None, None, 1.0, 0.0, items, rated_twice, categories)

    agreed = np.zeros(items)
    agreed[several] = (r * (r - 1)).sum(axis=1)[several] / (total * (total - 1))[several]
    observed = agreed.sum() / rated_twice
    share = (r / total[:, None]).mean(axis=0)
    chance = float((share * (1 - share)).sum() / (categories - 1))
    ac1 = float((observed - chance) / (1 - chance))
    counts = (items, rated_twice, categories)
    if items == 1:
        return Agreement(ac1, None, None, None, float(observed), chance, *counts)

    of_item = np.where(several, items / rated_twice * (agreed - chance) / (1 - chance), 0.0)
    expected = (r * (1 - share)).sum(axis=1) / (total * (categories - 1))
    influence = of_item - 2 * (1 - ac1) * (expected - chance) / (1 - chance)
    error = float(np.sqrt(((influence - ac1) ** 2).sum() / (items * (items - 1))))
    low, high = _interval(ac1, error, r, level)
    return Agreement(ac1, error, low, high, float(observed), chance, *counts)


def gwet_ac1_table(table: ArrayLike, *, level: float = LEVEL) -> Agreement:
    """Agreement of two raters from their square table: row = the first's category, column = the second's.

    AC1 is the same as from the single ratings. The standard error is that of Gwet's formula for such a
    table, which divides the variance by N; the one for single ratings divides by N - 1.

    >>> a = gwet_ac1_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    >>> round(a.ac1, 5), round(a.error, 5)
    (0.84933, 0.04322)
    """
    ratings = confusion_ratings(table)
    agreement = gwet_ac1(ratings, level=level)
    if agreement.error is None:
        return agreement
    error = agreement.error * float(np.sqrt((agreement.items - 1) / agreement.items))
    low, high = _interval(agreement.ac1, error, checked_ratings(ratings), level)
    return replace(agreement, error=error, low=low, high=high)


def gwet_ac1_published(ratings: ArrayLike) -> Agreement:
    """The AC1 figures published by Jwalapuram et al. 2019, whose chance agreement is not summed over the items.

    Relative to Gwet's AC1: there a category's share pi_k is its mean share over all N items. The published figures
    are consistent with the share of a single item divided by N, the other items being lost: pi_k = r_ik / (r_i N),
    with i the last item here, as if a sum were overwritten instead of accumulated. (The file holds no single ratings,
    so that it cannot be known which item was used, only that it was one.) The shares then sum to 1 / N, chance
    agreement is too low or too high, and the figure depends on the order of the items. Every column is a category: the
    study has three (reference, tie, system). There is no standard error: none was published, and Gwet's is that of
    another quantity.

    >>> round(gwet_ac1_published([[5, 0, 0], [4, 0, 1], [5, 0, 0]]).ac1, 4)  # the file's line his -> its, 14 : 0 : 1
    0.85
    """
    r = checked_ratings(ratings)
    r = r[r.sum(axis=1) > 0]
    plain = gwet_ac1(r)
    if plain.categories == 1:
        return plain
    share = r[-1] / r[-1].sum() / len(r)
    chance = float((share * (1 - share)).sum() / (plain.categories - 1))
    ac1 = (plain.observed - chance) / (1 - chance)
    return replace(plain, ac1=ac1, chance=chance, error=None, low=None, high=None)


def clustered_interval(
    ratings: ArrayLike, clusters: Sequence[Hashable], *, draws: int = DRAWS, level: float = LEVEL, seed: int = 0
) -> tuple[float, float] | None:
    """Expanded percentile interval of AC1, resampling whole clusters of items (documents).

    ratings: (items, categories), with the cluster of each item. None with fewer than `MINIMUM` clusters, one category,
    or if almost no resample has an item with two ratings.
    """
    r = checked_ratings(ratings)
    if len(r) != len(clusters):
        raise PronmetricError(f"each item needs one cluster: got {len(clusters)} for {len(r)}")
    index, number = number_clusters(clusters)
    rated = r.sum(axis=1) > 0
    r, index = r[rated], index[rated]
    total = r.sum(axis=1)
    several = total >= 2
    if len(np.unique(index)) < MINIMUM or r.shape[1] < 2:
        return None
    agreed = np.where(several, (r * (r - 1)).sum(axis=1) / np.maximum(total * (total - 1), 1), 0.0)
    parts = np.column_stack([np.ones(len(r)), several, agreed, r / total[:, None]])
    sums = np.stack([np.bincount(index, weights=part, minlength=number) for part in parts.T], axis=1)
    sums = sums[sums[:, 0] > 0]
    sums = sums[order_of(sums.T)]

    def draw(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        drawn = draw_counts(rng, count, len(sums)) @ sums
        drawn = drawn[drawn[:, 1] > 0]
        share = drawn[:, 3:] / drawn[:, :1]
        chance = (share * (1 - share)).sum(axis=1) / (r.shape[1] - 1)
        return ((drawn[:, 2] / drawn[:, 1] - chance) / (1 - chance))[None]

    coefficients = resample(draw, resamples=draws, width=len(sums), seed=seed)[0]
    return None if 2 * len(coefficients) < draws else percentile_interval(coefficients, len(sums), level)


def confusion_ratings(table: ArrayLike) -> NDArray[np.int64]:
    """Ratings (items, categories) of two raters from their square table; row: first rater, column: second.

    >>> confusion_ratings([[1, 0], [2, 0]]).tolist()
    [[2, 0], [1, 1], [1, 1]]
    """
    cells = checked_ratings(table)
    if cells.shape[0] != cells.shape[1]:
        raise PronmetricError(
            f"a table of two raters is square, got {cells.shape[0]} rows and {cells.shape[1]} columns"
        )
    one = np.eye(len(cells), dtype=np.int64)
    kinds = (one[:, None, :] + one[None, :, :]).reshape(-1, len(cells))
    return np.repeat(kinds, cells.ravel().astype(np.int64), axis=0)


def _interval(
    ac1: float, error: float, ratings: NDArray[np.float64], level: float
) -> tuple[float, float] | tuple[None, None]:
    """The interval within the bounds of AC1; none without an error. ratings: of items with at least one."""
    if error <= _ROUNDING:
        return None, None
    reach = student.quantile((1 + level) / 2, len(ratings) - 1) * error
    return max(_least(ratings), ac1 - reach), min(1.0, ac1 + reach)


def _least(ratings: NDArray[np.float64]) -> float:
    """The least AC1 of items with so many ratings: these spread evenly over the categories, all used alike.

    Of two raters and q categories it is -1 / (q - 1).
    """
    total, categories = ratings.sum(axis=1), ratings.shape[1]
    total = total[total >= 2]
    each, more = np.divmod(total, categories)
    agreed = (more * (each + 1) * each + (categories - more) * each * (each - 1)) / (total * (total - 1))
    return float(1 - (1 - agreed.mean()) / (1 - 1 / categories))


def checked_ratings(counts: ArrayLike) -> NDArray[np.float64]:
    """The counts as an array; PronmetricError if they are not a table of whole numbers."""
    r = np.asarray(counts, dtype=float)
    if r.ndim != 2 or not r.size:
        raise PronmetricError(f"expected a table of ratings (items, categories), got the shape {r.shape}")
    if not np.isfinite(r).all() or (r < 0).any() or (r != np.floor(r)).any():
        raise PronmetricError("expected ratings that are whole numbers from 0: how many raters chose each category")
    return r
