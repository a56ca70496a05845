"""Pronouns: the inventory of a language, and which of its forms are in use in a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pronmetric.words import Word
from pronmetric.words import words as split

FORMS = tuple(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he his him himself "
    "she her hers herself it its itself they them their theirs themselves that this these those "
    "what whatever which whichever who whoever whom whose".split()
)


class Occurrence(NamedTuple):
    """A pronoun in use: index of its word, span in the text, surface text and lower-cased form."""

    word: int
    start: int
    end: int
    text: str
    form: str


def find(text: str, words: Sequence[Word] | None = None) -> tuple[Occurrence, ...]:
    """The pronouns in use in `text`, left to right; `words` saves splitting it again."""
    words = split(text) if words is None else words
    return tuple(
        Occurrence(i, w.start, w.end, w.text, w.text.lower()) for i, w in enumerate(words) if w.text.lower() in FORMS
    )
