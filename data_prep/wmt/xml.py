"""XML layout of the wmtNN-news-systems repositories: one file per language pair, with documents.

`<dataset>`, optionally `<collection>`, then `<doc id origlang domain>` with `<src lang>`, `<ref lang translator>` and
`<hyp lang system>`, each with `<p>` and `<seg id>`. Documents of a test suite (`testsuite` attribute) do not belong to
the test set and are not in the text files: they are left out and counted. A DTD or an entity declaration is refused;
nothing is expanded or downloaded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from data_prep.wmt.testset import Columns, Extent, Part, TestSet, join_lines, year_of
from pronmetric.errors import InputError
from pronmetric.text.language_codes import bare
from pronmetric.text.lines import GZIP_ERRORS, broken_gzip, open_bytes
from pronmetric.text.xml import Target, feed

NAME = re.compile(r"(?P<testset>[^.]+)\.(?P<lp>[a-z]{2,3}-[a-z]{2,3})(?:\..+)?\.xml(?:\.gz)?")
HEAD = 1 << 16
"""Bytes at the start of a file that tell what it is; large enough for its first document with its languages."""


def find(files: Iterable[Path]) -> list[TestSet]:
    """A test set for each XML file that holds a `<dataset>`; other XML files are ignored."""
    found = []
    for path in files:
        if path.name.endswith((".xml", ".xml.gz")) and (named := testset_and_pair(path)):
            name, lp = named
            found.append(TestSet(name=name, year=year_of(name, path), lp=lp, parts=(Part("xml", "", path),)))
    return sorted(found, key=lambda testset: (testset.name, testset.lp, testset.paths))


def testset_and_pair(path: Path) -> tuple[str, str] | None:
    """The test set's name and language pair from the file's name, else from its first lines."""
    try:
        with open_bytes(path) as stream:
            head = stream.read(HEAD).decode("utf-8", errors="replace")
    except GZIP_ERRORS as error:
        raise broken_gzip(error, path) from None
    if "<dataset" not in head:
        return None
    if match := NAME.fullmatch(path.name):
        return match["testset"], "-".join(map(bare, match["lp"].split("-")))
    name = re.search(r"<dataset[^<>]*\sid=[\"']([^\"']+)", head)
    source = re.search(r"<src[^<>]*\slang=[\"']([^\"']+)", head)
    target = re.search(r"<(?:ref|hyp)[^<>]*\slang=[\"']([^\"']+)", head)
    if not source or not target:
        return None
    return name[1] if name else path.name.split(".")[0], f"{bare(source[1])}-{bare(target[1])}"


def read(testset: TestSet, *, tally: Counter[str] | None = None) -> Columns:
    """The columns of the XML file; a reference without a translator is called "ref".

    Raises:
        InputError: broken XML, a DTD or an entity, a version of a document with other segments than its source,
            a document that a system lacks, two versions with the same name.
    """
    (part,) = testset.having("xml")
    docs = parse(part.path)
    if tally is not None:
        tally["test-suite documents left out"] += sum(doc.testsuite for doc in docs)
    return columns_of([doc for doc in docs if not doc.testsuite], path=part.path)


@dataclass(slots=True)
class Version:
    """One version of a document: the source, a reference or a system's output, segment id -> text."""

    role: str
    name: str
    line: int
    segments: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class XmlDocument:
    """One `<doc>` with its versions."""

    doc: str
    line: int
    origin: str | None
    domain: str | None
    testsuite: bool
    versions: list[Version] = field(default_factory=list)


def parse(path: Path) -> list[XmlDocument]:
    """The documents of a WMT XML file, in order."""
    target = DocumentTarget(path)
    for _ in feed(path, target):
        pass
    return target.docs


class DocumentTarget(Target):
    """Collects documents from the parser's events."""

    def __init__(self, path: Path) -> None:
        """Collect the content of `path`."""
        self.path = path
        self.docs: list[XmlDocument] = []
        self.doc: XmlDocument | None = None
        self.version: Version | None = None
        self.segment: str | None = None
        self.text: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle a start tag."""
        attributes = {name: join_lines(value) for name, value in attributes.items()}
        if tag == "doc":
            self.start_doc(attributes)
        elif tag in ("src", "ref", "hyp"):
            self.start_version(tag, attributes)
        elif tag == "seg":
            self.start_segment(attributes)

    def start_doc(self, attributes: dict[str, str]) -> None:
        """Start a document."""
        self.doc = XmlDocument(
            doc=self.required(attributes, "id", tag="doc"),
            line=self.line,
            origin=attributes.get("origlang"),
            domain=attributes.get("domain"),
            testsuite="testsuite" in attributes,
        )
        self.docs.append(self.doc)

    def start_version(self, tag: str, attributes: dict[str, str]) -> None:
        """Start a source, reference or system output."""
        if self.doc is None:
            raise InputError(f"<{tag}> outside of a <doc>", file=self.path, line=self.line)
        name = ""
        if tag == "ref":
            name = attributes.get("translator", "ref")
        elif tag == "hyp":
            name = self.required(attributes, "system", tag=tag)
        if any((version.role, version.name) == (tag, name) for version in self.doc.versions):
            raise InputError(f"a second <{tag}> {name!r} in document {self.doc.doc}", file=self.path, line=self.line)
        self.version = Version(tag, name, self.line)
        self.doc.versions.append(self.version)

    def start_segment(self, attributes: dict[str, str]) -> None:
        """Start a segment."""
        if self.version is None:
            raise InputError("<seg> outside of <src>, <ref> or <hyp>", file=self.path, line=self.line)
        if self.segment is not None:
            raise InputError("a <seg> within a <seg>", file=self.path, line=self.line)
        self.segment = self.required(attributes, "id", tag="seg")
        if self.segment in self.version.segments:
            raise InputError(f"a second segment {self.segment}", file=self.path, line=self.line)
        self.text = []

    def required(self, attributes: dict[str, str], name: str, *, tag: str) -> str:
        """A required attribute."""
        if name not in attributes:
            raise InputError(f'<{tag}> without its attribute "{name}"', file=self.path, line=self.line)
        return attributes[name]

    def data(self, text: str) -> None:
        """Handle text."""
        if self.segment is not None:
            self.text.append(text)

    def end(self, tag: str) -> None:
        """Handle an end tag."""
        if tag == "seg" and self.version is not None and self.segment is not None:
            self.version.segments[self.segment] = join_lines("".join(self.text))
            self.segment = None
        elif tag in ("src", "ref", "hyp"):
            self.version = None
        elif tag == "doc":
            self.doc = None


def columns_of(docs: list[XmlDocument], *, path: Path) -> Columns:
    """The documents as columns; only references may be missing for some documents."""
    names = {
        role: sorted({v.name for doc in docs for v in doc.versions if v.role == role}) for role in ("src", "ref", "hyp")
    }
    columns = Columns(
        src=[] if names["src"] else None,
        refs={name: [] for name in names["ref"]},
        hyps={name: [] for name in names["hyp"]},
        extents=[],
    )
    for doc in docs:
        add(doc, columns, path=path)
    return columns


def add(doc: XmlDocument, columns: Columns, *, path: Path) -> None:
    """Append one document's segments to the columns."""
    if not doc.versions:
        raise InputError(f"document {doc.doc} is empty", file=path, line=doc.line)
    first = doc.versions[0]
    for version in doc.versions:
        if version.segments.keys() != first.segments.keys():
            message = (
                f"document {doc.doc}: <{version.role}> {version.name!r} has {len(version.segments)} segments, "
                f"<{first.role}> {first.name!r} has {len(first.segments)}; they must be the same"
            )
            raise InputError(message, file=path, line=version.line)
    found = {(version.role, version.name): version.segments for version in doc.versions}
    ids = list(first.segments)
    if columns.src is not None:
        columns.src += present(found.get(("src", "")), ids, doc=doc, what="source", path=path)
    for name, rows in columns.hyps.items():
        rows += present(found.get(("hyp", name)), ids, doc=doc, what=f"output of system {name}", path=path)
    for name, rows in columns.refs.items():
        segments = found.get(("ref", name))
        rows += [None] * len(ids) if segments is None else [segments[key] for key in ids]
    if columns.extents is not None:
        columns.extents.append(Extent(doc.doc, len(ids), doc.domain, doc.origin))


def present(segments: dict[str, str] | None, ids: list[str], *, doc: XmlDocument, what: str, path: Path) -> list[str]:
    """The segments of a version that is required in every document."""
    if segments is None:
        raise InputError(f"document {doc.doc} has no {what}, which other documents have", file=path, line=doc.line)
    return [segments[key] for key in ids]
