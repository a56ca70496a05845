"""Plain English documents: text files in which an empty line ends a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.lines import iter_lines

ENDINGS = (".txt", ".txt.gz")


@dataclass(frozen=True, slots=True)
class EnglishDocument:
    """One English document: one sentence or paragraph per line.

    source: the collection ("gum", "wmt21"). doc: unique within the collection ("news.17": file and number).
    genre: the file's name. exact: False where the files give no document boundaries.
    """

    source: str
    doc: str
    lines: tuple[str, ...]
    genre: str | None = None
    exact: bool = True


def files(folder: str | Path) -> list[Path]:
    """The text files below a folder, sorted, without README files.

    Raises:
        InputError: no such folder, or no text file in it.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError("no such folder; data.english is a folder of .txt files of English documents", file=root)
    found = sorted(
        path
        for path in root.rglob("*")
        if path.name.endswith(ENDINGS) and path.is_file() and not path.name.lower().startswith(("readme", "license"))
    )
    if not found:
        raise InputError("no .txt file in this folder; data.english is a folder of English documents", file=root)
    return found


def read(folder: str | Path, *, tally: Counter[str] | None = None) -> Iterator[EnglishDocument]:
    """The English documents of all text files of a folder, file by file: a line is a sentence or a paragraph.

    The source is the folder that holds the file, the genre the file's name.

    Raises:
        InputError: no such folder, no text file in it, a byte that is not UTF-8, a NUL.
    """
    root = Path(folder).resolve()
    for path in files(root):
        yield from read_file(path, source=path.parent.name, tally=tally)


def read_file(path: Path, *, source: str, tally: Counter[str] | None = None) -> Iterator[EnglishDocument]:
    """The documents of one file, in order."""
    genre = path.name.removesuffix(".gz").removesuffix(".txt")
    number = 0
    lines: list[str] = []
    for line in iter_lines(path, tally=tally):
        if text := line.strip():
            lines.append(text)
        elif lines:
            number += 1
            yield EnglishDocument(source, f"{genre}.{number}", tuple(lines), genre)
            lines = []
    if lines:
        yield EnglishDocument(source, f"{genre}.{number + 1}", tuple(lines), genre)
