"""A worker: it loads the metric once, and scores one shard after the other. The only file here that loads torch."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pronmetric.bulk import dedupe, storage
from pronmetric.bulk.job import BUCKET, COLLECT, SCORE, SPREAD, Job
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.rows import BadRow, Reader, Row
from pronmetric.bulk.shards import SCORES, ShardWriter
from pronmetric.bulk.statistics import INTERVAL, ShardStatistics, SystemSums
from pronmetric.bulk.storage import Place
from pronmetric.errors import PronmetricError
from pronmetric.scoring.score import Counts, SegmentScore, Tally
from pronmetric.signature import Signature
from pronmetric.text.context import NONE, Text

if TYPE_CHECKING:
    from pronmetric.metric import PronounMetric


Stream = Callable[[Iterable[Text], Counts], Iterator[SegmentScore]]


def signature(metric: PronounMetric, *, context: str) -> Signature:
    """The signature of bulk scores: that of `score`, with the kind of interval in place of the resampling's seed."""
    fields = metric.signature(context=context).fields
    return Signature(tuple(field for field in fields if field[0] != "seed")).plus(interval=INTERVAL)


class ShardScorer:
    """Works on the shards of a job; the metric is loaded at first use.

    Each distinct (context, text) is encoded once in a shard, or in all shards by the steps of `pronmetric.bulk.dedupe`.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._folder = storage.place(job.output)
        self._with_source = job.model.source_lang is not None
        self._reader = Reader(job.sources, with_source=self._with_source)

    @cached_property
    def _metric(self) -> PronounMetric:
        return _load(self._job)

    def work(self, step: str, number: int) -> None:
        """Do one step for one shard or bucket, unless its file is there.

        Raises:
            InputError: a bad row, unless bad rows are skipped.
            PronmetricError: the checkpoint is missing here, or is another one.
        """
        steps: Mapping[str, tuple[Callable[[int], Place], Callable[[int], None]]] = {
            SCORE: (self._scores, self._score),
            SPREAD: (partial(dedupe.texts_file, self._folder), self._spread),
            BUCKET: (partial(dedupe.scores_file, self._folder), self._bucket),
            COLLECT: (self._scores, self._collect),
        }
        target, run = steps[step]
        if not storage.exists(target(number)):
            run(number)

    def _scores(self, number: int) -> Place:
        return self._folder / SCORES / self._job.shards[number].name

    def _score(self, number: int) -> None:
        self._write(self._job.shards[number], self._stream)

    def _spread(self, number: int) -> None:
        with closing(self._reader.read(self._job.shards[number])) as rows:
            target = dedupe.texts_file(self._folder, number)
            dedupe.write_texts(target, self._texts(rows), buckets=self._job.buckets)

    def _bucket(self, number: int) -> None:
        dedupe.score_bucket(self._folder, number, shards=len(self._job.shards), stream=self._stream)

    def _collect(self, number: int) -> None:
        look_up = dedupe.look_up(self._folder, number, buckets=self._job.buckets)
        self._write(self._job.shards[number], lambda texts, _: look_up(texts))

    def _write(self, shard: Shard, stream: Stream) -> None:
        name = self._job.sources[shard.file].name
        with (
            closing(self._reader.read(shard)) as rows,
            ShardWriter(self._folder, shard, name, with_source=self._with_source) as writer,
        ):
            writer.finish(self._fill(rows, writer, stream))

    def _fill(self, rows: Iterable[Row | BadRow], writer: ShardWriter, stream: Stream) -> ShardStatistics:
        waiting: deque[Row] = deque()
        counts, tallies, skipped, scored = Counts(), dict[str | None, Tally](), 0, 0

        def texts() -> Iterator[Text]:
            nonlocal skipped
            for row in rows:
                if isinstance(row, BadRow):
                    self._refuse(row)
                    writer.skip(row)
                    skipped += 1
                else:
                    waiting.append(row)
                    yield self._text(row)

        for segment in stream(texts(), counts):
            row = waiting.popleft()
            tallies.setdefault(row.system, Tally()).add(segment)
            writer.add(row, segment)
            scored += 1
        sums = {name: SystemSums.of(tally) for name, tally in tallies.items()}
        return ShardStatistics(scored + skipped, skipped, sums, counts)

    def _texts(self, rows: Iterable[Row | BadRow]) -> Iterator[Text]:
        for row in rows:
            if isinstance(row, BadRow):
                self._refuse(row)
            else:
                yield self._text(row)

    def _refuse(self, row: BadRow) -> None:
        """Raise the error of a row, unless bad rows are skipped."""
        if not self._job.skip:
            raise row.error

    def _text(self, row: Row) -> Text:
        return row.text._replace(context="") if self._job.context == NONE else row.text

    def _stream(self, texts: Iterable[Text], counts: Counts) -> Iterator[SegmentScore]:
        return self._metric.stream(texts, batch_size=self._job.batch_size, counts=counts)


def _load(job: Job) -> PronounMetric:
    from pronmetric.metric import PronounMetric

    metric = PronounMetric.from_pretrained(**asdict(job.model))
    if (found := str(signature(metric, context=job.context))) != job.signature:
        raise PronmetricError(f"a worker has another checkpoint or version: expected {job.signature}, got {found}")
    return metric
