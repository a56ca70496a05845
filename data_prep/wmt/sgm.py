"""SGM files of WMT 2008-2019: `<refset>`, `<srcset>` and `<tstset>` with `<doc docid sysid>` and `<seg id>`.

The files are not valid XML: the text may contain a bare "&" or "<", tags are upper or lower case, attributes may be
unquoted. Only the tags named here are read; everything inside a segment up to its end tag is text. The five entities of
XML and numeric ones are replaced, no others; declarations are ignored and nothing is downloaded.

The language pair comes from the file names ("newstest2017-deen-ref.en.sgm", "newstest2017.SYSTEM.4723.de-en.sgm"), from
the name of the folder ("de-en"), or from the attributes `srclang` and `trglang`; a source or reference without a pair
(2008-2013: one text in all languages) belongs to every pair of its language.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from data_prep.wmt.testset import Columns, Extent, Part, TestSet, join_lines, year_of
from pronmetric.errors import InputError
from pronmetric.text.language_codes import bare
from pronmetric.text.lines import GZIP_ERRORS, broken_gzip, iter_lines, open_bytes

ENDINGS = (".sgm", ".sgml", ".sgm.gz", ".sgml.gz")
ROLES = {"refset": "ref", "srcset": "src", "tstset": "hyp"}
HEAD = 1 << 14
"""Bytes at the start of a file in which its set is looked for; large enough for a prologue with comments."""
SET = re.compile(r"<\s*+(?P<tag>refset|srcset|tstset)\b(?P<attributes>[^<>]*)>", re.IGNORECASE)
TAG = re.compile(
    r"<\s*+(?P<close>/?)\s*+(?P<tag>refset|srcset|tstset|doc|seg)\b(?P<attributes>[^<>]*)(?P<end>>?)", re.I
)
SEGMENT_END = re.compile(r"<\s*+/\s*+seg\s*+>", re.IGNORECASE)
ENTITY_DECLARATION = re.compile(r"<!ENTITY", re.IGNORECASE)
ATTRIBUTE = re.compile(r"(?<![A-Za-z_:])([A-Za-z_:]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
ENTITY = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));", re.IGNORECASE)
ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
PAIR = re.compile(r"(?<![A-Za-z])([a-z]{2})-([a-z]{2})(?![A-Za-z])|-([a-z]{2})([a-z]{2})-(?=src|ref)")
PARTS = ("sgm-src", "sgm-ref", "sgm-hyp")


@dataclass(frozen=True, slots=True)
class Head:
    """The identity of a file, from its name and first lines."""

    role: str
    setid: str
    system: str
    source: str | None
    target: str | None
    path: Path


def find(files: Iterable[Path]) -> list[TestSet]:
    """The test sets of SGM files; files without a set are ignored."""
    heads = [head for path in files if path.name.lower().endswith(ENDINGS) and (head := head_of(path))]
    by_set: defaultdict[str, list[Head]] = defaultdict(list)
    for head in heads:
        by_set[head.setid].append(head)
    return [testset(setid, lp, group) for setid, group in sorted(by_set.items()) for lp in pairs_of(group)]


def pairs_of(heads: Iterable[Head]) -> list[str]:
    """The language pairs of the files of one set."""
    return sorted({f"{head.source}-{head.target}" for head in heads if head.source and head.target})


def testset(setid: str, lp: str, heads: Iterable[Head]) -> TestSet:
    """The test set of one pair: its own files and those that belong to every pair of their language."""
    source, target = lp.split("-")
    parts = sorted(
        Part(f"sgm-{head.role}", head.system, head.path)
        for head in heads
        if head.source in (None, source) and head.target in (None, target)
    )
    return TestSet(name=setid, year=year_of(setid, parts[0].path), lp=lp, parts=tuple(parts))


def head_of(path: Path) -> Head | None:
    """The role, set, system and languages of a file; None if it has no set."""
    try:
        with open_bytes(path) as stream:
            text = stream.read(HEAD).decode("utf-8", errors="replace")
    except GZIP_ERRORS as error:
        raise broken_gzip(error, path) from None
    found = SET.search(text)
    if found is None:
        return None
    role = ROLES[found["tag"].lower()]
    values = attributes(found["attributes"])
    source, target = languages(path, values, role=role)
    doc = next((tag for tag in TAG.finditer(text) if tag["tag"].lower() == "doc"), None)
    system = values.get("sysid") or (attributes(doc["attributes"]).get("sysid", "") if doc else "")
    setid = values.get("setid") or re.split(r"[.-]", path.name)[0]
    return Head(role, setid, "" if role == "src" else system or stem(path), source, target, path)


def languages(path: Path, values: dict[str, str], *, role: str) -> tuple[str | None, str | None]:
    """Source and target language of a file from its name, folders or attributes; None is any."""
    folders = (folder.name for folder in list(path.parents)[:2])
    for name in (path.name, *(name for name in folders if PAIR.fullmatch(name))):
        if matches := list(PAIR.finditer(name)):
            source, target = (group for group in matches[-1].groups() if group)
            return bare(source), bare(target)
    srclang, trglang = known_language(values.get("srclang")), known_language(values.get("trglang"))
    if ending := re.search(r"(?:src|ref)\.([a-z]{2})\.sgm", path.name):
        return (bare(ending[1]), None) if role == "src" else (srclang, bare(ending[1]))
    return srclang, trglang


def known_language(value: str | None) -> str | None:
    """A language attribute; "any" is none."""
    return None if not value or value.lower() == "any" else bare(value)


def stem(path: Path) -> str:
    """A file's name without its ending."""
    return re.sub(r"\.sgml?(?:\.gz)?$", "", path.name, flags=re.IGNORECASE)


def attributes(text: str) -> dict[str, str]:
    """The attributes of a tag, names in lower case, values without quotes and in one line."""
    found = ATTRIBUTE.findall(text)
    return {name.lower(): join_lines(unescape(double or single or bare)) for name, double, single, bare in found}


def unescape(text: str) -> str:
    """The text with the five entities of XML and numeric ones replaced, every other "&" unchanged."""

    def character(match: re.Match[str]) -> str:
        if match[1]:
            return ENTITIES[match[1].lower()]
        code = int(match[2]) if match[2] else int(match[3], 16)
        return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else match[0]

    return ENTITY.sub(character, text) if "&" in text else text


@dataclass(slots=True)
class SgmDocument:
    """One `<doc>`: segment id -> text."""

    role: str
    system: str
    doc: str
    line: int
    origin: str | None
    genre: str | None
    segments: dict[str, str] = field(default_factory=dict)


def parse(path: Path, *, tally: Counter[str] | None = None) -> list[SgmDocument]:
    """The documents of an SGM file, in order.

    Raises:
        InputError: a broken or misplaced tag, a segment or document without end tag, an entity declaration.
    """
    text = "\n".join(iter_lines(path, tally=tally))
    if declared := ENTITY_DECLARATION.search(text):
        message = "an entity declaration, which is not read for safety; take it out of the file"
        raise InputError(message, file=path, line=line_of(text, declared.start()))
    docs: list[SgmDocument] = []
    role: str | None = None
    doc: SgmDocument | None = None
    for line, closes, tag, values, body in tags(text, path):
        if tag in ROLES:
            role = None if closes else ROLES[tag]
        elif tag == "doc" and closes:
            doc = None
        elif tag == "doc":
            if doc is not None:
                raise InputError(f"document {doc.doc} has no </doc>", file=path, line=doc.line)
            doc = document(role, values, file=path, line=line)
            docs.append(doc)
        else:
            add_segment(doc, values, body, file=path, line=line)
    if doc is not None:
        raise InputError(f"document {doc.doc} has no </doc>", file=path, line=doc.line)
    return docs


def tags(text: str, path: Path) -> Iterator[tuple[int, bool, str, dict[str, str], str]]:
    """The known tags in order: line, whether it closes, name, attributes, and a segment's text."""
    position = line_at = 0
    line = 1
    while tag := TAG.search(text, position):
        line += text.count("\n", line_at, tag.start())
        line_at = tag.start()
        name = tag["tag"].lower()
        if not tag["end"]:
            raise InputError(f"broken tag <{name}: its > is missing", file=path, line=line)
        position = tag.end()
        body = ""
        if name == "seg":
            if tag["close"]:
                raise InputError("</seg> without a <seg>", file=path, line=line)
            end = SEGMENT_END.search(text, position)
            following = TAG.search(text, position)
            if end is None or following is None or following.start() < end.start():
                raise InputError("<seg> without its </seg>", file=path, line=line)
            body = join_lines(text[position : end.start()].strip())
            position = end.end()
        yield line, bool(tag["close"]), name, attributes(tag["attributes"]), unescape(body)


def line_of(text: str, position: int) -> int:
    """The line (1-based) of a position."""
    return text.count("\n", 0, position) + 1


def document(role: str | None, values: dict[str, str], *, file: Path, line: int) -> SgmDocument:
    """Start a document."""
    if role is None:
        raise InputError("<doc> outside of <refset>, <srcset> or <tstset>", file=file, line=line)
    if "docid" not in values:
        raise InputError('<doc> without its attribute "docid"', file=file, line=line)
    return SgmDocument(
        role=role,
        system=values.get("sysid", ""),
        doc=values["docid"],
        line=line,
        origin=values.get("origlang"),
        genre=values.get("genre"),
    )


def add_segment(doc: SgmDocument | None, values: dict[str, str], text: str, *, file: Path, line: int) -> None:
    """Add a segment to its document."""
    if doc is None:
        raise InputError("<seg> outside of a <doc>", file=file, line=line)
    if "id" not in values:
        raise InputError('<seg> without its attribute "id"', file=file, line=line)
    if values["id"] in doc.segments:
        raise InputError(f"document {doc.doc} has a second segment {values['id']}", file=file, line=line)
    doc.segments[values["id"]] = text


Version = dict[str, SgmDocument]
"""One version of the test set (a source, a reference or a system's output): docid -> document, in order."""


def read(testset: TestSet, *, tally: Counter[str] | None = None) -> Columns:
    """The columns of a test set's SGM files, documents and segments in the order of the first reference.

    Raises:
        InputError: as for `parse`, or if a version lacks a document, or has it with different segments.
    """
    versions: dict[tuple[str, str], tuple[Path, Version]] = {}
    for part in testset.having(*PARTS):
        for (role, system), version in versions_of(parse(part.path, tally=tally), path=part.path).items():
            key = (role, system)
            if role != "src" and (key in versions or not system):
                key = (role, stem(part.path))
            if key in versions:
                message = f"the same {role} {system!r} as {versions[key][0]}; keep one of them"
                raise InputError(message, file=part.path)
            versions[key] = (part.path, version)
    if not versions:
        raise InputError("no document in this file", file=testset.paths[0])
    order = sorted(versions, key=lambda key: (("ref", "src", "hyp").index(key[0]), key[1]))
    first_file, first = versions[order[0]]
    rows = {key: column(*versions[key], first=first, first_file=first_file) for key in order}
    return Columns(
        src=next((rows[key] for key in order if key[0] == "src"), None),
        refs={name: list(rows[role, name]) for role, name in order if role == "ref"},
        hyps={name: list(rows[role, name]) for role, name in order if role == "hyp"},
        extents=[Extent(doc.doc, len(doc.segments), doc.genre, doc.origin) for doc in first.values()],
    )


def versions_of(docs: Sequence[SgmDocument], *, path: Path) -> dict[tuple[str, str], Version]:
    """The versions in one file: usually one, or several if its documents name several systems."""
    found: dict[tuple[str, str], Version] = {}
    for doc in docs:
        version = found.setdefault((doc.role, "" if doc.role == "src" else doc.system), {})
        if doc.doc in version:
            raise InputError(f"a second document {doc.doc} of {doc.system or doc.role}", file=path, line=doc.line)
        version[doc.doc] = doc
    return found


def column(path: Path, version: Version, *, first: Version, first_file: Path) -> list[str]:
    """One version's segments in the order of the first one."""
    rows: list[str] = []
    for docid, pattern in first.items():
        doc = version.get(docid)
        if doc is None:
            raise InputError(f"document {docid} is missing; {first_file} has it", file=path)
        if doc.segments.keys() != pattern.segments.keys():
            message = (
                f"document {docid} has {len(doc.segments)} segments, that of {first_file} has "
                f"{len(pattern.segments)}; they must have the same ids"
            )
            raise InputError(message, file=path, line=doc.line)
        rows += [doc.segments[key] for key in pattern.segments]
    if extra := version.keys() - first.keys():
        docid = min(extra)
        raise InputError(f"document {docid} is not in {first_file}", file=path, line=version[docid].line)
    return rows
