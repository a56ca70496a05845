"""Plain layout: a folder with the reference and one line-parallel file per system.

- `ref.txt`, or several: `ref.A.txt`, `refB.txt` (the reference is named after the file, without the suffix);
- `src.txt`, `source.txt` or `src.de.txt` with the language: the source (optional);
- `docids.txt`: the document id of each line (optional); the lines of a document are consecutive;
- `speakers.txt`: who says each line, an empty line where that is not known (optional);
- every other file with the suffix of the reference (`.txt`, that of the language such as `.en`, or none, then without
  a dot in the name) is the output of the system that it is named after, except README, LICENSE and hidden files.

Files may be gzip-compressed (`.gz`).

The test set has the folder's name. A folder name such as `mytest.de-en` or `mytest.en-de` gives the language pair (into
another language than English, both must be known); so does a source name such as `src.de.txt`, into English; otherwise
it is `und-en` (undetermined).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from data_prep.wmt import parallel
from data_prep.wmt.testset import Part, TestSet, year_of
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.pronouns.tables import codes
from pronmetric.text.language_codes import is_known

REFERENCE = re.compile(r"ref(?:erence)?(?:[._-]\w+|[A-Z0-9]\w*)?")
SOURCE = re.compile(r"(?:src|source)(?:[._-](?P<language>[a-z]{2,3}))?")
TXT = ".txt"
PAIR = re.compile(r"(?:(?P<name>.+?)[._-])?(?P<source>[a-z]{2,3})-(?P<target>[a-z]{2,3})")


def find(files: Iterable[Path]) -> list[TestSet]:
    """A test set for each folder that holds a plain reference file."""
    folders: defaultdict[Path, list[Path]] = defaultdict(list)
    for path in files:
        folders[path.parent].append(path)
    found = (testset(folder, paths) for folder, paths in sorted(folders.items()))
    return [each for each in found if each is not None]


def testset(folder: Path, paths: Iterable[Path]) -> TestSet | None:
    """The test set of one folder, None if it has no plain reference."""
    match = PAIR.fullmatch(folder.resolve().name)
    if match is not None and not _is_pair(match["source"], match["target"]):
        match = None
    target = match["target"] if match else ENGLISH.code
    own = [path for path in paths if not parallel.NAME.fullmatch(path.name)]
    names = {path: stem_and_ending(path, target) for path in own}
    endings = {ending for stem, ending in names.values() if ending is not None and REFERENCE.fullmatch(stem)}
    parts = [
        Part(role_of(stem), "" if role_of(stem) in ("src", parallel.DOCIDS, parallel.SPEAKERS) else stem, path)
        for path, (stem, ending) in names.items()
        if ending in endings and not stem.lower().startswith(("readme", "license"))
    ]
    if not parts:
        return None
    name = (match["name"] if match else folder.resolve().name) or "plain"
    source = match["source"] if match else source_language(stem for stem, _ in names.values())
    lp = f"{source}-{target}"
    return TestSet(name=name, year=year_of(name), lp=lp, parts=tuple(sorted(parts)))


def _is_pair(source: str, target: str) -> bool:
    """Whether two codes are a pair: any into English, else of known languages, the target one with a table."""
    return target == ENGLISH.code or (target in codes() and is_known(source) and source != target)


def source_language(stems: Iterable[str]) -> str:
    """The language in the source's file name, or "und"."""
    return next((match["language"] for stem in stems if (match := SOURCE.fullmatch(stem)) and match["language"]), "und")


def stem_and_ending(path: Path, target: str = ENGLISH.code) -> tuple[str, str | None]:
    """A file's name without its ending, and the ending: "online.A.txt.gz" -> ("online.A", ".txt"); None is another."""
    name = path.name.removesuffix(".gz")
    for ending in (TXT, f".{target}"):
        if name.endswith(ending):
            return name.removesuffix(ending), ending
    return name, None if "." in name else ""


def role_of(stem: str) -> str:
    """The content of a plain file, by its name."""
    if REFERENCE.fullmatch(stem):
        return "ref"
    if SOURCE.fullmatch(stem):
        return "src"
    if stem in ("docids", "docs"):
        return parallel.DOCIDS
    return parallel.SPEAKERS if stem == "speakers" else "hyp"
