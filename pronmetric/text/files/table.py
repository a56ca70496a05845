"""Tables with named columns: CSV with commas or semicolons, and TSV.

A cell of a CSV file may be quoted and then hold line ends. TSV files quote or they don't: where the whole header is
quoted, all cells are; else quotes are removed only from a cell that has doubled ones inside, as spreadsheets and pandas
write them, so that direct speech keeps its own.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.files.columns import DOC, IDS, REFERENCE, SOURCE, SPEAKER, SYSTEM, TEXT, Role, first_of, roles_of
from pronmetric.text.files.unit import FileTexts, Unit
from pronmetric.text.lines import check_segment, read_lines

_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)  # Excel's own first line
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_EMPTY = "empty row"
_OF = "of"


def read_csv(path: Path, role: Role = Role.TRANSLATION, text_key: str | None = None) -> FileTexts:
    """The rows of a CSV file; the mark of the header decides between comma, semicolon and tab.

    Raises:
        InputError: no column of texts, a row with another number of cells, a quote that is not closed.
    """
    lines = read_lines(path)
    skip = 0
    if lines and (given := _SEPARATOR.fullmatch(lines[0].strip())):
        mark, skip = given[1], 1
    else:
        header = next((line for line in lines if line.strip()), "")
        mark = max(",;\t", key=header.count)
    return _read(path, _rows_of_csv(lines[skip:], mark, path, skip), "CSV", role, text_key)


def read_tsv(path: Path, role: Role = Role.TRANSLATION, text_key: str | None = None) -> FileTexts:
    """The rows of a TSV file; errors as in `read_csv`."""
    return _read(path, _rows_of_tsv(read_lines(path)), "TSV", role, text_key)


def _rows_of_csv(lines: Sequence[str], mark: str, path: Path, skipped: int) -> Iterator[tuple[int, list[str]]]:
    """Each row with its first line."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=mark, strict=True)
    before = 0
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            message = f"broken CSV ({error}); quote a cell as a whole, and double the quotes inside it"
            raise InputError(message, file=path, line=skipped + before + 1) from None
        if row is None:
            return
        if row:
            yield skipped + before + 1, row
        before = reader.line_num


def _rows_of_tsv(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    all_quoted = False
    first = True
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        cells = line.split("\t")
        if first:
            first, all_quoted = False, all(map(_QUOTED.fullmatch, cells))
        yield number, [_unquoted(cell, all_quoted) for cell in cells]


def _unquoted(cell: str, all_quoted: bool) -> str:
    match = _QUOTED.fullmatch(cell)
    return match[1].replace('""', '"') if match and (all_quoted or '""' in match[1]) else cell


def _read(path: Path, rows: Iterator[tuple[int, list[str]]], name: str, role: Role, text_key: str | None) -> FileTexts:
    line, header = next(rows, (1, []))
    header = [cell.strip() for cell in header]
    while header and not header[-1]:
        header.pop()  # a mark that ends each line
    if repeated := next((cell for cell in header if header.count(cell) > 1), None):
        raise InputError(f"two columns are named {repeated!r}; each needs its own name", file=path, line=line)
    columns = roles_of(header, role, text_key, what="column", file=path, line=line)
    at = {kind: header.index(column) for kind, column in columns.items()}
    if (of := first_of(header, IDS)) is not None and role == Role.CANDIDATES:
        at[_OF] = header.index(of)
    units, empty = [], 0
    for row, (line, cells) in enumerate(rows, start=1):
        if not any(cell.strip() for cell in cells):
            empty += 1
            continue
        if len(cells) < len(header) or any(cell.strip() for cell in cells[len(header) :]):
            message = f"expected {len(header)} cells ({', '.join(header)}), got {len(cells)}"
            raise InputError(message, file=path, line=line)
        given = {kind: cells[place].strip() for kind, place in at.items()}
        units.append(
            Unit(
                check_segment(given[TEXT], file=path, line=line),
                line,
                f"row {row}",
                source=given.get(SOURCE),
                reference=given.get(REFERENCE),
                doc=given.get(DOC) or None,
                system=given.get(SYSTEM) or None,
                speaker=given.get(SPEAKER),
                of=given.get(_OF) or None,
            )
        )
    return FileTexts(name, tuple(units), in_order=True, left_out={_EMPTY: empty} if empty else {})
