"""A corpus of line-parallel texts: the outputs of several systems, their source, references and document ids."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import STDIN, InputError, PronmetricError
from pronmetric.text import resegment as resegmentation
from pronmetric.text import streams
from pronmetric.text.columns import values_of
from pronmetric.text.context import COMMON, NONE, History, Source, SourceHistory, check_speaker
from pronmetric.text.files import door
from pronmetric.text.files.columns import Role
from pronmetric.text.files.door import Reading
from pronmetric.text.files.unit import FileTexts
from pronmetric.text.lines import check_segment, decode_lines, open_bytes

_FEWEST_LINES, _MOST_DOCUMENTS, _FEWEST_WORDS = 10, 0.9, 4  # of a file of document ids that is noted; of an id in words
BLANK = "blank"
"""In place of a file of document ids: blank lines end documents."""


class Place(NamedTuple):
    """Where a text stands in a file of which it is no line: its first line, and its place in the format's words."""

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
    source_language: the code of the sources' language, None if unknown. resegmented: segments are aligned sentences.
    formats: of the files that are no lists of lines. in_order: whether the rows are a running text, whose earlier rows
    are the context of later ones. unordered: the files whose strings do not stand in the order of the program either.
    """

    systems: tuple[str, ...]
    segments: int
    documents: bool
    references: tuple[str, ...]
    rows: Callable[[], Iterator[Row]]
    source_language: str | None = None
    resegmented: bool = False
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
    """The lines of a text file, read again each time; input that can be read only once (a pipe, stdin) is kept.

    role: what its texts are; the file may then have another format, see `text.files`, whose texts (`units`) take the
    place of the lines. whole: lines may be longer than segments.
    """

    def __init__(
        self, path: str, role: Role | None = None, reading: Reading | None = None, *, whole: bool = False
    ) -> None:
        self._whole = whole
        self._name, self.path = path, STDIN if streams.is_stdin(path) else path
        self._kept: list[str] | None = None
        self.units: FileTexts | None = None
        if not streams.is_stdin(path) and Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
            with open(path, "rb") as stream:
                self._kept = list(decode_lines(stream, file=path))
            if role is not None:
                door.refuse_stream(self._kept, path, reading)
        elif role is not None:
            self.units = door.read(path, role, reading)

    def __iter__(self) -> Iterator[str]:
        """The texts, or the lines without their ends."""
        if self.units is not None:
            yield from (unit.text for unit in self.units.units)
            return
        for number, text in enumerate(self._stream() if self._kept is None else self._kept, start=1):
            yield text if self._whole else check_segment(text, file=self.path, line=number)

    def _stream(self) -> Iterator[str]:
        with open_bytes(self._name) as stream:
            yield from decode_lines(stream, file=self.path)


def read(
    systems: Sequence[str],
    note: Callable[[str], None],
    *,
    references: Sequence[str] = (),
    source: str | None = None,
    docids: str | None = None,
    speakers: str | None = None,
    resegment: bool = False,
    reading: Reading | None = None,
) -> Corpus:
    """The corpus of parallel files; every text is read once here, so that bad input is refused before scoring.

    reading: how files of texts are read that are, or may be, no lists of lines.
    resegment: lines are cut into sentences, and these aligned with those of the first reference, else of the source,
    else of the first system; see `text.resegment`. docids: the file with the document of each line, with `resegment` of
    that text, or `BLANK`: lines that are blank in all files end documents.

    Raises:
        InputError: a missing or empty file, files of different length, a byte that is not UTF-8, a NUL, a tab in a
            speaker's name.
    """
    if len(set(references)) < len(references):
        raise PronmetricError(f"-r: expected different references, got {' '.join(references)}")
    if resegment and speakers is not None:
        raise PronmetricError(
            "`speakers` names who says each line, and `resegment=True` makes other segments than lines"
        )
    spoken = None if speakers is None else TextFile(speakers)
    if resegment and docids == BLANK:
        raise PronmetricError("`resegment=True` makes other segments than lines: give a file of ids as `docids`")
    opened: dict[tuple[str, Role | None], TextFile] = {}

    def opening(name: str, role: Role | None) -> TextFile:
        key = name, role
        if key not in opened:
            opened[key] = TextFile(name, role, reading, whole=resegment)
        return opened[key]

    outputs = [opening(name, Role.TRANSLATION) for name in systems]
    others = [opening(name, Role.REFERENCE) for name in references]
    original = None if source is None else opening(source, Role.SOURCE)
    ids = None if docids is None or docids == BLANK else opening(docids, None)
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

        if resegment:
            raise PronmetricError("`resegment=True` is for plain lines: files of other formats have their own segments")
        if docids == BLANK:
            raise PronmetricError("blank lines end documents (`docids`) in plain lines alone")
        return unit_corpus.of_files(outputs, others, original, ids, spoken, note, reading or Reading())
    for name in ("systems", "text_key"):
        if reading is not None and getattr(reading, name) is not None:
            raise PronmetricError(f"`{name}=` is of tables and JSON Lines; {outputs[0].path} has plain lines")
    if ids is not None:
        check_docids(ids, note)
    if resegment:
        return _resegmented(outputs, others, original, ids, note, names=(systems, references))
    if len(set(lengths.values())) > 1:
        lengths_text = ", ".join(f"{path} has {length}" for path, length in lengths.items())
        cure = "; where sentences were merged or split, `resegment=True` aligns them"
        differ = len({length for path, length in lengths.items() if ids is None or path != ids.path}) > 1
        raise PronmetricError(
            f"expected line-parallel files, got different numbers of lines: {lengths_text}{cure if differ else ''}"
        )
    of_blank = blank_docids(files, note) if docids == BLANK else None
    if spoken is not None:
        read_speakers(spoken, lengths[outputs[0].path], outputs[0].path, note)

    def column(file: TextFile | None) -> Iterable[str | None]:
        return repeat(None) if file is None else file

    def rows() -> Iterator[Row]:
        side_by_side = zip(*outputs, *others, strict=True)
        by_line = repeat(None) if spoken is None else map(check_speaker, spoken)
        documents = column(ids) if of_blank is None else of_blank
        for texts, doc, src, speaker in zip(side_by_side, documents, column(original), by_line, strict=False):
            yield Row(texts[: len(systems)], doc, src, texts[len(systems) :], speaker=speaker)

    return Corpus(tuple(systems), lengths[outputs[0].path], docids is not None, tuple(references), rows)


def _resegmented(
    outputs: Sequence[TextFile],
    references: Sequence[TextFile],
    source: TextFile | None,
    docs: TextFile | None,
    note: Callable[[str], None],
    *,
    names: tuple[Sequence[str], Sequence[str]],
) -> Corpus:
    """The corpus of aligned sentences; how they were aligned is noted. names: of the systems and the references.

    Raises:
        PronmetricError: other documents than those of the first reference, source or system.
        InputError: a segment above the limit of characters.
    """
    originals = [] if source is None else [source]
    order = list(dict.fromkeys([*references, *originals, *outputs]))
    first, by_line = order[0], None if docs is None else list(docs)
    texts = [list(file) for file in order]
    if by_line is not None and len(by_line) != len(texts[0]):
        raise PronmetricError(
            f"with `resegment=True` documents are those of the lines of {first.path}: expected {len(texts[0])} lines "
            f"in `docids`, got {len(by_line)}"
        )
    found, alignments = resegmentation.resegment(texts, by_line)
    for file, alignment in zip(order[1:], alignments, strict=True):
        note(alignment.note(file.path, first.path))
    place = {file: number for number, file in enumerate(order)}
    rows = []
    for number, (each, doc, begins) in enumerate(found, start=1):
        for file in order:
            check_segment(each[place[file]], file=f"segment {number} of {file.path}")
        given = [tuple(each[place[file]] for file in some) for some in (outputs, references)]
        places = tuple(Place(line, f"line {line}, sentence {at}") for line, at in (begins[place[f]] for f in outputs))
        rows.append(Row(given[0], doc, None if source is None else each[place[source]], given[1], places=places))
    named = [tuple(given) for given in names]
    return Corpus(named[0], len(rows), docs is not None, named[1], lambda: iter(rows), resegmented=True)


def of_lines(
    text: Sequence[str],
    references: Iterable[Iterable[str]] = (),
    docs: Sequence[Hashable] | None = None,
    speakers: Iterable[str | None] | None = None,
) -> Corpus:
    """The corpus of one system's segments in memory, called "system", with its references, "reference 1" and so on.

    speakers: of the segments; None and "" are unknown. They and references are columns as `values_of` takes them.

    Raises:
        InputError: a segment that is no text, or above the limit of characters; a name with a line break or a tab.
        PronmetricError: no segment, not as many in all, or a text in place of a list.
    """
    references = values_of(references, name="references")
    if any(isinstance(reference, str) for reference in references):
        raise PronmetricError(
            "expected a list of references, each a list of segments, got one list of texts: give references=[list]"
        )
    by_reference = [values_of(reference, name="references") for reference in references]
    named = None if speakers is None else values_of(speakers, name="speakers")
    names = tuple(f"reference {number}" for number in range(1, len(by_reference) + 1))
    columns = {"system": text, **dict(zip(names, by_reference, strict=True))}
    lengths = {name: len(column) for name, column in columns.items()}
    lengths |= {name: len(given) for name, given in (("docs", docs), ("speakers", named)) if given is not None}
    if not text or len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise PronmetricError(f"expected a list of segments, and as many in each reference, docs and speakers: {said}")
    for name, column in columns.items():
        for number, segment in enumerate(column, start=1):
            if not isinstance(segment, str):
                raise InputError(f"expected text, got {segment!r}", file=name, line=number)
            check_segment(segment, file=name, line=number)

    said_by = None if named is None else [_speaker(name, line) for line, name in enumerate(named, start=1)]

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


def blank_docids(files: Iterable[Iterable[str]], note: Callable[[str], None]) -> list[str]:
    """The document of each line of line-parallel texts, "1", "2" and so on: lines blank in all of them end documents.

    They belong to the document before them; that there is none is noted.

    >>> blank_docids([["A.", "", "B.", "C."], ["a.", " ", "b.", ""]], print)
    ['1', '1', '2', '2']
    """
    blank = [not any(map(str.strip, lines)) for lines in zip(*files, strict=True)]
    docs, number, ended = [], 1, False
    first = next((line for line, is_blank in enumerate(blank) if not is_blank), 0)
    for line, is_blank in enumerate(blank):
        number += ended and not is_blank
        ended = line > first and is_blank
        docs.append(str(number))
    if not any(blank):
        note("no line is blank in all files, so that they are one document")
    return docs


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
    """Refuse an empty document id; note a document that continues after another, and ids that can hardly be some."""
    seen: set[str] = set()
    lines = words = 0
    again: dict[str, int] = {}
    before = None
    for lines, doc in enumerate(file, start=1):
        if not doc.strip():
            raise InputError("expected a document id, got an empty line", file=file.path, line=lines)
        if doc != before and doc in seen:
            again.setdefault(doc, lines)
        words += doc not in seen and len(doc.split()) >= _FEWEST_WORDS
        seen.add(doc)
        before = doc
    if again:
        doc, number = next(iter(again.items()))
        times = f", as do {len(again) - 1} more" if len(again) > 1 else ""
        note(f"{file.path}:{number}: document {doc!r} continues after another{times}; its context starts again there")
    if lines >= _FEWEST_LINES and len(seen) >= _MOST_DOCUMENTS * lines:
        looks = "; the ids look like sentences" if 2 * words > len(seen) else ""
        note(
            f"{file.path}: {len(seen)} documents for {lines} lines, so that hardly any line has a context{looks}: "
            "give a file with the document of each line"
        )
