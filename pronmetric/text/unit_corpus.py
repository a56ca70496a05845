"""A corpus of files of which some are no lists of lines: the columns of their units, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pronmetric.errors import InputError, PronmetricError
from pronmetric.text.context import check_speaker
from pronmetric.text.corpus import Corpus, Place, Row, TextFile, check_docids, read_speakers
from pronmetric.text.files.door import Reading, describe_left_out
from pronmetric.text.files.po import FORMAT as PO_FORMAT
from pronmetric.text.files.po_order import has_reference_order
from pronmetric.text.files.unit import Unit

_REFERENCE = "reference"


@dataclass(slots=True)
class _Column:
    """The texts of one system, of a reference or of the sources.

    file: where they stand. placed: whether their places are told, which those of lines are not.
    """

    name: str
    file: TextFile
    units: list[Unit]

    @property
    def placed(self) -> bool:
        return self.file.units is not None

    @property
    def in_order(self) -> bool:
        return self.file.units is None or self.file.units.in_order

    def values(self, field: str) -> list[str | None] | None:
        """A field of the units; None where none has it."""
        found = [getattr(unit, field) for unit in self.units]
        return found if any(value is not None for value in found) else None


def of_files(
    outputs: Sequence[TextFile],
    references: Sequence[TextFile],
    source: TextFile | None,
    docids: TextFile | None,
    speakers: TextFile | None,
    note: Callable[[str], None],
    reading: Reading,
) -> Corpus:
    """The corpus of these files; what a unit has beside its text counts unless a file of its own gives it.

    Files of strings (PO, XLIFF, TMX) are matched by their sources; strings that are not in all of them are left out and
    noted, and so is what the readers left out.

    Raises:
        InputError: texts that stand side by side and have different sources or references.
        PronmetricError: different numbers of texts, or other systems than asked for.
    """
    systems = [column for file in outputs for column in _systems(file, reading)]
    if reading.systems is not None:
        systems = _chosen(systems, reading.systems)
    given = [_column(file) for file in references]
    sources = [] if source is None else [_column(source)]
    columns = [*systems, *given, *sources]
    _note_left_out(columns, note)
    _match(columns, note)
    _check_lengths([*columns, *([] if docids is None else [_column(docids)])])
    if docids is not None:
        check_docids(docids, note)
    size = len(systems[0].units)
    src = [unit.text for unit in sources[0].units] if sources else _shared(systems, "source", note)
    named = tuple(column.name for column in given)
    refs = [[unit.text for unit in column.units] for column in given]
    if not given and (own := _shared(systems, "reference", note)) is not None:
        named, refs = (_REFERENCE,), [own]
    docs = list(docids) if docids is not None else _first(systems, "doc")
    said_by = _first(systems, "speaker")
    if speakers is not None:
        said_by = list(read_speakers(speakers, size, systems[0].file.path, note))
    elif said_by is not None:
        lines = systems[0].units
        said_by = [
            check_speaker(name or "", file=systems[0].file.path, line=unit.line)
            for name, unit in zip(said_by, lines, strict=True)
        ]

    def rows() -> Iterator[Row]:
        for at in range(size):
            units = [column.units[at] for column in systems]
            yield Row(
                tuple(unit.text for unit in units),
                None if docs is None else docs[at],
                None if src is None else src[at],
                tuple(ref[at] for ref in refs),
                speaker=None if said_by is None else said_by[at],
                places=tuple(
                    Place(unit.line, unit.place) if column.placed else None
                    for unit, column in zip(units, systems, strict=True)
                ),
            )

    return Corpus(
        tuple(column.name for column in systems),
        size,
        docs is not None and None not in docs,
        named,
        rows,
        formats={column.file.path: column.file.units.format for column in columns if column.file.units},
        in_order=all(column.in_order for column in (*systems, *given)),
        unordered=tuple(dict.fromkeys(column.file.path for column in (*systems, *given) if _is_unordered(column))),
    )


def _is_unordered(column: _Column) -> bool:
    found = column.file.units
    return found is not None and found.format == PO_FORMAT and not has_reference_order(column.file.path)


def _column(file: TextFile) -> _Column:
    if file.units is not None:
        return _Column(file.path, file, list(file.units.units))
    return _Column(file.path, file, [Unit(text, line, "") for line, text in enumerate(file, start=1)])


def _systems(file: TextFile, reading: Reading) -> Iterator[_Column]:
    """The systems of a file: several where its units name them, all of the same texts in one order."""
    whole = _column(file)
    if whole.values("system") is None:
        yield whole
        return
    by_system: dict[str, list[Unit]] = {}
    for unit in whole.units:
        if unit.system is None:
            raise InputError("names no system, as other rows do", file=file.path, line=unit.line)
        by_system.setdefault(unit.system, []).append(unit)
    for name, units in by_system.items():
        yield _Column(name, file, units)


def _chosen(columns: Sequence[_Column], names: Sequence[str]) -> list[_Column]:
    found = {column.name: column for column in columns}
    if unknown := [name for name in names if name not in found]:
        raise PronmetricError(f"there is no system {unknown[0]!r}; there are {', '.join(found)}")
    return [found[name] for name in names]


def _note_left_out(columns: Sequence[_Column], note: Callable[[str], None]) -> None:
    for file in {column.file.path: column.file for column in columns}.values():
        if file.units is not None and (left_out := describe_left_out(file.units)):
            note(f"{file.path}: left out: {left_out}")


def _match(columns: Sequence[_Column], note: Callable[[str], None]) -> None:
    """Keep of files of strings those that are in all of them, in the order of the first."""
    strings = [column for column in columns if not column.in_order and column.values("source") is not None]
    if len(strings) < 2 or len({tuple(_keys(column)) for column in strings}) == 1:
        return
    by_key = [dict(zip(_keys(column), column.units, strict=True)) for column in strings]
    common = [key for key in by_key[0] if all(key in other for other in by_key[1:])]
    for column, units in zip(strings, by_key, strict=True):
        if missing := len(units) - len(common):
            note(f"{column.file.path}: left out: {missing:,} strings that other files of this run do not have")
        column.units = [units[key] for key in common]
    if not common:
        names = ", ".join(column.file.path for column in strings)
        raise PronmetricError(f"expected translations of the same strings; these files have none in common: {names}")


def _keys(column: _Column) -> Iterator[tuple[str | None, str | None, int]]:
    """What identifies the strings of a file in others: document, source, and which of several with both."""
    seen: Counter[tuple[str | None, str | None]] = Counter()
    for unit in column.units:
        key = unit.doc, unit.source
        seen[key] += 1
        yield *key, seen[key]


def _check_lengths(columns: Sequence[_Column]) -> None:
    lengths: Mapping[str, int] = {
        column.name if column.name == column.file.path else f"{column.name} of {column.file.path}": len(column.units)
        for column in columns
    }
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise PronmetricError(f"expected texts that correspond one by one, got different numbers: {said}")


def _first(columns: Sequence[_Column], field: str) -> list[str | None] | None:
    """A field of the first system that has it."""
    return next((values for column in columns if (values := column.values(field)) is not None), None)


def _shared(columns: Sequence[_Column], field: str, note: Callable[[str], None]) -> list[str] | None:
    """The source or reference, which all systems that have it share; "" where a text has none, which is noted.

    Raises:
        InputError: two of them have different ones.
    """
    having = [column for column in columns if column.values(field) is not None]
    for column in having[1:]:
        for one, other in zip(having[0].units, column.units, strict=True):
            if (getattr(one, field) or "").split() != (getattr(other, field) or "").split():
                raise InputError(
                    f"{other.place} of {column.name} has another {field} than {one.place} of {having[0].name}; the "
                    "texts of all systems must stand in the same order",
                    file=column.file.path,
                    line=other.line,
                )
    if not having:
        return None
    found = [getattr(unit, field) for unit in having[0].units]
    if without := found.count(None):
        note(f"{having[0].file.path}: {without:,} of {len(found):,} texts have no {field}")
    return [text or "" for text in found]
