"""Lines of language models that are no translation, and lines that look a little like them."""

from __future__ import annotations

import pytest

from pronmetric.text.no_translation import COMMENT, JSON, LENGTH, REFUSAL, THOUGHTS, kind_of

LINES = [
    ("I'm sorry, but I cannot help with that request.", REFUSAL),
    ("I\u2019m sorry, but I can\u2019t assist with that.", REFUSAL),
    ("I am sorry, I can't assist with this request.", REFUSAL),
    ("Sorry, I cannot translate this text.", REFUSAL),
    ("I apologize, but I am unable to provide a translation of this text.", REFUSAL),
    ("I cannot fulfill your request.", REFUSAL),
    ("I'm unable to assist with that.", REFUSAL),
    ("Unfortunately, I'm not able to help with that.", REFUSAL),
    ("As an AI language model, I have no opinion.", REFUSAL),
    ("I'm sorry, but as an AI I have no gender.", REFUSAL),
    ("Es tut mir leid, aber ich kann bei dieser Anfrage nicht helfen.", REFUSAL),
    ("抱歉\uff0c我无法翻译这段文字。", REFUSAL),
    ("<think>The pronoun is she.</think> She left.", THOUGHTS),
    ("<think>", THOUGHTS),
    ("She left.<|im_end|>", THOUGHTS),
    ("[INST] She left. [/INST]", THOUGHTS),
    ("Here is the translation: She left.", COMMENT),
    ("Here's the English translation of your text:", COMMENT),
    ("**Translation:** She left.", COMMENT),
    ("Translation: She left.", COMMENT),
    ("The translation is: She left.", COMMENT),
    ("English translation: She left.", COMMENT),
    ("Sure! Here is what you asked for.", COMMENT),
    ("Certainly, here's the text in English:", COMMENT),
    ("Assistant: She left.", COMMENT),
    ("(Note: I translated the idiom freely.)", COMMENT),
    ("Hier ist die Übersetzung: Sie ging.", COMMENT),
    ("Вот перевод: Она ушла.", COMMENT),
    ("以下是翻译\uff1a她走了。", COMMENT),
    ('{"translation": "She left."}', JSON),
    ('["She left."]', JSON),
    ("```json", JSON),
]
TEXTS = [
    "",
    "I'm sorry, but I cannot help you today.",
    "I'm sorry, I can't help it.",
    "I can't help but wonder what she said.",
    "I cannot translate that into action, he thought.",
    "We cannot provide help without your request.",
    "He said he could not assist with that.",
    "Sure! Come in.",
    "Here is the translator whom she met: Ann.",
    "Here is her key.",
    "The translation of the book took her a year.",
    "Her assistant: a man of forty.",
    "Note: she was late.",
    "[She laughs]",
    "{She laughs}",
    "[1]: she laughed, [2]",
    "I think she left. <b>Really</b>.",
    "She thinks of <Ann>.",
    "Answer: she did.",
    "The AI told her that it was sorry.",
]


@pytest.mark.parametrize(("line", "kind"), LINES)
def test_what_language_models_say_is_found(line: str, kind: str) -> None:
    assert kind_of(line) == kind


@pytest.mark.parametrize("line", TEXTS)
def test_texts_are_not(line: str) -> None:
    assert kind_of(line) is None


def test_what_the_source_or_a_reference_says_too_is_translated() -> None:
    line = '{"title": "She left."}'
    assert kind_of(line, ['{"title": "Sie ging."}']) is None
    assert kind_of("Sorry, I cannot translate this text.", ["Sie ging.", "Sorry, I cannot help with that."]) is None
    assert kind_of(line, ["Sie ging."]) == JSON


def test_a_line_is_far_too_long_for_its_source() -> None:
    long = "She left, and then she left, " * 20  # 580 characters
    assert kind_of(long) is None
    assert kind_of(long, ["Sie ging."]) == LENGTH
    assert kind_of(long, ["", "Sie ging, und dann. " * 10]) is None  # 200 characters
    assert kind_of("She left, and then she left.", ["Sie"]) is None  # short
    assert kind_of(long, ["她走了\uff0c然后她走了\uff0c" * 5]) is None  # 130 characters of an alphabet
