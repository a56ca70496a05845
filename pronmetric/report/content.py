"""The content of a report as plain data: a result, its pronouns paired with the reference, attention, alternatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.results import Result, Segment

SAME, PRONOUN, WORD, NOTHING, ADDED = "same", "pronoun", "word", "nothing", "added"
OTHER_WORD, NO_WORD = "(other word)", "(nothing)"


class Link(NamedTuple):
    """A pronoun of the reference and its counterpart in an output, by the indices of their words (-1: none).

    kind: "same"; "pronoun", another pronoun; "word", another word; "nothing"; or "added", a pronoun of the output
    without a counterpart in the reference. The forms are lower-cased, "" for none.
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


class ModelView(NamedTuple):
    """Attention and alternatives of the pronouns of one output, in their order.

    attention: for each pronoun, a weight in [0, 1] for every word of the context, then of the text; None if the head
    has no attention. others: for each pronoun, the alternative forms and their scores, best first; None if they were
    not scored.
    """

    attention: tuple[tuple[float, ...], ...] | None
    others: tuple[tuple[tuple[str, float], ...] | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a report.

    links: for each segment and each of its outputs; None without a reference. listed: indices of the listed segments,
    largest difference first. differing: the number of segments that could be listed. views: by index of a listed
    segment, one for each output; absent if the model was not run on the segment. notes: notes for the reader.
    language: of the texts.
    """

    result: Result
    links: Sequence[Sequence[Sequence[Link]]] | None
    listed: Sequence[int]
    differing: int
    language: Language = ENGLISH
    views: Mapping[int, Sequence[ModelView]] = field(default_factory=dict)
    notes: Sequence[str] = ()


def confusion(links: Iterable[Sequence[Sequence[Link]]], system: int) -> Counter[tuple[str, str]]:
    """How often each form of the reference (the first) became each form of one system (the second)."""
    return Counter((link.row, link.column) for outputs in links for link in outputs[system])


def differing(result: Result, links: Sequence[Sequence[Sequence[Link]]] | None) -> list[int]:
    """The indices of the differing segments, largest difference first.

    A segment differs if the pronouns of the systems differ, if their scores differ by more than the tie threshold, or
    if a pronoun differs from the reference. For a single system without a reference: each segment with a pronoun.
    """
    alone = len(result.systems) == 1 and links is None
    found = [
        index
        for index, segment in enumerate(result.segments)
        if (alone and segment.outputs[0].pronouns)
        or _apart(segment, result.tie)
        or (links is not None and any(link.kind != SAME for output in links[index] for link in output))
    ]
    return sorted(found, key=lambda index: (-gap(result.segments[index]), _lowest(result.segments[index]), index))


def gap(segment: Segment) -> float:
    """The difference between the best and the worst score of a segment; 0 if fewer than two outputs have a score."""
    scores = [output.score for output in segment.outputs if output.score is not None]
    return max(scores) - min(scores) if scores else 0.0


def _apart(segment: Segment, tie: float) -> bool:
    forms = {tuple(pronoun.text.lower() for pronoun in output.pronouns) for output in segment.outputs}
    return len(forms) > 1 or gap(segment) > tie


def _lowest(segment: Segment) -> float:
    return min((pronoun.score for output in segment.outputs for pronoun in output.pronouns), default=float("inf"))
