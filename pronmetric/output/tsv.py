r"""Tab-separated tables: writing and reading cells.

Tabs, line ends and backslashes inside a text are written `\t`, `\n`, `\r` and `\\`. A text that a spreadsheet would
take for a formula (it begins with `=`, `+`, `-` or `@` and is not a number) is preceded by an apostrophe, and so is a
text that begins with an apostrophe followed by one of these or by another apostrophe. Numbers are unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.lines import iter_lines

DIGITS = 5  # decimals that are reproducible in fp32 whatever the batch and the hardware
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
_TABLE = str.maketrans(_ESCAPES)
_PLAIN = {escaped: plain for plain, escaped in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\[tnr\\]")
_HARMLESS = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|-")
_FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"  # the last four are full-width forms, which spreadsheets treat alike


def cell(value: object) -> str:
    r"""One cell: a text escaped, a float with five decimals, None as an empty cell.

    >>> [cell(value) for value in ("=1+1", "it's\ta", -0.5, "-0.5", None)]
    ["'=1+1", "it's\\ta", '-0.50000', '-0.5', '']
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return f"{value:.{DIGITS}f}" if isinstance(value, float) else str(value)
    guarded = value[:1] in _FORMULA if value[:1] != "'" else value[1:2] and value[1] in f"{_FORMULA}'"
    escaped = value.translate(_TABLE)
    return f"'{escaped}" if value and guarded and not _HARMLESS.fullmatch(value) else escaped


def line(cells: Sequence[object]) -> str:
    """One row with its line end."""
    return "\t".join(map(cell, cells)) + "\n"


def text(written: str) -> str:
    r"""The text that `cell` wrote.

    >>> text(cell("=1+1\t2"))
    '=1+1\t2'
    """
    if written[:1] == "'" and written[1:2] and written[1] in f"{_FORMULA}'":
        written = written[1:]
    return _ESCAPED.sub(lambda match: _PLAIN[match.group()], written)


def read(path: str | Path) -> Iterator[dict[str, str]]:
    """The rows of a table that `score`, `compare` or `report` wrote, by the column names of its first line.

    Raises:
        InputError: no such file, an empty one, a row with a different number of cells than the first line.
    """
    lines = iter_lines(path)
    head = next(lines, None)
    if head is None:
        raise InputError("is empty; expected a line of column names", file=path)
    names = [text(name) for name in head.split("\t")]
    for number, row in enumerate(lines, start=2):
        cells = [text(written) for written in row.split("\t")]
        if len(cells) != len(names):
            raise InputError(f"expected {len(names)} cells, got {len(cells)}", file=path, line=number)
        yield dict(zip(names, cells, strict=True))
