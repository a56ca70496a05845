"""From texts with pronoun spans to padded tensors: pieces, words and pronouns of each row.

A row is ONE run of plain text: the context, one blank, then the text whose pronouns are scored, with the encoder's
separator piece between the two if asked for. Pieces are what the encoder reads (`pronmetric.data.pieces`); words are
those of the target language (`pronmetric.pronouns.languages.Language.words`). A piece that spans several words belongs
to the last of them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from pronmetric.data.pieces import Pieces, PieceSpans
from pronmetric.errors import InputError
from pronmetric.text.context import Source
from pronmetric.text.readable import readable
from pronmetric.text.words import Word, words


class Example(NamedTuple):
    """A text in its context; `spans` are the half-open code-point spans of the pronouns to score in `text`.

    source: that of the text, for `pronmetric.data.source_rows`; None if it has none.
    """

    context: str
    text: str
    spans: Sequence[tuple[int, int]]
    source: Source | None = None


class Encoded(NamedTuple):
    """One row of a batch before padding; a text longer than the encoder has several, a pronoun only one.

    example: index into the examples that were encoded. ids: piece ids (pieces, ...). word: index of each
    piece's word (pieces,), -1 for special pieces and for what belongs to no word. pronoun_word: word index
    of each pronoun (pronouns,). pronouns: their indices into `Example.spans`. cut: number of pieces of context
    that did not fit. windows: number of rows of the example. first_word: the row's word 0, counted from the start of
    the context; below 0 by the words of the source before it. unread: number of its words that are not read
    completely, or of the pieces of its source that are not.
    source: spans in the source of its first words (source words, 2), in readable form, -1 for those of the sentences
    before it; None where no source is read.
    gaps, gap_word: words of the text before each of which a pronoun may be missing, counted in the text and in the row
    (gaps,); each is in one row. None where gaps are not read.
    """

    example: int
    ids: np.ndarray
    word: np.ndarray
    pronoun_word: np.ndarray
    pronouns: np.ndarray
    cut: int
    windows: int
    first_word: int = 0
    unread: int = 0
    source: np.ndarray | None = None
    gaps: np.ndarray | None = None
    gap_word: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Padded rows. Masks are True = real; padded pieces have word -1, padded pronouns word 0."""

    ids: Int[Tensor, "batch pieces *characters"]
    piece_mask: Bool[Tensor, "batch pieces"]
    word: Int[Tensor, "batch pieces"]
    word_mask: Bool[Tensor, "batch words"]
    pronoun_word: Int[Tensor, "batch pronouns"]
    pronoun_mask: Bool[Tensor, "batch pronouns"]

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        return move(self, device)

    def pin_memory(self) -> Batch:
        """The same batch in pinned memory."""
        return pin(self)

    def arrays(self) -> dict[str, np.ndarray]:
        """The tensors by name, as arrays: the inputs of an exported scorer."""
        return {f.name: getattr(self, f.name).cpu().numpy() for f in fields(self)}


class _Run(NamedTuple):
    """All pieces of an example: ids (pieces, ...), the word of each (pieces,), the word of each pronoun (pronouns,)."""

    example: int
    ids: np.ndarray
    word: np.ndarray
    pronoun_word: np.ndarray


class Collator:
    """Encodes examples for one encoder.

    `max_pieces` counts the special pieces too. `separator`: put the separator piece between context and text, which
    marks the text that is scored. `split`: the words of a text.
    """

    def __init__(
        self,
        pieces: Pieces,
        *,
        max_pieces: int,
        separator: bool,
        split: Callable[[str], Sequence[Word]] = words,
    ) -> None:
        if separator and pieces.separator is None:
            raise InputError("this encoder's tokenizer has no separator piece: set separator=false")
        self.pieces = pieces
        self.max_pieces = max_pieces
        self.split = split
        self.separator = pieces.separator if separator else None
        self._room = max_pieces - len(pieces.prefix) - len(pieces.suffix)
        if self._room < 8:
            raise InputError(f"expected max_pieces with room for 8 pieces of text, got {max_pieces}")

    def encode(self, examples: Sequence[Example]) -> list[Encoded]:
        """Rows of `examples`, in order.

        Context that does not fit is cut from the left; a text that does not fit alone is split into
        overlapping windows that together hold each pronoun once.
        """
        examples = [seen(example) for example in examples]
        texts = [f"{e.context} {e.text}" if e.context else e.text for e in examples]
        rows: list[Encoded] = []
        for i, (example, text, pieces) in enumerate(zip(examples, texts, self.pieces(texts), strict=True)):
            rows.extend(row._replace(unread=pieces.unread) for row in self._rows(i, example, text, pieces))
        return rows

    def _rows(self, index: int, example: Example, text: str, pieces: PieceSpans) -> Iterable[Encoded]:
        ids, offsets, _ = pieces
        word = word_of_pieces(self.split(text), offsets)
        shift = len(text) - len(example.text)
        spans = np.asarray(example.spans, dtype=np.int64).reshape(-1, 2) + shift
        first = first_pieces(spans[:, 0], offsets, word)
        pronoun_word = word[first]
        text_start = int(np.searchsorted(offsets[:, 1], shift, side="right"))
        context = text_start
        if self.separator is not None and context:
            ids, word = np.insert(ids, context, self.separator, axis=0), np.insert(word, context, -1)
            first, text_start = first + 1, context + 1
        run, room = _Run(index, ids, word, pronoun_word), self._room
        if len(ids) - text_start <= room:
            begin = max(0, len(ids) - room)
            begin = text_start if begin == context else begin  # no separator without context
            cut = min(begin, context)
            yield self._row(run, np.arange(len(spans)), begin, len(ids), cut=cut, windows=1)
            return
        for begin, mine, windows in cut_windows(first - text_start, size=len(ids) - text_start, room=room):
            begin += text_start
            yield self._row(run, mine, begin, begin + room, cut=context, windows=windows)

    def _row(self, run: _Run, pronouns: np.ndarray, begin: int, end: int, *, cut: int, windows: int) -> Encoded:
        """The row of `run` from piece `begin` to `end`, with those of its pronouns."""
        prefix, suffix = self.pieces.prefix, self.pieces.suffix
        inside = run.word[begin:end]
        base = int(inside[inside >= 0].min(initial=len(run.word)))
        local = np.where(inside >= 0, inside - base, -1)
        return Encoded(
            example=run.example,
            ids=np.concatenate([prefix, run.ids[begin:end], suffix]),
            word=np.concatenate([np.full(len(prefix), -1), local, np.full(len(suffix), -1)]),
            pronoun_word=run.pronoun_word[pronouns] - base,
            pronouns=pronouns,
            cut=cut,
            windows=windows,
            first_word=base,
        )

    def pad(self, rows: Sequence[Encoded]) -> Batch:
        """Stack rows; there is at least one piece, word and pronoun slot."""
        n = len(rows)
        pieces = max(1, *(len(r.ids) for r in rows))
        n_words = max(1, *(int(r.word.max(initial=-1)) + 1 for r in rows))
        slots = max(1, *(len(r.pronouns) for r in rows))
        ids = np.full((n, pieces, *self.pieces.pad.shape), self.pieces.pad, dtype=np.int64)
        word = np.full((n, pieces), -1, dtype=np.int64)
        pronoun_word = np.zeros((n, slots), dtype=np.int64)
        lengths = np.array([len(r.ids) for r in rows])
        counts = np.array([len(r.pronouns) for r in rows])
        for i, row in enumerate(rows):
            ids[i, : len(row.ids)] = row.ids
            word[i, : len(row.word)] = row.word
            pronoun_word[i, : len(row.pronouns)] = row.pronoun_word
        word_mask = np.zeros((n, n_words + 1), dtype=bool)
        np.put_along_axis(word_mask, np.where(word >= 0, word, n_words), True, axis=1)
        return Batch(
            ids=torch.from_numpy(ids),
            piece_mask=torch.from_numpy(np.arange(pieces) < lengths[:, None]),
            word=torch.from_numpy(word),
            word_mask=torch.from_numpy(word_mask[:, :n_words]),
            pronoun_word=torch.from_numpy(pronoun_word),
            pronoun_mask=torch.from_numpy(np.arange(slots) < counts[:, None]),
        )


def cut_batches(rows: Sequence[Encoded], *, pieces: int, by_length: bool = True) -> Iterator[list[Encoded]]:
    """Batches of at most `pieces` pieces, padding included; a longer row is a batch by itself.

    by_length: rows of similar length share a batch, the longest first; otherwise consecutive rows do.
    """
    batch: list[Encoded] = []
    longest = 0
    for row in sorted(rows, key=lambda row: -len(row.ids)) if by_length else rows:
        longest = max(longest, len(row.ids))
        if batch and longest * (len(batch) + 1) > pieces:
            yield batch
            batch, longest = [], len(row.ids)
        batch.append(row)
    if batch:
        yield batch


def word_of_pieces(split: Sequence[Word], offsets: np.ndarray) -> np.ndarray:
    """The word of each piece (pieces,), -1 for white space; a piece belongs to the word of its last character.

    offsets: half-open spans of the pieces (pieces, 2).
    """
    bounds = np.array([(w.start, w.end) for w in split], dtype=np.int64).reshape(-1, 2)
    last = offsets[:, 1] - 1
    word = np.searchsorted(bounds[:, 0], last, side="right") - 1
    return np.where((word >= 0) & (last < np.append(bounds[:, 1], 0)[word]), word, -1)


def first_pieces(starts: np.ndarray, offsets: np.ndarray, word: np.ndarray) -> np.ndarray:
    """The first piece of each pronoun that belongs to a word (pronouns,).

    In plain form a pronoun may begin with a blank, in place of an apostrophe, which SentencePiece may make a piece of.

    starts: the offset of each pronoun (pronouns,). offsets, word: half-open spans of the pieces, and their words.
    """
    known = np.flatnonzero(word >= 0)
    return known[np.searchsorted(offsets[known, 1], starts, side="right")]


def cut_windows(first: np.ndarray, *, size: int, room: int) -> Iterator[tuple[int, np.ndarray, int]]:
    """Overlapping windows of `room` pieces over a text of `size` pieces: first piece, its pronouns, their number.

    first: the first piece of each pronoun (pronouns,); each pronoun is in one window.
    """
    stride = max(1, room // 2)
    windows = 1 + -(-(size - room) // stride)
    owner = np.clip((first - room // 4) // stride, 0, windows - 1)
    for k in range(windows):
        yield min(k * stride, size - room), np.flatnonzero(owner == k), windows


def seen(example: Example) -> Example:
    """An example as readable text (`pronmetric.text.readable`)."""
    text, source = readable(example.text), example.source
    if source is not None:
        source = Source(readable(source.text).text, tuple(readable(each).text for each in source.before))
    spans = [text.read(*span) for span in example.spans]
    return Example(readable(example.context).text.strip(), text.text, spans, source)


Record = TypeVar("Record")


def move(record: Record, device: torch.device | str) -> Record:
    """The same dataclass on another device.

    To a GPU of CUDA tensors are copied without waiting, which needs pinned memory (`pin`); elsewhere with waiting.
    """
    ahead = torch.device(device).type == "cuda"
    return _each(record, lambda tensor: tensor.to(device, non_blocking=ahead))


def pin(record: Record) -> Record:
    """The same dataclass in memory that a GPU reads by itself."""
    return _each(record, Tensor.pin_memory)


def _each(record: Record, change: Callable[[Tensor], Tensor]) -> Record:
    """A copy of a dataclass with changed tensors, also those of the dataclasses in it; nothing is computed anew."""
    found: Any = copy.copy(record)
    for field in fields(found):
        value = getattr(found, field.name)
        if isinstance(value, Tensor):
            object.__setattr__(found, field.name, change(value))
        elif is_dataclass(value):
            object.__setattr__(found, field.name, _each(value, change))
    return found


def first_rows(rows: Sequence[Encoded]) -> list[Encoded]:
    """The first row of each example."""
    return [row for i, row in enumerate(rows) if i == 0 or rows[i - 1].example != row.example]
