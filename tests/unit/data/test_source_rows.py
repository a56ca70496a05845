"""Rows of a source and its text: the layout, the words, and what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

from pronmetric.data.collate import Encoded, Example
from pronmetric.data.pieces import Subwords
from pronmetric.data.source_rows import SourceCollator
from pronmetric.errors import InputError
from pronmetric.pronouns.finder import find
from pronmetric.text.context import Source
from pronmetric.text.words import words


@pytest.fixture
def pieces(tiny_mpnet_tokenizer: PreTrainedTokenizerFast) -> Subwords:
    return Subwords(tiny_mpnet_tokenizer)


def example(context: str, text: str, source: Source | None = None) -> Example:
    return Example(context, text, tuple((o.start, o.end) for o in find(text)), source)


def shown(row: Encoded, pieces: Subwords) -> list[str]:
    return pieces.tokenizer.convert_ids_to_tokens(row.ids.tolist())


def test_source_context_and_text_stand_in_this_order(pieces: Subwords) -> None:
    collator = SourceCollator(pieces, max_pieces=64, context=8, before=8)
    given = example("It is.", "She was it.", Source("he was.", ("they are.",)))
    (row,) = collator.encode([given])
    text = "".join(piece.removeprefix("##") for piece in shown(row, pieces))
    assert text == "<s>theyare.hewas.</s></s>itis.</s>shewasit.</s>"
    of_source = int((row.source[:, 0] >= 0).sum())
    assert row.source is not None and "hewas." == "".join(
        "he was."[a:b] for a, b in row.source[row.source[:, 0] >= 0].tolist()
    )
    assert 0 < of_source < len(row.source)  # the others are of the sentence before it
    spoken = [pieces.tokenizer.convert_ids_to_tokens(row.ids[row.word == k].tolist()) for k in row.pronoun_word]
    assert spoken == [["she"], ["it"]] and row.cut == row.unread == 0
    known = row.word[row.word >= 0]
    assert np.array_equal(np.unique(known), np.arange(len(row.source) + len(words("It is. She was it."))))


def test_without_a_source_the_first_part_is_empty(pieces: Subwords) -> None:
    collator = SourceCollator(pieces, max_pieces=64, context=8, before=8)
    (row,) = collator.encode([example("", "She was.")])
    assert shown(row, pieces)[:4] == ["<s>", "</s>", "</s>", "</s>"] and row.source is None
    (same,) = collator.encode([example("", "She was.", Source(""))])
    assert np.array_equal(same.ids, row.ids)


def test_contexts_are_cut_on_their_left(pieces: Subwords) -> None:
    collator = SourceCollator(pieces, max_pieces=64, context=2, before=1)
    (row,) = collator.encode([example("it was it.", "She was.", Source("he.", ("they are.",)))])
    text = "".join(piece.removeprefix("##") for piece in shown(row, pieces))
    assert text == "<s>.he.</s></s>it.</s>shewas.</s>" and row.cut == 2


@pytest.mark.parametrize("length", [30, 31, 57, 200])
def test_each_pronoun_of_a_long_text_is_in_one_window(pieces: Subwords, length: int) -> None:
    collator = SourceCollator(pieces, max_pieces=48, context=8, before=8)
    given = example("it is.", "she it " * length, Source("he " * 3 * length))
    rows = collator.encode([given])
    assert sorted(k for row in rows for k in row.pronouns) == list(range(2 * length))
    assert all(len(row.ids) <= 48 and row.unread > 0 for row in rows)
    for row in rows:
        found = [pieces.tokenizer.decode(row.ids[row.word == k]) for k in row.pronoun_word]
        assert found == [("she", "it")[k % 2] for k in row.pronouns]
    places = [row.source[0, 0] for row in rows if row.source is not None]
    assert places == sorted(places) and len(set(places)) == len(places)  # each window has its part of the source


def test_rows_need_room(pieces: Subwords) -> None:
    with pytest.raises(InputError, match="expected max_pieces from 32 for a text and its source, got 16"):
        SourceCollator(pieces, max_pieces=16, context=8, before=8)
