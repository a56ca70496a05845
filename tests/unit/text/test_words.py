"""The word tokenizer."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pronmetric.text.readable import readable
from pronmetric.text.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She left.", "She|left|."),
        ("It's his, isn't it?", "It|'s|his|,|is|n't|it|?"),
        ("They\u2019re sure I\u2019d go", "They|\u2019re|sure|I|\u2019d|go"),
        ("it\u00b4s it`s", "it|'s|it|'s"),
        ("'Tis true, 'twas he", "'T|is|true|,|'t|was|he"),
        ("tis so, but a tisane", "t|is|so|,|but|a|tisane"),
        ("The U.S. and the U.K. agreed", "The|U.S.|and|the|U.K.|agreed"),
        ("1,000.5 km, 10am, 2nd", "1,000.5|km|,|10am|,|2nd"),
        ("he-man (s)he him/her", "he|-|man|(|s|)|he|him|/|her"),
        ("see https://it.example/you?he=1.", "see|https://it.example/you?he=1|."),
        ("write you@it.example, ask @him", "write|you@it.example|,|ask|@him"),
        ("cafe\u0301s are nai\u0308ve", "caf\u00e9s|are|na\u00efve"),
        ("snake_case \u2014 \u4ed6 said", "snake|_|case|\u2014|\u4ed6|said"),
        ("they re late and it s his", "they|re|late|and|it|s|his"),
        ("\u0909\u0938\u0928\u0947 \u0915\u0939\u093e\u0964", "\u0909\u0938\u0928\u0947|\u0915\u0939\u093e|\u0964"),
        ("\u05d4\u05d5\u05bc\u05d0 \u05d1\u05b8\u05bc\u05d0.", "\u05d4\u05d5\u05bc\u05d0|\u05d1\u05b8\u05bc\u05d0|."),
        ("", ""),
        (" \t ", ""),
    ],
)
def test_words_are_split(text: str, expected: str) -> None:
    assert "|".join(word.text for word in words(text)) == expected


@pytest.mark.parametrize(
    "text", ["He\u2019s \U0001f600 her  friend, isn't he?", "a\u0301b 'tis\u2026", "\u00a0It \u200bis"]
)
def test_spans_are_code_points_in_order(text: str) -> None:
    found = words(text)
    assert all(readable(text[word.start : word.end]).text == word.text for word in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    kept = "".join(word.text for word in found)
    assert kept == "".join(c for c in readable(text).text if not c.isspace())
