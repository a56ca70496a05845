"""The input files of a bulk run: their names, and what each one holds."""

from __future__ import annotations

import glob
import hashlib
import io
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from pronmetric.bulk import storage
from pronmetric.bulk.columns import Columns
from pronmetric.bulk.storage import Place
from pronmetric.errors import InputError
from pronmetric.text import lines as line_files
from pronmetric.text.files import detect

PARQUET, JSONL = "parquet", "jsonl"
SUFFIXES: dict[str, tuple[str, str | None]] = {
    ".parquet": (PARQUET, None),
    ".jsonl": (JSONL, None),
    ".jsonl.gz": (JSONL, "gzip"),
    ".jsonl.zst": (JSONL, "zstd"),
}
STEP = 4096  # lines between two known positions in a JSONL file
CHANGED = "the file has changed since the run began: run again, into a new folder"
_CHUNK = 1 << 20  # bytes read at a time: few requests to a remote store, little memory
_READERS = 8  # files read at a time by threads, which mostly wait for a remote store; more: more memory
_VERSIONS = ("ETag", "etag", "versionId", "generation", "LastModified", "last_modified", "updated", "mtime", "modified")


@dataclass(frozen=True, slots=True)
class Source:
    """An input file: its name as in errors and outputs, its path or URL, its format and compression (or None).

    version: its size and time (on a store of objects the ETag) when it was found; None is not compared.
    """

    name: str
    url: str
    format: str
    compression: str | None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class InputFile:
    """What a file holds: bytes, SHA-256, rows; of JSONL the position of every `STEP`-th line in the unpacked bytes."""

    source: Source
    size: int
    sha256: str
    rows: int
    positions: tuple[int, ...] = ()


def find(names: Sequence[str], *, output: Place) -> tuple[list[Source], int]:
    """The files that names, globs and folders name, and the number of files in folders that have another suffix.

    Files of a folder or a glob are sorted; hidden ones (`.x`, `_x`) are left out, as everywhere in data folders.

    Raises:
        InputError: no such file, another format, a file that is named twice (also by a link), or an output inside an
            input folder.
    """
    found: dict[Hashable, Source] = {}
    ignored = 0
    for name in names:
        files, others = _expand(name, output)
        ignored += others
        for shown, where in files:
            if (same := found.get(identity := _identity(where))) is not None:
                linked = f" by a link: it is the file {same.name}" if same.url != where.url else ""
                raise InputError(f"is given twice{linked}; give each input once", file=shown)
            found[identity] = Source(shown, where.url, *_format(shown), version_of(where))
    return list(found.values()), ignored


def _expand(name: str, output: Place) -> tuple[list[tuple[str, Place]], int]:
    where = storage.place(name)
    if where.system.isdir(where.path):
        if _is_inside(output, where):
            raise InputError(f"the output {output.url} is inside this input folder; give another folder", file=name)
        inside = sorted(where.system.find(where.path))
        shown = [path for path in inside if not _hidden(path[len(where.path) :])]
        known = [path for path in shown if _suffix(path) is not None]
        if not known:
            raise InputError(f"no file {_expected()} in this folder", file=name)
        base = name.rstrip("/")
        named = [(base + path[len(where.path.rstrip("/")) :], Place(where.system, path)) for path in known]
        return named, len(shown) - len(known)
    if where.system.isfile(where.path):
        return [(name, where)], 0
    if glob.has_magic(name):
        matches = [path for path in sorted(where.system.glob(where.path)) if where.system.isfile(path)]
        matches = [path for path in matches if not _hidden("/" + path.rpartition("/")[2])]
        if not matches:
            raise InputError("no file matches this pattern", file=name)
        return [(_shown(Place(where.system, path), name), Place(where.system, path)) for path in matches], 0
    raise InputError("no such file or folder", file=name)


def _is_inside(place: Place, folder: Place) -> bool:
    """Whether it is the folder or below it, also by a link."""
    if place.system != folder.system:
        return False
    paths = place.path, folder.path.rstrip("/") or "/"
    inside, outside = map(os.path.realpath, paths) if storage.is_local(folder) else paths
    return f"{inside}/".startswith(f"{outside.rstrip('/')}/")


def _identity(where: Place) -> Hashable:
    """The same for two names of a file."""
    if storage.is_local(where):
        found = os.stat(where.path)
        return found.st_dev, found.st_ino
    return where.url


def version_of(where: Place) -> str:
    """What tells a file from one that replaced it: size and time, or what a store of objects has instead."""
    if storage.is_local(where):
        found = os.stat(where.path)
        return f"{found.st_size} bytes of {found.st_mtime_ns // 1000}"
    where.system.invalidate_cache()
    info = where.system.info(where.path)
    known = [f"{name} {info[name]}" for name in _VERSIONS if info.get(name) is not None]
    return "; ".join([f"{info.get('size')} bytes", *known])


def check_version(source: Source) -> None:
    """Raise InputError if the file is no longer the one that was found."""
    if source.version is not None:
        try:
            found = version_of(storage.place(source.url))
        except FileNotFoundError:
            raise InputError(f"is not there any more; {CHANGED}", file=source.name) from None
        if found != source.version:
            raise InputError(CHANGED, file=source.name)


def _shown(where: Place, pattern: str) -> str:
    """The name of a match: relative if the pattern is."""
    relative = storage.is_local(where) and not os.path.isabs(pattern) and "://" not in pattern
    return os.path.relpath(where.path) if relative else where.url


def _hidden(path: str) -> bool:
    return any(part.startswith((".", "_")) for part in path.split("/") if part)


def _suffix(name: str) -> str | None:
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def _expected() -> str:
    return ", ".join(list(SUFFIXES)[:-1]) + f" or {list(SUFFIXES)[-1]}"


def _format(name: str) -> tuple[str, str | None]:
    suffix = _suffix(name)
    if suffix is None:
        kind = detect.named(name)
        is_other = "" if kind is None else f"is {kind}; "
        cure = "its texts are scored by `pronmetric score -t`, or written as records with their contexts"
        raise InputError(f"{is_other}expected a file {_expected()}: {cure}", file=name)
    return SUFFIXES[suffix]


def survey(
    sources: Sequence[Source], columns: Columns, *, advance: Callable[[int], object] | None = None
) -> list[InputFile]:
    """Read every file once: its hash, its rows; `advance` is called with 1 for each file.

    Raises:
        InputError: a file that cannot be read or unpacked, or Parquet columns of other types.
    """
    found = []
    with ThreadPoolExecutor(_READERS) as pool:
        for one in pool.map(lambda source: _survey(source, columns), sources):
            found.append(one)
            if advance is not None:
                advance(1)
    return found


def _survey(source: Source, columns: Columns) -> InputFile:
    import pyarrow

    where = storage.place(source.url)
    try:
        with where.system.open(where.path, "rb") as file:
            hashed = _Hashed(file)
            if source.format == JSONL:
                rows, positions = _lines(unpack(hashed, source.compression), source)
            hashed.drain()
            if source.format == PARQUET:
                file.seek(0)
                rows, positions = _parquet_rows(source, file, columns), []
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"cannot be read ({first_line(error)}); fetch or write it again", file=source.name) from None
    check_version(source)
    return InputFile(source, hashed.size, hashed.digest(), rows, tuple(positions))


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    return str(getattr(error, "strerror", None) or error).splitlines()[0]


def unpack(stream: Any, compression: str | None) -> IO[bytes]:
    """The unpacked bytes of a stream, read with a buffer."""
    if compression is None:
        return io.BufferedReader(stream, _CHUNK) if isinstance(stream, io.RawIOBase) else stream
    import pyarrow

    return io.BufferedReader(pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, "r"), compression), _CHUNK)


class _Hashed(io.RawIOBase):
    """A stream whose bytes are hashed as they are read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._hash, self.size = stream, hashlib.sha256(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._hash.update(chunk)
        self.size += len(chunk)
        return len(chunk)

    def drain(self) -> None:
        """Read to the end."""
        while self.read(_CHUNK):
            pass

    def digest(self) -> str:
        return self._hash.hexdigest()


def _lines(stream: IO[bytes], source: Source) -> tuple[int, list[int]]:
    """The number of lines, and the position of lines 0, STEP, 2 * STEP ...

    Raises:
        InputError: a line of a packed file that is above the limit of files, as in a decompression bomb.
    """
    ends, size, last, positions, begin = 0, 0, b"\n", [0], 0
    while chunk := stream.read(_CHUNK):
        at = np.flatnonzero(np.frombuffer(chunk, dtype=np.uint8) == ord("\n"))
        first = (-ends - 1) % STEP  # the end before a line whose position is kept
        positions += [size + int(end) + 1 for end in at[first::STEP]]
        begin = size + int(at[-1]) + 1 if len(at) else begin
        ends, size, last = ends + len(at), size + len(chunk), chunk[-1:]
        if source.compression:
            line_files.check_size(size - begin, file=source.name)
    return ends + (last != b"\n"), positions


def _parquet_rows(source: Source, file: Any, columns: Columns) -> int:
    """The number of rows; the columns are checked."""
    import pyarrow.parquet as pq

    parquet = pq.ParquetFile(file)
    for group in range(parquet.metadata.num_row_groups):
        line_files.check_size(parquet.metadata.row_group(group).total_byte_size, file=source.name)
    columns.check(parquet.schema_arrow, file=source.name)
    return int(parquet.metadata.num_rows)


def rows_of(surveyed: Sequence[InputFile]) -> int:
    """The number of rows of all files."""
    return sum(one.rows for one in surveyed)


def entries(surveyed: Sequence[InputFile]) -> Iterator[dict[str, Any]]:
    """The files in JSON, as the plan and the manifest have them."""
    for one in surveyed:
        yield {
            "name": one.source.name,
            "format": one.source.format,
            "bytes": one.size,
            "sha256": one.sha256,
            "rows": one.rows,
        }
