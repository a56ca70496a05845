"""What the steps of a run hand on, by shard or bucket: Arrow files in the output folder, of one record batch a part.

A bucket has about `BUCKET` rows, whatever the number of rows, so that memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pronmetric.bulk import storage
from pronmetric.bulk.shards import WAITING
from pronmetric.bulk.storage import Place

if TYPE_CHECKING:
    import pyarrow

BUCKET = 2**20
_SUFFIX = ".arrow"


def buckets(rows: int) -> int:
    """The number of buckets for so many rows.

    >>> [buckets(rows) for rows in (1, 2**20, 10**9)]
    [1, 1, 954]
    """
    return -(-rows // BUCKET)


def bucket_of(key: bytes, buckets: int) -> int:
    """The bucket of a hash."""
    return int.from_bytes(key[:8], "big") % buckets


def file(folder: Place, step: str, number: int) -> Place:
    """The file of a shard or bucket."""
    return folder / WAITING / step / f"{number:06d}{_SUFFIX}"


def finished(folder: Place, step: str) -> frozenset[int]:
    """The numbers of the files of a step that are finished."""
    names = storage.files(folder / WAITING / step)
    return frozenset(int(name.removesuffix(_SUFFIX)) for name in names if not name.startswith("."))


def write(target: Place, schema: pyarrow.Schema, parts: Iterable[list[dict[str, Any]]]) -> None:
    """Write one record batch for each part."""
    import pyarrow as pa

    with storage.atomic(target) as file, pa.ipc.new_file(file, schema) as writer:
        for rows in parts:
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))


def read(where: Place, part: int) -> list[dict[str, Any]]:
    """The rows of a part."""
    import pyarrow as pa

    with where.system.open(where.path, "rb") as file, pa.ipc.open_file(file) as reader:
        return list(reader.get_batch(part).to_pylist())


def number(where: Place) -> int:
    """The number of parts."""
    import pyarrow as pa

    with where.system.open(where.path, "rb") as file, pa.ipc.open_file(file) as reader:
        return int(reader.num_record_batches)


def metadata(where: Place) -> Mapping[bytes, bytes]:
    """The metadata of the schema."""
    import pyarrow as pa

    with where.system.open(where.path, "rb") as file, pa.ipc.open_file(file) as reader:
        return dict(reader.schema.metadata or {})
