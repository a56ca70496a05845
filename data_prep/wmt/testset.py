"""Test sets: their files, their content as columns, and columns split into documents.

Every layout of WMT data has its own reader; all return `Columns`, which `documents` converts to records.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pronmetric.schema import Document, Segment


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """One file of a test set.

    role: one of `parallel.ROLES` (line-parallel text), "sgm-src", "sgm-ref", "sgm-hyp", one of `evalset.PARTS`,
    "xml" or "jsonl" (the last two contain several texts).
    name: of the reference or system; "" if the file does not have one.
    """

    role: str
    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class TestSet:
    """One test set and language pair: its files, not yet read.

    name: as in the files ("newstest2021"). year: four digits, None if unknown. lp: "de-en".
    """

    __test__: ClassVar[bool] = False

    name: str
    year: int | None
    lp: str
    parts: tuple[Part, ...]

    @property
    def id(self) -> str:
        """The name in messages and the manifest: "newstest2021.de-en"."""
        return f"{self.name}.{self.lp}"

    @property
    def paths(self) -> tuple[Path, ...]:
        """The distinct input files, sorted, for the hashes of a manifest."""
        return tuple(sorted({part.path for part in self.parts}))

    @property
    def source(self) -> str:
        """The source language."""
        return self.lp.split("-")[0]

    @property
    def target(self) -> str:
        """The target language."""
        return self.lp.split("-")[1]

    def having(self, *roles: str) -> list[Part]:
        """The parts of these roles, in their order."""
        return [part for part in self.parts if part.role in roles]


@dataclass(frozen=True, slots=True)
class Extent:
    """One document of the columns: its id, its number of segments and metadata from the files."""

    doc: str
    size: int
    domain: str | None = None
    origin: str | None = None


@dataclass(slots=True)
class Columns:
    """The content of a test set, one row per segment.

    src: None if there is no source. refs, hyps: name -> rows; a row is None if that reference or system lacks the whole
    document. extents: the documents in order, None if the files give no document boundaries. speakers: who says each
    segment, "" if unknown; None if the files do not say.
    """

    src: list[str] | None
    refs: dict[str, list[str | None]]
    hyps: dict[str, list[str | None]]
    extents: list[Extent] | None
    speakers: list[str] | None = None

    @property
    def size(self) -> int:
        """The number of segments."""
        if self.src is not None:
            return len(self.src)
        return len(next(iter([*self.refs.values(), *self.hyps.values()]), []))


def documents(testset: TestSet, columns: Columns) -> Iterator[Document]:
    """The documents of a test set; a single one with `exact=False` if there are no boundaries."""
    extents = columns.extents or [Extent(testset.id, columns.size)]
    start = 0
    for extent in extents:
        rows = range(start, start + extent.size)
        start += extent.size
        yield Document(
            testset=testset.name,
            lp=testset.lp,
            doc=extent.doc,
            segments=tuple(segment(columns, row) for row in rows),
            exact=columns.extents is not None,
            domain=extent.domain,
            origin=extent.origin,
        )


def segment(columns: Columns, row: int) -> Segment:
    """One row (0-based) of the columns as a record."""
    return Segment(
        seg=row + 1,
        src=None if columns.src is None else columns.src[row],
        refs={name: text for name, rows in columns.refs.items() if (text := rows[row]) is not None},
        hyps={name: text for name, rows in columns.hyps.items() if (text := rows[row]) is not None},
        speaker=None if columns.speakers is None else columns.speakers[row],
    )


def year_of(name: str, path: Path | None = None) -> int | None:
    """The year in a test set's name ("newstest2021", "wmt25-genmt"), else in that of the nearest folder with one."""
    folders = [] if path is None else [folder.name for folder in path.parents]
    for text in (name, *folders):
        if match := re.search(r"(?<!\d)(20[0-4]\d)(?!\d)|wmt-?(\d\d)(?!\d)", text, re.IGNORECASE):
            return int(match[1] or 2000 + int(match[2]))
    return None


def join_lines(text: str) -> str:
    """A segment's text in one line: inner line ends become a space, outer ones are removed."""
    if "\n" not in text and "\r" not in text:
        return text
    return " ".join(part for part in (line.strip() for line in re.split(r"[\r\n]+", text)) if part)
