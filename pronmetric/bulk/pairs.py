"""A bulk run of `prepare`: the pronoun pairs of rows, each pair of texts once in all shards.

Step "compare": each shard writes its pairs, and their hashes in buckets. Step "unique": each bucket finds the pairs
that an earlier row has too. Step "collect": each shard writes the others. A `PairMaker` makes the pairs of a row.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.aligner import TokenPair
from pronmetric.bulk import parts, rows, run, storage, table
from pronmetric.bulk.columns import IDS, INTEGERS, STRING_LISTS, STRINGS, Columns
from pronmetric.bulk.job import Job, Step
from pronmetric.bulk.rows import Form, Reader
from pronmetric.bulk.run import Planned, Track, Work
from pronmetric.bulk.shards import ErrorRows, Results, ShardWriter
from pronmetric.bulk.statistics import CountedRows
from pronmetric.bulk.storage import Place
from pronmetric.schema import Alignment, Pair

if TYPE_CHECKING:
    import pyarrow

RESULTS = Results("pairs", CountedRows.read, CountedRows.merge)
COMPARE, UNIQUE, COLLECT = "compare", "unique", "collect"
CONFUSION = "confusion.json"
COLUMNS = Columns(
    {
        "id": IDS,
        "reference": STRINGS,
        "text": STRINGS,
        "context": STRING_LISTS,
        "system_context": STRING_LISTS,
        "system": STRINGS,
        "testset": STRINGS,
        "lp": STRINGS,
        "doc": STRINGS,
        "seg": INTEGERS,
        "ref": STRINGS,
    },
    ("id", "reference", "text"),
)
_PAIRS, _KEYS, _REPEATED = "pairs", "keys", "repeated"
_COUNTS = b"pronmetric.counts"
_ROWS = 1000  # pairs in memory
R = TypeVar("R")


class PairMaker(Protocol[R]):
    """Makes pairs of rows; it is sent to the workers."""

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns of pairs."""
        ...

    def row(self, value: Any, *, file: str, line: int) -> R:
        """The row of a record, see `rows.Parse`."""
        ...

    def tokens(self, row: R) -> TokenPair | None:
        """The words on which the alignment table is trained."""
        ...

    def pairs(
        self, rows: Iterable[R], align: Callable[[Iterable[TokenPair]], Iterator[Alignment]], counts: Counter[str]
    ) -> Iterator[Pair]:
        """The pairs, counted; repeated ones too."""
        ...

    def key(self, pair: Pair) -> bytes:
        """The same 16 bytes for pairs of which only the first is kept."""
        ...

    def to_row(self, pair: Pair) -> dict[str, Any]:
        """A row of the schema."""
        ...

    def keep(self, row: Mapping[str, Any], counts: Counter[str]) -> None:
        """Count a pair that is kept."""
        ...

    def drop(self, row: Mapping[str, Any], counts: Counter[str]) -> None:
        """Count a pair that is repeated."""
        ...

    def summary(self, counts: Mapping[str, int]) -> dict[str, Any]:
        """What the manifest says: "counts", and "confusion"."""
        ...


@dataclass(frozen=True, slots=True)
class Preparing(Generic[R]):
    """What a bulk run of `prepare` does. buckets: of the hashes of pairs."""

    maker: PairMaker[R]
    buckets: int

    def worker(self, job: Job) -> ShardPairs[R]:
        """The worker of a process."""
        return ShardPairs(job, self)


def form(maker: PairMaker[R]) -> Form[R]:
    """The form of the rows."""
    return Form(COLUMNS, maker.row)


class ShardPairs(Generic[R]):
    """Makes the pairs of shards; the alignment table is loaded at first use."""

    def __init__(self, job: Job, task: Preparing[R]) -> None:
        self._job, self._task, self._maker = job, task, task.maker
        self._folder = storage.place(job.output)
        self._reader = Reader(job.sources, form(task.maker))

    @cached_property
    def _aligner(self) -> AgreementAligner:
        return table.load(self._folder)

    def work(self, step: str, number: int) -> None:
        """Do one step for one shard or bucket, unless its file is there.

        Raises:
            InputError: a bad row, unless bad rows are skipped; or the table is missing.
        """
        steps: Mapping[str, tuple[Callable[[int], Place], Callable[[int], None]]] = {
            COMPARE: (partial(parts.file, self._folder, _KEYS), self._compare),
            UNIQUE: (partial(parts.file, self._folder, _REPEATED), self._unique),
            COLLECT: (self._target, self._collect),
        }
        target, do = steps[step]
        if not storage.exists(target(number)):
            with run.unless_finished(self._folder):
                do(number)

    def _target(self, number: int) -> Place:
        return self._folder / RESULTS.folder / self._job.shards[number].name

    def _compare(self, number: int) -> None:
        """Write the pairs of a shard, then their hashes, so that a shard with these has all."""
        shard = self._job.shards[number]
        errors = ErrorRows(self._folder, shard, self._job.sources[shard.file].name)
        counts, keys, read = Counter[str](), _Keys(self._task.buckets), 0

        def good() -> Iterator[R]:
            nonlocal read
            for row in rows.accept(found, skip=self._job.skip, leave_out=errors.add):
                read += 1
                yield row

        def pairs() -> Iterator[dict[str, Any]]:
            for pair in self._maker.pairs(good(), self._aligner.align_all, counts):
                keys.add(self._maker.key(pair))
                yield self._maker.to_row(pair)

        with closing(self._reader.read(shard)) as found:
            made = pairs()
            several = iter(lambda: list(islice(made, _ROWS)), [])
            parts.write(parts.file(self._folder, _PAIRS, number), self._maker.schema, several)
        errors.write()
        done = CountedRows(read + len(errors), len(errors), dict(counts))
        schema = _keys_schema().with_metadata({_COUNTS: json.dumps(done.record())})
        parts.write(parts.file(self._folder, _KEYS, number), schema, keys.parts)

    def _unique(self, bucket: int) -> None:
        """Write the positions of the pairs of each shard that repeat an earlier pair."""
        seen: set[bytes] = set()

        def repeated() -> Iterator[list[dict[str, Any]]]:
            for shard in self._job.shards:
                found = []
                for row in parts.read(parts.file(self._folder, _KEYS, shard.number), bucket):
                    if row["key"] in seen:
                        found.append({"position": row["position"]})
                    seen.add(row["key"])
                yield found

        parts.write(parts.file(self._folder, _REPEATED, bucket), _positions_schema(), repeated())

    def _collect(self, number: int) -> None:
        """Write the pairs of a shard that are not repeated."""
        repeated = {
            row["position"]
            for bucket in range(self._task.buckets)
            for row in parts.read(parts.file(self._folder, _REPEATED, bucket), number)
        }
        stored = parts.metadata(parts.file(self._folder, _KEYS, number))[_COUNTS]
        compared = CountedRows.read(json.loads(stored))
        counts, position = Counter(compared.counts), 0
        pairs = parts.file(self._folder, _PAIRS, number)
        with ShardWriter(self._target(number), self._maker.schema) as writer:
            for part in range(parts.number(pairs)):
                for row in parts.read(pairs, part):
                    if position in repeated:
                        self._maker.drop(row, counts)
                    else:
                        self._maker.keep(row, counts)
                        writer.add(row)
                    position += 1
            writer.finish(CountedRows(compared.rows, compared.skipped, dict(counts)))


class _Keys:
    """The hashes of the pairs of a shard, in order, by bucket."""

    def __init__(self, buckets: int) -> None:
        self.parts: list[list[dict[str, Any]]] = [[] for _ in range(buckets)]
        self._number = 0

    def add(self, key: bytes) -> None:
        """Add the next one."""
        self.parts[parts.bucket_of(key, len(self.parts))].append({"key": key, "position": self._number})
        self._number += 1


def _keys_schema() -> pyarrow.Schema:
    import pyarrow as pa

    return pa.schema([("key", pa.binary(16)), ("position", pa.int64())])


def _positions_schema() -> pyarrow.Schema:
    import pyarrow as pa

    return pa.schema([("position", pa.int64())])


def make(
    planned: Planned[CountedRows],
    job: Job,
    task: Preparing[R],
    connect: Callable[[], AbstractContextManager[Work]],
    *,
    track: Track,
) -> CountedRows:
    """Make the pairs of the unfinished shards, and write errors, confusions and manifest.

    Raises:
        InputError: as `run.work`.
    """
    found = run.work(planned, job, _steps(planned, task.buckets), connect, track=track)
    content = task.maker.summary(found.counts)
    storage.write_json(planned.folder / CONFUSION, content.pop("confusion"))
    run.finish(planned, found, content)
    return found


def _steps(planned: Planned[CountedRows], buckets: int) -> Iterator[Step]:
    """The steps that are not finished; all shards are compared while one is left, as its pairs may repeat theirs."""
    compared, unique = (parts.finished(planned.folder, step) for step in (_KEYS, _REPEATED))
    numbers = planned.unfinished
    steps = [
        Step(COMPARE, [shard.number for shard in planned.shards if shard.number not in compared]),
        Step(UNIQUE, [number for number in range(buckets) if number not in unique], buckets=True),
        Step(COLLECT, numbers),
    ]
    return (step for step in steps if step.numbers)
