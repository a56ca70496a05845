"""Ratings of items by raters, with missing ratings, and all measures of agreement on them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.agreement import Agreement, gwet_ac1, gwet_ac1_published, gwet_ac1_table
from pronmetric.eval.kappa import Coefficient, cohen_kappa, fleiss_kappa, krippendorff_alpha, raw_agreement

Variant = Literal["gwet", "published"]
Formula = Literal["auto", "ratings"]
_MISSING = -1  # the code of no answer; categories are from 0


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """codes[item, rater] is the index of the category, or -1 if the rater did not rate the item."""

    raters: tuple[str, ...]
    categories: tuple[str, ...]
    codes: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        ratings: Mapping[str, Mapping[Any, object]],
        *,
        categories: Iterable[str] | None = None,
        order: Iterable[Hashable] = (),
    ) -> Ratings:
        """From each rater's {item: category}; None is no rating.

        order: items that come first, in this order; the others follow in order of first appearance. categories: those
        that count even if unused; other used categories are added in alphabetical order.
        """
        answers = {
            rater: {i: str(c) for i, c in by_item.items() if c is not None} for rater, by_item in ratings.items()
        }
        names = list(dict.fromkeys(categories or ()))
        names += sorted({c for by_item in answers.values() for c in by_item.values()} - set(names))
        rated = dict.fromkeys(item for by_item in answers.values() for item in by_item)
        first = dict.fromkeys(item for item in order if item in rated)
        items = {item: number for number, item in enumerate(first | rated)}
        codes = np.full((len(items), len(answers)), _MISSING, dtype=np.int64)
        for rater, by_item in enumerate(answers.values()):
            for item, category in by_item.items():
                codes[items[item], rater] = names.index(category)
        return cls(tuple(answers), tuple(names), codes)

    def without(self, category: str) -> Ratings:
        """The ratings without that category: its ratings become missing."""
        if category not in self.categories:
            return self
        gone = self.categories.index(category)
        codes = np.where(self.codes == gone, _MISSING, self.codes - (self.codes > gone))
        return Ratings(self.raters, self.categories[:gone] + self.categories[gone + 1 :], codes)

    def only(self, raters: Collection[str]) -> Ratings:
        """The ratings of some of the raters, in the given order."""
        kept = [i for i, rater in enumerate(self.raters) if rater in raters]
        return Ratings(tuple(self.raters[i] for i in kept), self.categories, self.codes[:, kept])

    def where_all_rated(self) -> Ratings:
        """The ratings with all items unrated that not every rater rated; the number of items is unchanged."""
        complete = (self.codes != _MISSING).all(axis=1, keepdims=True)
        return Ratings(self.raters, self.categories, np.where(complete, self.codes, _MISSING))

    def counts(self) -> NDArray[np.int64]:
        """(items, categories): how many raters put the item into the category."""
        return (self.codes[:, :, None] == np.arange(max(1, len(self.categories)))).sum(axis=1)

    def table(self, first: int, second: int) -> NDArray[np.int64]:
        """The square table of two raters (row = the first's category), for the items that both rated."""
        a, b = self.codes[:, first], self.codes[:, second]
        both = (a != _MISSING) & (b != _MISSING)
        cells = np.zeros((len(self.categories),) * 2, dtype=np.int64)
        np.add.at(cells, (a[both], b[both]), 1)
        return cells

    def complete(self) -> bool:
        """Whether every rater rated every item that has a rating."""
        rated = self.codes != _MISSING
        return bool(rated[rated.any(axis=1)].all())

    def overlap(self) -> bool:
        """Whether any item has two ratings."""
        return bool(((self.codes != _MISSING).sum(axis=1) >= 2).any())


@dataclass(frozen=True, slots=True)
class Agreements:
    """All measures of agreement of one set of ratings.

    ac1: Gwet's, or the published variant. formula: of the standard error of ac1, "table" or "ratings" (see
    `agreement`), None if it has none. cohen: for two raters; for more, the mean over the pairs of raters that
    share items (Light's kappa), None if no pair has one. by_pair: Cohen's kappa of each such pair.
    """

    raters: tuple[str, ...]
    categories: tuple[str, ...]
    ac1: Agreement
    formula: str | None
    raw: float
    fleiss: Coefficient
    krippendorff: Coefficient
    cohen: float | None
    by_pair: tuple[tuple[str, str, Coefficient], ...]


def agreement(ratings: Ratings, *, variant: Variant = "gwet", formula: Formula = "auto") -> Agreements:
    """The agreement of the raters, by each coefficient.

    AC1's standard error has two published formulas. For single ratings Gwet divides the sum of squares by N (N - 1)
    (Gwet 2008; irrCAC's `raw`); for two raters who both rated every item (a square table) by N * N (Gwet's Handbook;
    irrCAC's `table`), which is smaller by sqrt((N - 1) / N). "auto" uses the table's formula for such ratings, so that
    the interval does not depend on the input format, and that of single ratings for all others; "ratings" always uses
    the latter.

    Raises:
        PronmetricError: fewer than two raters, or no item that two of them rated.
    """
    if len(ratings.raters) < 2:
        raise PronmetricError(f"agreement needs at least two raters, got {len(ratings.raters)}")
    counts = ratings.counts()
    if not ratings.overlap():
        rated = int(counts.any(axis=1).sum())
        raise PronmetricError(f"agreement needs an item that two raters rated: none of the {rated} has two ratings")
    as_table = formula == "auto" and len(ratings.raters) == 2 and ratings.complete()
    if variant == "published":
        ac1 = gwet_ac1_published(counts)
    else:
        ac1 = gwet_ac1_table(ratings.table(0, 1)) if as_table else gwet_ac1(counts)
    by_pair = _by_pair(ratings)
    estimates = [agreed.estimate for _, _, agreed in by_pair if agreed.estimate is not None]
    return Agreements(
        raters=ratings.raters,
        categories=ratings.categories,
        ac1=ac1,
        formula=None if ac1.error is None else "table" if as_table else "ratings",
        raw=raw_agreement(counts),
        fleiss=fleiss_kappa(counts),
        krippendorff=krippendorff_alpha(counts),
        cohen=sum(estimates) / len(estimates) if estimates else None,
        by_pair=by_pair,
    )


def _by_pair(ratings: Ratings) -> tuple[tuple[str, str, Coefficient], ...]:
    tables = ((a, b, ratings.table(a, b)) for a, b in combinations(range(len(ratings.raters)), 2))
    return tuple((ratings.raters[a], ratings.raters[b], cohen_kappa(cells)) for a, b, cells in tables if cells.any())
