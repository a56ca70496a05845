"""How other languages than English are cut into sentences and stripped of marks."""

# ruff: noqa: RUF001  (letters of other scripts)

from __future__ import annotations

import pytest

from pronmetric.pronouns.languages import language
from pronmetric.text.sentences import split_sentences


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("hi", "वह आया। मैं गया। क्या वह है?", ["वह आया।", "मैं गया।", "क्या वह है?"]),
        ("he", "הוא בא. היא הלכה! מי זה?", ["הוא בא.", "היא הלכה!", "מי זה?"]),
        ("hr", "On je došao. Ona je otišla, npr. jučer.", ["On je došao.", "Ona je otišla, npr. jučer."]),
        ("zh", "他来了。她走了！", ["他来了。", "她走了！"]),
    ],
)
def test_sentences_end_as_the_language_is_written(code: str, text: str, expected: list[str]) -> None:
    rule = language(code).writing.passage_ends
    assert [sentence.strip() for sentence in split_sentences(text, rule)] == expected


def test_a_danda_stays_in_flat_text() -> None:
    assert language("hi").writing.flatten("वह, आया।") == "वह  आया।"
