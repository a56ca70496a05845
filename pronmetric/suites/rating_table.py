"""Ratings from a CSV file: a header `item,rater1,rater2,...`, then an item a line; a blank cell is no rating."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.eval.ratings import Ratings
from pronmetric.text.lines import read_lines

_EXPECTED = "expected a header item,rater1,rater2,..."


def read(path: str | Path, *, categories: Sequence[str] = ()) -> Ratings:
    """The table of a file; categories: included even if nobody used them.

    Raises:
        InputError: with file and line, for another header, a wrong number of cells, an item or rater that is duplicate
            or has no name, a rater without ratings, and fewer than two raters.
    """
    lines = read_lines(path)
    if not any(line.strip() for line in lines):
        raise InputError(f"is empty: {_EXPECTED} and an item a line", file=path)
    rows = csv.reader((f"{line}\n" for line in lines), strict=True)
    try:
        head = [cell.strip() for cell in next(rows)]
        _check_header(head, path)
        raters = head[1:]
        found: dict[str, dict[Any, str | None]] = {rater: {} for rater in raters}
        items: dict[str, int] = {}
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if len(cells) != len(head):
                message = f"{len(cells)} cells, but the header has {len(head)}: {', '.join(head)[:80]}"
                raise InputError(message, file=path, line=rows.line_num)
            item = cells[0]
            if not item or item in items:
                why = f'duplicate item "{item}", first in line {items[item]}' if item else "the item has no name"
                raise InputError(f"{why}; give each item one line and a name", file=path, line=rows.line_num)
            items[item] = rows.line_num
            for rater, cell in zip(raters, cells[1:], strict=True):
                found[rater][item] = cell or None
    except csv.Error as error:
        raise InputError(f"no CSV: {error}; quote cells that hold commas", file=path, line=rows.line_num) from None
    if not items:
        raise InputError("has a header, but no items", file=path)
    for rater, own in found.items():
        if not any(own.values()):
            raise InputError(f'the rater "{rater}" rated nothing; remove the column', file=path)
    return Ratings.of(found, categories=categories, order=items)


def _check_header(head: Sequence[str], path: str | Path) -> None:
    if head[0].lower() != "item":
        raise InputError(f'{_EXPECTED}, got "{",".join(head)[:60]}"', file=path, line=1)
    if len(head) < 3:
        raise InputError(f"{_EXPECTED} with at least two raters, got {len(head) - 1}", file=path, line=1)
    for number, rater in enumerate(head[1:], start=1):
        if not rater or rater in head[1:number]:
            what = f'duplicate rater "{rater}"' if rater else f"rater {number} has no name"
            raise InputError(f"{what}; {_EXPECTED}", file=path, line=1)
