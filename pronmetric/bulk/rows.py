"""The rows of a shard, and those that cannot be read, each with the reason."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from typing import IO, Any, NamedTuple

from pronmetric.bulk import inputs, storage
from pronmetric.bulk.columns import IDS, STRING_LISTS, STRINGS, Columns
from pronmetric.bulk.inputs import JSONL, InputFile, Source
from pronmetric.bulk.plan import Shard
from pronmetric.errors import InputError
from pronmetric.text import lines as line_files
from pronmetric.text import records, strict_json
from pronmetric.text.context import Text
from pronmetric.text.entry import Entry, parse

SHOWN = 1000  # characters of a bad row that are kept
_BATCH = 1024  # rows decoded at a time; more: more memory, fewer: more calls


class Row(NamedTuple):
    """A row to score: its number in the file from 1, its id as text, its system and document (or None), its text."""

    number: int
    id: str
    system: str | None
    text: Text
    doc: str | None = None


class BadRow(NamedTuple):
    """A row that cannot be read: its number from 1, the error, its first characters."""

    number: int
    error: InputError
    record: str

    @property
    def reason(self) -> str:
        """The error without file and line."""
        return str(self.error).removeprefix(f"{self.error.file}:{self.error.line}: ")


class Form(NamedTuple):
    """The form of rows: their columns, and the function that makes a row of the value of a record."""

    columns: Columns
    parse: Callable[..., Row]


class Reader:
    """Reads the rows of shards.

    Compressed JSONL is unpacked only once, whatever the number of shards, if they come in the order of the plan.
    """

    def __init__(self, sources: Sequence[Source], form: Form) -> None:
        self._sources, self._form = sources, form
        self._open: tuple[int, int, IO[bytes]] | None = None  # number of the file, its next line, its stream

    def read(self, shard: Shard) -> Generator[Row | BadRow, None, None]:
        """The rows of a shard, in order.

        Raises:
            InputError: the file has changed since it was found, cannot be read, or has fewer rows.
        """
        import pyarrow

        source = self._sources[shard.file]
        names = self._form.columns.kinds
        last = shard.start
        try:
            inputs.check_version(source)
            values = self._lines(shard, source) if source.format == JSONL else _parquet(shard, source, names)
            with closing(values):
                for number, value in values:
                    last = number
                    yield self._row(number, value, source)
            inputs.check_version(source)
        except (pyarrow.ArrowException, OSError) as error:
            inputs.check_version(source)  # the reason, if that is it
            message = (
                f"the rows from {last + 1} on cannot be read ({inputs.first_line(error)}); fetch or write it again"
            )
            raise InputError(message, file=source.name) from None
        if last < shard.stop:
            raise InputError(f"ends at row {last}, before row {shard.stop}; {inputs.CHANGED}", file=source.name)

    def close(self) -> None:
        """Close the file that is open."""
        if self._open is not None:
            self._open[2].close()
            self._open = None

    def _row(self, number: int, found: Any, source: Source) -> Row | BadRow:
        try:
            if isinstance(found, UnicodeDecodeError):
                raise InputError(f"not UTF-8 ({found.reason})", file=source.name, line=number)
            lines = source.format == JSONL
            value = parse(_decode(found, source, number), file=source.name, line=number) if lines else found
            return self._form.parse(value, file=source.name, line=number)
        except InputError as error:
            return BadRow(number, error, _shown(found))

    def _lines(self, shard: Shard, source: Source) -> Generator[tuple[int, bytes | None], None, None]:
        """The lines of a shard with their numbers from 1; None is one above the limit of bytes."""
        number, stream = self._seek(shard, source)
        most = line_files.limit(line_files.MAX_LINE)
        try:
            while number < shard.stop:
                raw = _line(stream, most)
                if raw == b"":
                    break  # the end of the file
                number += 1
                if number > shard.start:
                    yield number, raw
        except BaseException:
            stream.close()
            raise
        self._open = (shard.file, number, stream)

    def _seek(self, shard: Shard, source: Source) -> tuple[int, IO[bytes]]:
        """An open stream, and the number of its next line from 0, at or before the shard's first."""
        kept, self._open = self._open, None
        if kept is not None:
            file, line, stream = kept
            first = 0 if source.compression else shard.line
            if file == shard.file and first <= line <= shard.start:
                return line, stream
            stream.close()
        where = storage.place(source.url)
        raw = where.system.open(where.path, "rb")
        if source.compression:
            return 0, inputs.unpack(raw, source.compression)
        raw.seek(shard.position)
        return shard.line, raw


def check_first(surveyed: Sequence[InputFile], form: Form) -> None:
    """Read the first row of each file.

    Raises:
        InputError: it is a bad one, as where files have another form.
    """
    for one in surveyed:
        if one.rows:
            reader = Reader([one.source], form)
            with closing(reader.read(Shard(0, 0, 0, 1, 0, 0))) as found:
                for row in found:
                    if isinstance(row, BadRow):
                        raise row.error
            reader.close()


def first_good(reader: Reader, shards: Sequence[Shard], number: int) -> list[Row]:
    """The first good rows, at most `number`; errors as in `Reader.read`."""
    first: list[Row] = []
    for shard in shards:
        with closing(reader.read(shard)) as found:
            first += islice((row for row in found if not isinstance(row, BadRow)), number - len(first))
        if len(first) == number:
            break
    reader.close()
    return first


def accept(rows: Iterable[Row | BadRow], *, skip: bool, leave_out: Callable[[BadRow], object]) -> Iterator[Row]:
    """The good rows. skip: bad ones are passed to `leave_out`; else the first one raises its error."""
    for row in rows:
        if not isinstance(row, BadRow):
            yield row
        elif skip:
            leave_out(row)
        else:
            raise row.error


def to_score(*, with_source: bool | None, context_size: int | None = None) -> Form:
    """The form of rows to score; the arguments as for `text_of`."""
    kinds = {
        "id": IDS,
        "text": STRINGS,
        "system": STRINGS,
        "doc": IDS,
        "source": STRINGS,
        "context": STRING_LISTS,
        "source_context": STRING_LISTS,
        "speaker": STRINGS,
        "context_speakers": STRING_LISTS,
    }
    required = ("text", *(["source"] if with_source else []))
    return Form(Columns(kinds, required), partial(_row_to_score, with_source=with_source, context_size=context_size))


def _row_to_score(value: Any, *, file: str, line: int, with_source: bool | None, context_size: int | None) -> Row:
    record = records.record_of(value, file=file, line=line, with_source=with_source, context_size=context_size)
    system = Entry(value, file=file, line=line).name_of("system")
    return Row(line, records.text_of_id(record.id), system, record.text, record.doc)


def _line(stream: IO[bytes], most: int) -> bytes | None:
    raw = stream.readline(most + 1)
    if len(raw) <= most:
        return raw
    while raw and not raw.endswith(b"\n"):
        raw = stream.readline(most + 1)
    return None


def _decode(raw: bytes | None, source: Source, number: int) -> str:
    if raw is None:
        most = line_files.limit(line_files.MAX_LINE)
        message = f"a line of more than {most:,} bytes: raise the limit with {line_files.MAX_LINE}=BYTES"
        raise InputError(message, file=source.name, line=number)
    if number == 1:
        raw = raw.removeprefix(line_files.BYTE_ORDER_MARK)
    raw = raw.removesuffix(b"\n").removesuffix(b"\r")
    return line_files.decode(raw, file=source.name, line=number)


def _shown(value: Any) -> str:
    """The first characters of a row."""
    if isinstance(value, bytes):
        return value[: 4 * SHOWN].decode("utf-8", "replace")[:SHOWN].rstrip("\r\n")
    text = "" if value is None or isinstance(value, Exception) else strict_json.dump(value)[:SHOWN]
    return text.encode("utf-8", "replace").decode()


def _parquet(shard: Shard, source: Source, names: Collection[str]) -> Generator[tuple[int, Any], None, None]:
    """The rows of a shard with their numbers from 1; of the file only the row groups that it overlaps are read."""
    import pyarrow.parquet as pq

    where = storage.place(source.url)
    with where.system.open(where.path, "rb") as file, pq.ParquetFile(file) as parquet:
        groups: list[int] = []
        first = before = 0
        for group in range(parquet.metadata.num_row_groups):
            after = before + parquet.metadata.row_group(group).num_rows
            if before < shard.stop and after > shard.start:
                first = first if groups else before
                groups.append(group)
            before = after
        columns = [name for name in names if name in parquet.schema_arrow.names]
        for batch in parquet.iter_batches(_BATCH, row_groups=groups, columns=columns):
            begin, end = max(first, shard.start), min(first + len(batch), shard.stop)
            if begin < end:
                part = batch.slice(begin - first, end - begin)
                yield from enumerate(_values(part), start=begin + 1)
            first += len(batch)
            if first >= shard.stop:
                return


def _values(batch: Any) -> list[Any]:
    """The rows of a batch; a row that is not UTF-8 is the error."""
    try:
        return list(batch.to_pylist())
    except UnicodeDecodeError:
        return [_value(batch.slice(at, 1)) for at in range(len(batch))]


def _value(row: Any) -> Any:
    try:
        return row.to_pylist()[0]
    except UnicodeDecodeError as error:
        return error
