"""A result of `score` or `compare` as `report` and `correlate` use it: systems side by side, segment by segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

RATES = ("errors_per_100_pronouns", "errors_per_1000_words", "preference")
FEW = 20  # with no more documents or segments an interval is rough


class Pronoun(NamedTuple):
    """A scored pronoun; its span is in code points of the output's text. score: higher is better.

    evidence: the log-odds of the form given the source, and the decisive source word ("": none of the sentence).
    """

    text: str
    start: int
    end: int
    score: float
    evidence: tuple[float, str] | None = None


class Output(NamedTuple):
    """A system's output for a segment, with its context, score (None without a pronoun) and pronouns.

    errors, preference: None if the file has none.
    """

    text: str
    context: str
    score: float | None
    pronouns: tuple[Pronoun, ...]
    errors: float | None = None
    preference: float | None = None


class Segment(NamedTuple):
    """One segment, with its outputs in the order of the systems. doc, source, reference: None if not given."""

    number: int
    doc: str | None
    source: str | None
    reference: str | None
    outputs: tuple[Output, ...]


class System(NamedTuple):
    """A system: its score in [0, 100] (unbounded with an unbounded head) and its 95 % interval.

    also: its baseline scores by name, from `score --also`. rates: values and intervals by `RATES`; those that the file
    does not have are left out.
    """

    name: str
    score: float | None
    interval: tuple[float, float] | None
    pronouns: int
    segments: int
    with_pronoun: int
    also: Mapping[str, float | None] = MappingProxyType({})
    rates: Mapping[str, tuple[float, tuple[float, float] | None] | None] = MappingProxyType({})


class Pair(NamedTuple):
    """Two systems (indices): the difference of their scores, above 0 if `a` is better, and its significance.

    p_randomisation, p_t: Holm-adjusted, None if not given. units: documents or segments; None if not given.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A result. pairs: only for `compare`. tie: the tie threshold.

    probability: whether pronoun scores are probabilities. notes: notes for the reader.
    """

    systems: tuple[System, ...]
    pairs: tuple[Pair, ...]
    segments: tuple[Segment, ...]
    signature: str
    tie: float
    probability: bool
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The systems' names, in order."""
        return tuple(system.name for system in self.systems)
