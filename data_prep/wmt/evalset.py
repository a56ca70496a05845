"""The layout of mt-metrics-eval: test sets with their documents, references and human scores.

A folder is a test set; the files of a language pair LP are, in its folders, `documents/LP.docs` (a line
`DOMAIN DOCUMENT` for each segment), `sources/LP.txt`, `references/LP.NAME.txt` and `system-outputs/LP/SYSTEM.txt`, all
line-parallel. A line `[No translation supplied]` is a missing text. Later test sets have `.jsonl` instead of `.txt`,
with the text under "source", "target" or "hypothesis". A file among the outputs that has the name of a reference is a
copy of it and no system; one that only references have (`refB`, `synthetic_ref`) is a reference.

Format: "File organization and naming convention" in the README of github.com/google-research/mt-metrics-eval, and its
`data.py`. WMT24's repository has this layout too, in the folder `txt`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from data_prep.wmt.jsonl import REFERENCE, parse_record
from data_prep.wmt.testset import Columns, Extent, Part, TestSet, join_lines, year_of
from pronmetric.errors import InputError
from pronmetric.text.language_codes import bare
from pronmetric.text.lines import iter_lines

PREFIX = "evalset-"
PARTS = ("evalset-docs", "evalset-src", "evalset-ref", "evalset-copy", "evalset-hyp")
"""The roles of the parts; "evalset-copy" is a reference among the system outputs."""
FOLDERS = ("documents", "sources", "references", "system-outputs")
ASIDE = ("metadata", "human-scores", "metric-scores")
MISSING = "[No translation supplied]"
NO_TEXT = "missing translations"
COPIES = "segments of references that differ from their copies among the system outputs"
_PAIR = r"(?P<lp>[a-z]{2,3}(?:_[A-Za-z]+)*-[a-z]{2,3}(?:_[A-Za-z]+)*)"
_ENDING = r"\.(?:txt|jsonl)(?:\.gz)?"
_NAMES = {
    "documents": re.compile(rf"{_PAIR}\.docs(?:\.gz)?"),
    "sources": re.compile(rf"{_PAIR}{_ENDING}"),
    "references": re.compile(rf"{_PAIR}\.(?P<name>[^.]+){_ENDING}"),
    "system-outputs": re.compile(rf"{_PAIR}/(?P<name>.+?){_ENDING}"),
}
_ROLES = {
    "documents": "evalset-docs",
    "sources": "evalset-src",
    "references": "evalset-ref",
    "system-outputs": "evalset-hyp",
}
_KEYS = {"sources": "source", "references": "target", "system-outputs": "hypothesis"}
_SYNTHETIC = "synthetic_ref"


class _Placed(NamedTuple):
    """A file of the layout: the folder of its test set, its language pair as written, and its part."""

    root: Path
    lp: str
    part: Part


def find(files: Iterable[Path]) -> list[TestSet]:
    """A test set for each language pair of a folder that has files of it in two or more of `FOLDERS`."""
    found: defaultdict[tuple[Path, str], list[Part]] = defaultdict(list)
    for path in files:
        if placed := _place(path):
            found[placed.root, placed.lp].append(placed.part)
    whole = {key: parts for key, parts in sorted(found.items()) if len({part.role for part in parts}) > 1}
    variants = Counter((root, _bare(lp)) for root, lp in whole)
    testsets = []
    for (root, lp), parts in whole.items():
        name = _name(root) if variants[root, _bare(lp)] == 1 else f"{_name(root)}.{lp}"  # sr_Cyrl_RS and sr_Latn_RS
        testsets.append(TestSet(name, year_of(name, root / "x"), _bare(lp), tuple(sorted(_told_apart(parts)))))
    return testsets


def others(files: Iterable[Path], testsets: Iterable[TestSet]) -> list[Path]:
    """The files that are in no folder of test sets of this layout, also not among their scores and metadata."""
    roots = {placed.root for testset in testsets for part in testset.parts if (placed := _place(part.path))}
    aside = {root / folder for root in roots for folder in (*FOLDERS, *ASIDE)}
    return [path for path in files if not aside.intersection(path.parents)]


def references_among_outputs(testset: TestSet) -> list[str]:
    """The names of the files among the system outputs that are references."""
    return [part.name for part in testset.having("evalset-copy", "evalset-ref") if "system-outputs" in _folders(part)]


def read(testset: TestSet, *, tally: Counter[str] | None = None) -> Columns:
    """The columns of a test set; those of a pair without `.docs` have no documents.

    Raises:
        InputError: a file with another number of lines than the first, a line of `.docs` that is not DOMAIN and
            DOCUMENT, a document whose lines are not consecutive, a missing source, two files of one text.
    """
    counts: Counter[str] = Counter() if tally is None else tally
    rows: dict[tuple[str, str], list[str | None]] = {}
    extents: list[Extent] | None = None
    first, size = Path(), -1
    for part in testset.having(*PARTS):
        role = part.role.removeprefix(PREFIX)
        if (role, part.name) in rows:
            raise InputError(f"{part.name or role} for the second time: keep one of the files", file=part.path)
        if role == "docs":
            lines: list[str | None] = list(iter_lines(part.path, tally=counts))
            extents = _extents([line or "" for line in lines], file=part.path)
        else:
            lines = list(_texts(part, counts))
        if size < 0:
            first, size = part.path, len(lines)
        if len(lines) != size:
            message = f"{len(lines)} lines, but {first} has {size}; they must be line-parallel"
            raise InputError(message, file=part.path, line=min(len(lines), size) + 1)
        if role == "src" and None in lines:
            raise InputError(f"{MISSING}: expected a source", file=part.path, line=lines.index(None) + 1)
        rows[role, part.name] = lines
    references = {name: texts for (role, name), texts in rows.items() if role == "ref"}
    for (role, name), texts in rows.items():
        if role == "copy":
            counts[COPIES] += sum(a != b for a, b in zip(references[name], texts, strict=True))
    source = rows.get(("src", ""))
    return Columns(
        src=None if source is None else [text or "" for text in source],
        refs=references,
        hyps={name: texts for (role, name), texts in rows.items() if role == "hyp"},
        extents=extents,
    )


def is_reference(name: str) -> bool:
    """Whether a file among the system outputs with this name is a reference, also without one of this name.

    >>> [name for name in ("refA", "ref-B", "synthetic_ref", "refined", "Alder") if is_reference(name)]
    ['refA', 'ref-B', 'synthetic_ref']
    """
    return name == _SYNTHETIC or REFERENCE.fullmatch(name) is not None


def _place(path: Path) -> _Placed | None:
    """A file of the layout; None if its place or its name is another."""
    parents = path.parents
    for depth in (1, 2):
        if len(parents) > depth and (folder := parents[depth - 1].name) in FOLDERS:
            match = _NAMES[folder].fullmatch(path.relative_to(parents[depth - 1]).as_posix())
            if match:
                name = match.groupdict().get("name", "")
                return _Placed(parents[depth], match["lp"], Part(_ROLES[folder], name, path))
    return None


def _told_apart(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts, with the references among the system outputs as copies or as references."""
    parts = list(parts)
    references = {part.name for part in parts if part.role == "evalset-ref"}
    for part in parts:
        if part.role == "evalset-hyp" and part.name in references:
            yield Part("evalset-copy", part.name, part.path)
        elif part.role == "evalset-hyp" and is_reference(part.name):
            yield Part("evalset-ref", part.name, part.path)
        else:
            yield part


def _folders(part: Part) -> tuple[str, str]:
    return part.path.parent.name, part.path.parent.parent.name


def _name(root: Path) -> str:
    """The name of a test set by its folder; that of WMT24's `txt` is the repository's."""
    place = root.resolve()
    return (place.parent if place.name == "txt" else place).name or "evalset"


def _bare(lp: str) -> str:
    """A pair without variants of languages: "en-zh_CN" -> "en-zh"."""
    return "-".join(map(bare, lp.split("-")))


def _texts(part: Part, tally: Counter[str]) -> Iterator[str | None]:
    """The texts of a file, None if missing."""
    key = next((_KEYS[folder] for folder in _folders(part) if folder in _KEYS), "")
    records = ".jsonl" in part.path.suffixes[-2:]
    for number, line in enumerate(iter_lines(part.path, tally=tally), start=1):
        text = line
        if records:
            text = join_lines(parse_record(line, file=part.path, line=number).string(key))
        if text.strip() == MISSING:
            tally[NO_TEXT] += 1
            yield None
        else:
            yield text


def _extents(lines: list[str], *, file: Path) -> list[Extent]:
    """The documents of a `.docs` file, with their domains."""
    pairs = []
    for number, text in enumerate(lines, start=1):
        fields = text.split()
        if len(fields) < 2:
            raise InputError(f"expected DOMAIN and DOCUMENT, got {len(fields)} fields", file=file, line=number)
        pairs.append((fields[0], fields[1]))
    found: dict[str, Extent] = {}
    number = 1
    for doc, run in groupby(pairs, key=lambda pair: pair[1]):
        domains = [domain for domain, _ in run]
        if doc in found:
            message = f"document {doc!r} comes back after another one; the lines of a document must be consecutive"
            raise InputError(message, file=file, line=number)
        if len(set(domains)) > 1:
            message = f"document {doc!r} is in several domains: {', '.join(sorted(set(domains)))}; expected one"
            raise InputError(message, file=file, line=number)
        found[doc] = Extent(doc, len(domains), domains[0])
        number += len(domains)
    return list(found.values())
