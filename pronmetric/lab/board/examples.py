"""Examples: the worst pronouns of each system, and the segments in which two systems differ most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np

from pronmetric.eval.decision import SCORE
from pronmetric.lab.board.figures import segment_values
from pronmetric.lab.board.scored import BoardScores
from pronmetric.scoring.comparison import TIE_THRESHOLD
from pronmetric.text.corpus import Corpus

TEXT, CONTEXT = 300, 300
"""Characters that are shown on each side of a pronoun, and of its context."""
SIDES = 3
"""Examples for each direction of a comparison."""
CUT = "…"


class Segment(NamedTuple):
    """A segment of a test set: its document, source and reference, None if unknown; text and context of each system."""

    doc: str | None
    source: str | None
    texts: Sequence[str]
    contexts: Sequence[str]
    reference: str | None = None


class DoubtfulPronoun(NamedTuple):
    """A pronoun: its segment from 0, the text before it, itself, after it, the context; its class and probability.

    source, reference: of its segment; None if unknown.
    """

    segment: int
    doc: str | None
    context: str
    before: str
    pronoun: str
    after: str
    kind: str
    probability: float
    source: str | None = None
    reference: str | None = None


class MarkedText(NamedTuple):
    """A text with its pronouns: pieces of text, each with the probability of a pronoun, None for other text."""

    pieces: tuple[tuple[str, float | None], ...]


def segments(corpus: Corpus, context: str, *, size: int) -> list[Segment]:
    """The segments of a test set, with the contexts in which they were scored."""
    return [
        Segment(row.doc, row.source, row.texts, [each[0] for each in contexts], row.reference)
        for row, contexts in corpus.in_context(context, size=size)
    ]


def worst(scored: BoardScores, listed: Sequence[Segment], system: str, *, most: int) -> list[DoubtfulPronoun]:
    """The pronouns of a system with the lowest probabilities, at most `most`; repeated sentences count once."""
    place = list(scored.systems).index(system)
    pronouns = scored.systems[system]
    order = np.lexsort((pronouns.start, pronouns.segment, pronouns.probability))
    return list(islice(_distinct(scored, listed, place, order.tolist(), system), most))


def _distinct(
    scored: BoardScores, listed: Sequence[Segment], place: int, order: Sequence[int], system: str
) -> Iterator[DoubtfulPronoun]:
    pronouns, seen = scored.systems[system], set()
    for row in order:
        number, start, end = int(pronouns.segment[row]), int(pronouns.start[row]), int(pronouns.end[row])
        segment = listed[number]
        text, context = segment.texts[place], segment.contexts[place]
        if (context, text, start) in seen:
            continue
        seen.add((context, text, start))
        yield DoubtfulPronoun(
            number,
            segment.doc,
            tail(context, CONTEXT),
            tail(text[:start], TEXT),
            text[start:end],
            head(text[end:], TEXT),
            scored.classes[pronouns.kind[row]],
            float(pronouns.probability[row]),
            *(None if line is None else head(line, 2 * TEXT) for line in (segment.source, segment.reference)),
        )


def tail(text: str, most: int) -> str:
    """The end of a text, at a space, with `CUT` where it was shortened.

    >>> tail("She saw the dog", 8)
    '… the dog'
    """
    if len(text) <= most:
        return text
    kept = text[-most:]
    return f"{CUT} {kept.split(' ', 1)[-1] if ' ' in kept[:-1] else kept}"


def head(text: str, most: int) -> str:
    """The beginning of a text, at a space, with `CUT` where it was shortened.

    >>> head("She saw the dog", 8)
    'She saw …'
    """
    if len(text) <= most:
        return text
    kept = text[:most]
    return f"{kept.rsplit(' ', 1)[0] if ' ' in kept[1:] else kept} {CUT}"


Gap = tuple[int, float]
"""A segment, and the difference of two systems there, above 0 if the first is better."""


def differing(scored: BoardScores, by: str = SCORE) -> Mapping[tuple[int, int], tuple[list[Gap], list[Gap]]]:
    """For each two systems, the segments in which the first is better by most, and the second; at most `SIDES` each.

    by: what decides, one of `DECISIONS`.
    """
    values = [segment_values(scored, system, by) for system in scored.systems]
    pairs = {}
    for a, b in combinations(range(len(values)), 2):
        gaps = np.nan_to_num(values[a] - values[b])
        order = np.argsort(gaps, kind="stable").tolist()
        pairs[a, b] = (
            [(k, float(gaps[k])) for k in reversed(order[-SIDES:]) if gaps[k] > TIE_THRESHOLD],
            [(k, float(gaps[k])) for k in order[:SIDES] if gaps[k] < -TIE_THRESHOLD],
        )
    return pairs


def marked(scored: BoardScores, text: str, system: int, segment: int) -> MarkedText:
    """A system's text of a segment, with its pronouns; a long text is shown around its worst pronoun."""
    pronouns = list(scored.systems.values())[system]
    rows = np.flatnonzero(pronouns.segment == segment)
    pieces: list[tuple[str, float | None]] = []
    at = 0
    for row in rows.tolist():
        start, end = int(pronouns.start[row]), int(pronouns.end[row])
        pieces += [(text[at:start], None), (text[start:end], float(pronouns.probability[row]))]
        at = end
    pieces.append((text[at:], None))
    return MarkedText(tuple(_shorten(pieces)))


def _shorten(pieces: Sequence[tuple[str, float | None]]) -> list[tuple[str, float | None]]:
    """The pieces within `TEXT` characters before and after the worst pronoun."""
    known = [k for k, (_, probability) in enumerate(pieces) if probability is not None]
    if not known:
        return [(head(text, 2 * TEXT), None) for text, _ in pieces if text]
    middle = min(known, key=lambda k: pieces[k][1] or 0.0)
    before, after = list(pieces[:middle]), list(pieces[middle + 1 :])
    left: list[tuple[str, float | None]] = []
    room = TEXT
    while before and room > 0:
        text, probability = before.pop()
        shown = text if probability is not None else tail(text, room)
        left.insert(0, (shown, probability))
        room -= len(text)
    right: list[tuple[str, float | None]] = []
    room = TEXT
    while after and room > 0:
        text, probability = after.pop(0)
        right.append((text if probability is not None else head(text, room), probability))
        room -= len(text)
    if before and not left[0][0].startswith(CUT):
        left.insert(0, (f"{CUT} ", None))
    if after and not right[-1][0].endswith(CUT):
        right.append((f" {CUT}", None))
    return [(text, probability) for text, probability in (*left, pieces[middle], *right) if text]
