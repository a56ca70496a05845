"""A corpus of line-parallel texts: the outputs of several systems, their source, references and document ids."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import InputError, PronmetricError
from pronmetric.text import streams
from pronmetric.text.context import COMMON, NONE, History, Source, SourceHistory, check_speaker
from pronmetric.text.files import door
from pronmetric.text.files.columns import Role
from pronmetric.text.files.door import Reading
from pronmetric.text.files.unit import FileTexts
from pronmetric.text.lines import check_segment, decode_lines, open_bytes


class Place(NamedTuple):
    """Where a text stands in a file that is no list of lines: its first line, and its place in the format's words."""

    line: int
    place: str


class Row(NamedTuple):
    """One segment of all systems. doc, source: None if not given. references: in the order of the corpus's names.

    evidence: the source with its previous sentences, in rows of `Corpus.in_context`. speaker: who says it, "" if
    unknown, None if speakers are not given. places: of the texts, None for a line; empty where all are lines.
    """

    texts: tuple[str, ...]
    doc: str | None
    source: str | None
    references: tuple[str, ...]
    evidence: Source | None = None
    speaker: str | None = None
    places: tuple[Place | None, ...] = ()

    @property
    def reference(self) -> str | None:
        """The first reference, None if there is none."""
        return self.references[0] if self.references else None


@dataclass(frozen=True, slots=True)
class Corpus:
    """The outputs of several systems: names, number of segments, and rows, which can be read repeatedly.

    documents: whether rows have document ids. references: the names of their references.
    source_language: the code of the sources' language, None if unknown. formats: of the files that are no lists of
    lines. in_order: whether the rows are a running text, whose earlier rows are the context of later ones. unordered:
    the files whose strings do not stand in the order of the program either.
    """

    systems: tuple[str, ...]
    segments: int
    documents: bool
    references: tuple[str, ...]
    rows: Callable[[], Iterator[Row]]
    source_language: str | None = None
    formats: Mapping[str, str] = field(default_factory=dict)
    in_order: bool = True
    unordered: tuple[str, ...] = ()

    @property
    def placed(self) -> bool:
        """Whether its rows have places."""
        return any(row.places for row in islice(self.rows(), 1))

    @property
    def has_source(self) -> bool:
        """Whether its rows have a source."""
        return any(row.source is not None for row in islice(self.rows(), 1))

    @property
    def has_speakers(self) -> bool:
        """Whether the speakers of its rows are given."""
        return any(row.speaker is not None for row in islice(self.rows(), 1))

    def averaged_references(self, kind: str) -> tuple[str, ...]:
        """The references over whose contexts scores are averaged; none if there is only one context."""
        return self.references if kind == COMMON and len(self.references) > 1 else ()

    def in_context(self, kind: str, *, size: int) -> Iterator[tuple[Row, tuple[tuple[str, ...], ...]]]:
        """Each row with the contexts, of `size` previous sentences, of each system's text.

        That of each reference ("common"), else one: the text's own ("respective", "crossed"), or an empty one ("none").
        Contexts have the names of speakers as in `Text`, but for empty ones.
        """
        count = len(self.systems)
        histories = [History(size=size) for _ in range(len(self.references) if kind == COMMON else count)]
        sources = SourceHistory(self.source_language)
        for row in self.rows():
            if row.source is not None:
                row = row._replace(evidence=sources.source(row.source, row.doc))
            if kind == NONE:
                yield row._replace(speaker=None), (("",),) * count
            elif kind == COMMON:
                given = zip(histories, row.references, strict=True)
                yield row, (tuple(h.context(ref, row.doc, row.speaker) for h, ref in given),) * count
            else:
                given = zip(histories, row.texts, strict=True)
                yield row, tuple((h.context(text, row.doc, row.speaker),) for h, text in given)


class TextFile:
    """The lines of a text file, read again each time; input that can be read only once (a pipe, "-") is kept.

    role: what its texts are; the file may then have another format, see `text.files`, whose texts (`units`) take the
    place of the lines.
    """

    def __init__(self, path: str, role: Role | None = None, reading: Reading | None = None) -> None:
        self.path = streams.STDIN if path == "-" else path
        self._kept: list[str] | None = None
        self.units: FileTexts | None = None
        if path == "-":
            self._kept = list(decode_lines(streams.stdin(), file=self.path))
        elif Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
            with open(path, "rb") as stream:
                self._kept = list(decode_lines(stream, file=path))
        elif role is not None:
            self.units = door.read(path, role, reading)
        if role is not None and self._kept is not None:
            door.refuse_stream(self._kept, self.path, reading)

    def __iter__(self) -> Iterator[str]:
        """The texts, or the lines without their ends."""
        if self.units is not None:
            yield from (unit.text for unit in self.units.units)
            return
        for number, text in enumerate(self._stream() if self._kept is None else self._kept, start=1):
            yield check_segment(text, file=self.path, line=number)

    def _stream(self) -> Iterator[str]:
        with open_bytes(self.path) as stream:
            yield from decode_lines(stream, file=self.path)


def read(
    systems: Sequence[str],
    note: Callable[[str], None],
    *,
    references: Sequence[str] = (),
    source: str | None = None,
    docids: str | None = None,
    speakers: str | None = None,
    reading: Reading | None = None,
) -> Corpus:
    """The corpus of parallel files; every text is read once here, so that bad input is refused before scoring.

    reading: how files of texts are read that are, or may be, no lists of lines.

    Raises:
        InputError: a missing or empty file, files of different length, a byte that is not UTF-8, a NUL, a tab in a
            speaker's name.
    """
    if len(set(references)) < len(references):
        raise PronmetricError(f"-r: expected different references, got {' '.join(references)}")
    spoken = None if speakers is None else TextFile(speakers)
    opened: dict[tuple[str, Role | None], TextFile] = {}

    def opening(name: str, role: Role | None) -> TextFile:
        key = name, None if name == "-" else role  # stdin is read once
        if key not in opened:
            opened[key] = TextFile(name, role, reading)
        return opened[key]

    outputs = [opening(name, Role.TRANSLATION) for name in systems]
    others = [opening(name, Role.REFERENCE) for name in references]
    original = None if source is None else opening(source, Role.SOURCE)
    ids = None if docids is None else opening(docids, None)
    files = [*outputs, *others, *(file for file in (original, ids) if file is not None)]
    lengths = {}
    for file in files:
        length = lengths[file.path] = sum(1 for _ in file)
        if not length:
            raise InputError("is empty; expected one segment per line", file=file.path)
        if length == 1 and file.units is None and "\r" in next(iter(file)).strip("\r"):
            note(f"{file.path}: one segment, as lines end at \\n alone; its carriage returns (\\r) end none")
    if any(file.units is not None for file in files):
        from pronmetric.text import unit_corpus  # which builds on this module

        return unit_corpus.of_files(outputs, others, original, ids, spoken, note, reading or Reading())
    for name in ("systems", "text_key"):
        if reading is not None and getattr(reading, name) is not None:
            raise PronmetricError(f"`{name}=` is of tables and JSON Lines; {outputs[0].path} has plain lines")
    if len(set(lengths.values())) > 1:
        lengths_text = ", ".join(f"{path} has {length}" for path, length in lengths.items())
        raise PronmetricError(f"expected line-parallel files, got different numbers of lines: {lengths_text}")
    if ids is not None:
        check_docids(ids, note)
    if spoken is not None:
        read_speakers(spoken, lengths[outputs[0].path], outputs[0].path, note)

    def column(file: TextFile | None) -> Iterable[str | None]:
        return repeat(None) if file is None else file

    def rows() -> Iterator[Row]:
        side_by_side = zip(*outputs, *others, strict=True)
        by_line = repeat(None) if spoken is None else map(check_speaker, spoken)
        for texts, doc, src, speaker in zip(side_by_side, column(ids), column(original), by_line, strict=False):
            yield Row(texts[: len(systems)], doc, src, texts[len(systems) :], speaker=speaker)

    return Corpus(tuple(systems), lengths[outputs[0].path], docids is not None, tuple(references), rows)


def of_lines(
    text: Sequence[str],
    references: Sequence[Sequence[str]] = (),
    docs: Sequence[Hashable] | None = None,
    speakers: Sequence[str | None] | None = None,
) -> Corpus:
    """The corpus of one system's segments in memory, called "system", with its references, "reference 1" and so on.

    speakers: of the segments; None and "" are unknown.

    Raises:
        InputError: a segment that is no text, or above the limit of characters; a name with a line break or a tab.
        PronmetricError: no segment, not as many in all, or a text in place of a list.
    """
    if any(isinstance(given, str) for given in (text, references, speakers, *references)):
        raise PronmetricError(
            "expected a list of segments, a list of such lists of references and a list of speakers, got a text for one"
        )
    names = tuple(f"reference {number}" for number in range(1, len(references) + 1))
    columns = {"system": text, **dict(zip(names, references, strict=True))}
    lengths = {name: len(column) for name, column in columns.items()}
    lengths |= {name: len(given) for name, given in (("docs", docs), ("speakers", speakers)) if given is not None}
    if not text or len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise PronmetricError(f"expected a list of segments, and as many in each reference, docs and speakers: {said}")
    for name, column in columns.items():
        for number, segment in enumerate(column, start=1):
            if not isinstance(segment, str):
                raise InputError(f"expected text, got {segment!r}", file=name, line=number)
            check_segment(segment, file=name, line=number)

    said_by = None if speakers is None else [_speaker(name, line) for line, name in enumerate(speakers, start=1)]

    def rows() -> Iterator[Row]:
        by_segment: Iterable[Any] = repeat(None) if docs is None else docs
        side_by_side = zip(*columns.values(), strict=True)
        for texts, doc, speaker in zip(side_by_side, by_segment, said_by or repeat(None), strict=False):
            yield Row(texts[:1], doc, None, texts[1:], speaker=speaker)

    return Corpus(("system",), len(text), docs is not None, names, rows)


def _speaker(name: object, line: int) -> str:
    """The name of a segment's speaker, "" for None."""
    if name is not None and not isinstance(name, str):
        raise InputError(f"expected a name, or None for an unknown speaker, got {name!r}", file="speakers", line=line)
    return check_speaker(name or "", file="speakers", line=line)


def read_speakers(file: TextFile, lines: int, of: str, note: Callable[[str], None]) -> list[str]:
    """The speaker of each of the `lines` lines of `of`, "" where the line is empty; that no line has one is noted.

    Raises:
        InputError: another number of lines, or a tab in a name.
    """
    names = [check_speaker(name, file=file.path, line=number) for number, name in enumerate(file, start=1)]
    if len(names) != lines:
        raise InputError(
            f"expected {lines} lines, a speaker for each line of {of}, got {len(names)}; leave a line empty where the "
            "speaker is not known",
            file=file.path,
        )
    if not any(names):
        note(f"{file.path}: no line names a speaker: scores are those without it")
    return names


def check_docids(file: TextFile, note: Callable[[str], None]) -> None:
    """Refuse an empty document id; note a document that continues after another."""
    seen: set[str] = set()
    again: dict[str, int] = {}
    before = None
    for number, doc in enumerate(file, start=1):
        if not doc.strip():
            raise InputError("expected a document id, got an empty line", file=file.path, line=number)
        if doc != before and doc in seen:
            again.setdefault(doc, number)
        seen.add(doc)
        before = doc
    if again:
        doc, number = next(iter(again.items()))
        times = f", as do {len(again) - 1} more" if len(again) > 1 else ""
        note(f"{file.path}:{number}: document {doc!r} continues after another{times}; its context starts again there")
