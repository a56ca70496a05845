"""Significance clusters and rank ranges of systems, as in the rankings of WMT (Kocmi et al. 2022, section 6).

A line between two clusters means that each system above it is significantly better than each system below it. Systems
in one cluster are not all equal: the rank range of a system counts the systems that are significantly better and worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pronmetric.errors import PronmetricError

ALPHA = 0.05
"""Level of significance, as in the rankings of WMT."""


class Place(NamedTuple):
    """A system's cluster, from 1 for the best, and its rank range: 1 + systems better, systems - systems worse."""

    cluster: int
    best: int
    worst: int


def places(
    scores: Sequence[float | None], p_values: Mapping[tuple[int, int], float | None], *, alpha: float = ALPHA
) -> list[Place | None]:
    """The place of each system; None for a system without a score.

    Args:
        scores: of the systems, higher is better.
        p_values: of the difference of each two systems with a score, (a, b) with a < b; None: no test, which is no
            significant difference.
        alpha: a difference is significant if p < alpha.

    >>> places([0.9, 0.2, 0.8], {(0, 1): 0.01, (0, 2): 0.5, (1, 2): 0.02})
    [Place(cluster=1, best=1, worst=2), Place(cluster=2, best=3, worst=3), Place(cluster=1, best=1, worst=2)]

    Raises:
        PronmetricError: a pair of systems is missing.
    """
    known = [k for k, score in enumerate(scores) if score is not None]
    if missing := [(a, b) for a in known for b in known if a < b and (a, b) not in p_values]:
        raise PronmetricError(f"expected a p value for each two systems, got none for {missing[0]}")

    def beats(a: int, b: int) -> bool:
        p = p_values[min(a, b), max(a, b)]
        first, second = scores[a], scores[b]
        return p is not None and p < alpha and first is not None and second is not None and first > second

    order = sorted(known, key=lambda k: -(scores[k] or 0.0))
    placed: list[Place | None] = [None] * len(scores)
    cluster = 1
    for place, system in enumerate(order):
        if place and all(beats(a, b) for a in order[:place] for b in order[place:]):
            cluster += 1
        better, worse = (sum(beats(*pair) for pair in each) for each in _pairs(system, known))
        placed[system] = Place(cluster, 1 + better, len(known) - worse)
    return placed


def _pairs(system: int, known: Sequence[int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    others = [other for other in known if other != system]
    return [(other, system) for other in others], [(system, other) for other in others]
