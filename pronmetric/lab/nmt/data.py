"""Parallel documents, and sentences with their context as tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.lab.nmt.network import Batch
from pronmetric.lab.nmt.pieces import BEGIN, CONTEXT, END, FIRST, PAD, SEPARATOR, Pieces
from pronmetric.lab.nmt.settings import CADEC, LINE_END, NONE, Shape
from pronmetric.text import running_text
from pronmetric.text.files.columns import Role
from pronmetric.text.lines import read_lines

_ROLES = Role.SOURCE, Role.TRANSLATION
Document = tuple[Sequence[str], Sequence[str]]
"""The source and the target sentences of a document."""


class Passage(NamedTuple):
    """A sentence pair with its context: the sentences of each side, oldest first; the pair is the last ones."""

    source: tuple[str, ...]
    target: tuple[str, ...]

    @classmethod
    def of(cls, pair: tuple[str, str]) -> Passage:
        """The passage of two texts whose sentences are separated by line ends."""
        return cls(*(tuple(one.strip() for one in text.split(LINE_END)) for text in pair))


class Row(NamedTuple):
    """A passage in pieces, with marks: a row of each part of a `Batch`."""

    source: list[int]
    context: list[list[int]]
    target_context: list[list[int]]
    bert: list[int]
    target: list[int]

    @property
    def length(self) -> int:
        """The number of pieces of the longest part."""
        contexts = (sum(map(len, self.context)), sum(map(len, self.target_context)))
        return max(len(self.source), len(self.target), len(self.bert), *contexts)


def read_documents(source: str, target: str | None, docids: str | None, note: Callable[[str], None]) -> list[Document]:
    """The documents of parallel files: without `docids` a single one, without `target` with empty target sides.

    Raises:
        InputError: a file that cannot be read, files with different numbers of lines, or a file without a line.
    """
    files = [source] if target is None else [source, target]
    columns = [running_text.read(name, role, note) for name, role in zip(files, _ROLES, strict=False)]
    columns += [] if docids is None else [read_lines(docids)]
    for name, column in zip((*files, docids), columns, strict=False):
        if len(column) != len(columns[0]):
            raise InputError(f"{len(column)} lines, but {source} has {len(columns[0])}: expected the same", file=name)
    if not columns[0]:
        raise InputError("expected text, got an empty file", file=source)
    docs = [""] * len(columns[0]) if docids is None else columns[-1]
    starts = [k for k, doc in enumerate(docs) if not k or doc != docs[k - 1]]
    ends = [*starts[1:], len(docs)]
    sides = columns[0], columns[1] if target is not None else [""] * len(docs)
    return [(sides[0][start:end], sides[1][start:end]) for start, end in zip(starts, ends, strict=True)]


def passages(documents: Iterable[Document], shape: Shape) -> Iterator[Passage]:
    """Each sentence pair with text on both sides, with as many previous sentences as the system reads."""
    reads = shape.reads
    for source, target in documents:
        for k, pair in enumerate(zip(source, target, strict=True)):
            if all(text.strip() for text in pair):
                yield Passage(
                    tuple(source[max(0, k - reads.source) : k + 1]), tuple(target[max(0, k - reads.target) : k + 1])
                )


class Reader:
    """Turns passages into rows and batches, for the system of a shape.

    Args:
        pieces: of the model.
        shape: of the model.
        bert: the tokenizer of the frozen encoder of `bert_fused`, and how many pieces the encoder reads at once.
    """

    def __init__(self, pieces: Pieces, shape: Shape, *, bert: tuple[Subwords, int] | None = None) -> None:
        self.pieces, self.shape, self.reads, self.system = pieces, shape, shape.reads, shape.system
        self.bert = bert

    def rows(self, found: Sequence[Passage], drafts: Sequence[Sequence[int]] | None = None) -> list[Row]:
        """The rows of passages.

        drafts: of the last sentence of each, in pieces without marks (CADec); None: empty ones.
        """
        sides = [[one[side] for one in found] for side in (0, 1)]
        flat = self.pieces.encode([text for side in sides for texts in side for text in texts])
        left = iter(flat)
        source, target = ([[next(left) for _ in texts] for texts in side] for side in sides)
        read = [[]] * len(found) if self.bert is None else [self._read_by_bert(one.source) for one in found]
        known = [[]] * len(found) if drafts is None else drafts
        return [self._row(*parts) for parts in zip(source, target, read, known, strict=True)]

    def _row(self, source: list[list[int]], target: list[list[int]], bert: list[int], draft: Sequence[int]) -> Row:
        before, past = source[max(0, len(source) - 1 - self.reads.source) : -1], target[:-1]
        past = past[max(0, len(past) - self.reads.target) :]
        here = _joined([*before, source[-1]] if self.reads.joined_source else [source[-1]])
        there = _joined([*past, target[-1]] if self.reads.joined_target else [target[-1]])
        context, target_context = [], []
        if self.system == CADEC:
            size = self.reads.source
            missing: list[list[int]] = [[]] * size
            context = [[*text, END] for text in [*[*missing, *before][-size:], source[-1]]]
            target_context = [[BEGIN, *text, END] for text in [*[*missing, *past][-size:], list(draft)]]
        elif self.shape.context_encoder != NONE:
            context = [[CONTEXT, *_joined(before), END]]
            if self.reads.target and not self.reads.joined_target:
                target_context = [[CONTEXT, *_joined(past), END]]
        return Row([*here, END], context, target_context, bert, [BEGIN, *there, END])

    def _read_by_bert(self, texts: Sequence[str]) -> list[int]:
        """The pieces of the sentences as one text, plus 1; of a text that is too long, without the oldest sentences."""
        assert self.bert is not None
        words, most = self.bert
        for start in range(len(texts)):
            found = words([" ".join(texts[start:])])[0].ids
            ids = [*words.prefix, *found, *words.suffix]
            if len(ids) <= most:
                break
        return [int(number) + 1 for number in ids]

    def fits(self, row: Row) -> bool:
        """Whether the frozen encoder of `bert_fused` can read the row's sentence."""
        return self.bert is None or len(row.bert) <= self.bert[1]

    def prefix(self, past: Sequence[str]) -> list[int]:
        """The forced beginning of a translation: BEGIN, and the previous translations if the decoder writes these."""
        if not self.reads.joined_target:
            return [BEGIN]
        before = _joined(self.pieces.encode(past[max(0, len(past) - self.reads.target) :]))
        return [BEGIN, *before, SEPARATOR] if before else [BEGIN]

    def pad(self, rows: Sequence[Row]) -> Batch:
        """A batch of rows."""
        return Batch(
            source=_padded([row.source for row in rows]),
            context=_stacked([row.context for row in rows]),
            target_context=_stacked([row.target_context for row in rows]),
            bert=_padded([row.bert for row in rows]),
            target=_padded([row.target for row in rows]),
        )


def with_draft(row: Row, draft: Sequence[int]) -> Row:
    """The row with another draft of its sentence (CADec); the draft is in pieces without marks."""
    return row._replace(target_context=[*row.target_context[:-1], [BEGIN, *draft, END]])


def corrupted(ids: Sequence[int], *, noise: float, pieces: int, drawn: Generator) -> list[int]:
    """The pieces, each replaced by a random one with probability `noise` (Voita et al. 2019)."""
    random = drawn.integers(FIRST, pieces, len(ids))
    return np.where(drawn.random(len(ids)) < noise, random, np.asarray(ids, dtype=np.int64)).tolist()


def _joined(texts: Sequence[list[int]]) -> list[int]:
    """Texts as one, with SEPARATOR between; empty ones are left out."""
    there = [text for text in texts if text]
    return [number for k, text in enumerate(there) for number in ([SEPARATOR] if k else []) + text]


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.long)


def _stacked(rows: Sequence[Sequence[list[int]]]) -> Tensor:
    """Texts of each row (batch, texts, pieces); all rows have the same number of them."""
    flat = [text for row in rows for text in row]
    return _padded(flat).unflatten(0, (len(rows), -1)) if flat else torch.zeros(len(rows), 0, 0, dtype=torch.long)
