"""Where pronouns go wrong: the pronouns of each system by form, document, length of the sentence and distance."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum

from pronmetric.report.content import Content, display_form
from pronmetric.report.tables import Table, number
from pronmetric.results import Output, Pronoun, Segment
from pronmetric.scoring.alternatives import THRESHOLD

LENGTHS, DISTANCES = (10, 20, 30), (5, 15, 30)
"""Upper ends of the buckets of words; the last bucket has no end."""
TABLES = ("forms", "documents", "lengths", "distances")
"""The tables of a report; the board has "sentences" in place of "distances"."""
_TITLES = {
    "forms": "Pronouns by form",
    "documents": "Pronouns by document",
    "lengths": "Pronouns by length of the sentence in words",
    "distances": "Pronouns by distance in words to the word attended to most",
    "sentences": "Third-person pronouns by distance in sentences to the word attended to most",
}
_HEADS = {
    **{"forms": "form", "documents": "document", "lengths": "words", "distances": "words between"},
    "sentences": "distance",
}
Bucket = tuple[int, str]
"""A bucket: what it is sorted by before its size, and its name."""
_Key = Callable[[int, Segment, int, int, Pronoun], Bucket | None]
"""The bucket of a pronoun, None if it is in none; by the place of its segment, the segment, the system and its number
among the pronouns."""


def make(name: str, content: Content) -> Table:
    """One of `TABLES`: for each bucket and system the pronouns, their mean, the doubtful ones, the first system's gap.

    Distances are of the listed segments for which the model was run; the others are of all segments.
    """
    keys: dict[str, _Key] = {
        "forms": lambda place, segment, system, k, p: of_form(p.text),
        "documents": lambda place, segment, system, k, p: None if segment.doc is None else (0, segment.doc),
        "lengths": lambda place, segment, system, k, p: of_length(
            len(content.language.words(segment.outputs[system].text))
        ),
        "distances": lambda place, segment, system, k, p: _distance(content, place, segment.outputs[system], system, k),
    }
    found: dict[Bucket, list[list[float]]] = {}
    systems = content.result.names
    for place, segment in enumerate(content.result.segments):
        for system, output in enumerate(segment.outputs):
            for k, pronoun in enumerate(output.pronouns):
                if (key := keys[name](place, segment, system, k, pronoun)) is not None:
                    found.setdefault(key, [[] for _ in systems])[system].append(pronoun.score)
    return tabulate(name, found, systems, bounded=content.result.probability)


def of_form(text: str) -> Bucket:
    """The bucket of a pronoun's form."""
    return 0, text.lower()


def of_length(words: int) -> Bucket:
    """The bucket of the length of a sentence."""
    return _bucket(words, LENGTHS)


def of_distance(sentences: int) -> Bucket:
    """The bucket of a distance in sentences.

    >>> [of_distance(n) for n in range(3)]
    [(0, 'same sentence'), (1, '1 sentence before'), (2, '2 sentences before')]
    """
    return sentences, f"{sentences} sentence{'s' * (sentences > 1)} before" if sentences else "same sentence"


def tabulate(
    name: str,
    found: Mapping[Bucket, Sequence[Sequence[float]]],
    systems: Sequence[str],
    *,
    bounded: bool,
    first: str = "the first system's",
) -> Table:
    """A table from the scores of each system's pronouns in each bucket; the largest bucket comes first.

    bounded: whether scores are probabilities. first: whose mean is subtracted in the last column.
    """
    order = sorted(found, key=lambda key: (key[0], -sum(map(len, found[key])), key[1]))
    rows = [row for key in order for row in _rows(name, key[1], found[key], systems, bounded)]
    header = (_HEADS[name], "system", "pronouns", "mean", *((f"below {THRESHOLD:g}, %",) if bounded else ()))
    keys_of = ("bucket", "system", "pronouns", "mean", *(("doubtful",) if bounded else ()))
    if len(systems) > 1:
        header, keys_of = (*header, f"less {first}"), (*keys_of, "difference")
    return Table(_TITLES[name], header, tuple(rows), numbers_from=2, keys=keys_of)


def _rows(
    name: str, bucket: str, scores: Sequence[Sequence[float]], systems: Sequence[str], bounded: bool
) -> Iterator[tuple[str, ...]]:
    """The rows of a bucket, one for each system that has a pronoun in it."""
    means = [fsum(own) / len(own) if own else None for own in scores]
    for system, (own, mean) in enumerate(zip(scores, means, strict=True)):
        if mean is None:
            continue
        doubtful = 100 * sum(score < THRESHOLD for score in own) / len(own)
        gap = None if means[0] is None or not system else mean - means[0]
        yield (
            *(display_form(bucket) if name == "forms" else bucket, systems[system], str(len(own))),
            number(mean, ".3f"),
            *((number(doubtful, ".1f"),) if bounded else ()),
            *((number(gap, "+.3f"),) if len(scores) > 1 else ()),
        )


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
