"""Files of candidate translations: line-parallel files, n-best lists, and one score for each candidate."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import islice

from pronmetric.errors import InputError, PronmetricError
from pronmetric.text import corpus, numbers
from pronmetric.text.corpus import Corpus, TextFile
from pronmetric.text.files.columns import Role
from pronmetric.text.files.door import Reading

Candidates = Sequence[tuple[str, ...]]
"""The candidates of each line."""


def read_parallel(names: Sequence[str], note: Callable[[str], None], reading: Reading | None = None) -> Corpus:
    """The candidates in parallel files, one candidate of each line in each file; see `corpus.read`.

    Raises:
        PronmetricError: only one file, with one system.
        InputError: files of different lengths, or not readable as text.
    """
    found = corpus.read(names, note, reading=reading)
    if len(found.systems) < 2:
        raise PronmetricError(f"expected two or more files of candidates, got only {names[0]}")
    return found


def read_nbest(name: str, size: int | None) -> Candidates:
    """The candidates in one file: `size` lines for each line, or n-best lists in the format of Moses.

    Raises:
        InputError: empty, a number of lines that is not a multiple of `size`, or not in the format of Moses.
    """
    file = TextFile(name, Role.TRANSLATION)
    if file.units is not None:
        raise InputError(f"is {file.units.format}; expected an n-best list, which has plain lines", file=name)
    lines = list(file)
    if not lines:
        raise InputError("is empty; expected the candidates of each line", file=name)
    if size is None:
        return _moses(lines, name)
    if len(lines) % size:
        raise InputError(f"expected {size} candidates for each line, got {len(lines)} lines in all", file=name)
    return [tuple(lines[i : i + size]) for i in range(0, len(lines), size)]


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
