"""What the products of one preparation share: settings, survey, output folder; and how a split is written."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from data_prep.settings import Reporter, Settings
from data_prep.survey import Survey
from pronmetric.data import arrow

Counts = Counter[tuple[str, ...]]
"""Numbers kept and dropped, named (stage, what) or (stage, what, why)."""


@dataclass(frozen=True, slots=True)
class Work:
    """One preparation. folder: where the splits are written."""

    settings: Settings
    folder: Path
    survey: Survey
    reporter: Reporter

    def write(self, split: str, records: Iterable[arrow.Record], features: Any) -> int:
        """Write a split; its number of rows."""
        stream = self.folder / f".{split}"
        rows = arrow.write_rows(stream, records, features)
        arrow.save_split(self.folder / split, stream, features)
        stream.unlink()
        return rows

    @contextmanager
    def open_splits(self, names: Sequence[str], features: Any) -> Iterator[Mapping[str, arrow.RowFile]]:
        """Files to which rows of several splits are added in turn; they become splits at the end."""
        waiting = self.folder / ".rows"
        waiting.mkdir()
        with ExitStack() as stack:
            yield {name: stack.enter_context(arrow.RowFile(waiting / name, features)) for name in names}
        for name in names:
            arrow.save_split(self.folder / name, waiting / name, features)
        shutil.rmtree(waiting)


@dataclass(frozen=True, slots=True)
class Product:
    """Splits that were written: their numbers of rows, and what was counted of each."""

    rows: dict[str, int] = field(default_factory=dict)
    counts: defaultdict[str, Counts] = field(default_factory=lambda: defaultdict(Counter))


class Unique:
    """Whether a record, by its texts, is seen for the first time."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def __call__(self, *key: str) -> bool:
        """True once for each key."""
        digest = blake2b("\0".join(key).encode(), digest_size=12).digest()
        if digest in self._seen:
            return False
        self._seen.add(digest)
        return True
