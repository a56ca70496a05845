"""Files of one score on each line, one line for each candidate of each item: read, checked and cut into items."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.lab.suites.contrastive import Item, Scores
from pronmetric.text.lines import read_lines


def read(
    path: str | Path, items: Sequence[Item], *, maximize: bool, compat: bool = False, surplus: bool = False
) -> list[Scores]:
    """The scores of each item's candidates, higher is better (the file's are costs unless `maximize`).

    compat: as in the original programs, a line may have more fields after the score, and NaN compares as false.
    surplus: surplus lines are not read, whatever they hold.

    Raises:
        InputError: with the line, where it is blank or no number, NaN, or where there are too few or too many lines.
    """
    sign = 1.0 if maximize else -1.0
    values = _numbers(path, compat, _expected(items) if surplus else None)
    return [[sign * value for value in one] for one in cut(values, items, path, surplus=surplus)]


def _numbers(path: str | Path, compat: bool, most: int | None) -> list[float]:
    """The number on each line, of at most `most` lines."""
    return [_number(line, path, number, compat) for number, line in enumerate(read_lines(path)[:most], start=1)]


def _expected(items: Sequence[Item]) -> int:
    return sum(len(item.candidates) for item in items)


def cut(values: Iterable[float], items: Sequence[Item], file: str | Path, *, surplus: bool = False) -> list[Scores]:
    """Numbers in the order of the items' candidates, item by item.

    Raises:
        InputError: another number of values than of candidates.
    """
    flat = list(values)
    expected = _expected(items)
    if len(flat) < expected or (len(flat) > expected and not surplus):
        cure = "score exactly the lines that `pronmetric suite export` writes"
        cure += "; `compat=True` ignores surplus lines" if len(flat) > expected else ""
        message = f"expected {expected} scores, one for each candidate of {len(items)} items, got {len(flat)}: {cure}"
        raise InputError(message, file=file, line=min(len(flat), expected) + 1)
    rest = iter(flat)
    return [list(islice(rest, len(item.candidates))) for item in items]


def _number(line: str, path: str | Path, number: int, compat: bool) -> float:
    text = line.split()[0] if compat and line.split() else line.strip()
    if not text:
        raise InputError("a blank line; expected a score on each line", file=path, line=number)
    try:
        value = float(text) if compat or (text.isascii() and "_" not in text) else math.nan
    except ValueError:
        cure = "; `compat=True` reads the first field" if len(text.split()) > 1 else ""
        raise InputError(f"expected one number, got {text[:40]!r}{cure}", file=path, line=number) from None
    if math.isnan(value) and not compat:
        raise InputError(f"expected a number, got {text[:40]!r}; each candidate needs a score", file=path, line=number)
    return value
