"""Parallel documents that suites are built from: the words of both sides, their links, and coreference chains.

They come from CoNLL-U or factored files with links (`from_parsed`), from plain text or WMT test sets, which are split
into words and aligned here (`from_text`), or from annotated English alone (`from_annotated`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data_prep.coreference import antecedents
from data_prep.coreference.conll import Annotated
from data_prep.wmt import discovery, parallel
from data_prep.wmt.testset import TestSet
from pronmetric.alignment import source_words
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.parsed import Aligned
from pronmetric.errors import InputError
from pronmetric.pronouns import finder
from pronmetric.pronouns.closed_class import closed_class
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.pronouns.lexicon import PREPOSITION
from pronmetric.text import conllu, running_text
from pronmetric.text.conllu import NOTHING, Mention, Sentence, Token
from pronmetric.text.files.columns import Role
from pronmetric.text.lines import read_lines
from pronmetric.text.words import Word, lower_words
from pronmetric.text.words import words as english_words

MOST = 10_000
"""The most sentence pairs that train the aligner: a regular sample of them."""
_AFTER_HEAD = PREPOSITION | frozenset({"who", "whom", "whose", "which", "that", "where", ","})


class Place(NamedTuple):
    """A mention and the number of its sentence in the document."""

    segment: int
    mention: Mention


Chains = Mapping[str, tuple[Place, ...]]


@dataclass(frozen=True, slots=True)
class Document:
    """A document: its name, its sentence pairs, and the mentions of each side by entity, in order.

    A document without a source has source sentences without words.
    """

    name: str
    pairs: tuple[Aligned, ...]
    source: Chains = field(default_factory=dict)
    target: Chains = field(default_factory=dict)


class Row(NamedTuple):
    """A sentence pair as written, and the name of its document."""

    doc: str
    source: str
    target: str


def from_parsed(corpus: Iterable[Aligned], *, source: str | Path, target: str | Path) -> Iterator[Document]:
    """The documents of a corpus; they are those of the target side, or of the source side where it names none.

    Raises:
        InputError: a coreference bracket without partner.
    """
    for name, group in groupby(corpus, key=lambda pair: pair.target.doc or pair.source.doc):
        pairs = tuple(group)
        source_chains = _chains([pair.source for pair in pairs], source)
        yield Document(name, pairs, source_chains, _chains([pair.target for pair in pairs], target))


def _chains(sentences: Sequence[Sentence], file: str | Path) -> Chains:
    mentions = ((at, m) for at, sentence in enumerate(sentences) for m in conllu.mentions(sentence, file=file))
    return by_entity(Place(at, mention) for at, mention in mentions)


def by_entity(places: Iterable[Place]) -> Chains:
    """Mentions by entity, each in order."""
    found: defaultdict[str, list[Place]] = defaultdict(list)
    for place in places:
        found[place.mention.entity].append(place)
    return {entity: tuple(sorted(group, key=lambda p: (p.segment, p.mention))) for entity, group in found.items()}


def from_annotated(document: Annotated) -> Document:
    """An annotated English document, cut into sentences by rule; mentions across sentences are left out."""
    parts = antecedents.sentences(document)
    places = []
    for number, part in enumerate(parts):
        first, last = (int(part.tokens[0]), int(part.tokens[-1])) if len(part.tokens) else (0, -1)
        for mention in document.mentions:
            if first <= mention.start and mention.end - 1 <= last:
                start, end = np.searchsorted(part.tokens, (mention.start, mention.end)).tolist()
                if start < end:
                    places.append(Place(number, Mention(start, end, mention.entity, _head(part.words, start, end))))
    pairs = (
        Aligned(
            Sentence(document.name, (), (), number),
            sentence_of(part.text, part.words, document.name, number),
            (),
            number,
        )
        for number, part in enumerate(parts, start=1)
    )
    return Document(document.name, tuple(pairs), target=by_entity(places))


def _head(words: Sequence[Word], start: int, end: int) -> int:
    """The head of a noun phrase without tags: its last word before a preposition or relative, or a possessive mark."""
    stop = next((at for at in range(start + 1, end) if words[at].text.lower() in _AFTER_HEAD), end)
    marks = stop - 1 > start and words[stop - 1].text[0] in "'\u2019"
    return stop - 2 if marks else stop - 1


def read_text(source: str, target: str, docids: str | None) -> list[Row]:
    """The rows of parallel texts; without `docids` they are one document, with the target's name.

    Raises:
        InputError: with the file, where it cannot be read, has another number of texts, or a document comes back.
    """
    columns = [running_text.read(source, Role.SOURCE), running_text.read(target, Role.REFERENCE)]
    columns.append([Path(target).name] * len(columns[0]) if docids is None else read_lines(docids))
    for name, column in zip((target, docids or ""), columns[1:], strict=True):
        if len(column) != len(columns[0]):
            message = f"{len(column)} lines, but {source} has {len(columns[0])}; they must be line-parallel"
            raise InputError(message, file=name, line=min(len(column), len(columns[0])) + 1)
    if docids is not None:
        parallel.extents(columns[2], file=Path(docids))
    return [Row(doc, one, other) for one, other, doc in zip(*columns, strict=True)]


def read_testset(testset: TestSet) -> list[Row]:
    """The rows of a test set: each source with the first reference by name; segments without one of them are left out.

    Raises:
        InputError: as `discovery.read`.
    """
    return [
        Row(f"{testset.id}/{document.doc}", segment.src, segment.refs[min(segment.refs)])
        for document in discovery.read(testset)
        for segment in document.segments
        if segment.src and segment.refs
    ]


def swapped(rows: Iterable[Row]) -> list[Row]:
    """Rows with source and target in each other's place."""
    return [Row(row.doc, row.target, row.source) for row in rows]


def from_text(rows: Sequence[Row], *, source: str, target: str) -> list[Document]:
    """The documents of rows in two languages, split into words and aligned by an aligner trained on the rows."""
    sides = [(split(row.source, source), split(row.target, target)) for row in rows]
    tokens = [(lower_words(one), lower_words(other)) for one, other in sides]
    filled = [pair for pair in tokens if all(pair)]
    links: Iterator[tuple[tuple[int, int], ...]] = iter(())
    if filled:
        aligner = AgreementAligner()
        aligner.train(filled[:: -(-len(filled) // MOST)])
        links = (each.links for each in aligner.align_all(filled))
    pairs = [
        Aligned(
            sentence_of(row.source, one, row.doc, number),
            sentence_of(row.target, other, row.doc, number),
            next(links) if one and other else (),
            number,
        )
        for number, (row, (one, other)) in enumerate(zip(rows, sides, strict=True), start=1)
    ]
    return [Document(name, tuple(group)) for name, group in groupby(pairs, key=lambda pair: pair.target.doc)]


def split(text: str, code: str) -> tuple[Word, ...]:
    """The words of a text; a run of Chinese or Japanese is split into closed-class forms and single characters."""
    return english_words(text) if code == ENGLISH.code else source_words.read(text, closed_class(code)).words


def sentence_of(text: str, words: Sequence[Word], doc: str, line: int) -> Sentence:
    """Words as a sentence without tags; `text` gives the spaces between them."""
    ends = [*(word.start for word in words[1:]), *([len(text)] if words else [])]
    tokens = (
        Token(text[word.start : word.end], NOTHING, NOTHING, {}, -1, NOTHING, word.end < end, {})
        for word, end in zip(words, ends, strict=True)
    )
    return Sentence(doc, tuple(tokens), (), line)


def written(sentence: Sentence) -> tuple[str, tuple[Word, ...]]:
    """A sentence as written, and the place of each of its words in it.

    The words of a range have the places of their letters in it, or that of the whole range where they are spelt
    otherwise.
    """
    text, words, at = sentence.text(), list[Word](), 0
    ranges = {one.start: one for one in sentence.surfaces}
    while len(words) < len(sentence.tokens):
        one = ranges.get(len(words))
        group = sentence.tokens[one.start : one.end] if one else sentence.tokens[len(words) : len(words) + 1]
        form = one.form if one else group[0].form
        at = text.index(form, at)
        apart = "".join(token.form for token in group) == form
        for token in group:
            words.append(Word(token.form, at, at + len(token.form if apart else form)))
            at += len(token.form) if apart else 0
        at += 0 if apart else len(form)
    return text, tuple(words)


def pronouns(sentence: Sentence) -> tuple[str, tuple[Word, ...], tuple[finder.Occurrence, ...]]:
    """An English sentence as written, its words, and its pronouns in use."""
    text, words = written(sentence)
    return text, words, finder.find(text, words)
