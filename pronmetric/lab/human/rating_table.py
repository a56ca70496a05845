"""Ratings from a CSV file: a header `item,rater1,rater2,...`, then an item a line.

A blank cell is no rating, and neither is one of `MISSING`, as statistics programs write them.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import InputError
from pronmetric.eval.ratings import Ratings
from pronmetric.text.lines import read_lines

MISSING = ("-", "n/a", "na", "nan", "none", "null")
"""Values that are no ratings, in any case; unless fewer than two other categories are left."""
_EXPECTED = "expected a header item,rater1,rater2,..."
_SEPARATORS = {";": "semicolons", "\t": "tabs"}


class RatingTable(NamedTuple):
    """The ratings of a file.

    missing: how often each value stands for no rating, blank cells apart. alike: categories that differ in case alone.
    """

    ratings: Ratings
    missing: Mapping[str, int]
    alike: tuple[tuple[str, ...], ...]


def read(path: str | Path, *, categories: Sequence[str] = (), missing: Collection[str] | None = None) -> RatingTable:
    """The table of a file.

    categories: included even if nobody used them, and never missing. missing: values that are no ratings, as they are
    written; None for `MISSING`.

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
        ratings_of: dict[str, dict[Any, str | None]] = {rater: {} for rater in raters}
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
                ratings_of[rater][item] = cell or None
    except csv.Error as error:
        raise InputError(f"no CSV: {error}; quote cells that hold commas", file=path, line=rows.line_num) from None
    if not items:
        raise InputError("has a header, but no items", file=path)
    used = Counter(value for own in ratings_of.values() for value in own.values() if value is not None)
    gone = {value: used[value] for value in sorted(_missing(used, missing) - set(categories)) if value in used}
    for rater, own in ratings_of.items():
        own.update({item: None for item, value in own.items() if value in gone})
        if not any(own.values()):
            raise InputError(f'the rater "{rater}" rated nothing; remove the column', file=path)
    ratings = Ratings.of(ratings_of, categories=categories, order=items)
    return RatingTable(ratings, gone, _alike(ratings.categories))


def _missing(used: Collection[str], given: Collection[str] | None) -> set[str]:
    """The values that are no ratings."""
    if given is not None:
        return set(given)
    marks = {value for value in used if value.lower() in MISSING}
    return marks if len(used) - len(marks) >= 2 else set()


def _alike(categories: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The categories that differ in case alone, each group of them once."""
    groups: dict[str, list[str]] = {}
    for name in categories:
        groups.setdefault(name.casefold(), []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _check_header(head: Sequence[str], path: str | Path) -> None:
    if head[0].lower() != "item":
        other = next((name for sign, name in _SEPARATORS.items() if sign in head[0]), None)
        if other is not None:
            raise InputError(f"has {other} between its cells; {_EXPECTED}, with commas", file=path, line=1)
        raise InputError(f'{_EXPECTED}, got "{",".join(head)[:60]}"', file=path, line=1)
    if len(head) < 3:
        raise InputError(f"{_EXPECTED} with at least two raters, got {len(head) - 1}", file=path, line=1)
    for number, rater in enumerate(head[1:], start=1):
        if not rater or rater in head[1:number]:
            what = f'duplicate rater "{rater}"' if rater else f"rater {number} has no name"
            raise InputError(f"{what}; {_EXPECTED}", file=path, line=1)
