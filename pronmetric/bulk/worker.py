"""A worker: it loads the metric once, scores one shard after the other, and writes the rows of scores.

The only file here that loads torch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pronmetric.bulk import rows, storage
from pronmetric.bulk.job import Job
from pronmetric.bulk.rows import Reader, Row
from pronmetric.bulk.run import unless_finished
from pronmetric.bulk.shards import SCORES, ErrorRows, ShardWriter
from pronmetric.bulk.statistics import ShardStatistics, SystemSums
from pronmetric.bulk.storage import Place
from pronmetric.errors import PronmetricError
from pronmetric.scoring.score import Counts, SegmentScore, Tally
from pronmetric.signature import Signature
from pronmetric.text.context import NONE, Text

if TYPE_CHECKING:
    import pyarrow

    from pronmetric.metric import PronounMetric


@dataclass(frozen=True, slots=True)
class Model:
    """The metric that workers load; the fields are the arguments of `PronounMetric.from_pretrained`."""

    model: str | None
    precision: str | None
    gpus: int
    allow_network: bool
    storage: str | None
    source_lang: str | None
    no_source: bool = False
    lang: str | None = None


@dataclass(frozen=True, slots=True)
class Scoring:
    """What a bulk run of `score` does.

    context: the kind of context, "given" or "none".
    signature: that of the plan, which each worker's metric must have. with_source, context_size: as for `text_of`.
    evidence: whether pronouns have what a reader of sources says. gaps: whether it finds missing pronouns.
    """

    model: Model
    context: str
    batch_size: int | None
    signature: str
    with_source: bool | None = False
    evidence: bool = False
    gaps: bool = False
    context_size: int | None = None

    def worker(self, job: Job) -> ShardScorer:
        """The worker of a process."""
        return ShardScorer(job, self)


class ShardScorer:
    """Scores the shards of a job; the metric is loaded at first use.

    Each distinct (context, text) is encoded once in a shard.
    """

    def __init__(self, job: Job, task: Scoring) -> None:
        self._job, self._task = job, task
        self._folder = storage.place(job.output)
        self._reader = Reader(job.sources, rows.to_score(with_source=task.with_source, context_size=task.context_size))

    @cached_property
    def _metric(self) -> PronounMetric:
        return _load(self._task)

    def work(self, number: int) -> None:
        """Score a shard, unless its file is there.

        Raises:
            InputError: a bad row, unless bad rows are skipped.
            PronmetricError: the checkpoint is missing here, or is another one.
        """
        target = self._folder / SCORES / self._job.shards[number].name
        if not storage.exists(target):
            with unless_finished(self._folder):
                self._write(number, target)

    def _write(self, number: int, target: Place) -> None:
        shard = self._job.shards[number]
        name = self._job.sources[shard.file].name
        errors = ErrorRows(self._folder, shard, name)
        unmatched = self._task.model.source_lang is not None
        schema = scores_schema(evidence=self._task.evidence, gaps=self._task.gaps, unmatched=unmatched)
        waiting: deque[Row] = deque()
        counts, tallies, scored = Counts(), dict[str | None, Tally](), 0
        with closing(self._reader.read(shard)) as found, ShardWriter(target, schema) as writer:

            def texts() -> Iterator[Text]:
                for row in rows.accept(found, skip=self._job.skip, leave_out=errors.add):
                    waiting.append(row)
                    yield self._text(row)

            for segment in self._stream(texts(), counts):
                row = waiting.popleft()
                tallies.setdefault(row.system, Tally()).add(segment, row.doc)
                writer.add(scores_row(row, segment, name=name))
                scored += 1
            errors.write()
            sums = {name: SystemSums.of(tally) for name, tally in tallies.items()}
            writer.finish(ShardStatistics(scored + len(errors), len(errors), sums, counts))

    def _text(self, row: Row) -> Text:
        return row.text.without_context() if self._task.context == NONE else row.text

    def _stream(self, texts: Iterable[Text], counts: Counts) -> Iterator[SegmentScore]:
        return self._metric.stream(texts, batch_size=self._task.batch_size, counts=counts)


def _load(task: Scoring) -> PronounMetric:
    from pronmetric.metric import PronounMetric

    # where none is asked for it depends on the machine, so it is that of the plan
    precision = Signature.parse(task.signature)["precision"]
    metric = PronounMetric.from_pretrained(**{**asdict(task.model), "precision": precision})
    if (found := str(sign(metric, context=task.context))) != task.signature:
        raise PronmetricError(f"a worker has another checkpoint or version: expected {task.signature}, got {found}")
    return metric


def sign(metric: PronounMetric, *, context: str) -> Signature:
    """The signature of the rows: that of scores with sources, and the table that counts unmatched pronouns."""
    signed, table = metric.signature(context=context, counts=Counts(with_source=1)), metric.source
    return signed if table is None else signed.plus(unmatched=f"{table.language}-{table.hash}")


def scores_schema(*, evidence: bool, unmatched: bool, gaps: bool = False) -> pyarrow.Schema:
    """The columns of the scores.

    evidence: also what the source says about each pronoun. unmatched: also missing and surplus pronouns. gaps: also the
    errors apart, and where pronouns are likely missing.
    """
    import pyarrow as pa

    span = [("text", pa.string()), ("start", pa.int32()), ("end", pa.int32())]
    numbers = [("score", pa.float64()), ("probability", pa.float64())]
    source = pa.struct([("log_odds", pa.float64()), ("word", pa.string()), ("start", pa.int32()), ("end", pa.int32())])
    own = [("surplus", pa.float64())] if gaps else []
    pronouns = pa.struct([*span, *numbers, *own, *([("source", source)] if evidence else [])])
    words = pa.list_(pa.struct(span))
    places = pa.list_(pa.struct([("start", pa.int32()), ("form", pa.string()), ("probability", pa.float64())]))
    kinds = ("expected_wrong", "expected_surplus", "expected_missing")
    apart = [*((kind, pa.float64()) for kind in kinds), ("gaps", places)]
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
            *(apart if gaps else []),
            *([("missing", words), ("surplus", words)] if unmatched else []),
        ]
    )


def scores_row(row: Row, segment: SegmentScore, *, name: str) -> dict[str, Any]:
    """The score of a row of the input file `name`."""
    return {
        "input": name,
        "row": row.number,
        "id": row.id,
        "system": row.system,
        "score": segment.score,
        "errors": segment.errors,
        "preference": segment.preference,
        "words": segment.words,
        **_pronouns(segment),
        **_gaps(segment),
    }


def _gaps(segment: SegmentScore) -> dict[str, Any]:
    if segment.missing is None:
        return {}
    places = [gap._asdict() for gap in segment.gaps]
    numbers = {"expected_surplus": segment.surplus, "expected_missing": segment.missing}
    return {"expected_wrong": segment.wrong, **numbers, "gaps": places}


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
