"""Folders of documents with annotated coreference, each file in the form of GUM or of LitBank."""

from __future__ import annotations

from pathlib import Path

from data_prep.coreference import gum, litbank
from data_prep.coreference.document import Annotated
from pronmetric.errors import InputError
from pronmetric.text.lines import iter_lines


def files(folder: str | Path) -> list[Path]:
    """The .conll files of a folder, sorted by name.

    Raises:
        InputError: there is no such file.
    """
    found = sorted(Path(folder).glob("*.conll"))
    if not found:
        raise InputError("expected .conll files with annotated coreference (GUM, LitBank) in it", file=folder)
    return found


def read_folder(folder: str | Path) -> list[Annotated]:
    """The documents of all .conll files of a folder, file by file in the order of their names.

    Raises:
        InputError: there is no such file; as `gum.read` and `litbank.read` do.
    """
    return [document for path in files(folder) for document in read(path)]


def read(path: Path) -> list[Annotated]:
    """The documents of one file; its first line tells the form."""
    first = next(iter_lines(path, kept=False), "")
    return litbank.read(path) if first.startswith(litbank.BEGIN) else gum.read(path)
