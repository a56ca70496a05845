"""Plain English documents cut into passages that do not overlap, each with its pronouns in use."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from pronmetric.pronouns import finder
from pronmetric.schema import Passage

PIECES_PER_WORD = 1.1
"""Pieces of a sub-word vocabulary for each word or punctuation mark (MiniLM's: 1.03 in conversation, 1.09 in mail)."""

_WORD = re.compile(r"\w+|[^\w\s]")
_OPEN, _CLOSE, _DASH = "\"'\u201c\u2018\u00ab(\\[", "\"'\u201d\u2019\u00bb)\\]", "\u2013\u2014"
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Messrs|Mme|Mlle|Dr|Prof|Rev|Hon|Capt|Col|Gen|Lt|Maj|Sgt|Cpl|Adm|Gov|Sen|Rep|Pres|Supt|Insp|"
    r"St|Ste|Mt|Ft|Jr|Sr|No|Nos|Vol|Fig|Eq|Ch|pp?|vs|cf|viz|al|etc|approx|ca|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|"
    rf"Nov|Dec|Inc|Ltd|Co|Corp|Dept|e\.g|i\.e)|(?:^|[\s.{_OPEN}])[A-Z])\.$"
)
_END = re.compile(rf"[.!?\u2026]+[{_CLOSE}]*(?=\s+[{_OPEN}{_DASH}-]*[^\W_a-z])")
_CLAUSE = re.compile(rf"[;:,{_DASH}][{_CLOSE}]*(?=\s)")
_BLANK = re.compile(r"\s+")
_LONGEST_ABBREVIATION = 12


def sentences(text: str) -> list[str]:
    """Cut a paragraph at its sentence ends; joined by one space the sentences give it back.

    An end is a run of `.!?…` with its closing quotes, before a capital or a digit (or an opening quote before
    one). No end stands after a title, an initial or another common abbreviation, nor before a small letter
    (“Why?” she said).

    >>> sentences("Mr. Hall laughed. “Why?” she asked. He did not know.")
    ['Mr. Hall laughed.', '“Why?” she asked.', 'He did not know.']
    """
    return _cut(text, (m.end() for m in _END.finditer(text) if not _abbreviated(text, m.end())))


def _abbreviated(text: str, end: int) -> bool:
    return _ABBREVIATION.search(text[max(0, end - _LONGEST_ABBREVIATION) : end]) is not None


def _cut(text: str, ends: Iterable[int]) -> list[str]:
    parts = (text[start:end].strip() for start, end in pairwise((0, *ends, len(text))))
    return [part for part in parts if part]


def estimate(text: str) -> int:
    """About how many pieces a sub-word vocabulary makes of `text`."""
    return math.ceil(len(_WORD.findall(text)) * PIECES_PER_WORD)


def windows(lines: Sequence[str], *, pieces: int = 128, count: Callable[[str], int] = estimate) -> Iterator[str]:
    """Cut a document, one sentence or paragraph a line, into texts of at most `pieces` pieces.

    Cuts stand at sentence ends; a single sentence that is longer is cut at clause marks, and where that does
    not do, between words. Joined by one space the windows are the document: nothing is lost or repeated.
    """
    window: list[str] = []
    size = 0
    for unit in _units(lines, pieces, count):
        more = count(unit)
        if window and size + more > pieces:
            yield " ".join(window)
            window, size = [], 0
        window.append(unit)
        size += more
    if window:
        yield " ".join(window)


def _units(lines: Sequence[str], pieces: int, count: Callable[[str], int]) -> Iterator[str]:
    for line in lines:
        for sentence in sentences(line):
            if count(sentence) <= pieces:
                yield sentence
            else:
                yield from _clauses(sentence, pieces, count)


def _clauses(sentence: str, pieces: int, count: Callable[[str], int]) -> Iterator[str]:
    for clause in _cut(sentence, (m.end() for m in _CLAUSE.finditer(sentence))):
        while count(clause) > pieces and " " in clause:
            words = clause.split()
            kept = max(1, len(words) * pieces // (count(clause) + 1))
            yield " ".join(words[:kept])
            clause = " ".join(words[kept:])
        yield clause


def passages(
    lines: Sequence[str],
    *,
    source: str,
    doc: str,
    pieces: int = 128,
    count: Callable[[str], int] = estimate,
    forms: Collection[str] = finder.FORMS,
) -> Iterator[Passage]:
    """The passages of one document, in order; one without a pronoun in use of `forms` is yielded too, with no span."""
    plain = [_BLANK.sub(" ", line).strip() for line in lines]
    for number, text in enumerate(windows([line for line in plain if line], pieces=pieces, count=count), start=1):
        found = [occurrence for occurrence in finder.find(text) if occurrence.form in forms]
        yield Passage(
            id=f"{source}/{doc}#{number}",
            source=source,
            doc=doc,
            text=text,
            spans=tuple((occurrence.start, occurrence.end) for occurrence in found),
            forms=tuple(occurrence.form for occurrence in found),
        )
