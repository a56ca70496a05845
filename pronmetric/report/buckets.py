"""Where pronouns go wrong: the pronouns of each system by form, document, length of the sentence and distance."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from math import fsum

from pronmetric.report.content import Content, display_form
from pronmetric.report.tables import Table, number
from pronmetric.results import Output, Pronoun, Segment
from pronmetric.scoring.alternatives import THRESHOLD

LENGTHS, DISTANCES = (10, 20, 30), (5, 15, 30)
"""Upper ends of the buckets of words; the last bucket has no end."""
TABLES = {
    "forms": "Pronouns by form",
    "documents": "Pronouns by document",
    "lengths": "Pronouns by length of the sentence in words",
    "distances": "Pronouns by distance in words to the word attended to most",
}
_HEADS = {"forms": "form", "documents": "document", "lengths": "words", "distances": "words between"}
_Key = Callable[[int, Segment, int, int, Pronoun], tuple[int, str] | None]
"""The bucket of a pronoun, by the place of its segment, the segment, the system and its number among the pronouns; with
what buckets are sorted by before their size. None: in no bucket."""


def make(name: str, content: Content) -> Table:
    """One of `TABLES`: for each bucket and system the pronouns, their mean, the doubtful ones, the first system's gap.

    Distances are of the listed segments for which the model was run; the others are of all segments.
    """
    keys: dict[str, _Key] = {
        "forms": lambda place, segment, system, k, p: (0, p.text.lower()),
        "documents": lambda place, segment, system, k, p: None if segment.doc is None else (0, segment.doc),
        "lengths": lambda place, segment, system, k, p: _bucket(
            len(content.language.words(_text(segment, system))), LENGTHS
        ),
        "distances": lambda place, segment, system, k, p: _distance(content, place, segment.outputs[system], system, k),
    }
    found: dict[tuple[int, str], list[list[float]]] = {}
    systems = content.result.names
    for place, segment in enumerate(content.result.segments):
        for system, output in enumerate(segment.outputs):
            for k, pronoun in enumerate(output.pronouns):
                if (key := keys[name](place, segment, system, k, pronoun)) is not None:
                    found.setdefault(key, [[] for _ in systems])[system].append(pronoun.score)
    order = sorted(found, key=lambda key: (key[0], -sum(map(len, found[key])), key[1]))
    rows = [row for key in order for row in _rows(name, key[1], found[key], content)]
    bounded = content.result.probability
    header = (_HEADS[name], "system", "pronouns", "mean", *((f"below {THRESHOLD:g}, %",) if bounded else ()))
    keys_of = ("bucket", "system", "pronouns", "mean", *(("doubtful",) if bounded else ()))
    if len(systems) > 1:
        header, keys_of = (*header, "less the first system's"), (*keys_of, "difference")
    return Table(TABLES[name], header, tuple(rows), numbers_from=2, keys=keys_of)


def _rows(name: str, bucket: str, scores: Sequence[Sequence[float]], content: Content) -> Iterator[tuple[str, ...]]:
    """The rows of a bucket, one for each system that has a pronoun in it."""
    means = [fsum(own) / len(own) if own else None for own in scores]
    for system, (own, mean) in enumerate(zip(scores, means, strict=True)):
        if mean is None:
            continue
        doubtful = 100 * sum(score < THRESHOLD for score in own) / len(own)
        gap = None if means[0] is None or not system else mean - means[0]
        yield (
            *(display_form(bucket) if name == "forms" else bucket, content.result.names[system], str(len(own))),
            number(mean, ".3f"),
            *((number(doubtful, ".1f"),) if content.result.probability else ()),
            *((number(gap, "+.3f"),) if len(scores) > 1 else ()),
        )


def _text(segment: Segment, system: int) -> str:
    return segment.outputs[system].text


def _bucket(value: int, ends: Sequence[int]) -> tuple[int, str]:
    """The bucket of a number, with its place.

    >>> _bucket(10, (10, 20)), _bucket(11, (10, 20)), _bucket(21, (10, 20))
    ((0, '1 to 10'), (1, '11 to 20'), (2, 'over 20'))
    """
    place = bisect_right(ends, value - 1)
    if place == len(ends):
        return place, f"over {ends[-1]}"
    return place, f"{ends[place - 1] + 1 if place else 1} to {ends[place]}"


def _distance(content: Content, place: int, output: Output, system: int, k: int) -> tuple[int, str] | None:
    """The bucket of the distance between a pronoun and the word that it attends to most, no mark and not itself."""
    views = content.views.get(place)
    attention = None if views is None else views[system].attention
    if attention is None:
        return None
    before, own = content.language.words(output.context), content.language.words(output.text)
    starts = [word.start for word in own]
    at = len(before) + starts.index(output.pronouns[k].start)
    texts = [word.text for word in (*before, *own)]
    others = [n for n, text in enumerate(texts) if n != at and any(map(str.isalnum, text))]
    if not others or not any(attention[k]):
        return None
    return _bucket(abs(max(others, key=lambda n: attention[k][n]) - at), DISTANCES)
