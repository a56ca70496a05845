"""The one door for files of texts: tells the format of a file and reads its texts, or refuses it in one line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.files import detect
from pronmetric.text.files.columns import Role
from pronmetric.text.files.unit import FileTexts, Unit
from pronmetric.text.lines import check_segment

_LINE_END = re.compile(r"\s*[\r\n]+\s*")
_FIRST = 50  # lines of a stream that are looked at


@dataclass(frozen=True, slots=True)
class Reading:
    """How files of texts are read.

    format: one of `detect.FORMATS`; None tells it from each file. text_key: the column of a table, the key of JSON
    objects, or the language of a TMX file, that has the translations; None finds it by its name. systems: those of a
    column "system" that are taken, in this order; None takes all. language: gives the language of the translations,
    which a TMX file may have among several.
    """

    format: str | None = None
    text_key: str | None = None
    systems: Sequence[str] | None = None
    language: Callable[[], str] | None = None


def read(path: str, role: Role = Role.TRANSLATION, reading: Reading | None = None) -> FileTexts | None:
    """The texts of a file that is no list of lines; None where it is one.

    A text has no line end: those inside a unit are blanks. As sources, units with a source give it.

    Raises:
        InputError: a format that is not read, a file that is not as its format says, or without a text.
    """
    reading = reading or Reading()
    kind = reading.format or detect.of_file(path)
    if kind == detect.LINES:
        return None
    key = reading.text_key if role == Role.TRANSLATION else None
    if kind == detect.TMX and key is None and reading.language is not None:
        key = reading.language()
    found = _reader(kind)(Path(path), role, key)
    if role == Role.SOURCE and any(unit.source is not None for unit in found.units):
        found = replace(found, units=tuple(replace(unit, text=unit.source or "") for unit in found.units))
    if not found.units:
        left_out = describe_left_out(found)
        raise InputError(
            f"has no text to read as {detect.NAMES[kind]}" + (f": {left_out}" if left_out else ""), file=path
        )
    return replace(found, units=tuple(_on_one_line(unit, path) for unit in found.units))


def refuse_stream(lines: Iterable[str], name: str, reading: Reading | None) -> None:
    """Refuse the lines of a stream that have another format, which is read from files only.

    Raises:
        InputError: naming the format.
    """
    kind = None if reading is None else reading.format
    if kind is None:
        kind = detect.of_head("\n".join(islice(lines, _FIRST)).encode("utf-8", errors="replace"), name)
    if kind != detect.LINES:
        cure = f"save it as a file and give its name{detect.INSIST}"
        raise InputError(f"is {detect.NAMES[kind]}, which is not read from a stream: {cure}", file=name)


def describe_left_out(found: FileTexts) -> str:
    """What was left out of a file, with counts; "" if nothing.

    >>> describe_left_out(FileTexts("po", (), False, {"untranslated": 2, "obsolete": 1}))
    '2 untranslated, 1 obsolete'
    """
    return ", ".join(f"{number:,} {reason}" for reason, number in found.left_out.items() if number)


def _reader(kind: str) -> Callable[[Path, Role, str | None], FileTexts]:
    """The reader of a format, imported when it is needed; those of one kind of text have no use for role and key."""
    if kind in (detect.CSV, detect.TSV):
        table = import_module("pronmetric.text.files.table")
        return table.read_csv if kind == detect.CSV else table.read_tsv
    if kind == detect.JSONL:
        return import_module("pronmetric.text.files.json_lines").read
    if kind == detect.TMX:
        tmx = import_module("pronmetric.text.files.tmx")
        return lambda path, role, key: tmx.read(path, target=key)
    read_units = import_module(f"pronmetric.text.files.{kind}").read
    return lambda path, role, key: read_units(path)


def _on_one_line(unit: Unit, path: str) -> Unit:
    def joined(text: str | None) -> str | None:
        return None if text is None else _LINE_END.sub(" ", text.strip("\r\n"))

    text = check_segment(joined(unit.text) or "", file=path, line=unit.line)
    return replace(unit, text=text, source=joined(unit.source), reference=joined(unit.reference))
