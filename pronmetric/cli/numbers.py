"""Types of numeric flags for argparse; each names its range in the error."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable


def count(text: str) -> int:
    """A whole number from 0."""
    if not re.fullmatch(r"[0-9]+", text):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0, got {text!r}")
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1."""
    if count(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


def finite(text: str) -> float:
    """Any number."""
    return _number(text, lambda value: True, "a number")


def from_zero(text: str, *, other: str = "") -> float:
    """A number from 0; `other` names another valid value of the flag, for the error."""
    return _number(text, lambda value: value >= 0, f"{other}a number from 0")


def above_zero(text: str) -> float:
    """A number above 0."""
    return _number(text, lambda value: value > 0, "a number above 0")


def share(text: str) -> float:
    """A number from 0 to 1."""
    return _number(text, lambda value: 0 <= value <= 1, "a number from 0 to 1")


def _number(text: str, fits: Callable[[float], bool], expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and fits(value)):
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return value
