"""The statistics of a run that counts: rows, and numbers by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CountedRows:
    """Rows of the input, those that were skipped, and further counts by name."""

    rows: int
    skipped: int
    counts: Mapping[str, int]

    def merge(self, other: CountedRows) -> CountedRows:
        """Those of the rows of both."""
        counts = Counter(self.counts)
        counts.update(other.counts)
        return CountedRows(self.rows + other.rows, self.skipped + other.skipped, dict(counts))

    def record(self) -> dict[str, Any]:
        """In JSON."""
        return asdict(self)

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> CountedRows:
        """What `record` wrote."""
        return cls(**record)
