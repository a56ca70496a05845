"""The one checker of records: an object of JSON or a row of a table in, its values out, or a located error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pronmetric.errors import InputError
from pronmetric.text import strict_json
from pronmetric.text.lines import check_segment, iter_lines

_SHOWN = 40  # characters of a value in an error
Made = TypeVar("Made")


class Entry:
    """An object of JSON, or a mapping of a Python caller, whose values are checked as they are taken.

    Args:
        value: the object.
        file: its file, for errors.
        line: its line there, from 1.
        name: what it is, or its place in the file, such as 'item 3, "errors", entry 1'; "" where file and line say it.
        expected: what is expected instead of another value than an object.
        cure: the end of the errors about missing keys and values of another type.

    Raises:
        InputError: `value` is no object; so do the methods for a value that is not as they say.
    """

    __slots__ = ("cure", "file", "line", "name", "record")

    def __init__(
        self,
        value: object,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        name: str = "",
        expected: str = "an object",
        cure: str = "",
    ) -> None:
        self.file, self.line, self.name, self.cure = file, line, name, cure
        if not isinstance(value, Mapping):
            self._wrong(f"expected {expected}, got {kind(value)}")
        self.record: Mapping[str, Any] = value

    def fail(self, message: str) -> NoReturn:
        """Raise InputError with the file, the line and the place."""
        raise InputError(f"{self.name}: {message}" if self.name else message, file=self.file, line=self.line)

    def get(self, key: str) -> Any:
        """Any value; None if the key is missing."""
        return self.record.get(key)

    def required(self, key: str) -> Any:
        """Any value, null included."""
        if key not in self.record:
            self._wrong(f'the key "{key}" is missing; the record has {sorted(map(str, self.record))}')
        return self.record[key]

    def string(self, key: str) -> str:
        """A string of any content."""
        return self._is(self.required(key), key, str, "a string")

    def text(self, key: str) -> str:
        """A text to score: without NUL or lone surrogates, no longer than a segment may be."""
        return self._text(self.string(key), key)

    def sentences(self, key: str) -> tuple[str, ...]:
        """A list of texts as `text` takes; empty if the key is missing or null."""
        value = self._plain(key)
        if value is None:
            return ()
        if not isinstance(value, list | tuple) or not all(isinstance(sentence, str) for sentence in value):
            got = "a list with other items" if isinstance(value, list | tuple) else kind(value)
            self._wrong(f'"{key}" must be a list of strings, got {got}')
        return tuple(self._text(sentence, key) for sentence in value)

    def names(self, key: str) -> tuple[str, ...]:
        """A list of strings as `name_of` takes, "" for null; empty if the key is missing or null."""
        value = self._plain(key)
        if value is None:
            return ()
        if not isinstance(value, list | tuple) or not all(name is None or isinstance(name, str) for name in value):
            got = "a list with other items" if isinstance(value, list | tuple) else kind(value)
            self._wrong(f'"{key}" must be a list of strings and nulls, got {got}')
        return tuple(self.printable(name or "", key) for name in value)

    def _plain(self, key: str) -> Any:
        """Any value; an array, which rows of a data frame have for a list, as a list."""
        value = self.get(key)
        return value.tolist() if hasattr(value, "tolist") else value

    def name_of(self, key: str) -> str | None:
        """A string without NUL or lone surrogates; None if the key is missing or null."""
        value = self.get(key)
        return None if value is None else self.printable(self._is(value, key, str, "a string or null"), key)

    def label(self, key: str) -> str | None:
        """A string, or a whole number as a string; None if the key is missing or null."""
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int):
            self._wrong(f'"{key}" must be a string, got {kind(value)}')
        return self.printable(str(value), key)

    def identity(self) -> str:
        """The id: a string that is not empty, or a whole number, as a string."""
        value = self.required("id")
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            self._wrong(f'"id" must be a string or a whole number, got {shown(value)}')
        return self.printable(str(value), "id")

    def whole(self, key: str, *, least: int | None = None, most: int | None = None) -> int:
        """A whole number, within the limits that are given."""
        value = self.required(key)
        fits = isinstance(value, int) and not isinstance(value, bool)
        if not fits or (least is not None and value < least) or (most is not None and value > most):
            limits = "" if least is None else f" from {least}"
            limits += "" if most is None else f" to {most:,}"
            self._wrong(f'"{key}" must be a whole number{limits}, got {shown(value)}')
        return int(value)

    def number(self, key: str, *, most: float = sys.float_info.max) -> float:
        """A finite number, of magnitude `most` at most."""
        return self._number(self.required(key), key, most, "")

    def number_or_null(self, key: str, *, most: float = sys.float_info.max) -> float | None:
        """A number as `number` takes; None if it is null."""
        value = self.required(key)
        return None if value is None else self._number(value, key, most, " or null")

    def one_of(self, key: str, allowed: Sequence[object]) -> Any:
        """One of the allowed values."""
        value = self.required(key)
        if not any(value is one or (type(value) is type(one) and value == one) for one in allowed):
            self._wrong(f'"{key}" must be one of {", ".join(map(shown, allowed))}, got {shown(value)}')
        return value

    def values(self, key: str) -> list[Any]:
        """A list."""
        return self._is(self.required(key), key, list, "a list")

    def strings(self, key: str, *, length: int | None = None) -> tuple[str, ...]:
        """A list of strings of any content; `length` is how many there must be."""
        values = self.values(key)
        if not all(isinstance(value, str) for value in values) or length not in (None, len(values)):
            self._wrong(f'"{key}" must be a list of {"" if length is None else f"{length} "}strings')
        return tuple(values)

    def entry(self, key: str) -> Entry:
        """An object."""
        return self._below(self.required(key), f'"{key}"')

    def entries(self, key: str) -> list[Entry]:
        """A list of objects, named by their places from 1."""
        return [self._below(value, f'"{key}", entry {n}') for n, value in enumerate(self.values(key), start=1)]

    def printable(self, value: str, key: str) -> str:
        """The value, if it has no NUL and no lone surrogate (JSON can encode both)."""
        if "\0" in value:
            self.fail(f'"{key}" holds a NUL character; remove it')
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            self.fail(f'"{key}" has a lone surrogate; write complete characters')
        return value

    def _text(self, value: str, key: str) -> str:
        return check_segment(self.printable(value, key), file=self.file, line=self.line)

    def _number(self, value: object, key: str, most: float, or_null: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._wrong(f'"{key}" must be a number{or_null}, got {shown(value)}')
        if not abs(value) <= most:  # so NaN is refused
            finite = "a finite number" if most == sys.float_info.max else f"a number from {-most:g} to {most:g}"
            self._wrong(f'"{key}" must be {finite}{or_null}, got {shown(value)}')
        return float(value)

    def _is(self, value: Any, key: str, type_: type, expected: str) -> Any:
        if not isinstance(value, type_):
            self._wrong(f'"{key}" must be {expected}, got {kind(value)}')
        return value

    def _below(self, value: object, place: str) -> Entry:
        name = f"{self.name}, {place}" if self.name else place
        return Entry(value, file=self.file, line=self.line, name=name, cure=self.cure)

    def _wrong(self, message: str) -> NoReturn:
        self.fail(f"{message}; {self.cure}" if self.cure else message)


def read(path: str | Path) -> Iterator[Entry]:
    """Each object of a JSONL file; empty lines are skipped.

    Raises:
        InputError: with file and line, if a line is not a JSON object, or has NaN, infinity or a duplicate key.
    """
    for number, line in enumerate(iter_lines(path), start=1):
        if line.strip():
            yield Entry(parse(line, file=path, line=number), file=path, line=number, expected="a JSON object")


def read_by_id(
    path: str | Path, make: Callable[[Entry], tuple[str, Made]], *, what: str, form: str = "one JSON object"
) -> dict[str, Made]:
    """What `make` gives for each object of a JSONL file, by its id, in order.

    make: gives the id too. what: the objects in the plural, form: one of them, for errors.

    Raises:
        InputError: as `read`; with file and line, where an id is there twice; a file without objects.
    """
    made: dict[str, Made] = {}
    lines: dict[str, int] = {}
    for entry in read(path):
        identity, one = make(entry)
        if identity in made:
            entry.fail(f'duplicate id "{identity}", first in line {lines[identity]}; each of the {what} needs its own')
        made[identity], lines[identity] = one, entry.line or 0
    if not made:
        raise InputError(f"no {what}: expected {form} a line", file=path)
    return made


def read_table(path: str | Path, columns: Sequence[str], *, expected: str, named: bool = True) -> Iterator[Entry]:
    """Each row of a TSV file as a record of strings, without quotes or escapes; blank lines are skipped.

    columns: those that must be there. named: the first line names the columns, and there may be others in any order;
    otherwise there are these, in this order. expected: the kind of file, for errors, such as "a GAP file".

    Raises:
        InputError: with file and line, if a column is missing or a row has another number of cells; a table without
            rows.
    """
    lines = ((number, line) for number, line in enumerate(iter_lines(path), start=1) if line.strip())
    if named:
        columns = _header(path, lines, columns, expected)
    number = 0
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) != len(columns):
            message = f"expected {expected} with {len(columns)} tab-separated columns ({', '.join(columns)})"
            raise InputError(f"{message}, got {len(cells)}", file=path, line=number)
        yield Entry(dict(zip(columns, cells, strict=True)), file=path, line=number)
    if not number:
        raise InputError(f"no rows: expected {expected}, one item on each line", file=path)


def _header(path: str | Path, lines: Iterator[tuple[int, str]], columns: Sequence[str], expected: str) -> Sequence[str]:
    """The columns that the first line names."""
    _, line = next(lines, (1, ""))
    names = line.split("\t")
    if missing := [name for name in columns if name not in names]:
        raise InputError(f"expected {expected}, whose first line names {', '.join(missing)}", file=path, line=1)
    if repeated := [name for name in names if names.count(name) > 1]:
        message = f"the first line names {repeated[0]!r} twice; each column needs its own name"
        raise InputError(message, file=path, line=1)
    return names


def parse(text: str, *, file: str | Path, line: int) -> Any:
    """The value of a line of JSON.

    Raises:
        InputError: it is not JSON.
    """
    try:
        return strict_json.parse(text)
    except ValueError as error:
        raise InputError(f"broken JSON ({error}); expected one object a line", file=file, line=line) from None


def kind(value: object) -> str:
    """The JSON type of a value, in words.

    >>> kind(True), kind({}), kind(0.5)
    ('true or false', 'an object', 'a number')
    """
    names = {str: "a string", bool: "true or false", type(None): "null", list: "a list", dict: "an object"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)


def shown(value: object) -> str:
    """A value as JSON, cut to 40 characters.

    >>> shown("She left."), shown(list(range(20)))
    ('"She left."', '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11...')
    """
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
