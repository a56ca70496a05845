"""A result of `score` or `compare` as `report` and `correlate` use it: systems side by side, segment by segment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import NamedTuple

from pronmetric.checkpoint.people import People
from pronmetric.eval.decision import PREFERENCE, SCORE, decide
from pronmetric.scoring.score import Gap

ERROR_RATES = (
    "errors_per_100_pronouns",
    "expected_wrong_per_100_pronouns",
    "expected_missing_per_100_pronouns",
    "expected_surplus_per_100_pronouns",
)
"""Expected errors together, and apart where missing pronouns are known: wrong, missing and surplus ones.

Without the last, which older files lack, surplus pronouns are among the wrong ones.
"""
RATES = (*ERROR_RATES, "errors_per_1000_words", "preference")
UNITS = "documents or segments"  # where a file does not say which
FEW = 20  # with no more documents or segments an interval is rough


class Pronoun(NamedTuple):
    """A scored pronoun; its span is in code points of the output's text. score: higher is better.

    evidence: the log-odds of the form given the source, the decisive source word ("": none of the sentence), and where
    it begins in the source. surplus: the probability that it should not be there; None if the file has none.
    """

    text: str
    start: int
    end: int
    score: float
    evidence: tuple[float, str, int] | None = None
    surplus: float | None = None


class Output(NamedTuple):
    """A system's output for a segment, with its context, score (None without a pronoun) and pronouns.

    errors, preference, missing, surplus: None if the file has none; errors are wrong, surplus and missing pronouns.
    gaps: where a pronoun may be missing. place: where the text stands in its file; None for a line of a list.
    """

    text: str
    context: str
    score: float | None
    pronouns: tuple[Pronoun, ...]
    errors: float | None = None
    preference: float | None = None
    missing: float | None = None
    gaps: tuple[Gap, ...] = ()
    surplus: float | None = None
    place: str | None = None

    @property
    def wrong(self) -> float | None:
        """The errors that are neither missing pronouns nor, if they are told apart, surplus ones; None if not known."""
        if self.errors is None or self.missing is None:
            return None
        return max(0.0, self.errors - self.missing - (self.surplus or 0.0))

    def value(self, by: str) -> float | None:
        """The number by which outputs are compared, as `SegmentScore.value`; None if the file does not have it."""
        if by == PREFERENCE:
            return self.preference
        if by == SCORE or (self.score is None and self.missing is None):
            return self.score
        return None if self.errors is None else -self.errors


class Verdict(NamedTuple):
    """Which of two outputs, A and B, is better: "a", "b" or "tie"; None where a side has no pronoun.

    difference: A minus B in the unit of what decides (`SEGMENT_UNITS`), above 0 if A is better; None without a verdict.
    """

    better: str | None
    difference: float | None


def judge(outputs: Iterable[Output], *, by: str, tie: float) -> tuple[Verdict, ...]:
    """The verdict on each two outputs (0 and 1, 0 and 2, ...), by one of `DECISIONS` and the tie threshold."""
    return tuple(_judge(a, b, tie) for a, b in combinations([output.value(by) for output in outputs], 2))


def _judge(a: float | None, b: float | None, tie: float) -> Verdict:
    better = decide(a, b, tie=tie)
    return Verdict(None if better is None else better.lower(), None if a is None or b is None else a - b)


class Segment(NamedTuple):
    """One segment, with its outputs in the order of the systems. doc, source, reference: None if not given.

    verdicts: on each two outputs (0 and 1, 0 and 2, ...), as `compare` decided, or decides by default.
    """

    number: int
    doc: str | None
    source: str | None
    reference: str | None
    outputs: tuple[Output, ...]
    verdicts: tuple[Verdict, ...] = ()


class System(NamedTuple):
    """A system: its score in [0, 100] (unbounded with an unbounded head) and its 95 % interval.

    also: its baseline scores by name, from `score --also`. rates: values and intervals by `RATES`; those that the file
    does not have are left out. units: documents or segments (`resampled`); None if not given.
    """

    name: str
    score: float | None
    interval: tuple[float, float] | None
    pronouns: int
    segments: int
    with_pronoun: int
    also: Mapping[str, float | None] = MappingProxyType({})
    rates: Mapping[str, tuple[float, tuple[float, float] | None] | None] = MappingProxyType({})
    units: int | None = None
    resampled: str = UNITS


class Pair(NamedTuple):
    """Two systems (indices): their difference, above 0 if `a` is better, its interval and its significance.

    The difference is in the unit of what decides (`SYSTEM_UNITS`); score_difference is that of the scores.
    p_randomisation, p_t: Holm-adjusted, None if not given. units: documents or segments (`resampled`), None if not
    given.
    """

    a: int
    b: int
    difference: float | None
    interval: tuple[float, float] | None
    p_randomisation: float | None
    p_t: float | None
    wins: int
    ties: int
    losses: int
    units: int | None = None
    score_difference: float | None = None
    resampled: str = UNITS


def system_notes(systems: Iterable[System]) -> tuple[str, ...]:
    """What a reader of the systems' intervals must know."""
    return _few(systems, "intervals are rough")


def pair_notes(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """What a reader of the pairs' intervals and p values must know."""
    few = _few(pairs, "intervals and p values of pairs are rough, and the two tests can differ")
    return few + ("p values of pairs are adjusted by Holm's method, their intervals are not",) * (len(pairs) > 1)


def _few(measured: Iterable[System | Pair], what: str) -> tuple[str, ...]:
    """A note on the fewest units, if there are no more than `FEW`."""
    few = min(((one.units, one.resampled) for one in measured if one.units is not None), default=(FEW + 1, ""))
    return (f"only {few[0]} {few[1]}: {what}",) if few[0] <= FEW else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A result. pairs: only for `compare`. tie: the tie threshold. by: what decides, one of `DECISIONS`.

    probability: whether pronoun scores are probabilities. notes: notes for the reader. source_language: the code of the
    sources' language, None if unknown. people: how the model's marks meet those of people, by its checkpoint's record;
    None if the file has none.
    """

    systems: tuple[System, ...]
    pairs: tuple[Pair, ...]
    segments: tuple[Segment, ...]
    signature: str
    tie: float
    probability: bool
    by: str = SCORE
    notes: tuple[str, ...] = ()
    source_language: str | None = None
    people: People | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The systems' names, in order."""
        return tuple(system.name for system in self.systems)
