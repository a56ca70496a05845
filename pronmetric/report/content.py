"""What a report shows: a result, its pronouns beside the reference's, what the model says of them; plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pronmetric.results import Result, Segment

SAME, PRONOUN, WORD, NOTHING, ADDED = "same", "pronoun", "word", "nothing", "added"
OTHER_WORD, NO_WORD = "(other word)", "(nothing)"


class Link(NamedTuple):
    """A pronoun of the reference and what stands for it in an output, by their words' places (-1: none).

    kind: "same"; "pronoun", another one; "word", another word; "nothing"; or "added", a pronoun of the output that
    stands for none of the reference. The forms are lower-cased, "" for none.
    """

    kind: str
    reference: int
    reference_form: str
    word: int
    form: str

    @property
    def row(self) -> str:
        """Its row in the confusion matrix."""
        return self.reference_form or NO_WORD

    @property
    def column(self) -> str:
        """Its column in the confusion matrix."""
        return OTHER_WORD if self.kind == WORD else self.form or NO_WORD


class Said(NamedTuple):
    """What the model says of the pronouns of one output, in their order.

    attention: of each, a weight in [0, 1] for every word of the context, then of the text; None where the head has
    none. others: of each, the other forms that could stand there and their scores, best first.
    """

    attention: tuple[tuple[float, ...], ...] | None
    others: tuple[tuple[tuple[str, float], ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """All that a report shows.

    links: for each segment and each of its outputs; None without a reference. listed: places of the segments that are
    listed, those that differ most first. differing: how many there are to list. said: of listed segments, for each
    output; a segment that the model was not asked about is not there. notes: what the reader must know.
    """

    result: Result
    links: Sequence[Sequence[Sequence[Link]]] | None
    listed: Sequence[int]
    differing: int
    said: Mapping[int, Sequence[Said]] = field(default_factory=dict)
    notes: Sequence[str] = ()


def confusion(links: Iterable[Sequence[Sequence[Link]]], system: int) -> Counter[tuple[str, str]]:
    """How often each form of the reference (the first) became each form of one system (the second)."""
    return Counter((link.row, link.column) for outputs in links for link in outputs[system])


def differing(result: Result, links: Sequence[Sequence[Sequence[Link]]] | None) -> list[int]:
    """The places of segments to look at, those that differ most first.

    A segment is one of them where the systems' pronouns or scores differ (by more than the tie band), or where a
    pronoun is not the reference's. Of a single system without a reference it is each segment that has a pronoun.
    """
    alone = len(result.systems) == 1 and links is None
    found = [
        place
        for place, segment in enumerate(result.segments)
        if (alone and segment.outputs[0].pronouns)
        or _apart(segment, result.tie)
        or (links is not None and any(link.kind != SAME for output in links[place] for link in output))
    ]
    return sorted(found, key=lambda place: (-gap(result.segments[place]), _lowest(result.segments[place]), place))


def gap(segment: Segment) -> float:
    """The difference between the best and the worst score of a segment; 0 where fewer than two have one."""
    scores = [output.score for output in segment.outputs if output.score is not None]
    return max(scores) - min(scores) if scores else 0.0


def _apart(segment: Segment, tie: float) -> bool:
    forms = {tuple(pronoun.text.lower() for pronoun in output.pronouns) for output in segment.outputs}
    return len(forms) > 1 or gap(segment) > tie


def _lowest(segment: Segment) -> float:
    return min((pronoun.score for output in segment.outputs for pronoun in output.pronouns), default=float("inf"))
