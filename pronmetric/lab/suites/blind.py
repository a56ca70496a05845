"""What a judge that reads no context reaches on a set, beside chance: both are equal where only the context decides."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pronmetric.eval.estimates import cluster_share
from pronmetric.lab.suites.contrastive import Item

FREQUENCY = "frequency of the words"


class Blind(NamedTuple):
    """The accuracy of a judge without context, in [0, 1]; of n equal scores the right one counts as 1 / n.

    low, high: 95 % interval over documents, or over items where there is one document; None with too few. chance: the
    accuracy of drawing a candidate.
    """

    judge: str
    accuracy: float
    low: float | None
    high: float | None
    chance: float
    items: int
    documents: int

    @property
    def above_chance(self) -> bool | None:
        """Whether the interval is above chance, so that part of the set needs no context; None without an interval."""
        return None if self.low is None else self.low > self.chance


def by_frequency(items: Sequence[Item], counts: Mapping[str, int]) -> list[float]:
    """The mean log frequency of each candidate's words, in a corpus from which the right candidate is taken out.

    counts: of the lower-cased words of the corpus, split at blanks.
    """
    total, scores = sum(counts.values()) + len(counts), []
    for item in items:
        own = Counter(item.candidates[item.right].target.lower().split())
        for one in item.candidates:
            words = one.target.lower().split()
            each = (math.log((1 + max(0, counts.get(word, 0) - own[word])) / total) for word in words)
            scores.append(sum(each) / max(1, len(words)))
    return scores


def measure(judge: str, items: Sequence[Item], scores: Sequence[float]) -> Blind:
    """The accuracy by scores of all candidates, in order; higher is better.

    Raises:
        PronmetricError: there is no item.
    """
    rest, shares = iter(scores), []
    for item in items:
        own = [next(rest) for _ in item.candidates]
        best = [place for place, score in enumerate(own) if score == max(own)]
        shares.append((item.right in best) / len(best))
    documents = [item.document for item in items]
    several = len(set(documents)) > 1
    found = cluster_share(shares, documents if several else range(len(items)))
    chance = sum(1 / len(item.candidates) for item in items) / len(items)
    return Blind(judge, found.value, found.low, found.high, chance, len(items), len(set(documents)))
