"""Rows of texts that have other sentence boundaries than their reference or source, or a whole document on a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import NamedTuple

from pronmetric.text.sentence_alignment import IDEOGRAPHIC_END, Bead, align, cut

_OTHER_TEXT = 0.2  # the share of sentences without a counterpart from which a text may be another one


class SentenceRow(NamedTuple):
    """A segment: the sentences of each text that say the same, joined; "" where a text has none.

    begins: where they begin in each text: the line, and which sentence of it, from 1; of "" where it would stand.
    """

    texts: tuple[str, ...]
    doc: str | None
    begins: tuple[tuple[int, int], ...]


@dataclass
class Alignment:
    """How the sentences of a text were aligned to those of the first: numbers of sentences, and of beads by size."""

    lines: int
    sentences: int = 0
    first: int = 0
    beads: Counter[tuple[int, int]] = field(default_factory=Counter)

    def note(self, name: str, first: str) -> str:
        """A line for the user."""
        alone = sum(number for (a, b), number in self.beads.items() if not a or not b)
        single = self.beads[1, 1]
        rest = sum(self.beads.values()) - single - alone
        other = "; is it the same text?" if alone > _OTHER_TEXT * (self.sentences + self.first) else ""
        return (
            f"{name}: {self.sentences} sentences on {self.lines} lines, aligned with {self.first} of {first}: "
            f"{single} one to one, {rest} merged or split, {alone} without a counterpart{other}"
        )


def resegment(
    texts: Sequence[Sequence[str]], docs: Sequence[str] | None = None
) -> tuple[list[SentenceRow], list[Alignment]]:
    """The rows of the lines of several texts, and how each text but the first was aligned to the first.

    Lines are cut into sentences. A row has the fewest sentences that say the same in all texts: mostly one of each.
    Lines of a text that has as many as the first correspond to its lines, those of one that has as many as there are
    documents to its documents.

    docs: the document of each line of the first; no row spans two.

    >>> rows, _ = resegment([["It rained.", "He stayed."], ["It rained, and he stayed."]])
    >>> rows[0].texts
    ('It rained. He stayed.', 'It rained, and he stayed.')
    """
    found, rows = [Alignment(len(text)) for text in texts[1:]], list[SentenceRow]()
    for block, before, its_docs in _blocks(texts, [None] * len(texts[0]) if docs is None else docs):
        rows += _rows(block, before, its_docs, found)
    return rows, found


Block = tuple[list[Sequence[str]], list[int], Sequence[str | None]]
"""Lines of each text that correspond, how many of each stand before them, and the documents of those of the first."""


def _blocks(texts: Sequence[Sequence[str]], docs: Sequence[str | None]) -> Iterator[Block]:
    lines = len(texts[0])
    runs = [len(list(run)) for _, run in groupby(docs)]
    if all(len(text) == lines for text in texts):
        runs = [1] * lines
    elif not all(len(text) in (lines, len(runs)) for text in texts):
        runs = [lines]
    end = 0
    for number, size in enumerate(runs):
        start, end = end, end + size
        whole = len(runs) == 1
        by_line = [len(text) == lines for text in texts]
        yield (
            [
                text if whole else text[start:end] if every else text[number : number + 1]
                for text, every in zip(texts, by_line, strict=True)
            ],
            [0 if whole else start if every else number for every in by_line],
            docs[start:end],
        )


def _rows(
    block: Sequence[Sequence[str]], before: Sequence[int], docs: Sequence[str | None], found: Sequence[Alignment]
) -> Iterator[SentenceRow]:
    """The rows of a block; a sentence without a counterpart in the first text is in the document before it."""
    cuts = [[cut(line) for line in lines] for lines in block]
    sentences = [list(chain.from_iterable(lines)) for lines in cuts]
    places = [
        [(number, k) for number, line in enumerate(lines, start=first + 1) for k in range(1, len(line) + 1)]
        or [(first + 1, 1)]
        for lines, first in zip(cuts, before, strict=True)
    ]

    def where(starts: Iterable[int]) -> tuple[tuple[int, int], ...]:
        return tuple(each[min(start, len(each) - 1)] for each, start in zip(places, starts, strict=True))

    its_docs = [doc for doc, line in zip(docs, cuts[0], strict=True) for _ in line]
    steps = [_steps(cuts[0], lines, its_docs, one) for lines, one in zip(cuts[1:], found, strict=True)]
    common = sorted(set(range(len(sentences[0]) + 1)).intersection(*steps))
    for at, start in enumerate(common):
        inserted = [text[slice(*step[start])] for text, step in zip(sentences[1:], steps, strict=True)]
        if any(inserted):
            doc = its_docs[max(0, start - 1)] if its_docs else docs[0]
            yield SentenceRow(("", *map(_join, inserted)), doc, where((start, *(step[start][0] for step in steps))))
        if at + 1 < len(common):
            end = common[at + 1]
            others = (text[step[start][1] : step[end][0]] for text, step in zip(sentences[1:], steps, strict=True))
            begins = where((start, *(step[start][1] for step in steps)))
            yield SentenceRow((_join(sentences[0][start:end]), *map(_join, others)), its_docs[start], begins)


def _steps(
    first: Sequence[Sequence[str]], other: Sequence[Sequence[str]], docs: Sequence[str | None], found: Alignment
) -> dict[int, tuple[int, int]]:
    """Where beads end in the first text, with the places there in the other: two where sentences are inserted."""
    steps = {0: (0, 0)}
    for bead in _beads(first, other, docs):
        (_, i), (_, j) = bead
        steps[i] = steps.get(i, (j, j))[0], j
        sizes = bead.left[1] - bead.left[0], bead.right[1] - bead.right[0]
        found.beads[sizes] += 1
        found.first += sizes[0]
        found.sentences += sizes[1]
    return steps


def _beads(
    first: Sequence[Sequence[str]], other: Sequence[Sequence[str]], docs: Sequence[str | None]
) -> Iterator[Bead]:
    """The beads of the sentences of lines: line by line if there are as many, else of all."""
    if len(first) == len(other):
        i = j = 0
        for left, right in zip(first, other, strict=True):
            for one, two in align(left, right):
                yield Bead((i + one[0], i + one[1]), (j + two[0], j + two[1]))
            i, j = i + len(left), j + len(right)
        return
    starts = {place for place in range(1, len(docs)) if docs[place] != docs[place - 1]}
    yield from align(list(chain.from_iterable(first)), list(chain.from_iterable(other)), starts=starts)


def _join(sentences: Sequence[str]) -> str:
    """Sentences as one text; Chinese and Japanese have no space between them."""
    return "".join(s if IDEOGRAPHIC_END.search(s) else f"{s} " for s in sentences).strip()
