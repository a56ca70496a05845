"""The one word tokenizer: text to words with character spans, shared by preparation and scoring."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from pronmetric.text.readable import readable


class Word(NamedTuple):
    """A word or punctuation mark in readable form, and its half-open span of code points in the original text."""

    text: str
    start: int
    end: int


_APOSTROPHE = "['\u2019\u02bc\u2018\u00b4`]"
_MARKS = "".join(letter for letter in map(chr, range(0x300, 0x1E00)) if unicodedata.category(letter) in ("Mn", "Mc"))
_WORD = re.compile(
    rf"""
      (?:https?://|www\.)\S*[\w/]                 # a web address
    | [\w.+-]*\w@\w[\w.-]*\.\w+ | @\w+            # a mail address, a handle
    | (?:[^\W\d_]\.){{2,}}                        # U.S., e.g.
    | \d+(?:[.,:]\d+)+                            # 1,000.5
    | n{_APOSTROPHE}t\b                           # the not of don't
    | {_APOSTROPHE}?\bt(?=(?:is|was|were)\b)      # the it of 'tis
    | {_APOSTROPHE}(?:s|re|ve|ll|d|m)\b           # clitics
    | [^\W\d_]+(?=n{_APOSTROPHE}t\b)              # the do of don't
    | [^\W_]+(?:[{_MARKS}]+[^\W_]*)*             # letters and digits, with combining marks and vowel signs
    | [^\w\s] | _                                 # one punctuation mark
    """,
    re.VERBOSE | re.IGNORECASE,
)


def words(text: str) -> tuple[Word, ...]:
    r"""Split text into words and punctuation marks; clitics are words, white space is dropped.

    Invisible characters neither split words nor belong to them (`pronmetric.text.readable`).

    >>> [w.text for w in words("She didn't say it's his.")]
    ['She', 'did', "n't", 'say', 'it', "'s", 'his', '.']
    >>> [w.text for w in words("\u0939\u093f\u0902\u0926\u0940 \u092e\u0947\u0902\u0964")]
    ['\u0939\u093f\u0902\u0926\u0940', '\u092e\u0947\u0902', '\u0964']
    >>> words("a we\u00adek")[1]
    Word(text='week', start=2, end=7)
    """
    seen = readable(text)
    return tuple([Word(m.group(), *seen.original(*m.span())) for m in _WORD.finditer(seen.text)])


def lower_words(text_words: Iterable[Word]) -> list[str]:
    """The words in lower case, as input of the aligners."""
    return [word.text.lower() for word in text_words]


def rule_word(word: Word) -> str:
    """The word lower-cased with a plain apostrophe, as the pronoun rules compare it.

    >>> rule_word(Word("\u2019S", 2, 4))
    "'s"
    """
    return word.text.lower().replace("\u2019", "'")
