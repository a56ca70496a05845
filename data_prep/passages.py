"""Plain documents of the target language split into passages without overlap, each with its pronouns in use."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from data_prep import documents, splits
from pronmetric.pronouns import finder
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.schema import Passage
from pronmetric.text import writing
from pronmetric.text.sentences import CLOSING, DASHES, LISTED, Boundaries, cut_text, split_sentences
from pronmetric.text.words import words
from pronmetric.text.writing import Writing

PIECES_PER_WORD = 1.1
"""Sub-word pieces for each word or punctuation mark (MiniLM: 1.03 in conversation, 1.09 in mail)."""

_WORD = re.compile(r"\w+|[^\w\s]")
_CLAUSE = re.compile(rf"[;:,{DASHES}][{CLOSING}]*(?=\s)")
_BLANK = re.compile(r"\s+")


def estimate(text: str, writing: Writing = writing.ENGLISH) -> int:
    """The approximate number of sub-word pieces of `text`."""
    return math.ceil(len(_WORD.findall(text)) * PIECES_PER_WORD if writing.spaced else writing.pieces(text))


def windows(
    lines: Sequence[str],
    *,
    pieces: int = 128,
    count: Callable[[str], int] = estimate,
    ends: Boundaries = LISTED,
) -> Iterator[str]:
    """Split a document, one sentence or paragraph per line, into texts of at most `pieces` pieces.

    Texts end at sentence ends; a longer sentence is split at clause marks or, if necessary, between words. Joined by
    single spaces the texts give the document: nothing is lost or repeated.
    """
    window: list[str] = []
    size = 0
    for unit in _units(lines, pieces, count, ends):
        more = count(unit)
        if window and size + more > pieces:
            yield " ".join(window)
            window, size = [], 0
        window.append(unit)
        size += more
    if window:
        yield " ".join(window)


class Rows(NamedTuple):
    """The rows of text of some documents, and the number of documents."""

    documents: int
    texts: list[str]


def read_rows(folder: str | Path, *, words_of_row: int, held_out: float, seed: int) -> tuple[Rows, Rows]:
    """The documents of a folder as rows of at most `words_of_row` words: those to train on, and those held out.

    held_out: the share of documents that are drawn. Errors as in `documents.read`.
    """
    by_name = {(doc.source, doc.doc): doc for doc in documents.read(folder)}
    drawn = splits.draw(list(by_name), held_out, seed)
    train, development = Rows(len(by_name) - len(drawn), []), Rows(len(drawn), [])
    for name, doc in by_name.items():
        rows = windows(doc.lines, pieces=words_of_row, count=lambda text: len(words(text)))
        (development if name in drawn else train).texts.extend(rows)
    return train, development


def _units(lines: Sequence[str], pieces: int, count: Callable[[str], int], ends: Boundaries) -> Iterator[str]:
    for line in lines:
        for sentence in split_sentences(line, ends):
            if count(sentence) <= pieces:
                yield sentence
            else:
                yield from _clauses(sentence, pieces, count)


def _clauses(sentence: str, pieces: int, count: Callable[[str], int]) -> Iterator[str]:
    for clause in cut_text(sentence, (match.end() for match in _CLAUSE.finditer(sentence))):
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
    count: Callable[[str], int] | None = None,
    forms: Collection[str] = finder.FORMS,
    language: Language = ENGLISH,
) -> Iterator[Passage]:
    """The passages of one document, in order; including those without a pronoun in use of `forms`."""
    filled = [plain for line in lines if (plain := _BLANK.sub(" ", line).strip())]
    count, ends = count or partial(estimate, writing=language.writing), language.writing.passage_ends
    for number, text in enumerate(windows(filled, pieces=pieces, count=count, ends=ends), start=1):
        found = [occurrence for occurrence in language.find(text) if occurrence.form in forms]
        yield Passage(
            id=f"{source}/{doc}#{number}",
            source=source,
            doc=doc,
            text=text,
            spans=tuple((occurrence.start, occurrence.end) for occurrence in found),
            forms=tuple(occurrence.form for occurrence in found),
        )
