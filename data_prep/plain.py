"""Plain layout: a folder with the reference and one file a system, line by line parallel.

- `ref.txt`, or several: `ref.A.txt`, `refB.txt` (the reference's name is the file's, without the ending);
- `src.txt` or `source.txt`: the source, if there is one;
- `docids.txt`: the id of its document for each line, if there is one; the lines of a document stand together;
- every other file of the same ending as the reference (`.txt`, `.en` or none) is the output of the system that it is
  named after. README, LICENSE and hidden files aside. Each file may be gzip (`.gz` at the end).

The test set bears the folder's name; a folder named like `mytest.de-en` tells the pair, else it is `und-en`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from data_prep import wmt_text
from data_prep.testset import Part, TestSet, year_of

REFERENCE = re.compile(r"ref(?:erence)?(?:[._-]?[A-Za-z0-9]+)?")
ENDING = re.compile(r"(?P<stem>.+?)(?P<ending>\.txt|\.en)?(?:\.gz)?")
PAIR = re.compile(r"(?:(?P<name>.+?)[._-])?(?P<lp>[a-z]{2,3}-en)")


def find(files: Iterable[Path]) -> list[TestSet]:
    """A test set for each folder that holds a plain reference file."""
    folders: defaultdict[Path, list[Path]] = defaultdict(list)
    for path in files:
        folders[path.parent].append(path)
    found = (testset(folder, paths) for folder, paths in sorted(folders.items()))
    return [each for each in found if each is not None]


def testset(folder: Path, paths: Iterable[Path]) -> TestSet | None:
    """The test set of one folder, None where it has no plain reference."""
    names = {path: stem_and_ending(path) for path in paths if not wmt_text.NAME.fullmatch(path.name)}
    endings = {ending for stem, ending in names.values() if REFERENCE.fullmatch(stem)}
    parts = [
        Part(role_of(stem), "" if role_of(stem) in ("src", "docids") else stem, path)
        for path, (stem, ending) in names.items()
        if ending in endings and not stem.lower().startswith(("readme", "license"))
    ]
    if not parts:
        return None
    match = PAIR.fullmatch(folder.resolve().name)
    name = (match["name"] if match else folder.resolve().name) or "plain"
    return TestSet(name=name, year=year_of(name), lp=match["lp"] if match else "und-en", parts=tuple(sorted(parts)))


def stem_and_ending(path: Path) -> tuple[str, str]:
    """A file's name without its ending, and the ending (without ".gz"): "online.A.txt.gz" -> ("online.A", ".txt")."""
    match = ENDING.fullmatch(path.name)
    return (match["stem"], match["ending"] or "") if match else (path.name, "")


def role_of(stem: str) -> str:
    """What a plain file holds, by its name."""
    if REFERENCE.fullmatch(stem):
        return "ref"
    if stem in ("src", "source"):
        return "src"
    return "docids" if stem in ("docids", "docs") else "hyp"
