"""Readable form of a text: no invisible characters, uniform spaces, composed accents; with a map to original offsets.

Invisible are the control characters and Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt): soft
hyphen, zero-width space and joiners, word joiner, byte order mark, bidi marks, variation selectors. Every white space
counts as a blank. Letters with combining marks are composed (NFC); nothing else is normalised.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from typing import NamedTuple

_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CHANGED = re.compile(rf"[{_INVISIBLE}]+|[^\S ]|[^\W_](?:[{_INVISIBLE}]*[\u0300-\u036f])+")
_HIDDEN = re.compile(rf"[{_INVISIBLE}]+")


class Readable(NamedTuple):
    """A readable text; `starts` and `ends`: the original offsets of its characters (None: unchanged)."""

    text: str
    starts: list[int] | None = None
    ends: list[int] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The original span of the non-empty span [start, end) of `text`."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]

    def read(self, start: int, end: int) -> tuple[int, int]:
        """The span of `text` with the visible characters of [start, end) of the original text."""
        if self.starts is None or self.ends is None:
            return start, end
        return bisect_right(self.ends, start), bisect_left(self.starts, end)


def readable(text: str) -> Readable:
    r"""The readable form of `text`.

    >>> seen = readable("a we\u00adek\u200b")
    >>> seen.text, seen.original(2, 6), seen.read(2, 7)
    ('a week', (2, 7), (2, 6))
    """
    if (text.isascii() and text.isprintable()) or not _CHANGED.search(text):
        return Readable(text)
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for match in _CHANGED.finditer(text):
        start, end = match.span()
        parts.append(text[at:start])
        starts.extend(range(at, start))
        ends.extend(range(at + 1, start + 1))
        made = " " if match[0].isspace() else unicodedata.normalize("NFC", _HIDDEN.sub("", match[0]))
        parts.append(made)
        starts.extend([start] * len(made))
        ends.extend([end] * len(made))
        at = end
    parts.append(text[at:])
    starts.extend(range(at, len(text)))
    ends.extend(range(at + 1, len(text) + 1))
    return Readable("".join(parts), starts, ends)
