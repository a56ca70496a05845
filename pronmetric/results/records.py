"""A result of `score` or `compare` as `report` and `correlate` use it: systems side by side, segment by segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

FEW = 10  # resampled units below which an interval is rough


class Pronoun(NamedTuple):
    """A scored pronoun; its span counts code points of its output's text. score: higher is better."""

    text: str
    start: int
    end: int
    score: float


class Output(NamedTuple):
    """What a system made of a segment, what stood before it, its score (None without a pronoun) and pronouns."""

    text: str
    context: str
    score: float | None
    pronouns: tuple[Pronoun, ...]


class Segment(NamedTuple):
    """One segment of all systems, its outputs in their order. doc, source, reference: None where not given."""

    number: int
    doc: str | None
    source: str | None
    reference: str | None
    outputs: tuple[Output, ...]


class System(NamedTuple):
    """A system: its score in [0, 100] (with an unbounded head any number) and the 95 % interval of that.

    also: its older scores by their names, where `score --also` gave some.
    """

    name: str
    score: float | None
    interval: tuple[float, float] | None
    pronouns: int
    segments: int
    with_pronoun: int
    also: Mapping[str, float | None] = MappingProxyType({})


class Pair(NamedTuple):
    """Two systems by their place: difference of their scores, above 0 where `a` is better, and how sure it is.

    p_bootstrap, p_randomisation: after Holm. units: documents or segments that were resampled; None where not given.
    """

    a: int
    b: int
    difference: float | None
    interval: tuple[float, float] | None
    p_bootstrap: float | None
    p_randomisation: float | None
    wins: int
    ties: int
    losses: int
    units: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A whole result. pairs: only of `compare`. tie: scores that differ by no more are equal.

    probability: whether pronoun scores are probabilities. notes: what a reader must know of how it was put together.
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
