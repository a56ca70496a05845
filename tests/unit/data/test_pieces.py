"""Ways of cutting texts, and rows of words in place of sub-words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pronmetric.data import characters
from pronmetric.data.collate import Collator, Encoded, Example
from pronmetric.data.pieces import FIRST, SEPARATOR, UNKNOWN, Characters, Pieces, Vocabulary
from pronmetric.errors import InputError
from pronmetric.pronouns.finder import find
from pronmetric.text.words import words

WORDS = ("she", "gave", "him", "the", "book", ".")
TEXT, CONTEXT = "She gave him it.", "What a book."


def example(text: str, context: str = "") -> Example:
    return Example(context, text, tuple((o.start, o.end) for o in find(text)))


def one(found: list[Encoded]) -> Encoded:
    (row,) = found
    return row


def test_a_vocabulary_gives_words_their_ids_and_spans() -> None:
    (found,) = Vocabulary(WORDS, lower=True)([TEXT])
    assert found.ids.tolist() == [FIRST, FIRST + 1, FIRST + 2, UNKNOWN, FIRST + 5]
    assert [TEXT[start:end] for start, end in found.offsets] == ["She", "gave", "him", "it", "."]
    assert Vocabulary(WORDS, lower=False)([TEXT])[0].ids.tolist()[0] == UNKNOWN


def test_a_vocabulary_comes_back_from_its_file(tmp_path: Path) -> None:
    vocabulary = Vocabulary([*WORDS, "caf\u00e9", "\u201c", "http://a.b/\u0085"[:-1]], lower=True)
    vocabulary.save(tmp_path)
    again = Vocabulary.load(tmp_path, {"lower": True, "words": len(vocabulary.words)})
    assert again.words == vocabulary.words and {path.name for path in tmp_path.iterdir()} == {"vocabulary.txt"}
    for wrong in ("", "she\nit\nshe\n"):
        (tmp_path / "vocabulary.txt").write_text(wrong)
        with pytest.raises(InputError, match="expected distinct words"):
            Vocabulary.load(tmp_path, {"lower": True, "words": len(vocabulary.words)})


def test_characters_are_those_of_elmo() -> None:
    (found,) = Characters()([TEXT])
    assert (found.ids == characters.ids(["She", "gave", "him", "it", "."])).all()
    assert found.offsets.tolist() == [[w.start, w.end] for w in words(TEXT)]


@pytest.mark.parametrize("pieces", [Vocabulary(WORDS, lower=True), Characters()], ids=["vocabulary", "characters"])
class TestWords:
    """What holds for each encoder that reads words."""

    def test_each_piece_is_a_word(self, pieces: Pieces) -> None:
        assert isinstance(pieces, Pieces)
        row = one(Collator(pieces, max_pieces=64, separator=False).encode([example(TEXT, CONTEXT)]))
        assert row.word.tolist() == list(range(9)) and row.pronoun_word.tolist() == [4, 6, 7]
        assert (row.ids == pieces([f"{CONTEXT} {TEXT}"])[0].ids).all()

    def test_a_separator_belongs_to_no_word(self, pieces: Pieces) -> None:
        collator = Collator(pieces, max_pieces=64, separator=True)
        row, alone = collator.encode([example(TEXT, CONTEXT), example(TEXT)])
        assert row.word.tolist() == [0, 1, 2, 3, -1, 4, 5, 6, 7, 8] and row.pronoun_word.tolist() == [4, 6, 7]
        assert (row.ids[4] == pieces.separator).all() and (row.ids[5:] == alone.ids).all()

    def test_padding_and_rows_without_words(self, pieces: Pieces) -> None:
        collator = Collator(pieces, max_pieces=64, separator=True)
        rows = collator.encode([example("She gave."), example(""), example("it")])
        batch = collator.pad(rows)
        assert batch.ids.shape == (3, 3, *pieces.pad.shape)
        assert batch.piece_mask.tolist() == [[True] * 3, [False] * 3, [True, False, False]]
        assert (batch.ids[1].numpy() == pieces.pad).all() and (batch.ids[0].numpy() == rows[0].ids).all()
        empty = collator.pad([rows[1]])
        assert empty.ids.shape == (1, 1, *pieces.pad.shape) and not empty.piece_mask.any()

    def test_what_is_too_long_is_cut_or_windowed(self, pieces: Pieces) -> None:
        small = Collator(pieces, max_pieces=10, separator=True)
        row = one(small.encode([example(TEXT, f"{CONTEXT} She gave.")]))
        assert (len(row.ids), row.cut, row.windows) == (10, 3, 1)
        text = " ".join([TEXT] * 6)
        given = example(text)
        rows = small.encode([given])
        assert len(rows) == rows[0].windows > 1
        whole = pieces([text])[0].ids
        for row in rows:
            for k, at in zip(row.pronouns, row.pronoun_word, strict=True):
                (place,) = np.flatnonzero(row.word == at)
                assert (row.ids[place] == whole[[w.start for w in words(text)].index(given.spans[k][0])]).all()
        assert sorted(k for row in rows for k in row.pronouns) == list(range(len(given.spans)))

    def test_words_that_are_not_read_to_their_ends_are_counted(self, pieces: Pieces) -> None:
        collator = Collator(pieces, max_pieces=10, separator=False)
        texts = [example(TEXT), example(f"{'x' * 48} {'x' * 49}, {'y' * 60}: she"), example(" ".join(["z" * 49] * 20))]
        found = {row.example: row.unread for row in collator.encode(texts)}
        assert found == ({0: 0, 1: 2, 2: 20} if isinstance(pieces, Characters) else {0: 0, 1: 0, 2: 0})


def test_ids_of_a_vocabulary_that_are_no_words() -> None:
    assert FIRST not in (UNKNOWN, SEPARATOR) and Vocabulary(WORDS, lower=True).pad.tolist() == 0
