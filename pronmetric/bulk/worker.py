"""A worker: it loads the metric once, and scores one shard after the other. The only file here that loads torch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

from pronmetric.bulk import storage
from pronmetric.bulk.job import Job
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.rows import BadRow, Reader, Row
from pronmetric.bulk.shards import SCORES, ShardWriter
from pronmetric.bulk.statistics import INTERVAL, ShardStatistics, SystemSums
from pronmetric.errors import PronmetricError
from pronmetric.scoring.score import Counts, Tally
from pronmetric.signature import Signature
from pronmetric.text.context import NONE, Text

if TYPE_CHECKING:
    from pronmetric.metric import PronounMetric


def signature(metric: PronounMetric, *, context: str) -> Signature:
    """The signature of bulk scores: that of `score`, with the kind of interval in place of the resampling's seed."""
    fields = metric.signature(context=context).fields
    return Signature(tuple(field for field in fields if field[0] != "seed")).plus(interval=INTERVAL)


class ShardScorer:
    """Scores shards of a job; each distinct (context, text) of a shard is encoded once."""

    def __init__(self, job: Job, metric: PronounMetric | None = None) -> None:
        self._job = job
        self._metric = _load(job) if metric is None else metric
        self._folder = storage.place(job.output)
        self._with_source = self._metric.source is not None
        self._reader = Reader(job.sources, with_source=self._with_source)

    def score(self, shard: Shard) -> None:
        """Score a shard and write its file, unless the file is there.

        Raises:
            InputError: a bad row, unless bad rows are skipped.
        """
        target = self._folder / SCORES / shard.name
        if target.system.exists(target.path):
            return
        name = self._job.sources[shard.file].name
        with (
            closing(self._reader.read(shard)) as rows,
            ShardWriter(self._folder, shard, name, with_source=self._with_source) as writer,
        ):
            writer.finish(self._score(rows, writer))

    def _score(self, rows: Iterable[Row | BadRow], writer: ShardWriter) -> ShardStatistics:
        waiting: deque[Row] = deque()
        counts, tallies, skipped = Counts(), dict[str | None, Tally](), 0

        def texts() -> Iterator[Text]:
            nonlocal skipped
            for row in rows:
                if isinstance(row, BadRow):
                    if not self._job.skip:
                        raise row.error
                    writer.skip(row)
                    skipped += 1
                    continue
                waiting.append(row)
                yield row.text._replace(context="") if self._job.context == NONE else row.text

        scored = 0
        for segment in self._metric.stream(texts(), batch_size=self._job.batch_size, counts=counts):
            row = waiting.popleft()
            tallies.setdefault(row.system, Tally()).add(segment)
            writer.add(row, segment)
            scored += 1
        sums = {name: SystemSums.of(tally) for name, tally in tallies.items()}
        return ShardStatistics(scored + skipped, skipped, sums, counts)


def _load(job: Job) -> PronounMetric:
    from pronmetric.metric import PronounMetric

    metric = PronounMetric.from_pretrained(**asdict(job.model))
    if (found := str(signature(metric, context=job.context))) != job.signature:
        raise PronmetricError(f"a worker has another checkpoint or version: expected {job.signature}, got {found}")
    return metric
