"""The output of a bulk run: one Parquet file for each shard, whose metadata has the shard's statistics.

A file gets its name when it is complete, so a shard is finished exactly if its file is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pronmetric.bulk import dedupe, storage
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.rows import BadRow, Row
from pronmetric.bulk.statistics import ShardStatistics
from pronmetric.bulk.storage import Place
from pronmetric.errors import InputError
from pronmetric.scoring.score import SegmentScore
from pronmetric.text import strict_json

if TYPE_CHECKING:
    import pyarrow

SCORES, ERRORS, ERROR_FILE = "scores", "errors", "errors.parquet"
_KEY = b"pronmetric.shard"
_GROUP = 4096  # rows in memory before they are written
_READERS = 16


def scores_schema(*, with_source: bool) -> pyarrow.Schema:
    """The columns of the scores; `with_source`: also what the source says."""
    import pyarrow as pa

    span = [("text", pa.string()), ("start", pa.int32()), ("end", pa.int32())]
    numbers = [("score", pa.float64()), ("probability", pa.float64())]
    source = pa.struct([("log_odds", pa.float64()), ("word", pa.string()), ("start", pa.int32()), ("end", pa.int32())])
    pronouns = pa.struct([*span, *numbers, *([("source", source)] if with_source else [])])
    words = pa.list_(pa.struct(span))
    return pa.schema(
        [
            ("input", pa.string()),
            ("row", pa.int64()),
            ("id", pa.string()),
            ("system", pa.string()),
            ("score", pa.float64()),
            ("errors", pa.float64()),
            ("preference", pa.float64()),
            ("words", pa.int32()),
            ("pronouns", pa.list_(pronouns)),
            *([("missing", words), ("surplus", words)] if with_source else []),
        ]
    )


def errors_schema() -> pyarrow.Schema:
    """The columns of the rows that were skipped."""
    import pyarrow as pa

    return pa.schema([("input", pa.string()), ("row", pa.int64()), ("reason", pa.string()), ("record", pa.string())])


class ShardWriter:
    """Writes the scores of a shard; the file gets its name at the end of the block, with the statistics."""

    def __init__(self, folder: Place, shard: Shard, name: str, *, with_source: bool) -> None:
        self._target, self._name, self._with_source = folder / SCORES / shard.name, name, with_source
        self._errors = folder / ERRORS / shard.name
        self._rows: list[dict[str, Any]] = []
        self._bad: list[dict[str, Any]] = []

    def __enter__(self) -> ShardWriter:
        """Open a partial file."""
        import pyarrow.parquet as pq

        self._schema = scores_schema(with_source=self._with_source)
        self._atomic = storage.atomic(self._target)
        self._file = pq.ParquetWriter(self._atomic.__enter__(), self._schema, compression="zstd")
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """Finish the file, or remove it after an error."""
        if kind is None:
            self._file.close()
        else:
            with suppress(OSError):
                self._file.close()
        self._atomic.__exit__(kind, error, trace)

    def add(self, row: Row, segment: SegmentScore) -> None:
        """Add the score of a row."""
        self._rows.append(
            {
                "input": self._name,
                "row": row.number,
                "id": row.id,
                "system": row.system,
                "score": segment.score,
                "errors": segment.errors,
                "preference": segment.preference,
                "words": segment.words,
                **_pronouns(segment),
            }
        )
        if len(self._rows) == _GROUP:
            self._flush()

    def skip(self, row: BadRow) -> None:
        """Add a row that cannot be scored."""
        self._bad.append({"input": self._name, "row": row.number, "reason": row.reason, "record": row.record})

    def finish(self, statistics: ShardStatistics) -> None:
        """Add the statistics; the rows that were skipped are written first, to a file of their own."""
        self._flush()
        if self._bad:
            _write_errors(self._errors, [self._bad])
        self._file.add_key_value_metadata({_KEY: strict_json.dump(statistics.record())})

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._file.write_batch(pa.RecordBatch.from_pylist(self._rows, schema=self._schema))
            self._rows = []


def _pronouns(segment: SegmentScore) -> dict[str, Any]:
    pronouns = [
        {**p._asdict(), "source": None if p.evidence is None else p.evidence._asdict()} for p in segment.pronouns
    ]
    without = segment.unmatched
    if without is None:
        return {"pronouns": pronouns}
    return {
        "pronouns": pronouns,
        "missing": [word._asdict() for word in without.missing],
        "surplus": [word._asdict() for word in without.surplus],
    }


def finished(folder: Place) -> frozenset[str]:
    """The names of the shards that are finished."""
    return frozenset(name for name in storage.files(folder / SCORES) if name.endswith(".parquet") and name[0] != ".")


def statistics(folder: Place, shards: Sequence[Shard]) -> ShardStatistics:
    """The statistics of all finished shards, merged in the order of the plan."""
    with ThreadPoolExecutor(_READERS) as pool:
        merged = ShardStatistics.empty()
        for one in pool.map(lambda shard: _statistics(folder / SCORES / shard.name), shards):
            merged = merged.merge(one)
    return merged


def _statistics(where: Place) -> ShardStatistics:
    import pyarrow
    import pyarrow.parquet as pq

    try:
        with where.system.open(where.path, "rb") as file:
            found = (pq.read_metadata(file).metadata or {})[_KEY]
        return ShardStatistics.read(strict_json.parse(found.decode()))
    except (pyarrow.ArrowException, OSError, KeyError, ValueError) as error:
        raise InputError(f"is broken ({error}); delete it and run again", file=where.url) from None


def write_errors(folder: Place, shards: Iterable[Shard]) -> None:
    """Merge the rows that were skipped into one file, in the order of the plan; without any there is no file."""
    named = set(storage.files(folder / ERRORS))
    parts = [folder / ERRORS / shard.name for shard in shards if shard.name in named]
    if parts:
        _write_errors(folder / ERROR_FILE, map(_read_errors, parts))


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
    """Remove partial files, the files that `write_errors` merged, and those of the steps of `dedupe`."""
    for part in (folder, folder / SCORES, folder / ERRORS):
        storage.remove_partial(part)
    for part in (folder / ERRORS, folder / dedupe.FOLDER):
        if storage.exists(part):
            part.system.rm(part.path, recursive=True)
