"""The content of a report as plain data: a result, its pronouns paired with the reference, attention, alternatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.results import Result, Segment
from pronmetric.scoring.comparison import A, B

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
    has no attention. others: for each pronoun, the alternative forms that agree (`Alternative`) and their scores, best
    first; None if they were not scored.
    """

    attention: tuple[tuple[float, ...], ...] | None
    others: tuple[tuple[tuple[str, float], ...] | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a report.

    links: for each segment and each of its outputs; None without a reference. listed: indices of the listed segments,
    largest difference of what decides first. differing: the number of segments that could be listed. views: by index
    of a listed segment, one for each output; absent if the model was not run on the segment. notes: notes for the
    reader. language: of the texts.
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


def display_form(form: str) -> str:
    """A lower-cased form as it is written: "I" in capitals.

    >>> display_form("i"), display_form("it")
    ('I', 'it')
    """
    return "I" if form == "i" else form


def differing(result: Result, links: Sequence[Sequence[Sequence[Link]]] | None) -> list[int]:
    """The indices of the differing segments, largest difference of what decides first.

    A segment differs if the pronouns of the systems differ, if one system is better than another, or if a pronoun
    differs from the reference. For a single system without a reference: each segment with a pronoun.
    """
    alone = len(result.systems) == 1 and links is None
    found = [
        index
        for index, segment in enumerate(result.segments)
        if (alone and segment.outputs[0].pronouns)
        or _apart(segment)
        or (links is not None and any(link.kind != SAME for output in links[index] for link in output))
    ]
    return sorted(found, key=lambda index: (-gap(result.segments[index]), _lowest(result.segments[index]), index))


def gap(segment: Segment) -> float:
    """The largest difference between two outputs of a segment, in the unit of what decides; 0 if none are compared."""
    return max((abs(one.difference) for one in segment.verdicts if one.difference is not None), default=0.0)


def best(segment: Segment) -> tuple[int, ...] | None:
    """The best of the outputs that are compared, those worse than the fewest others; (): a tie of all; None: none are.

    Of two outputs it is the one that the verdict names.
    """
    pairs = combinations(range(len(segment.outputs)), 2)
    lost: dict[int, int] = {}
    for (a, b), verdict in zip(pairs, segment.verdicts, strict=bool(segment.verdicts)):
        if verdict.better is not None:
            lost[a] = lost.get(a, 0) + (verdict.better == B)
            lost[b] = lost.get(b, 0) + (verdict.better == A)
    if not lost:
        return None
    fewest = min(lost.values())
    found = tuple(sorted(system for system, number in lost.items() if number == fewest))
    return () if len(found) == len(lost) else found


def _apart(segment: Segment) -> bool:
    forms = {tuple(pronoun.text.lower() for pronoun in output.pronouns) for output in segment.outputs}
    return len(forms) > 1 or any(verdict.better in (A, B) for verdict in segment.verdicts)


def _lowest(segment: Segment) -> float:
    return min((pronoun.score for output in segment.outputs for pronoun in output.pronouns), default=float("inf"))
