"""The one word tokenizer: text to words with character spans, shared by preparation and scoring."""

from __future__ import annotations

import re
from typing import NamedTuple


class Word(NamedTuple):
    """A word or punctuation mark: its text and its half-open span of code points."""

    text: str
    start: int
    end: int


_APOSTROPHE = "['\u2019]"
_WORD = re.compile(
    rf"""
      (?:[^\W\d_]\.){{2,}}                        # U.S., e.g.
    | \d+(?:[.,:]\d+)*                            # 1,000.5
    | n{_APOSTROPHE}t\b                           # the not of don't
    | {_APOSTROPHE}(?:s|re|ve|ll|d|m)\b           # clitics
    | [^\W\d_]+(?=n{_APOSTROPHE}t\b)              # the do of don't
    | [^\W_]+                                     # letters and digits
    | [^\w\s] | _                                 # one punctuation mark
    """,
    re.VERBOSE | re.IGNORECASE,
)


def words(text: str) -> tuple[Word, ...]:
    """Split text into words and punctuation marks; clitics stand alone, white space belongs to none.

    >>> [w.text for w in words("She didn't say it's his.")]
    ['She', 'did', "n't", 'say', 'it', "'s", 'his', '.']
    """
    return tuple(Word(m.group(), m.start(), m.end()) for m in _WORD.finditer(text))
