"""Pair accuracy: how often the text with the better pronouns gets the higher score."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.estimates import Estimate, cluster_share


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Share of pairs won by the better text, in [0, 1], higher is better.

    low, high: 95 % interval over clusters, or None with too few. Equal scores and missing scores are
    wrong, and are counted separately: pairs = right + lost + equal + null.
    """

    accuracy: float
    low: float | None
    high: float | None
    pairs: int
    right: int
    equal: int
    null: int


@dataclass(frozen=True, slots=True)
class CountSplit:
    """Accuracy on pairs with equally many scored pronouns in both texts, and on the other pairs.

    fewer_won: share of the unequal pairs won by the text with fewer pronouns, with its interval. A share far
    from one half together with a high accuracy shows that the number of pronouns alone decides pairs.
    A part without pairs is None.
    """

    equal: Accuracy | None
    unequal: Accuracy | None
    fewer_won: Estimate | None


@dataclass(frozen=True, slots=True)
class Confusion:
    """The number of pairs of this reference and wrong form that are not won: `wrong` of `pairs`."""

    reference: str
    system: str
    pairs: int
    wrong: int


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """The outcome of each pair: exactly one of right, lost, equal (scores) and null (a score is missing)."""

    right: NDArray[np.bool_]
    lost: NDArray[np.bool_]
    equal: NDArray[np.bool_]
    null: NDArray[np.bool_]

    def where(self, mask: NDArray[np.bool_]) -> Decisions:
        """The decisions of the pairs that `mask` selects."""
        return Decisions(self.right[mask], self.lost[mask], self.equal[mask], self.null[mask])


def decide(better: Sequence[float | None], worse: Sequence[float | None]) -> Decisions:
    """Decide each pair by its two scores, the better text's first; None or NaN is a text without a score.

    >>> decide([0.9, 0.2, 0.5, None], [0.1, 0.3, 0.5, 0.4]).right.tolist()
    [True, False, False, False]
    """
    if len(better) != len(worse):
        raise PronmetricError(f"each pair needs two scores: got {len(better)} and {len(worse)}")
    a, b = np.array(better, dtype=float), np.array(worse, dtype=float)
    return Decisions(right=a > b, lost=a < b, equal=a == b, null=np.isnan(a) | np.isnan(b))


def accuracy(decisions: Decisions, clusters: Sequence[Hashable]) -> Accuracy:
    """Pair accuracy; the interval is over `clusters`, one for each pair (its reference sentence, its document)."""
    share = cluster_share(decisions.right, clusters)
    return Accuracy(
        accuracy=share.value,
        low=share.low,
        high=share.high,
        pairs=len(decisions.right),
        right=int(decisions.right.sum()),
        equal=int(decisions.equal.sum()),
        null=int(decisions.null.sum()),
    )


def accuracy_by(groups: Sequence[str], decisions: Decisions, clusters: Sequence[Hashable]) -> dict[str, Accuracy]:
    """Pair accuracy of each group (kind, language, person, pronoun pair ...), in alphabetical order."""
    labels = np.array(groups, dtype=object)
    return {group: _part(labels == group, decisions, clusters) for group in sorted(set(groups))}


def accuracy_by_count(
    better_counts: Sequence[int],
    worse_counts: Sequence[int],
    decisions: Decisions,
    clusters: Sequence[Hashable],
) -> CountSplit:
    """Pair accuracy for texts with equal and unequal numbers of scored pronouns (`a`: of the better text)."""
    a, b = np.array(better_counts, dtype=int), np.array(worse_counts, dtype=int)
    if len(a) != len(b) or len(a) != len(decisions.right):
        raise PronmetricError(
            f"each pair needs two pronoun counts: got {len(a)} and {len(b)} for {len(decisions.right)} pairs"
        )
    same = a == b
    fewer = np.where(a < b, decisions.right, decisions.lost)[~same]
    unequal = _pick(~same, clusters)
    return CountSplit(
        equal=_part(same, decisions, clusters) if same.any() else None,
        unequal=_part(~same, decisions, clusters) if unequal else None,
        fewer_won=cluster_share(fewer, unequal) if unequal else None,
    )


def confusions(references: Sequence[str], systems: Sequence[str], decisions: Decisions) -> list[Confusion]:
    """The (reference form, wrong form) pairs, most errors first."""
    counts: dict[tuple[str, str], list[int]] = {}
    for reference, system, right in zip(references, systems, decisions.right, strict=True):
        count = counts.setdefault((reference, system), [0, 0])
        count[0] += 1
        count[1] += not right
    counted = [Confusion(ref, sys, pairs, wrong) for (ref, sys), (pairs, wrong) in counts.items()]
    return sorted(counted, key=lambda c: (-c.wrong, -c.pairs, c.reference, c.system))


def _part(mask: NDArray[np.bool_], decisions: Decisions, clusters: Sequence[Hashable]) -> Accuracy:
    return accuracy(decisions.where(mask), _pick(mask, clusters))


def _pick(mask: NDArray[np.bool_], clusters: Sequence[Hashable]) -> list[Hashable]:
    return [cluster for cluster, picked in zip(clusters, mask, strict=True) if picked]
