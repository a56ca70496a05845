"""Files of rows: records as JSON lines or Parquet, and the rows of a bulk run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def jsonl(path: Path, records: Iterable[Any]) -> Path:
    """Write one JSON object a line; returns the path."""
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records), encoding="utf-8")
    return path


def write(path: Path, records: Iterable[Any]) -> Path:
    """Write Parquet or JSON lines, by the name's suffix; returns the path."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.suffix != ".parquet":
        return jsonl(path, records)
    pq.write_table(pa.Table.from_pylist(list(records)), path)
    return path


def parts(folder: Path) -> list[dict[str, Any]]:
    """The rows of all shards in a folder, in order."""
    import pyarrow.parquet as pq

    return [row for path in sorted(folder.glob("part-*")) for row in pq.read_table(path).to_pylist()]
