from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import decoders as decoding
from transformers import BertTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from pronmetric.data.collate import Collator, Encoded, Example, first_pieces
from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.pronouns.finder import find
from pronmetric.text.readable import readable
from pronmetric.text.words import words
from pronmetric.text.writing import flatten_english

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] the book ##s she gave hi ##m it ' s h ##er . what a day".split()
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]


def example(text: str, context: str = "") -> Example:
    return Example(context, text, tuple((o.start, o.end) for o in find(text)))


def wordpiece(vocabulary: Sequence[str] = VOCABULARY) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoding.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


@pytest.fixture(scope="module")
def collator() -> Collator:
    return Collator(Subwords(wordpiece()), max_pieces=64, separator=False)


def one(found: list[Encoded]) -> Encoded:
    (row,) = found
    return row


def test_pieces_words_and_pronouns_of_a_row(collator: Collator) -> None:
    row = one(collator.encode([example("She gave him her books.", "What a day.")]))
    pieces = collator.pieces.tokenizer.convert_ids_to_tokens(row.ids.tolist())
    assert pieces == "[CLS] what a day . she gave hi ##m h ##er book ##s . [SEP]".split()
    assert row.word.tolist() == [-1, 0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9, -1]
    assert row.pronoun_word.tolist() == [4, 6, 7]  # she, him, her
    assert row.pronouns.tolist() == [0, 1, 2]
    assert (row.example, row.cut, row.windows) == (0, 0, 1)


def test_a_clitic_is_a_word_next_to_its_pronoun(collator: Collator) -> None:
    row = one(collator.encode([example("It's hers.")]))
    pieces = collator.pieces.tokenizer.convert_ids_to_tokens(row.ids.tolist())
    assert pieces == "[CLS] it ' s h ##er ##s . [SEP]".split()
    assert row.word.tolist() == [-1, 0, 1, 1, 2, 2, 2, 3, -1]
    assert row.pronoun_word.tolist() == [0, 2]


def test_only_the_pronouns_that_are_asked_for_are_scored(collator: Collator) -> None:
    row = one(collator.encode([Example("She gave.", "it gave him", ((8, 11),))]))
    assert row.pronoun_word.tolist() == [5]  # she gave . it gave HIM


def test_rows_come_in_the_order_of_the_examples(collator: Collator) -> None:
    assert collator.encode([]) == []
    found = collator.encode([example(""), example("a book"), example("She gave.")])
    assert [row.example for row in found] == [0, 1, 2]
    assert [row.ids.tolist() for row in found[:2]] == [[2, 3], [2, 18, 5, 3]]
    assert [len(row.pronouns) for row in found] == [0, 0, 1]


def test_padding_is_no_word_and_no_pronoun(collator: Collator) -> None:
    batch = collator.pad(collator.encode([example("She gave him."), example("a")]))
    assert batch.ids.tolist() == [[2, 7, 8, 9, 10, 16, 3], [2, 18, 3, 0, 0, 0, 0]]
    assert batch.piece_mask.tolist() == [[True] * 7, [True] * 3 + [False] * 4]
    assert batch.word.tolist() == [[-1, 0, 1, 2, 2, 3, -1], [-1, 0] + [-1] * 5]
    assert batch.word_mask.tolist() == [[True] * 4, [True] + [False] * 3]
    assert batch.pronoun_word.tolist() == [[0, 2], [0, 0]]
    assert batch.pronoun_mask.tolist() == [[True, True], [False, False]]


def test_a_batch_without_words_and_pronouns_has_a_slot_of_each(collator: Collator) -> None:
    batch = collator.pad(collator.encode([example("")]))
    assert batch.word_mask.tolist() == [[False]] and batch.pronoun_mask.tolist() == [[False]]


def test_context_is_cut_from_the_left_and_counted() -> None:
    small = Collator(Subwords(wordpiece()), max_pieces=12, separator=False)
    row = one(small.encode([example("She gave him the book.", "What a day. What a day. What a")]))
    pieces = small.pieces.tokenizer.convert_ids_to_tokens(row.ids.tolist())
    # ten pieces without [CLS] and [SEP]: seven of the sentence, the last three of the ten of its context
    assert pieces == "[CLS] . what a she gave hi ##m the book . [SEP]".split()
    assert row.cut == 7 and row.windows == 1
    assert [pieces[i] for i in range(12) if row.word[i] in row.pronoun_word] == ["she", "hi", "##m"]
    assert row.word[row.word >= 0].min() == 0


def test_a_separator_between_context_and_text() -> None:
    marked = Collator(Subwords(wordpiece()), max_pieces=64, separator=True)
    row = one(marked.encode([example("She gave him the book.", "What a day.")]))
    pieces = marked.pieces.tokenizer.convert_ids_to_tokens(row.ids.tolist())
    assert pieces == "[CLS] what a day . [SEP] she gave hi ##m the book . [SEP]".split()
    assert row.word.tolist() == [-1, 0, 1, 2, 3, -1, 4, 5, 6, 6, 7, 8, 9, -1]
    assert row.pronoun_word.tolist() == [4, 6]
    alone = one(marked.encode([example("She gave him the book.")]))
    assert marked.pieces.tokenizer.convert_ids_to_tokens(alone.ids.tolist()) == [pieces[0], *pieces[6:]]


@pytest.mark.parametrize(
    ("room", "cut", "pieces"), [(12, 2, "day . [SEP] she"), (11, 3, "[CLS] . [SEP] she"), (10, 4, "[CLS] she")]
)
def test_no_separator_after_a_context_that_was_cut_away(room: int, cut: int, pieces: str) -> None:
    marked = Collator(Subwords(wordpiece()), max_pieces=room, separator=True)
    row = marked.encode([example("She gave the book a day.", "What a day.")])[0]
    assert pieces in " ".join(marked.pieces.tokenizer.convert_ids_to_tokens(row.ids.tolist()))
    assert row.cut == cut


def windows_of(collator: Collator, given: Example) -> list[Encoded]:
    """The windows of an over-long example, checked: each pronoun once, with all pieces of its word."""
    found = collator.encode([given])
    assert len(found) == found[0].windows > 1
    assert sorted(k for row in found for k in row.pronouns.tolist()) == list(range(len(given.spans)))
    for row in found:
        assert len(row.ids) == collator.max_pieces and row.windows == len(found)
        for k, at in zip(row.pronouns.tolist(), row.pronoun_word.tolist(), strict=True):
            start, end = given.spans[k]
            pieces = np.flatnonzero(row.word == at)
            assert collator.pieces.tokenizer.decode(row.ids[pieces]).strip() == given.text[start:end].lower()
    return found


@pytest.mark.parametrize("separator", [False, True])
@pytest.mark.parametrize("max_pieces", [10, 11, 17, 32])
@pytest.mark.parametrize("length", [6, 7, 13, 40])
def test_a_long_sentence_is_windowed(max_pieces: int, length: int, separator: bool) -> None:
    small = Collator(Subwords(wordpiece()), max_pieces=max_pieces, separator=separator)
    text = " ".join("she gave him the books . it gave her a day .".split() * length)
    found = windows_of(small, example(text, "What a day."))
    assert {row.cut for row in found} == {4}
    for row, after in pairwise(found):
        assert any((after.ids[1:5] == row.ids[i : i + 4]).all() for i in range(len(row.ids) - 4))  # they overlap


def test_a_pronoun_of_a_window_has_text_on_both_sides() -> None:
    small = Collator(Subwords(wordpiece()), max_pieces=34, separator=False)
    given = example(" ".join("a day the book she gave a day the book".split() * 20))
    found = windows_of(small, given)
    for k, row in enumerate(found):
        places = [int(np.flatnonzero(row.word == at)[0]) - 1 for at in row.pronoun_word]
        assert all(8 <= p for p in places if k > 0) and all(p < 24 for p in places if k < len(found) - 1)


def test_a_text_that_just_fits_is_no_window() -> None:
    text = "she gave him the book . it gave"  # 9 pieces
    row = one(Collator(Subwords(wordpiece()), max_pieces=11, separator=False).encode([example(text, "What a day.")]))
    assert (row.windows, row.cut) == (1, 4)


def test_a_slow_tokenizer_or_too_little_room_is_refused() -> None:
    with pytest.raises(InputError, match="room for 8 pieces of text, got 9"):
        Collator(Subwords(wordpiece()), max_pieces=9, separator=False)
    slow = wordpiece()
    slow.__class__ = type("SlowTokenizer", (PreTrainedTokenizerFast,), {"is_fast": False})
    with pytest.raises(InputError, match=r"expected a fast tokenizer .* got SlowTokenizer"):
        Collator(Subwords(slow), max_pieces=64, separator=False)


# Other kinds of tokenizers

LINES = [
    "She gave him the books that they had found themselves.",
    "Whose is it? It's hers, isn't it, and theirs.",
    "Caf\u00e9 and na\u00efve \U0001f600 words: who knows whom?",
]
TEXTS = [
    *LINES,
    "  It \t is\u00a0his ,  and   hers .",
    "\u201cI\u2019m sure they\u2019ve met him,\u201d she said \u2014 and (it) smiled \U0001f600\U0001f600 at us.",
    "\ufb01nally, \u2460 you; e\u0301 he!",
    "THEY SAW IT.",
]


def byte_level(*, trim: bool) -> PreTrainedTokenizerFast:
    """As RoBERTa's: bytes, the blank before a word is part of its first piece; `trim` leaves it out of the offsets."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=trim)
    tokenizer.decoder = decoding.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        LINES,
        trainers.BpeTrainer(vocab_size=320, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False),
    )
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=trim, add_prefix_space=False
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", pad_token="<pad>", eos_token="</s>")


def sentencepiece(kind: str) -> PreTrainedTokenizerFast:
    """As XLM-R's ("unigram") or Llama's ("bpe"): NFKC, a blank is a mark before its word, sometimes a piece alone."""
    trainer: trainers.Trainer
    if kind == "unigram":
        tokenizer = Tokenizer(models.Unigram())
        trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    else:
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
        trainer = trainers.BpeTrainer(vocab_size=70, special_tokens=SPECIAL, show_progress=False)
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoding.Metaspace()
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


OTHERS: dict[str, Callable[[], PreTrainedTokenizerBase]] = {
    "byte-level": lambda: byte_level(trim=False),
    "byte-level, trimmed": lambda: byte_level(trim=True),
    "unigram": lambda: sentencepiece("unigram"),
    "bpe": lambda: sentencepiece("bpe"),
}


@pytest.fixture(scope="module", params=OTHERS)
def other(request: pytest.FixtureRequest) -> Collator:
    return Collator(Subwords(OTHERS[request.param]()), max_pieces=200, separator=False)


@pytest.mark.parametrize("context", ["", "He said so."])
@pytest.mark.parametrize("text", TEXTS)
def test_any_tokenizer_gives_each_pronoun_the_pieces_of_its_word(other: Collator, text: str, context: str) -> None:
    given = example(text, context)
    assert given.spans
    row = one(other.encode([given]))
    seen = readable(text)
    whole = f"{context} {seen.text}" if context else seen.text
    offsets = other.pieces.tokenizer(whole, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    shift = len(whole) - len(seen.text)
    assert row.word[0] == row.word[-1] == -1 and len(row.word) == len(offsets) + 2
    for span, at in zip(given.spans, row.pronoun_word.tolist(), strict=True):
        start, end = seen.read(*span)
        covered = [offsets[i - 1] for i in np.flatnonzero(row.word == at)]
        found = whole[min(a for a, _ in covered) : max(b for _, b in covered)]
        assert found.strip() == whole[start + shift : end + shift]


@pytest.mark.parametrize("text", TEXTS)
def test_any_tokenizer_gives_each_word_its_number_and_blanks_none(other: Collator, text: str) -> None:
    row = one(other.encode([example(text)]))
    text = readable(text).text
    offsets = other.pieces.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    spans = [(w.start, w.end) for w in words(text)]
    for word, (_, end) in zip(row.word[1:-1].tolist(), offsets, strict=True):
        if text[end - 1].isspace():
            assert word == -1
        else:
            assert spans[word][0] < end <= spans[word][1]


def test_a_piece_over_two_words_is_the_piece_of_a_pronoun_in_it() -> None:
    pieces = [*SPECIAL, "\u2581it's", "\u2581that", "\u2581her", "s", "'"]
    tokenizer = Tokenizer(models.WordLevel({piece: i for i, piece in enumerate(pieces)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    collator = Collator(
        Subwords(PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>")), max_pieces=64, separator=False
    )
    row = one(collator.encode([Example("", "it's her", ((0, 2), (5, 8)))]))
    assert row.ids.tolist() == [0, 4, 6, 2]
    assert [np.flatnonzero(row.word == at).tolist() for at in row.pronoun_word] == [[1], [2]]


def test_a_tokenizer_that_adds_nothing() -> None:
    plain = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    plain.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    collator = Collator(
        Subwords(PreTrainedTokenizerFast(tokenizer_object=plain, unk_token="[UNK]")), max_pieces=8, separator=False
    )
    row = one(collator.encode([example("she gave it")]))
    assert row.ids.tolist() == [7, 8, 11] and row.word.tolist() == [0, 1, 2]
    assert collator.pad([row, *collator.encode([example("it")])]).ids.tolist() == [[7, 8, 11], [11, 0, 0]]


def test_bert_as_transformers_makes_it(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    collator = Collator(Subwords(BertTokenizer(vocab=str(tmp_path / "vocab.txt"))), max_pieces=64, separator=False)
    assert one(collator.encode([example("She gave him.")])).word.tolist() == [-1, 0, 1, 2, 2, 3, -1]


def test_the_first_piece_of_a_pronoun_belongs_to_its_word() -> None:
    # "it  tis": the apostrophe of the last pronoun is a blank in plain form, and a piece of its own
    offsets = np.array([(0, 2), (2, 3), (3, 4), (4, 7)])
    word = np.array([0, -1, -1, 1])
    assert first_pieces(np.array([0, 3]), offsets, word).tolist() == [0, 3]
    assert first_pieces(np.array([], dtype=np.int64), offsets[:0], word[:0]).tolist() == []


@pytest.mark.parametrize("form", ["plain", "natural"])
def test_an_elided_pronoun_has_the_word_that_holds_it(other: Collator, form: str) -> None:
    text = "She said 'twas hers."
    spans = tuple((found.start, found.end) for found in find(text))
    text = flatten_english(text) if form == "plain" else text
    row = one(other.encode([Example("", text, spans)]))
    assert len(row.pronoun_word) == 3 and (row.pronoun_word >= 0).all()
    assert np.unique(row.pronoun_word).size == 3
