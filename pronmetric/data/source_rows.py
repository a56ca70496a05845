"""Rows of texts with their sources: what a reader of sources reads.

A row is the source's previous sentences and the source, two separators, the text's context, a separator, and the text
whose pronouns are scored. Without a source the first part is empty. The words of a row are those of context and text,
after the pieces of the source, each of which counts as a word of its own: scripts without blanks have no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from pronmetric.data.collate import Collator, Encoded, Example, cut_windows, first_pieces, seen, word_of_pieces
from pronmetric.data.pieces import Pieces, PieceSpans
from pronmetric.errors import InputError
from pronmetric.text.context import join
from pronmetric.text.words import Word, words

_LEAST = 32  # pieces of a row
_PARTS = 4  # texts of an example: the source's previous sentences, the source, the context, the text


class SourceCollator(Collator):
    """Encodes examples with their sources for one encoder.

    Source and previous sentences take at most half of `max_pieces`. Of a longer source, each window of the text has the
    part at the same relative place, as if both had the same order; `Encoded.unread` counts what is left out.

    Args:
        pieces: of the encoder; they need a separator.
        max_pieces: of a row, special pieces included.
        context: most pieces of the text's context; further ones on its left are not read.
        before: the same of the source's previous sentences.
        split: the words of a text.
    """

    def __init__(
        self,
        pieces: Pieces,
        *,
        max_pieces: int,
        context: int,
        before: int,
        split: Callable[[str], Sequence[Word]] = words,
    ) -> None:
        super().__init__(pieces, max_pieces=max_pieces, separator=True, split=split)
        if max_pieces < _LEAST:
            raise InputError(f"expected max_pieces from {_LEAST} for a text and its source, got {max_pieces}")
        self._context, self._before = context, before

    def encode(self, examples: Sequence[Example]) -> list[Encoded]:
        """Rows of `examples`, in order; a text that does not fit has overlapping windows, each pronoun in one."""
        examples = [seen(example) for example in examples]
        texts = [text for example in examples for text in _texts(example)]
        pieces = self.pieces(texts)
        rows: list[Encoded] = []
        for i, example in enumerate(examples):
            rows.extend(self._rows_of(i, example, pieces[_PARTS * i : _PARTS * (i + 1)]))
        return rows

    def _rows_of(self, index: int, example: Example, pieces: Sequence[PieceSpans]) -> Iterator[Encoded]:
        before, source, context, text = pieces
        half = self.max_pieces // 2 - len(self.pieces.prefix) - 2
        taken = min(half, len(source.ids))
        older = before.ids[max(0, len(before.ids) - min(self._before, half - taken)) :]
        room = self._room - 3 - taken - len(older)  # beside three separators
        cut = len(context.ids) - min(self._context, max(0, room - len(text.ids)), len(context.ids))
        context_word = word_of_pieces(self.split(example.context), context.offsets)
        word = word_of_pieces(self.split(example.text), text.offsets)
        before_text = len(self.split(example.context))  # words
        starts = np.array([start for start, _ in example.spans], dtype=np.int64)
        first = first_pieces(starts, text.offsets, word)
        gaps, first_of_gap = np.unique(word[word >= 0], return_index=True)
        first_of_gap = np.flatnonzero(word >= 0)[first_of_gap]
        both, size = np.concatenate([first, first_of_gap]), len(text.ids)
        whole = [(0, np.arange(len(both)), 1)]
        for begin, places, number in whole if size <= room else cut_windows(both, size=size, room=room):
            mine, own = places[places < len(first)], places[places >= len(first)] - len(first)
            end = min(begin + room, size)
            at = _place((begin + end) / (2 * max(1, len(text.ids))), size=len(source.ids), room=taken)
            given = np.concatenate([older, source.ids[at : at + taken]])
            parts = (given, np.arange(len(given))), (context.ids[cut:], context_word[cut:])
            ids, words_of, start = self._join(*parts, (text.ids[begin:end], word[begin:end]))
            words_read = context_word[cut:], before_text + word[begin:end][word[begin:end] >= 0]
            first_word = min((int(each[each >= 0].min()) for each in words_read if (each >= 0).any()), default=0)
            spans = np.concatenate([np.full((len(older), 2), -1), source.offsets[at : at + taken]])
            yield Encoded(
                example=index,
                ids=ids,
                word=words_of,
                pronoun_word=words_of[start + first[mine] - begin],
                pronouns=mine,
                cut=cut,
                windows=number,
                first_word=first_word - len(given),
                unread=len(source.ids) - taken,
                source=None if example.source is None else spans,
                gaps=gaps[own],
                gap_word=words_of[start + first_of_gap[own] - begin],
            )

    def _join(self, *parts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray, int]:
        """The pieces of a row, the word of each, counted through the row, and where its text begins.

        parts: pieces and words of source, context and text.
        """
        assert self.separator is not None
        mark, prefix, suffix = np.atleast_1d(self.separator), self.pieces.prefix, self.pieces.suffix
        ids, word, count = [], [], 0
        for before, (own, its_word) in zip((prefix, np.repeat(mark, 2), mark), parts, strict=True):
            known = its_word >= 0
            moved = np.where(known, its_word - (its_word[known].min() if known.any() else 0) + count, -1)
            ids += [before, own]
            word += [np.full(len(before), -1), moved]
            count = max(count, int(moved.max(initial=-1)) + 1)
        start = sum(map(len, ids)) - len(parts[-1][0])
        return np.concatenate([*ids, suffix]), np.concatenate([*word, np.full(len(suffix), -1)]), start


def _texts(example: Example) -> tuple[str, ...]:
    """The texts of an example: the source's previous sentences, the source, the context, the text."""
    source = ("", "") if example.source is None else (join(example.source.before), example.source.text)
    return *source, example.context, example.text


def _place(middle: float, *, size: int, room: int) -> int:
    """Where the part of `room` of a source's `size` pieces begins whose middle is at this share of the source."""
    return int(min(max(0, round(middle * size - room / 2)), size - room))
