"""Running text of one file: its sentences or lines in order, for verbs that read no more than that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.corpus import TextFile
from pronmetric.text.files import detect
from pronmetric.text.files.columns import Role
from pronmetric.text.files.door import describe_left_out

_CURE = "save its texts as plain text, one a line"


def read(path: str | Path, role: Role, note: Callable[[str], None] | None = None) -> list[str]:
    """The texts of a file: its lines, or those of a table, JSON Lines, subtitles or Markdown.

    note: is told what was left out; without it, there must be nothing to leave out.

    Raises:
        InputError: strings of a program or a translation memory, which are no running text; a format that is not read.
    """
    file = TextFile(str(path), role)
    if file.units is not None:
        if not file.units.in_order:
            raise InputError(f"is {file.units.format}, whose strings are no running text: {_CURE}", file=path)
        if left_out := describe_left_out(file.units):
            if note is None:
                raise InputError(f"has what is no text ({left_out}): {_CURE}", file=path)
            note(f"{path}: left out: {left_out}")
    return list(file)


def require_lines(path: str | Path) -> None:
    """Refuse a file that has another format than plain lines, where word links or the like count its lines.

    Raises:
        InputError: naming the format.
    """
    if (kind := detect.of_file(path)) != detect.LINES:
        raise InputError(f"is {detect.NAMES[kind]}, but word links are of plain lines: {_CURE}", file=path)
