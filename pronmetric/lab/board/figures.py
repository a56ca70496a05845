"""The figures of a scored test set: scores, clusters and pairs of systems, for all pronouns and by class.

The score of a system is 100 x the mean probability of its pronouns; the errors in 100 pronouns are 100 less the score,
since the expected number of errors is the sum of 1 - p. Intervals and tests are those of `score` and `compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pronmetric.eval.clusters import Place, places
from pronmetric.eval.decision import SCORE
from pronmetric.eval.resampling import divide
from pronmetric.eval.significance import RESAMPLES, Totals, difference, interval, randomisation, totals
from pronmetric.lab.board.scored import BoardSet, Pronouns, Scored
from pronmetric.scoring.comparison import TIE_THRESHOLD
from pronmetric.scoring.score import bounds

ALL = "all"
"""The group of all pronouns; the others are the classes."""
BY = SCORE
"""What decides between segments and between systems: the one number that each class of pronouns has."""

Interval = tuple[float, float] | None


class SystemFigures(NamedTuple):
    """A system's pronouns of a group: their number, score, 95 % interval, and its place among the systems.

    score: in [0, 100], higher is better; None without a pronoun. interval: None with fewer than 4 units.
    """

    pronouns: int
    score: float | None
    interval: Interval
    place: Place | None

    @property
    def errors(self) -> float | None:
        """Expected errors in 100 pronouns, lower is better."""
        return None if self.score is None else 100 - self.score

    @property
    def errors_interval(self) -> Interval:
        """The 95 % interval of the errors, that of the score turned round."""
        return None if self.interval is None else (100 - self.interval[1], 100 - self.interval[0])


class PairFigures(NamedTuple):
    """Two systems: the difference of the scores, above 0 if the first is better, its interval and p value.

    p: of approximate randomisation. wins, ties, losses: segments in which the first is better, equal within the tie
    threshold, worse.
    """

    difference: float | None
    interval: Interval
    p: float | None
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The figures of a group of pronouns: of each system, and of each pair (a, b) of systems with a < b."""

    systems: tuple[SystemFigures, ...]
    pairs: Mapping[tuple[int, int], PairFigures]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of a test set. systems: their names. groups: `ALL`, then the classes that occur.

    resampled: "documents" or "segments". signature: of the scores.
    """

    testset: BoardSet
    segments: int
    resampled: str
    systems: tuple[str, ...]
    groups: Mapping[str, Group]
    signature: str


class _Parts(NamedTuple):
    """A system's pronouns of a group: by segment, and in the units that are resampled."""

    segments: Totals
    units: Totals


def compute(
    scored: Scored, *, seed: int, resamples: int = RESAMPLES, advance: Callable[[int], object] = lambda _: None
) -> Figures:
    """All figures; `advance` is called with the number of pairs of systems finished."""
    documents = scored.docs is not None and len(set(scored.docs)) > 1
    groups = {}
    for number, name in enumerate((ALL, *scored.classes), start=-1):
        parts = [_parts(found, number, scored, documents) for found in scored.systems.values()]
        if number < 0 or any(part.units.counts.any() for part in parts):
            groups[name] = _group(parts, seed=seed, resamples=resamples, advance=advance)
    return Figures(
        testset=scored.testset,
        segments=scored.segments,
        resampled="documents" if documents else "segments",
        systems=tuple(scored.systems),
        groups=groups,
        signature=scored.signature,
    )


def segment_scores(found: Pronouns, segments: int, *, kind: int | None = None) -> NDArray[np.float64]:
    """The mean probability of each segment's pronouns, of one class or all; NaN without one."""
    return divide(*_by_segment(found, segments, kind))


def _by_segment(found: Pronouns, segments: int, kind: int | None) -> Totals:
    chosen = slice(None) if kind is None else found.kind == kind
    where, probability = found.segment[chosen], found.probability[chosen]
    sums, counts = np.bincount(where, probability, segments), np.bincount(where, minlength=segments)
    return Totals(np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64))


def _parts(found: Pronouns, number: int, scored: Scored, documents: bool) -> _Parts:
    parts = _by_segment(found, scored.segments, None if number < 0 else number)
    return _Parts(parts, totals(100 * parts.sums, parts.counts, scored.docs if documents else None))


def _group(parts: list[_Parts], *, seed: int, resamples: int, advance: Callable[[int], object]) -> Group:
    pairs = {}
    for a, b in combinations(range(len(parts)), 2):
        pairs[a, b] = _pair(parts[a], parts[b], seed=seed, resamples=resamples)
        advance(1)
    scores = [part.units.mean() if part.units.counts.any() else None for part in parts]
    ranked = places(scores, {pair: found.p for pair, found in pairs.items()})
    ends = [interval(part.units, bounds(100.0)) for part in parts]
    counts = [int(part.units.counts.sum()) for part in parts]
    return Group(systems=tuple(map(SystemFigures, counts, scores, ends, ranked)), pairs=pairs)


def _pair(a: _Parts, b: _Parts, *, seed: int, resamples: int) -> PairFigures:
    tested = difference(a.units, b.units)
    gaps = divide(*a.segments) - divide(*b.segments)
    gaps = gaps[~np.isnan(gaps)]
    both = bool(a.units.counts.any() and b.units.counts.any())
    return PairFigures(
        difference=tested.value if both else None,
        interval=None if tested.low is None or tested.high is None else (tested.low, tested.high),
        p=randomisation(a.units, b.units, resamples=resamples, seed=seed),
        wins=int(np.sum(gaps > TIE_THRESHOLD)),
        ties=int(np.sum(np.abs(gaps) <= TIE_THRESHOLD)),
        losses=int(np.sum(gaps < -TIE_THRESHOLD)),
    )
