"""A metric as a further rater: it marks as many pronouns as a rater does, those that it doubts most.

Each item (a pronoun) was seen by some raters, of whom some marked it. The metric is compared with a rater drawn at
random from those of each item, and the raters with each other in the same way: an item's two raters are drawn without
replacement. So raters of whom each saw a part of the items are compared as if they were one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two markers, each in [0, 1] but kappa, higher is better; None where it is 0 / 0.

    share: of the first one's marks those that the second shares. f1, ac1 (Gwet), kappa (Cohen): of the two. marked:
    share of the items that the first one marks.
    """

    share: float | None
    f1: float | None
    ac1: float | None
    kappa: float | None
    marked: float


def as_rater(suspicion: ArrayLike, raters: ArrayLike, marks: ArrayLike, weights: ArrayLike | None = None) -> Agreement:
    """The metric against a rater, at the rater's own rate of marks.

    suspicion: of each item, higher is more doubtful; equal ones are marked in part. raters, marks: how many raters saw
    each item, and how many marked it.
    weights: how often each item counts (default: once).

    >>> as_rater([0.9, 0.8, 0.1, 0.0], [2, 2, 2, 2], [2, 0, 2, 0]).share
    0.5
    """
    doubt, seen, marked, weight = _checked(suspicion, raters, marks, weights)
    share = marked / seen
    rate = float(weight @ share)
    chosen = _top(doubt, weight, rate)
    return _agreement(both=float(chosen @ share), first=float(chosen.sum()), second=rate, items=float(weight.sum()))


def among_raters(raters: ArrayLike, marks: ArrayLike, weights: ArrayLike | None = None) -> Agreement | None:
    """The raters among each other, over the items with two or more; None without any.

    >>> among_raters([2, 2, 2, 2], [2, 1, 0, 0]).share
    0.6666666666666666
    """
    _, seen, marked, weight = _checked(np.zeros(len(np.asarray(raters))), raters, marks, weights)
    several = (seen >= 2) & (weight > 0)
    if not several.any():
        return None
    n, m, w = seen[several], marked[several], weight[several]
    rate = float(w @ (m / n))
    return _agreement(both=float(w @ (m * (m - 1) / (n * (n - 1)))), first=rate, second=rate, items=float(w.sum()))


def precision_at(
    suspicion: ArrayLike, raters: ArrayLike, marks: ArrayLike, part: float, weights: ArrayLike | None = None
) -> float | None:
    """The share of the `part` (0 to 1) of items that the metric doubts most that a rater marks.

    >>> precision_at([0.9, 0.8, 0.1, 0.0], [1, 1, 1, 1], [1, 0, 0, 0], 0.5)
    0.5
    """
    doubt, seen, marked, weight = _checked(suspicion, raters, marks, weights)
    chosen = _top(doubt, weight, part * float(weight.sum()))
    return float(chosen @ (marked / seen) / chosen.sum()) if chosen.sum() else None


def curve(suspicion: ArrayLike, raters: ArrayLike, marks: ArrayLike) -> tuple[Array, Array]:
    """Precision and recall against a rater after each distinct suspicion, from the highest one.

    >>> [each.tolist() for each in curve([0.9, 0.8, 0.1], [1, 1, 1], [1, 0, 1])]
    [[1.0, 0.5, 0.6666666666666666], [0.5, 0.5, 1.0]]
    """
    doubt, seen, marked, _ = _checked(suspicion, raters, marks, None)
    order = np.argsort(-doubt, kind="stable")
    hits = (marked / seen)[order].cumsum()
    last = np.flatnonzero(np.diff(doubt[order], append=np.nan))  # of equal ones
    total = hits[-1] if len(hits) and hits[-1] else 1.0
    return hits[last] / (last + 1), hits[last] / total


def one_rater(marked: ArrayLike, raters: ArrayLike, marks: ArrayLike) -> tuple[float, float] | None:
    """Precision and recall of one rater against another of the same items, drawn at random from those of each item.

    marked: whether this rater marked each item that they saw. raters, marks: of all raters of these items; an item of
    one rater does not count. None where this rater or the others marked nothing.

    >>> one_rater([True, True, False], [2, 2, 3], [2, 1, 1])
    (0.5, 0.6666666666666666)
    """
    _, seen, total, own = _checked(np.zeros(len(np.asarray(raters))), raters, marks, marked)
    several = seen >= 2
    own, others = own[several], (total - own)[several] / (seen - 1)[several]
    if not own.sum() or not others.sum():
        return None
    both = float(own @ others)
    return both / float(own.sum()), both / float(others.sum())


def _checked(
    suspicion: ArrayLike, raters: ArrayLike, marks: ArrayLike, weights: ArrayLike | None
) -> tuple[Array, Array, Array, Array]:
    given = [np.asarray(each, dtype=float) for each in (suspicion, raters, marks)]
    given.append(np.ones(len(given[0])) if weights is None else np.asarray(weights, dtype=float))
    if len({each.shape for each in given}) > 1 or given[0].ndim != 1:
        shapes = ", ".join(str(each.shape) for each in given)
        raise PronmetricError(f"expected one number of each item in suspicion, raters, marks and weights, got {shapes}")
    doubt, seen, marked, _ = given
    if not np.isfinite(doubt).all() or (seen < 1).any() or (marked < 0).any() or (marked > seen).any():
        raise PronmetricError(
            "expected finite suspicions, at least one rater of each item, and no more marks than raters"
        )
    return given[0], given[1], given[2], given[3]


def _top(doubt: Array, weight: Array, size: float) -> Array:
    """The weight of each item among the `size` most doubtful ones; equal ones share what is left."""
    values, group = np.unique(-doubt, return_inverse=True)
    total = np.bincount(group, weight, len(values))
    part = np.clip(size - (total.cumsum() - total), 0, total)
    return weight * np.divide(part, total, out=np.zeros(len(values)), where=total > 0)[group]


def _agreement(*, both: float, first: float, second: float, items: float) -> Agreement:
    """Of the table of two markers: the items that both, the first and the second mark."""
    neither = items - first - second + both
    observed = (both + neither) / items if items else 0.0
    one, other = (first / items, second / items) if items else (0.0, 0.0)
    by_product = one * other + (1 - one) * (1 - other)
    mean = (one + other) / 2
    by_gwet = 2 * mean * (1 - mean)
    return Agreement(
        share=both / first if first else None,
        f1=2 * both / (first + second) if first + second else None,
        ac1=(observed - by_gwet) / (1 - by_gwet),
        kappa=(observed - by_product) / (1 - by_product) if by_product < 1 else None,
        marked=one,
    )
