"""JSONL of WMT25 and WMT26: one JSON object per document (or paragraph), and files of system outputs next to it.

- A collection (`wmt25-genmt.jsonl`): `doc_id`, `src_lang`, `tgt_lang` (or a pair in the id: `cs-de_DE_#_news_#_NAME`,
  `WMT26_###_news_###_ces_Latn_###_deu_Latn_###_NAME`), `src_text`, `refs`: `{"refA": {"ref": TEXT}}` or
  `{"refA": TEXT}`, `{}` for a document without one, optionally `domain` and `tgt_text`: `{SYSTEM: TEXT}` (names `ref`,
  `refA` ... are references). The segments are in `blocks`. If ids end with a paragraph number (`_#_3`), each line is
  one paragraph of its document.
- Outputs (`systems/SYSTEM.jsonl` in the collection's folder or below it): `doc_id` and `hypothesis`; the system is
  the file's name.

Pairs that differ in the script or country of a language are test sets of their own. Other JSONL files (ratings,
metadata) are ignored. Documents that a system lacks, or that it has in another number of segments, are counted and
reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from data_prep.wmt.blocks import blocks, paragraphs
from data_prep.wmt.testset import Columns, Extent, Part, TestSet, join_lines, year_of
from pronmetric.errors import InputError
from pronmetric.text import numbers, strict_json
from pronmetric.text.entry import Entry, parse
from pronmetric.text.language_codes import CODE, bare
from pronmetric.text.lines import iter_lines

ENDINGS = (".jsonl", ".jsonl.gz")
SEPARATOR, PARTS = "_#_", "_###_"
ID_PAIR = re.compile(
    rf"(?P<pair>{CODE}-{CODE}){SEPARATOR}|.*?{PARTS}(?P<source>{CODE}){PARTS}(?P<target>{CODE}){PARTS}"
)
REFERENCE = re.compile(r"ref(?:erence)?[-_.]?[A-Za-z0-9]?")
EMPTY = "systems whose file is empty"
UNEQUAL = "outputs for documents in another number of paragraphs than the document has"
LFS = "version https://git-lfs"


def find(files: Iterable[Path]) -> list[TestSet]:
    """A test set for each pair of each collection; other files are ignored."""
    collections, outputs = _sorted_out(files)
    found = []
    for path in collections:
        if any(path != other and repeats(path, other) for other in collections):
            continue
        beside = [Part("jsonl", stem(other), other) for other in outputs if path.parent in other.parents]
        variants = {variant: bare_pair(variant) for variant in sorted({variant_of(record) for record in records(path)})}
        numbers_of = Counter(variants.values())
        for variant, lp in variants.items():
            name = stem(path) if numbers_of[lp] == 1 else f"{stem(path)}.{variant}"  # zho_Hans and zho_Hant
            parts = (Part("jsonl", "", path), *sorted(beside))
            found.append(TestSet(name=name, year=year_of(stem(path), path), lp=lp, parts=parts))
    return found


def without_collection(files: Iterable[Path]) -> list[Path]:
    """The files of system outputs that are in no folder with a collection, nor below one; empty ones do not count."""
    collections, outputs = _sorted_out(files)
    folders = {path.parent for path in collections}
    return [path for path in outputs if not folders.intersection(path.parents) and next(records(path), None)]


def _sorted_out(files: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """The collections and the files of system outputs."""
    found: dict[str | None, list[Path]] = {"collection": [], "outputs": [], None: []}
    for path in files:
        if path.name.endswith(ENDINGS):
            found[kind_of(path)].append(path)
    return found["collection"], found["outputs"]


def repeats(path: Path, other: Path) -> bool:
    """Whether a collection extends another one (`wmt25-genmt-humeval` extends `wmt25-genmt`)."""
    return path.parent == other.parent and stem(path).startswith(f"{stem(other)}-")


def kind_of(path: Path) -> str | None:
    """The kind of a file by its first record: "collection", "outputs" or None.

    Raises:
        InputError: the file does not begin with a JSON object.
    """
    try:
        first = next(records(path), None)
    except InputError as error:
        raise InputError(f"{error}; if the file is no test set, move it out of the folder of test sets") from None
    if first is None:
        return "outputs"  # a system without outputs
    if not isinstance(first.get("doc_id"), str):
        return None
    if "refs" in first.record or isinstance(first.get("tgt_text"), dict):
        return "collection"
    return "outputs" if isinstance(first.get("hypothesis"), str) else None


def stem(path: Path) -> str:
    """A file's name without its ending."""
    return path.name.removesuffix(".gz").removesuffix(".jsonl")


def records(path: Path, *, tally: Counter[str] | None = None) -> Iterator[Entry]:
    """The objects of a JSONL file; empty lines are skipped."""
    for line, text in enumerate(iter_lines(path, tally=tally), start=1):
        if text.startswith(LFS):
            raise InputError("a Git LFS pointer, not the data; run `git lfs pull` in the checkout", file=path, line=1)
        if text.strip():
            yield parse_record(text, file=path, line=line)


def parse_record(text: str, *, file: Path, line: int) -> Entry:
    """One line as a JSON object."""
    record = Entry(parse(text, file=file, line=line), file=file, line=line, expected="a JSON object")
    if "\\u0000" in text and holds_nul(record.record):
        record.fail("a NUL (\\u0000), which is no text")
    return record


def holds_nul(record: Mapping[str, Any]) -> bool:
    """Whether a text of a record holds a NUL."""
    return r"\u0000" in strict_json.dump(record).replace(r"\\", "")


def variant_of(record: Entry) -> str:
    """The language pair of a record as written ("cs-de_DE"), by its languages or its id."""
    source, target = record.get("src_lang"), record.get("tgt_lang")
    if isinstance(source, str) and isinstance(target, str):
        return f"{source}-{target}"
    if match := ID_PAIR.match(record.string("doc_id")):
        return match["pair"] or f"{match['source']}-{match['target']}"
    record.fail('no language pair: expected "src_lang" and "tgt_lang", or a "doc_id" like cs-en_US_#_news_#_NAME')


def bare_pair(variant: str) -> str:
    """A pair without scripts and countries: "ces_Latn-deu_Latn" -> "cs-de"."""
    return "-".join(map(bare, variant.split("-")))


@dataclass(slots=True)
class Unit:
    """One record of a collection: a document or one paragraph of it, each version as paragraphs."""

    id: str
    doc: str
    line: int
    domain: str | None
    versions: dict[tuple[str, str], list[str]] = field(default_factory=dict)


def read(testset: TestSet, *, tally: Counter[str] | None = None) -> Columns:
    """The columns of one pair of a collection, with the outputs next to it.

    Raises:
        InputError: broken JSON, a missing or repeated key or id, a text whose number of paragraphs differs from the
            document's first version.
    """
    counts: Counter[str] = Counter() if tally is None else tally
    collection, *outputs = testset.having("jsonl")
    name, units = stem(collection.path), dict[str, Unit]()
    for record in records(collection.path, tally=counts):
        variant = variant_of(record)
        if bare_pair(variant) == testset.lp and testset.name in (name, f"{name}.{variant}"):
            unit = unit_of(record)
            if unit.id in units:
                record.fail(f"document {unit.id} is also in line {units[unit.id].line}")
            units[unit.id] = unit
    for part in outputs:
        add_outputs(units, part, tally=counts)
    return columns_of(list(units.values()), file=collection.path, tally=counts)


def unit_of(record: Entry) -> Unit:
    """A collection's record as a unit."""
    identity = record.string("doc_id")
    fields = identity.split(SEPARATOR)
    numbered = len(fields) > 3 and numbers.is_whole(fields[-1])
    domain = record.get("domain") or (fields[1] if len(fields) > 2 else None)
    unit = Unit(
        id=identity,
        doc=SEPARATOR.join(fields[:-1]) if numbered else identity,
        line=record.line or 0,
        domain=domain if isinstance(domain, str) else None,
    )
    texts: dict[tuple[str, str], str] = {}
    if record.get("src_text") is not None:
        texts["src", ""] = record.string("src_text")
    texts |= named_texts(record, "refs", role="ref")
    texts |= named_texts(record, "tgt_text", role="hyp")
    for key, text in texts.items():
        add_version(unit, key, [join_lines(text)] if numbered else segments(unit, text), record)
    return unit


def segments(unit: Unit, text: str) -> list[str]:
    """The segments of a text of a unit."""
    return blocks(text) if PARTS in unit.id else paragraphs(text)


def named_texts(record: Entry, key: str, *, role: str) -> dict[tuple[str, str], str]:
    """Texts by name: `{"refA": {"ref": TEXT}}` or `{NAME: TEXT}`; names like refA are references in any case."""
    if record.get(key) is None:
        return {}
    named = record.entry(key)
    texts = {}
    for name, content in named.record.items():
        text = named.entry(name).string("ref") if isinstance(content, dict) else named.string(name)
        texts["ref" if REFERENCE.fullmatch(name) else role, name] = text
    return texts


def add_version(unit: Unit, key: tuple[str, str], rows: list[str], record: Entry) -> None:
    """Add a version to a unit, of the same length as its first one; `record` is where it was read."""
    if key in unit.versions:
        record.fail(f"document {unit.id}: a second {key[0]} {key[1]!r}")
    for (role, name), first in unit.versions.items():
        if len(first) != len(rows):
            record.fail(
                f"document {unit.id}: {key[0]} {key[1]!r} has {len(rows)} paragraphs, {role} {name!r} has "
                f"{len(first)}; they must be parallel"
            )
        break
    unit.versions[key] = rows


def add_outputs(units: dict[str, Unit], part: Part, *, tally: Counter[str]) -> None:
    """Add one system's outputs to the units that they belong to."""
    empty = True
    for record in records(part.path, tally=tally):
        empty = False
        unit = units.get(record.string("doc_id"))
        if unit is None:
            continue
        rows, length = segments(unit, record.string("hypothesis")), len(next(iter(unit.versions.values()), []))
        if PARTS in unit.id and unit.versions and len(rows) != length:
            tally[UNEQUAL] += 1
        else:
            add_version(unit, ("hyp", part.name), rows, record)
    tally[EMPTY] += empty


def columns_of(units: Sequence[Unit], *, file: Path, tally: Counter[str]) -> Columns:
    """The units as columns; those of a document are consecutive."""
    keys = sorted({key for unit in units for key in unit.versions})
    rows: dict[tuple[str, str], list[str | None]] = {key: [] for key in keys}
    extents: list[Extent] = []
    seen: set[str] = set()
    for doc, run in groupby(units, key=lambda unit: unit.doc):
        group = list(run)
        if doc in seen:
            message = f"document {doc} comes back after another one; its paragraphs must be consecutive"
            raise InputError(message, file=file, line=group[0].line)
        seen.add(doc)
        size = 0
        for unit in group:
            length = len(next(iter(unit.versions.values()), []))
            size += length
            for key in keys:
                version = unit.versions.get(key)
                if version is None:
                    tally["documents that a reference or system lacks"] += 1
                rows[key] += [None] * length if version is None else list(version)
        extents.append(Extent(doc, size, group[0].domain))
    source = rows.pop(("src", ""), None)
    if source is not None and any(text is None for text in source):
        raise InputError("some records have src_text and some have none; all or none must have it", file=file)
    return Columns(
        src=None if source is None else [text for text in source if text is not None],
        refs={name: texts for (role, name), texts in rows.items() if role == "ref"},
        hyps={name: texts for (role, name), texts in rows.items() if role == "hyp"},
        extents=extents,
    )
