"""Kendall's tau with ties, and pairwise accuracy with calibrated ties, in groups of scores; numpy only.

Each pair of scores in a group is concordant (same order on both sides), discordant, tied in the human scores only, tied
in the metric only, or tied in both. C, D, H, M and B are the numbers of these pairs and N that of all pairs (Deutsch et
al. 2023, "Ties Matter"; the names in mt-metrics-eval's `KendallVariants` are in brackets):

- tau_b = (C - D) / sqrt((C + D + H) (C + D + M)) ("b");
- tau_c = 2 (C - D) / (n^2 (k - 1) / k), n scores, k the smaller number of different values on a side ("c");
- tau_10 = (C - D - M) / (C + D + M), of WMT10 ("10");
- tau_eq = (C + B - D - H - M) / N ("23");
- acc_eq = (C + B) / N ("acc23").

A metric rarely gives two outputs exactly the same score, whereas human scores are often tied. `calibrate` finds the tie
threshold for the metric's score differences that maximises the mean of acc_eq over the groups ("KendallWithTiesOpt").
As in the paper, this threshold is chosen on the same data on which the figure is measured.

Groups are rows: `metric` and `human` are (groups, scores), NaN for a missing score. Higher is better on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import divide

VARIANTS = ("b", "c", "10", "23", "acc23")
PAIRS = 4_000_000  # with more pairs the threshold is searched on a random sample of this size
_NARROW = 64  # groups up to this size are processed together, pair by pair
_BLOCK = 1_000_000  # numbers in memory at a time
_DIGITS = 12  # mean accuracies that differ by less are equal

_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Numbers of pairs in each group, (groups,) each: concordant, discordant, tied on one side or on both."""

    concordant: _Array
    discordant: _Array
    human_ties: _Array
    metric_ties: _Array
    both_ties: _Array

    @property
    def all(self) -> _Array:
        """The number of pairs in each group."""
        return self.concordant + self.discordant + self.human_ties + self.metric_ties + self.both_ties


@dataclass(frozen=True, slots=True)
class CalibratedAccuracy:
    """Accuracy of each group, (groups,) in [0, 1], NaN without a pair, and the threshold that maximises their mean.

    pairs: their number. sought: the number of pairs on which the threshold was searched.
    """

    accuracy: _Array
    threshold: float
    pairs: int
    sought: int


def pair_scores(metric: ArrayLike, human: ArrayLike) -> tuple[_Array, _Array]:
    """Both sides as (groups, scores), NaN wherever one of them is missing; a single row is one group.

    Raises:
        PronmetricError: another shape, or an infinite score.
    """
    x, y = np.atleast_2d(np.asarray(metric, dtype=float)), np.atleast_2d(np.asarray(human, dtype=float))
    if x.shape != y.shape or x.ndim != 2:
        raise PronmetricError(f"expected (groups, scores) alike on both sides, got {x.shape} and {y.shape}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise PronmetricError("an infinite score has no correlation; give finite ones, None where there is none")
    there = ~np.isnan(x) & ~np.isnan(y)
    return np.where(there, x, np.nan), np.where(there, y, np.nan)


def pairs(metric: ArrayLike, human: ArrayLike, *, threshold: float = 0.0) -> Pairs:
    """Count the pairs of each group; metric scores that differ by at most `threshold` are tied.

    >>> found = pairs([1.0, 2.0, 2.0], [1.0, 1.0, 3.0])
    >>> found.concordant, found.human_ties, found.metric_ties
    (array([1.]), array([1.]), array([1.]))
    """
    if not threshold >= 0:
        raise PronmetricError(f"expected a threshold from 0, got {threshold}")
    x, y = pair_scores(metric, human)
    if x.shape[1] <= _NARROW:
        return Pairs(*_narrow(x, y, threshold))
    count = _sorted_counts if threshold == 0 else _block_counts
    rows = [count(a[~np.isnan(a)], b[~np.isnan(b)], threshold) for a, b in zip(x, y, strict=True)]
    return Pairs(*np.array(rows, dtype=float).T.reshape(5, len(x)))


def tau(metric: ArrayLike, human: ArrayLike, *, variant: str = "b", threshold: float = 0.0) -> _Array:
    """A variant of tau for each group, (groups,); NaN if undefined: no pair, or one side is constant.

    In [-1, 1], variant "acc23" in [0, 1]. "10", "23" and "acc23" are defined for a constant metric too.

    >>> [round(float(tau([1.0, 2.0, 3.0], [1.0, 1.0, 3.0], variant=v)[0]), 3) for v in ("b", "10", "acc23")]
    [0.816, 1.0, 0.667]

    Raises:
        PronmetricError: unknown variant, "c" with a threshold, or as for `paired`.
    """
    if variant not in VARIANTS:
        raise PronmetricError(f"expected one of {', '.join(VARIANTS)} as the variant, got {variant!r}")
    if variant == "c" and threshold:
        raise PronmetricError("variant c counts different scores, which no threshold defines; leave the threshold at 0")
    x, y = pair_scores(metric, human)
    counts = pairs(x, y, threshold=threshold)
    surplus = counts.concordant - counts.discordant
    ordered = counts.concordant + counts.discordant
    if variant == "b":
        return divide(surplus, np.sqrt((ordered + counts.human_ties) * (ordered + counts.metric_ties)))
    if variant == "c":
        scores, classes = (~np.isnan(x)).sum(axis=1), np.minimum(_classes(x), _classes(y))
        return divide(2 * surplus, scores**2 * (classes - 1) / np.maximum(classes, 1))
    if variant == "10":
        return divide(surplus - counts.metric_ties, ordered + counts.metric_ties)
    right = counts.concordant + counts.both_ties
    return divide(right if variant == "acc23" else 2 * right - counts.all, counts.all)


def calibrate(metric: ArrayLike, human: ArrayLike, *, limit: int = PAIRS, seed: int = 0) -> CalibratedAccuracy:
    """Accuracy with ties ("acc23") of each group at the common threshold that maximises their mean.

    Candidates are 0 and all differences of two metric scores in a group; the smallest of equally good ones is chosen.
    With more than `limit` pairs the candidates come from a sample of that many, drawn with `seed`; the accuracies are
    always over all pairs.

    >>> found = calibrate([1.0, 1.1, 3.0], [1.0, 1.0, 3.0])
    >>> float(found.accuracy[0]), round(found.threshold, 4)
    (1.0, 0.1)

    Raises:
        PronmetricError: no group has two scores, or as for `paired`.
    """
    x, y = pair_scores(metric, human)
    sizes = (~np.isnan(x)).sum(axis=1)
    numbers = sizes * (sizes - 1) // 2
    total = int(numbers.sum())
    if not total:
        raise PronmetricError("expected two or more scores on both sides in some group, found none")
    share = min(1.0, limit / total)
    rng = np.random.default_rng(seed)
    groups = int((numbers > 0).sum())
    parts = list(_gains(x, y, groups) if share == 1 else _drawn_gains(x, y, groups, share, rng))
    differences, gains = (np.concatenate(column) for column in zip(*parts, strict=True))
    threshold = _best(differences, gains)
    counts = pairs(x, y, threshold=threshold)
    return CalibratedAccuracy(
        divide(counts.concordant + counts.both_ties, counts.all), threshold, total, len(differences)
    )


def only_right(
    first: ArrayLike, second: ArrayLike, human: ArrayLike, thresholds: tuple[float, float]
) -> tuple[_Array, _Array, _Array]:
    """For each group, (groups,) each: pairs that only the first metric gets right, that only the second does, and all.

    A metric is right on a concordant pair, and on one tied on both sides, at its own threshold. Pairs count if all
    three have both scores.
    """
    a, y = pair_scores(first, human)
    b, y = pair_scores(second, y)
    a, y = pair_scores(a, y)
    if a.shape != b.shape:
        raise PronmetricError(f"expected scores of the same outputs, got the shapes {a.shape} and {b.shape}")
    counts = np.zeros((3, len(a)))
    for row, sides in enumerate(zip(a, b, y, strict=True)):
        x1, x2, people = (side[~np.isnan(sides[2])] for side in sides)
        for (d1, dy), (d2, _) in zip(_differences(x1, people), _differences(x2, people), strict=True):
            one, other = (_right(d, dy, threshold) for d, threshold in zip((d1, d2), thresholds, strict=True))
            counts[:, row] += (one & ~other).sum(), (other & ~one).sum(), len(dy)
    return counts[0], counts[1], counts[2]


def _right(dx: _Array, dy: _Array, threshold: float) -> NDArray[np.bool_]:
    tied = np.abs(dx) <= threshold
    return np.where(dy == 0, tied, ~tied & (np.sign(dx) == np.sign(dy)))


def _best(differences: _Array, gains: _Array) -> float:
    """The smallest threshold from 0 that maximises the total gain of the differences up to it."""
    values, group = np.unique(differences, return_inverse=True)
    sums = np.round(np.cumsum(np.bincount(group, weights=gains, minlength=len(values))), _DIGITS)
    best = int(np.argmax(sums))
    base = sums[0] if values[0] == 0 else 0.0  # equal scores are tied at threshold 0
    return float(values[best]) if sums[best] > base else 0.0


def _gain(dx: _Array, dy: _Array, weight: ArrayLike) -> _Array:
    """The gain in mean accuracy if a pair becomes tied: human ties become right, ordered pairs wrong."""
    return np.where(dy == 0, weight, np.where(dx * dy > 0, np.negative(weight), 0.0))


def _gains(x: _Array, y: _Array, groups: int) -> Iterator[tuple[_Array, _Array]]:
    """Difference and gain of every pair."""
    if x.shape[1] <= _NARROW:
        i, j = np.triu_indices(x.shape[1], 1)
        step = max(1, _BLOCK // max(1, len(i)))
        for start in range(0, len(x), step):
            dx, dy = (side[start : start + step, i] - side[start : start + step, j] for side in (x, y))
            there = ~np.isnan(dx)
            weight = np.broadcast_to(1 / (groups * np.maximum(1, there.sum(axis=1, keepdims=True))), dx.shape)
            yield np.abs(dx[there]), _gain(np.sign(dx[there]), np.sign(dy[there]), weight[there])
        return
    for a, b in zip(x, y, strict=True):
        a, b = a[~np.isnan(a)], b[~np.isnan(b)]
        number = len(a) * (len(a) - 1) / 2
        for dx, dy in _differences(a, b):
            yield np.abs(dx), _gain(np.sign(dx), np.sign(dy), 1 / (groups * number))


def _drawn_gains(
    x: _Array, y: _Array, groups: int, share: float, rng: np.random.Generator
) -> Iterator[tuple[_Array, _Array]]:
    """Difference and gain of pairs drawn with replacement, in proportion to the size of each group."""
    for a, b in zip(x, y, strict=True):
        a, b = a[~np.isnan(a)], b[~np.isnan(b)]
        if len(a) < 2:
            continue
        number = max(1, round(share * len(a) * (len(a) - 1) / 2))
        i, j = rng.integers(len(a), size=number), rng.integers(len(a) - 1, size=number)
        j += j >= i
        dx, dy = a[i] - a[j], b[i] - b[j]
        yield np.abs(dx), _gain(np.sign(dx), np.sign(dy), 1 / (groups * number))


def _narrow(x: _Array, y: _Array, threshold: float) -> _Array:
    """The five counts (5, groups) of small groups."""
    i, j = np.triu_indices(x.shape[1], 1)
    counts = np.zeros((5, len(x)))
    step = max(1, _BLOCK // max(1, len(i)))
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        counts[:, rows] = _kinds(x[rows][:, i] - x[rows][:, j], y[rows][:, i] - y[rows][:, j], threshold)
    return counts


def _block_counts(a: _Array, b: _Array, threshold: float) -> list[float]:
    """The five counts of one large group, in blocks of rows."""
    counts = np.zeros(5)
    for dx, dy in _differences(a, b):
        counts += _kinds(dx, dy, threshold)
    return counts.tolist()


def _differences(a: _Array, b: _Array) -> Iterator[tuple[_Array, _Array]]:
    """Differences of all pairs on both sides, flattened, in blocks."""
    start = 0
    while start < len(a) - 1:
        stop = min(len(a) - 1, start + max(1, _BLOCK // (len(a) - start)))
        later = np.arange(start, len(a))
        once = later[None, :] > np.arange(start, stop)[:, None]
        yield tuple((side[start:stop, None] - side[None, start:])[once] for side in (a, b))  # type: ignore[misc]
        start = stop


def _kinds(dx: _Array, dy: _Array, threshold: float) -> _Array:
    """(5, ...) counts along the last axis; NaN: no pair."""
    there = ~np.isnan(dx)
    metric, human = np.abs(dx) <= threshold, dy == 0
    alike = np.sign(dx) == np.sign(dy)
    ordered = there & ~metric & ~human
    kinds = (ordered & alike, ordered & ~alike, there & human & ~metric, there & metric & ~human, metric & human)
    return np.array([kind.sum(axis=-1) for kind in kinds], dtype=float)


def _sorted_counts(a: _Array, b: _Array, threshold: float) -> list[float]:
    """The five counts of one large group without a threshold, in O(n log n) time (Knight 1966)."""
    x, y = (np.unique(side, return_inverse=True)[1] for side in (a, b))
    total = len(a) * (len(a) - 1) / 2
    metric, human, both = _count_ties(x), _count_ties(y), _count_ties(x * (int(y.max(initial=0)) + 1) + y)
    discordant = _inversions(y[np.lexsort((y, x))])
    return [total - metric - human + both - discordant, discordant, human - both, metric - both, both]


def _count_ties(values: NDArray[np.intp]) -> float:
    counts = np.unique(values, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1) / 2).sum())


def _inversions(ranks: NDArray[np.intp]) -> float:
    """The number of inversions, counted bit by bit in groups of equal higher bits, each in its original order."""
    total = 0.0
    for bit in range(int(ranks.max(initial=0)).bit_length()):
        order = np.argsort(ranks >> (bit + 1), kind="stable")
        high, ones = (ranks >> (bit + 1))[order], ((ranks >> bit) & 1)[order]
        before = np.cumsum(ones) - ones
        firsts = np.r_[True, high[1:] != high[:-1]]
        base = before[firsts][np.cumsum(firsts) - 1]
        total += float(((before - base) * (1 - ones)).sum())
    return total


def _classes(values: _Array) -> NDArray[np.intp]:
    """The number of different scores in each group."""
    ordered = np.sort(values, axis=1)  # NaN is last
    new = np.ones_like(ordered, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return (new & ~np.isnan(ordered)).sum(axis=1)
