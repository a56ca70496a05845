"""Pronouns deleted from a text: what a text looks like in which they are missing."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from pronmetric.text.writing import is_unspaced

_OPENING = "\"'([{\u201c\u2018\u00ab\uff08\u300c\u300e"
_CLOSING = '.,;:!?)]}"\u201d\u2019\u00bb\uff0c\u3002\u3001\uff1b\uff1a\uff01\uff1f\uff09\u300d\u300f'
_ENDS = ".!?"
_PARTICLE = re.compile("[\u3040-\u30ff\u7684]")  # kana, and the Chinese mark of a possessor


class Deleted(NamedTuple):
    """A text without some of its pronouns.

    kept: the numbers of the other spans. spans: where these stand in `text`. places: for each deleted pronoun the
    offset in `text` at which it was, in order.
    """

    text: str
    kept: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    places: tuple[int, ...]


def deletable(text: str, start: int, end: int) -> bool:
    r"""Whether the pronoun at [start, end) is a word between blanks and marks, and not a part of one ("it's").

    In scripts without blanks letters may stand beside it; before a particle it is kept, as that would be left.

    >>> deletable("It is hers.", 6, 10), deletable("It's here.", 0, 2)
    (True, False)
    >>> deletable("\u6211\u770b\u89c1\u4ed6\u4e86\u3002", 3, 4), deletable("\u5f7c\u306f\u884c\u304f\u3002", 0, 1)
    (True, False)
    """
    before, after = text[start - 1 : start], text[end : end + 1]
    return (
        (not before or before.isspace() or before in _OPENING or is_unspaced(before))
        and bool(after)
        and (after.isspace() or after in _CLOSING or (is_unspaced(after) and not _PARTICLE.match(after)))
    )


def delete(text: str, spans: Sequence[tuple[int, int]], chosen: Collection[int]) -> Deleted:
    """`text` without the `chosen` spans and the blank beside each; the next word takes over a capital letter.

    spans: in order.

    >>> delete("He left. She saw him.", [(0, 2), (9, 12), (17, 20)], {0, 2})
    Deleted(text='Left. She saw.', kept=(1,), spans=((6, 9),), places=(0, 13))
    """
    parts, kept, moved, places = list[str](), list[int](), list[tuple[int, int]](), list[int]()
    done = size = 0
    capital = False
    for number, (start, end) in enumerate(spans):
        if number not in chosen:
            kept.append(number)
            moved.append((size + start - done, size + end - done))
            continue
        before, after = _capitalised(text[done:start], capital), end
        capital = (capital and not before) or _passes_on(text, start, end)
        while text[after : after + 1].isspace():
            after += 1
        if after == len(text) or text[after] in _CLOSING:
            before = before.rstrip()
        parts.append(before)
        size += len(before)
        places.append(size)
        done = after
    rest = _capitalised(text[done:], capital)
    return Deleted("".join([*parts, rest]), tuple(kept), tuple(moved), tuple(places))


def _capitalised(part: str, capital: bool) -> str:
    return part[:1].upper() + part[1:] if capital and len(part[:1].upper()) == 1 else part


def _passes_on(text: str, start: int, end: int) -> bool:
    """Whether the word after this pronoun takes over its capital letter; "I" has one of its own."""
    before = text[:start].rstrip().rstrip(_OPENING)
    return text[start].isupper() and (text[start:end] != "I" or not before or before[-1] in _ENDS)
