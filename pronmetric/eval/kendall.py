"""Kendall's tau with ties, and pairwise accuracy with calibrated ties, over groups of scores; numpy only.

Each pair of scores of a group is one of five: concordant (both sides order it alike), discordant, tied by people only,
by the metric only, or by both. With C, D, H, M and B for their numbers and N for all pairs (Deutsch et al. 2023, "Ties
Matter", whose names, and those of mt-metrics-eval's `KendallVariants`, stand in brackets):

- tau_b = (C - D) / sqrt((C + D + H) (C + D + M)) ("b");
- tau_c = 2 (C - D) / (n^2 (k - 1) / k), n scores, k the smaller number of different values on a side ("c");
- tau_10 = (C - D - M) / (C + D + M), of WMT10 ("10");
- tau_eq = (C + B - D - H - M) / N ("23");
- acc_eq = (C + B) / N ("acc23").

A metric that hardly ever gives one score twice cannot tie, where people often do. `calibrate` finds the threshold up to
which two of its scores count as tied, so that the mean of acc_eq over the groups is greatest ("KendallWithTiesOpt").
The figure is thus that of a threshold chosen on the very data that is measured, as in the paper.

Groups are rows: `metric` and `human` are (groups, scores), NaN where there is no score on either side. Higher is better
on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import divide

VARIANTS = ("b", "c", "10", "23", "acc23")
PAIRS = 4_000_000  # above this number of pairs the threshold is sought on that many, drawn at random
_NARROW = 64  # groups up to this size are compared all at once, pair by pair
_BLOCK = 1_000_000  # numbers held at a time
_DIGITS = 12  # mean accuracies that differ by less are equal

_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """How many pairs of each group, (groups,) each, are concordant, discordant, or tied on one side or on both."""

    concordant: _Array
    discordant: _Array
    human_ties: _Array
    metric_ties: _Array
    both_ties: _Array

    @property
    def all(self) -> _Array:
        """The pairs of each group."""
        return self.concordant + self.discordant + self.human_ties + self.metric_ties + self.both_ties


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Accuracy of each group, (groups,) in [0, 1], NaN without a pair, and the threshold at which their mean is best.

    pairs: how many there are. sought: on how many of them the threshold was sought.
    """

    accuracy: _Array
    threshold: float
    pairs: int
    sought: int


def paired(metric: ArrayLike, human: ArrayLike) -> tuple[_Array, _Array]:
    """Both sides as (groups, scores), NaN wherever one of them has none; one row of scores is one group.

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
    """Count the pairs of each group; two scores of the metric that differ by `threshold` or less are tied.

    >>> found = pairs([1.0, 2.0, 2.0], [1.0, 1.0, 3.0])
    >>> found.concordant, found.human_ties, found.metric_ties
    (array([1.]), array([1.]), array([1.]))
    """
    if not threshold >= 0:
        raise PronmetricError(f"expected a threshold from 0, got {threshold}")
    x, y = paired(metric, human)
    if x.shape[1] <= _NARROW:
        return Pairs(*_narrow(x, y, threshold))
    count = _sorted_counts if threshold == 0 else _block_counts
    rows = [count(a[~np.isnan(a)], b[~np.isnan(b)], threshold) for a, b in zip(x, y, strict=True)]
    return Pairs(*np.array(rows, dtype=float).T.reshape(5, len(x)))


def tau(metric: ArrayLike, human: ArrayLike, *, variant: str = "b", threshold: float = 0.0) -> _Array:
    """A variant of tau of each group, (groups,); NaN where it is undefined: no pair, or one side is constant.

    In [-1, 1], with variant "acc23" in [0, 1]. "10", "23" and "acc23" are defined for a constant metric too.

    >>> [round(float(tau([1.0, 2.0, 3.0], [1.0, 1.0, 3.0], variant=v)[0]), 3) for v in ("b", "10", "acc23")]
    [0.816, 1.0, 0.667]

    Raises:
        PronmetricError: another variant, "c" with a threshold, or what `paired` raises for.
    """
    if variant not in VARIANTS:
        raise PronmetricError(f"expected one of {', '.join(VARIANTS)} as the variant, got {variant!r}")
    if variant == "c" and threshold:
        raise PronmetricError("variant c counts different scores, which no threshold defines; leave the threshold at 0")
    x, y = paired(metric, human)
    found = pairs(x, y, threshold=threshold)
    surplus = found.concordant - found.discordant
    ordered = found.concordant + found.discordant
    if variant == "b":
        return divide(surplus, np.sqrt((ordered + found.human_ties) * (ordered + found.metric_ties)))
    if variant == "c":
        scores, classes = (~np.isnan(x)).sum(axis=1), np.minimum(_classes(x), _classes(y))
        return divide(2 * surplus, scores**2 * (classes - 1) / np.maximum(classes, 1))
    if variant == "10":
        return divide(surplus - found.metric_ties, ordered + found.metric_ties)
    right = found.concordant + found.both_ties
    return divide(right if variant == "acc23" else 2 * right - found.all, found.all)


def calibrate(metric: ArrayLike, human: ArrayLike, *, limit: int = PAIRS, seed: int = 0) -> Calibrated:
    """Accuracy with ties ("acc23") of each group at the threshold, one for all groups, that makes their mean greatest.

    Candidates are 0 and each difference of two of the metric's scores in a group; of equally good ones the smallest.
    With more than `limit` pairs the candidates are those of as many pairs, drawn with `seed`; the accuracies are of all
    pairs nevertheless.

    >>> found = calibrate([1.0, 1.1, 3.0], [1.0, 1.0, 3.0])
    >>> float(found.accuracy[0]), round(found.threshold, 4)
    (1.0, 0.1)

    Raises:
        PronmetricError: no group has two scores, or what `paired` raises for.
    """
    x, y = paired(metric, human)
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
    found = pairs(x, y, threshold=threshold)
    return Calibrated(divide(found.concordant + found.both_ties, found.all), threshold, total, len(differences))


def only_right(
    first: ArrayLike, second: ArrayLike, human: ArrayLike, thresholds: tuple[float, float]
) -> tuple[_Array, _Array, _Array]:
    """Of each group, (groups,) each: pairs that the first metric alone gets right, the second alone, and all pairs.

    Right is what is concordant, or tied on both sides, at the metric's own threshold. Pairs count where all three have
    both scores.
    """
    a, y = paired(first, human)
    b, y = paired(second, y)
    a, y = paired(a, y)
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
    """The smallest threshold at which the sum of the gains of all differences up to it is greatest, from 0."""
    values, group = np.unique(differences, return_inverse=True)
    sums = np.round(np.cumsum(np.bincount(group, weights=gains, minlength=len(values))), _DIGITS)
    best = int(np.argmax(sums))
    base = sums[0] if values[0] == 0 else 0.0  # at threshold 0 equal scores are tied already
    return float(values[best]) if sums[best] > base else 0.0


def _gain(dx: _Array, dy: _Array, weight: ArrayLike) -> _Array:
    """What the mean accuracy gains where pairs become tied: people's ties become right, ordered pairs wrong."""
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
    """Difference and gain of pairs drawn with replacement, from each group its share of them."""
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
    """(5, groups) counts of all pairs of small groups."""
    i, j = np.triu_indices(x.shape[1], 1)
    counts = np.zeros((5, len(x)))
    step = max(1, _BLOCK // max(1, len(i)))
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        counts[:, rows] = _kinds(x[rows][:, i] - x[rows][:, j], y[rows][:, i] - y[rows][:, j], threshold)
    return counts


def _block_counts(a: _Array, b: _Array, threshold: float) -> list[float]:
    """The five counts of one large group, some rows of its pairs at a time."""
    counts = np.zeros(5)
    for dx, dy in _differences(a, b):
        counts += _kinds(dx, dy, threshold)
    return counts.tolist()


def _differences(a: _Array, b: _Array) -> Iterator[tuple[_Array, _Array]]:
    """Differences of all pairs on both sides, flat, a block at a time."""
    start = 0
    while start < len(a) - 1:
        stop = min(len(a) - 1, start + max(1, _BLOCK // (len(a) - start)))
        later = np.arange(start, len(a))
        once = later[None, :] > np.arange(start, stop)[:, None]
        yield tuple((side[start:stop, None] - side[None, start:])[once] for side in (a, b))  # type: ignore[misc]
        start = stop


def _kinds(dx: _Array, dy: _Array, threshold: float) -> _Array:
    """(5, ...) counts along the last axis; NaN is no pair."""
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
    metric, human, both = _tied(x), _tied(y), _tied(x * (int(y.max(initial=0)) + 1) + y)
    discordant = _inversions(y[np.lexsort((y, x))])
    return [total - metric - human + both - discordant, discordant, human - both, metric - both, both]


def _tied(values: NDArray[np.intp]) -> float:
    counts = np.unique(values, return_counts=True)[1].astype(float)
    return float((counts * (counts - 1) / 2).sum())


def _inversions(ranks: NDArray[np.intp]) -> float:
    """How many pairs stand in falling order; bit by bit, in groups of equal higher bits, each in its first order."""
    found = 0.0
    for bit in range(int(ranks.max(initial=0)).bit_length()):
        order = np.argsort(ranks >> (bit + 1), kind="stable")
        high, ones = (ranks >> (bit + 1))[order], ((ranks >> bit) & 1)[order]
        before = np.cumsum(ones) - ones
        firsts = np.r_[True, high[1:] != high[:-1]]
        base = before[firsts][np.cumsum(firsts) - 1]
        found += float(((before - base) * (1 - ones)).sum())
    return found


def _classes(values: _Array) -> NDArray[np.intp]:
    """The number of different scores in each group."""
    ordered = np.sort(values, axis=1)  # NaN comes last
    new = np.ones_like(ordered, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return (new & ~np.isnan(ordered)).sum(axis=1)
