"""The words of a source sentence, as they are compared with English pronouns.

The project's word tokenizer splits them; a run of Han characters or kana, which it leaves whole, is split into forms of
the closed-class table, the longest first, and single characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from pronmetric.pronouns.closed_class import ClosedClass
from pronmetric.text.words import Word
from pronmetric.text.words import words as split
from pronmetric.text.writing import UNSPACED_LETTERS

_OPENS = frozenset('.!?:"\u00bb\u00ab\u201e\u201c\u201d\u2013-(')


@dataclass(frozen=True, slots=True)
class SourceWords:
    """A source sentence. forms: of each word, lower-cased, but capitals that tell a pronoun from another stay.

    lower: the same all lower-cased, for the aligner. closed: the places of closed-class forms.
    """

    words: tuple[Word, ...]
    forms: tuple[str, ...]
    lower: tuple[str, ...]
    closed: tuple[int, ...]


def read(text: str, table: ClosedClass) -> SourceWords:
    """The words of a sentence."""
    words = tuple(_split(text, table))
    forms = tuple(_form(words, index, table) for index in range(len(words)))
    closed = tuple(index for index, form in enumerate(forms) if form in table.english)
    return SourceWords(words, forms, tuple(word.text.lower() for word in words), closed)


def _split(text: str, table: ClosedClass) -> Iterator[Word]:
    pattern = _pieces(table.language, tuple(table.english))
    for word in split(text):
        if pattern.unspaced.search(word.text) and word.end - word.start == len(word.text):
            for found in pattern.piece.finditer(word.text):
                yield Word(found.group(), word.start + found.start(), word.start + found.end())
        else:
            yield word


@dataclass(frozen=True, slots=True)
class _Pattern:
    unspaced: re.Pattern[str]
    piece: re.Pattern[str]


@cache
def _pieces(language: str, forms: Sequence[str]) -> _Pattern:
    """What splits runs of `language`, whose closed-class forms are `forms`."""
    unspaced = re.compile(f"[{UNSPACED_LETTERS}]")
    longest = sorted((form for form in forms if unspaced.match(form)), key=lambda form: (-len(form), form))
    return _Pattern(unspaced, re.compile("|".join([*map(re.escape, longest), "."]), re.DOTALL))


def _form(words: Sequence[Word], index: int, table: ClosedClass) -> str:
    text = words[index].text
    lower = text.lower()
    if text == lower or text not in table.english:
        return lower
    return text if index > 0 and words[index - 1].text not in _OPENS else lower
