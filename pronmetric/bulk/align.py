"""A bulk run of `align`: the links of each row, by the alignment table of the run."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.aligner import TokenPair, split_tokens
from pronmetric.alignment.links import Symmetrize, to_pharaoh
from pronmetric.bulk import rows, run, storage, table
from pronmetric.bulk.columns import IDS, STRINGS, Columns
from pronmetric.bulk.job import Job, Step
from pronmetric.bulk.rows import Form, Reader
from pronmetric.bulk.run import Planned, Track, Work
from pronmetric.bulk.shards import ErrorRows, Results, ShardWriter
from pronmetric.bulk.statistics import CountedRows
from pronmetric.text import records
from pronmetric.text.entry import Entry

if TYPE_CHECKING:
    import pyarrow

RESULTS = Results("links", CountedRows.read, CountedRows.merge)
ALIGN = "align"


class TokenRow(NamedTuple):
    """A row to align: its number in the file from 1, its id as text (or None), the tokens of both sides."""

    number: int
    id: str | None
    tokens: TokenPair


@dataclass(frozen=True, slots=True)
class Aligning:
    """What a bulk run of `align` does. a, b: the columns of the two texts, with spaces between tokens."""

    a: str
    b: str
    symmetrize: Symmetrize

    @property
    def form(self) -> Form[TokenRow]:
        """The form of its rows."""
        columns = Columns({"id": IDS, self.a: STRINGS, self.b: STRINGS}, (self.a, self.b))
        return Form(columns, partial(_row, a=self.a, b=self.b))

    def worker(self, job: Job) -> ShardAligner:
        """The worker of a process."""
        return ShardAligner(job, self)


def _row(value: Any, *, file: str, line: int, a: str, b: str) -> TokenRow:
    entry = Entry(value, file=file, line=line, expected=f'an object {{"{a}": ..., "{b}": ...}}')
    one, other = (split_tokens(entry.text(name)) for name in (a, b))
    return TokenRow(line, records.as_text(entry, "id"), (one, other))


def schema() -> pyarrow.Schema:
    """The columns of the links."""
    import pyarrow as pa

    return pa.schema([("input", pa.string()), ("row", pa.int64()), ("id", pa.string()), ("links", pa.string())])


class ShardAligner:
    """Aligns the rows of shards; the table is loaded at first use."""

    def __init__(self, job: Job, task: Aligning) -> None:
        self._job, self._task = job, task
        self._folder = storage.place(job.output)
        self._reader = Reader(job.sources, task.form)

    @cached_property
    def _aligner(self) -> AgreementAligner:
        return table.load(self._folder, symmetrize=self._task.symmetrize)

    def work(self, step: str, number: int) -> None:
        """Align a shard, unless its file is there.

        Raises:
            InputError: a bad row, unless bad rows are skipped; or the table is missing.
        """
        shard = self._job.shards[number]
        name = self._job.sources[shard.file].name
        target = self._folder / RESULTS.folder / shard.name
        if storage.exists(target):
            return
        errors, counts, waiting = ErrorRows(self._folder, shard, name), Counter[str](), deque[TokenRow]()
        with closing(self._reader.read(shard)) as found, ShardWriter(target, schema()) as writer:

            def pairs() -> Iterator[TokenPair]:
                for row in rows.accept(found, skip=self._job.skip, leave_out=errors.add):
                    waiting.append(row)
                    yield row.tokens

            for alignment in self._aligner.align_all(pairs()):
                row = waiting.popleft()
                counts.update(aligned=1, links=len(alignment.links), without_links=not alignment.links)
                writer.add({"input": name, "row": row.number, "id": row.id, "links": to_pharaoh(alignment)})
            errors.write()
            writer.finish(CountedRows(counts["aligned"] + len(errors), len(errors), dict(counts)))


def align(
    planned: Planned[CountedRows], job: Job, connect: Callable[[], AbstractContextManager[Work]], *, track: Track
) -> CountedRows:
    """Align the unfinished shards, and write errors and manifest.

    Raises:
        InputError: as `run.work`.
    """
    found = run.work(planned, job, [Step(ALIGN, planned.unfinished)], connect, track=track)
    run.finish(planned, found, dict(found.counts))
    return found
