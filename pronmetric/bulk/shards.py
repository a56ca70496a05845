"""The output of a bulk run: one Parquet file for each shard, whose metadata has the shard's statistics.

A file gets its name when it is complete, so a shard is finished exactly if its file is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext, suppress
from functools import reduce
from typing import TYPE_CHECKING, Any

from pronmetric.bulk import storage
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.rows import BadRow
from pronmetric.bulk.statistics import ShardStatistics
from pronmetric.bulk.storage import Place
from pronmetric.errors import InputError
from pronmetric.text import strict_json

if TYPE_CHECKING:
    import pyarrow

SCORES, ERRORS, ERROR_FILE = "scores", "errors", "errors.parquet"
"""Scores; the rows that were skipped, of shards and of all."""
_KEY = b"pronmetric.shard"
_GROUP = 4096  # rows in memory before they are written
_READERS = 16  # shards read at a time by threads, which mostly wait for a remote store


def errors_schema() -> pyarrow.Schema:
    """The columns of the rows that were skipped."""
    import pyarrow as pa

    return pa.schema([("input", pa.string()), ("row", pa.int64()), ("reason", pa.string()), ("record", pa.string())])


class ErrorRows:
    """The rows of a shard that are skipped. name: of the input file."""

    def __init__(self, folder: Place, shard: Shard, name: str) -> None:
        self._target, self._name = folder / ERRORS / shard.name, name
        self._rows: list[dict[str, Any]] = []

    def __len__(self) -> int:
        """Their number."""
        return len(self._rows)

    def add(self, row: BadRow) -> None:
        """Add one."""
        self._rows.append({"input": self._name, "row": row.number, "reason": row.reason, "record": row.record})

    def write(self) -> None:
        """Write them to a file of their own, if there are any."""
        if self._rows:
            _write_errors(self._target, [self._rows])


class ShardWriter:
    """Writes the results of a shard; the file gets its name at the end of the block, with the statistics."""

    def __init__(self, target: Place, schema: pyarrow.Schema) -> None:
        self._target, self._schema = target, schema
        self._rows: list[Mapping[str, Any]] = []

    def __enter__(self) -> ShardWriter:
        """Open a partial file."""
        import pyarrow.parquet as pq

        with ExitStack() as opened:
            file = opened.enter_context(storage.atomic(self._target))
            self._file = pq.ParquetWriter(file, self._schema, compression="zstd")
            opened.push(self._close)
            self._opened = opened.pop_all()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Finish the file, or remove it after an error, also one of its last bytes."""
        self._opened.__exit__(kind, error, trace)

    def _close(self, kind: Any, error: Any, trace: Any) -> None:
        with suppress(OSError) if error else nullcontext():
            self._file.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row."""
        self._rows.append(row)
        if len(self._rows) == _GROUP:
            self._flush()

    def finish(self, statistics: ShardStatistics) -> None:
        """Add the statistics."""
        self._flush()
        self._file.add_key_value_metadata({_KEY: strict_json.dump(statistics.record())})

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._file.write_batch(pa.RecordBatch.from_pylist(self._rows, schema=self._schema))
            self._rows = []


def finished(folder: Place) -> frozenset[str]:
    """The names of the finished shards of a run."""
    return frozenset(name for name in storage.files(folder / SCORES) if name.endswith(".parquet") and name[0] != ".")


def statistics(folder: Place, shards: Sequence[Shard]) -> ShardStatistics:
    """The statistics of all shards, which are finished, merged in the order of the plan.

    Raises:
        InputError: a broken file, or one that has not all rows of its shard.
    """

    def read(shard: Shard) -> ShardStatistics:
        where = folder / SCORES / shard.name
        found = ShardStatistics.read(_statistics(where))
        if found.rows != shard.stop - shard.start:
            message = (
                f"has {found.rows} rows of the input, the plan {shard.stop - shard.start}; delete it and run again"
            )
            raise InputError(message, file=where.url)
        return found

    with ThreadPoolExecutor(_READERS) as pool:
        return reduce(ShardStatistics.merge, pool.map(read, shards))


def _statistics(where: Place) -> Mapping[str, Any]:
    import pyarrow
    import pyarrow.parquet as pq

    try:
        with where.system.open(where.path, "rb") as file:
            found = (pq.read_metadata(file).metadata or {})[_KEY]
        return dict(strict_json.parse(found.decode()))
    except (pyarrow.ArrowException, OSError, KeyError, ValueError) as error:
        raise InputError(f"is broken ({error}); delete it and run again", file=where.url) from None


def write_errors(folder: Place, shards: Iterable[Shard], *, skipped: int) -> None:
    """Merge the rows that were skipped into one file, in the order of the plan; without any there is no file.

    skipped: their number. If some are missing, an earlier run or another driver has merged all of them before, and that
    file is kept.
    """
    named = set(storage.files(folder / ERRORS))
    parts = [folder / ERRORS / shard.name for shard in shards if shard.name in named]
    if parts and (sum(map(_count_rows, parts)) == skipped or not storage.exists(folder / ERROR_FILE)):
        _write_errors(folder / ERROR_FILE, map(_read_errors, parts))


def _count_rows(where: Place) -> int:
    import pyarrow.parquet as pq

    with where.system.open(where.path, "rb") as file:
        return int(pq.read_metadata(file).num_rows)


def _read_errors(where: Place) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    with where.system.open(where.path, "rb") as file:
        return list(pq.read_table(file).to_pylist())


def _write_errors(target: Place, parts: Iterable[list[dict[str, Any]]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = errors_schema()
    with storage.atomic(target) as file, pq.ParquetWriter(file, schema) as writer:
        for rows in parts:
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))


def clean(folder: Place) -> None:
    """Remove partial files, and the files that `write_errors` merged."""
    for part in (folder, folder / SCORES, folder / ERRORS):
        storage.remove_partial(part)
    if storage.exists(folder / ERRORS):
        folder.system.rm((folder / ERRORS).path, recursive=True)
