"""Characters that nobody sees change no pronoun and no score; spans count the code points of the text as given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.data.collate import Example
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.corrupt import replace
from pronmetric.pronouns.finder import find
from pronmetric.text.readable import readable
from pronmetric.text.words import words

Checkpoints = Callable[..., Path]

PLAIN = "We said that they left. I. M. Pei and I saw her caf\u00e9 last week, didn't we?"
MARKS = [
    *("\u00ad", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u200e", "\u202a", "\u2066", "\ufe0f"),
    *("\U000e0101", "\u061c", "\x07", "\u00ad\u200b"),
]


def strewn(text: str, mark: str) -> str:
    """`mark` before, between and after all characters."""
    return mark + mark.join(text) + mark


def without(text: str, mark: str) -> str:
    return "".join(character for character in text if character not in mark)


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0)


@pytest.mark.parametrize("mark", MARKS, ids=ascii)
def test_words_and_pronouns_are_those_that_are_seen(mark: str) -> None:
    text = strewn(PLAIN, mark)
    assert [w.text for w in words(text)] == [w.text for w in words(PLAIN)]
    found, wanted = find(text), find(PLAIN)
    assert [(p.word, p.form) for p in found] == [(p.word, p.form) for p in wanted]
    assert [without(text[p.start : p.end], mark) for p in found] == [PLAIN[p.start : p.end] for p in wanted]
    assert all(p.text == text[p.start : p.end] and p.text[0] not in mark and p.text[-1] not in mark for p in found)


@pytest.mark.parametrize("mark", MARKS, ids=ascii)
def test_scores_are_those_of_what_is_seen(metric: PronounMetric, mark: str) -> None:
    context = "They came to a caf\u00e9."
    (wanted,) = metric.predict([{"text": PLAIN, "context": [context]}]).pronouns
    text = strewn(PLAIN, mark)
    (found,) = metric.predict([{"text": text, "context": [strewn(context, mark), mark]}]).pronouns
    assert [p.score for p in found] == pytest.approx([p.score for p in wanted], abs=1e-6)
    assert [without(text[p.start : p.end], mark) for p in found] == [p.text for p in wanted]


def test_a_soft_hyphen_makes_no_pronoun_and_a_pronoun_is_replaced_whole() -> None:
    assert find("A we\u00adek, a her\u200bo.") == ()
    (she,) = find("Then s\u00adhe left.")
    assert replace("Then s\u00adhe left.", she.start, she.end, "he") == "Then he left."


@pytest.mark.parametrize("blank", ["\u00a0", "\u2009", "\u202f", "\u3000", "\t", "\x85"], ids=ascii)
def test_blanks_are_alike(metric: PronounMetric, blank: str) -> None:
    text = "He said that she left."
    found = metric.predict([{"text": text.replace(" ", blank)}])
    assert found.scores[0] == pytest.approx(metric.predict([{"text": text}]).scores[0], abs=1e-6)


def test_accents_composed_or_not_are_alike() -> None:
    seen = readable("Andre\u0301 saw us.")
    assert (seen.text, seen.original(4, 5), seen.read(4, 6)) == ("Andr\u00e9 saw us.", (4, 6), (4, 5))
    assert [(w.text, w.start, w.end) for w in words("Andre\u0301 saw")] == [("Andr\u00e9", 0, 6), ("saw", 7, 10)]


def test_the_rows_of_an_encoder_are_those_of_what_is_seen(metric: PronounMetric) -> None:
    plain, marked = "Yes, we did.", "Y\u00ades,\u200b w\u00ade did.\ufeff"
    rows = metric.inference.collator.encode([Example("", plain, [(5, 7)]), Example("\u200b", marked, [(7, 10)])])
    assert rows[0].ids.tolist() == rows[1].ids.tolist() and rows[0].word.tolist() == rows[1].word.tolist()
    assert rows[0].pronoun_word.tolist() == rows[1].pronoun_word.tolist()


def test_visible_text_is_left_as_it_is() -> None:
    text = "\u201cIt\u2019s ours\u201d \u2014 \u00fcber 5 \u20ac \U0001f600"
    assert readable(text) == (text, None, None, frozenset())
