"""Files of candidate translations: line-parallel files, n-best lists, and one score for each candidate."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeVar

from pronmetric.errors import InputError, PronmetricError
from pronmetric.text import corpus, numbers
from pronmetric.text.corpus import (
    BLANK,
    Corpus,
    Place,
    Row,
    TextFile,
    blank_docids,
    check_docids,
    read_speakers,
)
from pronmetric.text.files.columns import Role
from pronmetric.text.files.door import Reading, describe_left_out
from pronmetric.text.files.unit import Unit

T = TypeVar("T")
Candidates = Sequence[tuple[str, ...]]
"""The candidates of each line."""


def read_parallel(
    names: Sequence[str], note: Callable[[str], None], reading: Reading | None = None, **beside: Any
) -> Corpus:
    """The candidates in parallel files, one candidate of each line in each file; beside: as for `corpus.read`.

    Raises:
        PronmetricError: only one file, with one system.
        InputError: files of different lengths, or not readable as text.
    """
    found = corpus.read(names, note, reading=reading, **beside)
    if len(found.systems) < 2:
        raise PronmetricError(f"expected two or more files of candidates, got only {names[0]}")
    return found


def read_nbest(name: str, size: int | None, note: Callable[[str], None], reading: Reading | None = None) -> list[Row]:
    """The candidates in one file, a row for each line to translate.

    The file has `size` lines for each line, n-best lists in the format of Moses, or JSON Lines or a table: with a list
    of candidates in each object, an id that candidates of a line share, or `size` rows for each line. Source, reference
    and document are those of a line's first candidate.

    Raises:
        InputError: empty, a number of lines that is not a multiple of `size`, or nothing that tells the lines.
    """
    file = TextFile(name, Role.CANDIDATES, reading)
    if file.units is not None:
        if left_out := describe_left_out(file.units):
            note(f"{file.path}: left out: {left_out}")
        return [_row(units, file.path) for units in _grouped(file.units.units, size, file.path)]
    lines = list(file)
    if not lines:
        raise InputError("is empty; expected the candidates of each line", file=name)
    texts = _moses(lines, name) if size is None else _runs(lines, size, name)
    return [Row(tuple(each), None, None, ()) for each in texts]


def _runs(lines: Sequence[T], size: int, name: str) -> list[Sequence[T]]:
    if len(lines) % size:
        raise InputError(f"expected {size} candidates for each line, got {len(lines)} lines in all", file=name)
    return [lines[i : i + size] for i in range(0, len(lines), size)]


def _grouped(units: Sequence[Unit], size: int | None, file: str) -> list[Sequence[Unit]]:
    """The candidates of each line, line by line."""
    if size is not None:
        return _runs(units, size, file)
    found: dict[str, list[Unit]] = {}
    before = None
    for unit in units:
        if unit.of is None:
            cure = "give a list `candidates` in each JSON object, an id that they share, or `size=N` for N of each line"
            raise InputError(f"nothing tells of which line a candidate is: {cure}", file=file, line=unit.line)
        if unit.of != before and unit.of in found:
            message = f"the candidates of {unit.of!r} do not stand together: sort them by their line"
            raise InputError(message, file=file, line=unit.line)
        found.setdefault(unit.of, []).append(unit)
        before = unit.of
    if all(len(each) == 1 for each in found.values()):
        raise InputError("has only one candidate of each line, by its ids: give `size=N` for N of each", file=file)
    return list(found.values())


def _row(units: Sequence[Unit], file: str) -> Row:
    """A line's candidates, which are of one source."""
    first = units[0]
    for unit in units:
        if (unit.source or "").split() != (first.source or "").split():
            message = f"{unit.place} has another source than {first.place}, a candidate of the same line"
            raise InputError(message, file=file, line=unit.line)
    return Row(
        tuple(unit.text for unit in units),
        first.doc,
        first.source,
        () if first.reference is None else (first.reference,),
        speaker=first.speaker,
        places=tuple(Place(unit.line, unit.place) for unit in units),
    )


def beside(
    rows: Sequence[Row],
    note: Callable[[str], None],
    *,
    references: Sequence[str] = (),
    source: str | None = None,
    docids: str | None = None,
    speakers: str | None = None,
    reading: Reading | None = None,
) -> list[Row]:
    """The rows of an n-best file with what other files say of its lines; those go before its own.

    Raises:
        InputError: another number of lines.
    """
    size = len(rows)
    given = [line_parallel(name, size, Role.REFERENCE, reading) for name in references]
    original = None if source is None else line_parallel(source, size, Role.SOURCE, reading)
    docs: Sequence[str | None] = [row.doc for row in rows]
    if docids == BLANK:
        files = [*given, *([] if original is None else [original])]
        docs = blank_docids([["".join(row.texts) for row in rows], *files], note)
    elif docids is not None:
        ids = line_parallel(docids, size)
        check_docids(ids, note)
        docs = list(ids)
    by_line = [row.speaker for row in rows]
    said_by = by_line if speakers is None else read_speakers(TextFile(speakers), size, "the text", note)
    sources = [row.source for row in rows] if original is None else list(original)
    references_of = list(zip(*given, strict=True)) if given else [row.references for row in rows]
    return [
        row._replace(doc=doc, source=src, references=refs, speaker=who)
        for row, doc, src, refs, who in zip(rows, docs, sources, references_of, said_by, strict=True)
    ]


def _moses(lines: Sequence[str], name: str) -> Candidates:
    """The candidates in lines "number ||| text ||| ..."; numbers start at 0 or 1 and increase by one."""
    found: list[list[str]] = []
    first = 0
    for number, line in enumerate(lines, start=1):
        head, bars, rest = line.partition("|||")
        if not bars or not re.fullmatch(r"[0-9]{1,12}", head.strip()):
            expected = 'expected "number ||| text", or `size=N` for N lines each'
            raise InputError(f"{expected}, got {line[:40]!r}", file=name, line=number)
        index = int(head)
        if not found:
            first = index if index in (0, 1) else 0
        last = first + len(found) - 1
        if index != last and index != last + 1:
            wanted = f"{last} or {last + 1}" if found else "0 or 1"
            raise InputError(f"expected the number {wanted}, got {index}; none may be missing", file=name, line=number)
        if index > last:
            found.append([])
        found[-1].append(rest.partition("|||")[0].strip())
    return [tuple(texts) for texts in found]


def read_scores(names: Sequence[str], candidates: Candidates) -> list[tuple[float, ...]]:
    """The given score of each candidate: one file for each file of candidates, or one file for an n-best file.

    Raises:
        InputError: a line that is not a finite number, or another number of lines than there are candidates.
    """
    if len(names) > 1:
        columns = [_numbers(name, len(candidates)) for name in names]
        return list(zip(*columns, strict=True))
    values = iter(_numbers(names[0], sum(map(len, candidates))))
    return [tuple(islice(values, len(texts))) for texts in candidates]


def _numbers(name: str, size: int) -> list[float]:
    """`size` finite numbers, one on each line."""
    values = []
    for number, line in enumerate(line_parallel(name, size), start=1):
        try:
            value = numbers.real(line)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"expected a finite number, got {line[:40]!r}", file=name, line=number)
        values.append(value)
    return values


def line_parallel(name: str, size: int, role: Role | None = None, reading: Reading | None = None) -> TextFile:
    """A text file of `size` lines, or of as many texts if it has a role; see `TextFile`.

    Raises:
        InputError: another number of lines.
    """
    file = TextFile(name, role, reading)
    found = sum(1 for _ in file)
    if found != size:
        raise InputError(f"expected {size} lines, one for each line or candidate, got {found}", file=name)
    return file
