"""The figures of a scored test set: scores, clusters and pairs of systems, for all pronouns and by class; verdicts.

The score of a system is 100 x the mean probability of its pronouns; the errors in 100 pronouns are 100 less the score,
since the expected number of wrong ones is the sum of 1 - p; of all pronouns together, the missing ones are added where
they are known. Scores, clusters and differences by class are of this score,
which each class has. The verdict on two systems is by what decides (`by`), as in `compare`. Intervals and tests are
those of `score` and `compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pronmetric.eval.clusters import Place, places
from pronmetric.eval.decision import ERRORS, PREFERENCE, SCORE
from pronmetric.eval.ratio_sums import COUNT
from pronmetric.eval.resampling import divide
from pronmetric.eval.significance import Totals, difference, interval, randomisation, totals
from pronmetric.lab.board.scored import BoardScores, BoardSet, Pronouns
from pronmetric.output.tsv import DIGITS
from pronmetric.scoring.comparison import TIE_THRESHOLD
from pronmetric.scoring.score import bounds

ALL = "all"
"""The group of all pronouns; the others are the classes."""

Interval = tuple[float, float] | None


class Missing(NamedTuple):
    """Expected missing pronouns in 100 pronouns, and the 95 % interval of all errors, missing ones included."""

    value: float
    interval: Interval


class SystemFigures(NamedTuple):
    """A system's pronouns of a group: their number, score, 95 % interval, and its place among the systems.

    score: in [0, 100], higher is better; None without a pronoun. interval: None with fewer than 4 units. missing: of
    all pronouns together; None where it is not known. surplus: expected surplus pronouns in 100; None where they are
    not told from wrong ones.
    """

    pronouns: int
    score: float | None
    interval: Interval
    place: Place | None
    missing: Missing | None = None
    surplus: float | None = None

    @property
    def not_right(self) -> float | None:
        """Expected wrong or surplus pronouns in 100, lower is better."""
        return None if self.score is None else 100 - self.score

    @property
    def wrong(self) -> float | None:
        """Expected wrong pronouns in 100, with surplus ones where these are not told apart, lower is better."""
        return None if self.not_right is None else self.not_right - (self.surplus or 0.0)

    @property
    def errors(self) -> float | None:
        """Expected errors in 100 pronouns, lower is better: wrong, surplus and, where they are known, missing ones."""
        if self.not_right is None or self.missing is None:
            return self.not_right
        return self.not_right + self.missing.value

    @property
    def errors_interval(self) -> Interval:
        """The 95 % interval of the errors; without missing ones that of the score turned round."""
        if self.missing is not None:
            return self.missing.interval
        return None if self.interval is None else (100 - self.interval[1], 100 - self.interval[0])


class PairFigures(NamedTuple):
    """Two systems: the difference, above 0 if the first is better, in points or in the unit of what decides.

    interval: its 95 % interval. p: of approximate randomisation. wins, ties, losses: segments in which the first is
    better, equal within the tie threshold, worse.
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
    """The figures of a test set. systems: their names. groups: by score, `ALL`, then the classes that occur.

    by: what decides, one of `DECISIONS`. verdicts: on each pair (a, b) of systems with a < b, by what decides.
    resampled: "documents" or "segments". signature: of the scores.
    """

    testset: BoardSet
    segments: int
    resampled: str
    systems: tuple[str, ...]
    groups: Mapping[str, Group]
    by: str
    verdicts: Mapping[tuple[int, int], PairFigures]
    signature: str


class _Parts(NamedTuple):
    """A system's values: of each segment, and in the units that are resampled, in the unit of a system."""

    segments: Totals
    units: Totals


def compute(
    scored: BoardScores,
    *,
    seed: int,
    by: str = SCORE,
    advance: Callable[[int], object] = lambda _: None,
) -> Figures:
    """All figures, with verdicts by `by`; `advance` is called with the number of pairs of systems finished."""
    documents = scored.docs is not None and len(set(scored.docs)) > 1
    groups = {}
    for number, name in enumerate((ALL, *scored.classes), start=-1):
        parts = [_parts(pronouns, number, scored, documents) for pronouns in scored.systems.values()]
        if number < 0 or any(part.units.counts.any() for part in parts):
            apart = [_apart(scored, system, documents) if number < 0 else (None, None) for system in scored.systems]
            groups[name] = _group(parts, apart, seed=seed, advance=advance)
    verdicts = groups[ALL].pairs
    if by != SCORE:
        decisive = [_decisive(scored, name, by, documents) for name in scored.systems]
        verdicts = _pairs(decisive, seed=seed, advance=advance)
    return Figures(
        testset=scored.testset,
        segments=scored.segments,
        resampled="documents" if documents else "segments",
        systems=tuple(scored.systems),
        groups=groups,
        by=by,
        verdicts=verdicts,
        signature=scored.signature,
    )


def segment_values(scored: BoardScores, system: str, by: str) -> NDArray[np.float64]:
    """What decides about each segment of a system, as `SegmentScore.value` (segments,); NaN without a pronoun."""
    return divide(*_decisive(scored, system, by, documents=False).segments)


def _decisive(scored: BoardScores, system: str, by: str, documents: bool) -> _Parts:
    """A system's values by what decides, as `Tally.totals` has them."""
    pronouns, docs = scored.systems[system], scored.docs if documents else None
    if by == SCORE:
        return _parts(pronouns, -1, scored, documents)
    if by == ERRORS:
        sums, counts = _by_segment(pronouns, scored.segments, None)
        missing = scored.missing.get(system)
        known = (counts > 0) if missing is None else np.ones(scored.segments)
        errors = counts - sums + (0.0 if missing is None else missing)
        values = Totals(-errors, known.astype(np.float64))
        return _Parts(values, totals(100 * values.sums, np.ones(scored.segments), docs))
    assert by == PREFERENCE
    preferences = scored.preferences[system]
    values = Totals(np.nan_to_num(preferences), (~np.isnan(preferences)).astype(np.float64))
    return _Parts(values, totals(*values, docs))


def _apart(scored: BoardScores, system: str, documents: bool) -> tuple[Missing | None, float | None]:
    """A system's missing pronouns and surplus ones in 100; None without a pronoun, or where they are not known."""
    missing, surplus = scored.missing.get(system), scored.surplus.get(system)
    sums, counts = _by_segment(scored.systems[system], scored.segments, None)
    if missing is None or not counts.any():
        return None, None
    number = float(counts.sum())
    errors = totals(100 * (counts - sums + missing), counts, scored.docs if documents else None)
    lacking = Missing(float(100 * missing.sum()) / number, interval(errors, COUNT))
    return lacking, None if surplus is None else float(100 * surplus.sum()) / number


def _by_segment(pronouns: Pronouns, segments: int, kind: int | None) -> Totals:
    chosen = slice(None) if kind is None else pronouns.kind == kind
    where, probability = pronouns.segment[chosen], pronouns.probability[chosen]
    sums, counts = np.bincount(where, probability, segments), np.bincount(where, minlength=segments)
    return Totals(np.asarray(sums, dtype=np.float64), np.asarray(counts, dtype=np.float64))


def _parts(pronouns: Pronouns, number: int, scored: BoardScores, documents: bool) -> _Parts:
    parts = _by_segment(pronouns, scored.segments, None if number < 0 else number)
    return _Parts(parts, totals(100 * parts.sums, parts.counts, scored.docs if documents else None))


def _group(
    parts: list[_Parts],
    apart: list[tuple[Missing | None, float | None]],
    *,
    seed: int,
    advance: Callable[[int], object],
) -> Group:
    pairs = _pairs(parts, seed=seed, advance=advance)
    scores = [part.units.mean() if part.units.counts.any() else None for part in parts]
    ranked = places(scores, {pair: figures.p for pair, figures in pairs.items()})
    ends = [interval(part.units, bounds(100.0)) for part in parts]
    counts = [int(part.units.counts.sum()) for part in parts]
    return Group(
        systems=tuple(map(SystemFigures, counts, scores, ends, ranked, *zip(*apart, strict=True))), pairs=pairs
    )


def _pairs(parts: list[_Parts], *, seed: int, advance: Callable[[int], object]) -> dict[tuple[int, int], PairFigures]:
    pairs = {}
    for a, b in combinations(range(len(parts)), 2):
        pairs[a, b] = _pair(parts[a], parts[b], seed=seed)
        advance(1)
    return pairs


def _pair(a: _Parts, b: _Parts, *, seed: int) -> PairFigures:
    tested = difference(a.units, b.units)
    gaps = divide(*a.segments) - divide(*b.segments)
    gaps = gaps[~np.isnan(gaps)]
    both = bool(a.segments.counts.any() and b.segments.counts.any())
    return PairFigures(
        difference=tested.value if both else None,
        interval=None if tested.low is None or tested.high is None else (tested.low, tested.high),
        p=randomisation(a.units, b.units, seed=seed),
        wins=int(np.sum(gaps > TIE_THRESHOLD)),
        ties=int(np.sum(np.abs(gaps) <= TIE_THRESHOLD)),
        losses=int(np.sum(gaps < -TIE_THRESHOLD)),
    )


def rounded(value: float | None, digits: int = DIGITS) -> float | None:
    """A figure with the decimals that files have."""
    return None if value is None else round(value, digits)
