"""Other measures of agreement than AC1: raw agreement, Cohen's and Fleiss' kappa, Krippendorff's alpha (nominal)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.agreement import checked_ratings


@dataclass(frozen=True, slots=True)
class Coefficient:
    """Agreement beyond chance, (observed - chance) / (1 - chance), at most 1, higher is better.

    estimate: None if chance agreement is 1 (one category), 0 / 0. items: the number that count.
    """

    estimate: float | None
    observed: float
    chance: float
    items: int


def raw_agreement(ratings: ArrayLike) -> float:
    """Mean over the items of the share of rater pairs that agree, in [0, 1].

    ratings: (items, categories), how many raters put the item into the category; an item with fewer than two ratings
    does not count.

    >>> raw_agreement([[2, 0], [1, 1], [0, 1]])
    0.5
    """
    r = _several(ratings)
    total = r.sum(axis=1)
    return float(((r * (r - 1)).sum(axis=1) / (total * (total - 1))).mean())


def cohen_kappa(table: ArrayLike) -> Coefficient:
    """Cohen's kappa of two raters from their square table: row = the first's category, column = the second's.

    Cohen 1960, "A coefficient of agreement for nominal scales". Chance agreement is computed from
    the product of the two raters' shares.

    >>> cohen_kappa([[2, 0], [1, 1]]).estimate
    0.5
    """
    cells = checked_ratings(table)
    items = int(cells.sum())
    if cells.shape[0] != cells.shape[1]:
        raise PronmetricError(f"a table of two raters is square, got {' x '.join(map(str, cells.shape))}")
    if not items:
        raise PronmetricError("Cohen's kappa needs an item that both raters rated, got none")
    observed = float(np.trace(cells) / items)
    chance = float(cells.sum(axis=1) @ cells.sum(axis=0) / items**2)
    return _coefficient(observed, chance, items)


def fleiss_kappa(ratings: ArrayLike) -> Coefficient:
    """Fleiss' kappa of ratings (items, categories); Scott's pi for two raters.

    Fleiss 1971, "Measuring nominal scale agreement among many raters"; with missing ratings as in Gwet's Handbook:
    observed agreement is over items with two ratings or more, chance agreement over all items with a rating (mean of
    their shares).

    >>> fleiss_kappa([[2, 0], [0, 2], [1, 1]]).estimate
    0.3333333333333333
    """
    r = checked_ratings(ratings)
    r = r[r.sum(axis=1) > 0]
    observed = raw_agreement(r)
    share = (r / r.sum(axis=1, keepdims=True)).mean(axis=0)
    return _coefficient(observed, float((share**2).sum()), len(r))


def krippendorff_alpha(ratings: ArrayLike) -> Coefficient:
    """Krippendorff's alpha for nominal categories, from ratings (items, categories), some of which may be missing.

    Krippendorff 2004, "Content Analysis", chapter 11: one minus the ratio of observed to expected disagreement in the
    coincidence matrix, in which each item is weighted by its number of ratings; items with fewer than two are ignored.

    >>> krippendorff_alpha([[2, 0], [0, 2], [1, 1], [1, 0]]).estimate
    0.4444444444444444
    """
    r = _several(ratings)
    total = r.sum(axis=1)
    values, used = total.sum(), r.sum(axis=0)
    observed = float(((r * (r - 1)).sum(axis=1) / (total - 1)).sum() / values)
    chance = float((used * (used - 1)).sum() / (values * (values - 1)))
    return _coefficient(observed, chance, len(r))


def _coefficient(observed: float, chance: float, items: int) -> Coefficient:
    estimate = None if chance >= 1 else (observed - chance) / (1 - chance)
    return Coefficient(estimate, observed, chance, items)


def _several(ratings: ArrayLike) -> NDArray[np.float64]:
    """The items with at least two ratings."""
    r = checked_ratings(ratings)
    r = r[r.sum(axis=1) >= 2]
    if not len(r):
        raise PronmetricError("agreement needs an item with at least two ratings, got none")
    return r
