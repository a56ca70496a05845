"""Numbers in files: plain ASCII digits, none of the other ways of writing that Python reads (1_000, other digits)."""

from __future__ import annotations

import re

_WHOLE = re.compile("[0-9]{1,18}")


def real(text: str) -> float:
    """The number in a field of a file, which may be infinite or NaN.

    Raises:
        ValueError: no number, or one with underscores or digits that are not ASCII.

    >>> real(" -1.5e3 ")
    -1500.0
    """
    if "_" in text or not text.isascii():
        raise ValueError(f"no number in plain digits: {text!r}")
    return float(text)


def is_whole(text: str) -> bool:
    """Whether a field holds a whole number from 0, in at most 18 digits.

    >>> is_whole("12"), is_whole("1_2"), is_whole("-1"), is_whole("\u0661")
    (True, False, False, False)
    """
    return bool(_WHOLE.fullmatch(text))


def whole(text: str) -> int:
    """The whole number in a field of a file, with or without a sign.

    Raises:
        ValueError: no whole number in plain digits.

    >>> whole("-12")
    -12
    """
    if not is_whole(text.strip().removeprefix("-").removeprefix("+")):
        raise ValueError(f"no whole number in plain digits: {text!r}")
    return int(text)
