"""Untrusted text (file names, system names) made safe for a terminal and for XML: no control characters."""

from __future__ import annotations

import re

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def visible(text: str) -> str:
    r"""The text in one line, with control characters, line ends and direction marks as escape codes.

    So are bytes of a file name that are not UTF-8 (lone surrogates), and the code points that XML refuses.

    >>> print(visible("a\tb\x1b[31m"))
    a\tb\x1b[31m
    """
    return _CONTROL.sub(_code, text)


def _code(match: re.Match[str]) -> str:
    character = match.group()
    point = ord(character)
    return _SHORT.get(character) or (f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}")
