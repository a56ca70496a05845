"""Rows of texts in other languages: which pieces a pronoun has, also where no blanks separate words."""

# ruff: noqa: RUF001  (Chinese)

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from pronmetric.data.collate import Collator, Example
from pronmetric.data.pieces import Subwords
from pronmetric.pronouns.languages import language

SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
TEXTS = {
    "zh": [
        "他们看见了她。",
        "在2019年他说iPhone是她的。",
        "那只猫来了，它\u200b很小；我喜欢它！",
        "他她它",
        "我们的老师说，其他人和他们在一起。",
    ],
    "fr": ["C\u2019est elle qui m'a vu.", "Qu'ils s'aiment !", "L'a-t-il dit, ce mot ?"],
    "de": ["Er gab ihr Ihren Hut, und es regnete.", "\u201eSie?\u201c, fragte er."],
}
CONTEXT = {"zh": "他的姐姐走了。", "fr": "Elle l'a dit.", "de": "Das war er."}


def wordpiece(lines: list[str]) -> PreTrainedTokenizerFast:
    """As multilingual BERT's: each Chinese character is a piece."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=150, special_tokens=SPECIAL, show_progress=False)
    return finished(tokenizer, trainer, lines)


def unigram(lines: list[str]) -> PreTrainedTokenizerFast:
    """As XLM-R's: a piece may hold several Chinese words, and a mark before the text may be a piece by itself."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=150, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    return finished(tokenizer, trainer, lines)


def finished(tokenizer: Tokenizer, trainer: trainers.Trainer, lines: list[str]) -> PreTrainedTokenizerFast:
    tokenizer.train_from_iterator(lines, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", cls_token="<s>", sep_token="</s>", unk_token="<unk>"
    )


def collator(code: str, make: Callable[[list[str]], PreTrainedTokenizerFast], max_pieces: int = 200) -> Collator:
    pieces = Subwords(make([*TEXTS[code], CONTEXT[code]] * 3))
    return Collator(pieces, max_pieces=max_pieces, separator=True, split=language(code).words)


def example(code: str, text: str, context: str = "") -> Example:
    return Example(context, text, tuple((o.start, o.end) for o in language(code).find(text)))


@pytest.mark.parametrize("with_context", [False, True])
@pytest.mark.parametrize("make", [wordpiece, unigram])
@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in TEXTS.items() for text in texts])
def test_each_pronoun_has_pieces_that_hold_it(
    code: str, text: str, make: Callable[[list[str]], PreTrainedTokenizerFast], with_context: bool
) -> None:
    made = collator(code, make)
    given = example(code, text, CONTEXT[code] if with_context else "")
    assert given.spans
    (row,) = made.encode([given])
    assert isinstance(made.pieces, Subwords)
    whole = f"{given.context} {text}" if with_context else text
    seen = "".join(letter for letter in whole if letter != "\u200b")
    found = made.pieces.tokenizer(seen, return_offsets_mapping=True, add_special_tokens=False)["offset_mapping"]
    if with_context:  # the separator before the text
        at = next(i for i, (_, end) in enumerate(found) if end > len(given.context) + 1)
        found = [*found[:at], (0, 0), *found[at:]]
    assert len(row.word) == len(found) + 2
    for (start, end), at in zip(given.spans, row.pronoun_word.tolist(), strict=True):
        hidden = text[:start].count("\u200b")
        first = len(whole) - len(text) + start - hidden
        pieces = [found[i - 1] for i in np.flatnonzero(row.word == at)]
        assert pieces and min(a for a, _ in pieces) <= first < max(b for _, b in pieces)
        if make is wordpiece and code == "zh":  # and nothing else
            assert (min(a for a, _ in pieces), max(b for _, b in pieces)) == (first, first + end - start)


def test_words_without_blanks_are_not_one_word() -> None:
    (row,) = collator("zh", wordpiece).encode([example("zh", "他们看见了她。")])
    assert row.word.tolist() == [-1, 0, 0, 1, 2, 3, 4, 5, -1] and row.pronoun_word.tolist() == [0, 4]
    assert row.first_word == 0


def test_a_piece_over_several_words_belongs_to_the_last_and_a_pronoun_in_it_has_that_word() -> None:
    vocabulary = [(piece, -1.0) for piece in (*SPECIAL, "\u2581他说", "了他", "\u2581", "走")]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", cls_token="<s>", sep_token="</s>", unk_token="<unk>"
    )
    made = Collator(Subwords(fast), max_pieces=20, separator=False, split=language("zh").words)
    (row,) = made.encode([example("zh", "他说了他走")])
    assert row.ids.tolist() == [0, 4, 5, 7, 2]
    assert row.first_word == 1  # words: 他 说 了 他 走
    assert row.word.tolist() == [-1, 0, 2, 3, -1] and row.pronoun_word.tolist() == [0, 2]


@pytest.mark.parametrize("make", [wordpiece, unigram])
def test_windows_of_a_long_chinese_text_hold_each_pronoun_once(
    make: Callable[[list[str]], PreTrainedTokenizerFast],
) -> None:
    text = "".join(TEXTS["zh"]) * 3
    given = example("zh", text, CONTEXT["zh"])
    rows = collator("zh", make, max_pieces=24).encode([given])
    assert len(rows) > 2 and sorted(k for row in rows for k in row.pronouns) == list(range(len(given.spans)))
    split = language("zh").words(f"{CONTEXT['zh']} {text}")
    shift = len(CONTEXT["zh"]) + 1
    for row in rows:
        for k, at in zip(row.pronouns, row.pronoun_word, strict=True):
            word, start = split[row.first_word + at], given.spans[k][0] + shift
            assert word.start <= start < word.end or make is unigram  # a piece may reach into the next word
