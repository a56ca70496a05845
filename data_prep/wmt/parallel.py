"""Line-parallel text files as columns: sources, references, systems, document ids and speakers if present.

The text layout of the wmtNN-news-systems repositories describes them by their names: `TESTSET.LP.src.LANG`,
`TESTSET.LP.ref.NAME.LANG` (the name is optional) and `TESTSET.LP.hyp.SYSTEM.LANG`, in any folder, plain or
gzip-compressed. A system's name may contain dots ("Allegro.eu"). There are no document boundaries.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from data_prep.wmt.testset import Columns, Extent, Part, TestSet, year_of
from pronmetric.errors import InputError
from pronmetric.text.context import check_speaker
from pronmetric.text.language_codes import bare
from pronmetric.text.lines import read_lines

DOCIDS, SPEAKERS = "docids", "speakers"
ROLES = ("src", "ref", "hyp", DOCIDS, SPEAKERS)
NAME = re.compile(
    r"(?P<testset>[^.]+)\.(?P<lp>[a-z]{2,3}-[a-z]{2,3})\.(?P<role>src|ref|hyp)"
    r"(?:\.(?P<name>.+?))?\.(?P<language>[a-z]{2,3})(?:\.txt)?(?:\.gz)?"
)


def find(files: Iterable[Path]) -> list[TestSet]:
    """The test sets in file names of this layout; other files are ignored."""
    parts: defaultdict[tuple[str, str], list[Part]] = defaultdict(list)
    for path in files:
        if match := NAME.fullmatch(path.name):
            name = match["name"] or ("" if match["role"] == "src" else match["role"])
            lp = "-".join(map(bare, match["lp"].split("-")))
            parts[match["testset"], lp].append(Part(match["role"], name, path))
    return [
        TestSet(name=name, year=year_of(name, found[0].path), lp=lp, parts=tuple(sorted(found)))
        for (name, lp), found in sorted(parts.items())
    ]


def read(testset: TestSet, *, tally: Counter[str] | None = None) -> Columns:
    """The columns of a test set's text files.

    Raises:
        InputError: two files with the same role and name; a file with a different number of lines than the first; a
            document id whose lines are not consecutive; a tab in a speaker's name.
    """
    parts = testset.having(*ROLES)
    lines = read_parallel(parts, tally=tally)
    found = {(part.role, part.name): rows for part, rows in zip(parts, lines, strict=True)}
    ids, speakers = testset.having(DOCIDS), testset.having(SPEAKERS)
    return Columns(
        src=found.get(("src", "")),
        refs={name: list(rows) for (role, name), rows in found.items() if role == "ref"},
        hyps={name: list(rows) for (role, name), rows in found.items() if role == "hyp"},
        extents=extents(found[DOCIDS, ""], file=ids[0].path) if ids else None,
        speakers=_names(found[SPEAKERS, ""], file=speakers[0].path) if speakers else None,
    )


def _names(lines: Sequence[str], *, file: Path) -> list[str]:
    """The speaker of each line; errors as in `check_speaker`."""
    return [check_speaker(name, file=file, line=number) for number, name in enumerate(lines, start=1)]


def read_parallel(parts: Sequence[Part], *, tally: Counter[str] | None = None) -> list[list[str]]:
    """The lines of files, which must be line-parallel and have distinct roles or names."""
    seen: dict[tuple[str, str], Path] = {}
    columns: list[list[str]] = []
    for part in parts:
        key = (part.role, part.name)
        if key in seen:
            raise InputError(f"the same {part.role} {part.name!r} as {seen[key]}; keep one of them", file=part.path)
        seen[key] = part.path
        columns.append(read_lines(part.path, tally=tally))
        if len(columns[-1]) != len(columns[0]):
            message = f"{len(columns[-1])} lines, but {parts[0].path} has {len(columns[0])}; they must be line-parallel"
            raise InputError(message, file=part.path, line=min(len(columns[-1]), len(columns[0])) + 1)
    return columns


def extents(ids: Sequence[str], *, file: Path) -> list[Extent]:
    """The documents of a column of document ids, one per segment, consecutive for each document."""
    found: list[Extent] = []
    seen: set[str] = set()
    line = 1
    for doc, run in groupby(ids):
        if doc in seen:
            message = f"document {doc!r} comes back after another one; the lines of a document must be consecutive"
            raise InputError(message, file=file, line=line)
        seen.add(doc)
        found.append(Extent(doc, sum(1 for _ in run)))
        line += found[-1].size
    return found
