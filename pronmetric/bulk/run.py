"""A bulk run: plan, the shards that are not finished, then errors and manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from pronmetric.bulk import inputs, plan, shards, storage
from pronmetric.bulk.inputs import InputFile
from pronmetric.bulk.job import Job
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.statistics import ShardStatistics
from pronmetric.bulk.storage import Place
from pronmetric.errors import InputError
from pronmetric.signature import Signature
from pronmetric.version import __version__

MANIFEST = "manifest.json"

Work = Callable[[Job, Sequence[int]], Iterator[int]]
Track = Callable[[Sequence[int]], AbstractContextManager[Callable[[int], object]]]


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run: its folder, plan and shards, and the names of the shards that are finished."""

    folder: Place
    record: dict[str, Any]
    shards: Sequence[Shard]
    finished: frozenset[str]

    @property
    def unfinished(self) -> list[int]:
        """The numbers of the shards that are left, in order."""
        return [shard.number for shard in self.shards if shard.name not in self.finished]


@contextmanager
def unless_finished(folder: Place) -> Iterator[None]:
    """Ignore that a file is gone where another driver has finished the run, and removed its partial files."""
    try:
        yield
    except FileNotFoundError:
        if not storage.exists(folder / MANIFEST):
            raise


def prepare(folder: Place, surveyed: Sequence[InputFile], signature: Signature, *, rows: int | None) -> PlannedRun:
    """Plan a run, or take up the one in the folder. rows: of a shard; None: by the number of all rows.

    Raises:
        InputError: no rows, or the folder holds something else.
    """
    total = inputs.rows_of(surveyed)
    if not total:
        raise InputError("has no rows" if len(surveyed) == 1 else "no input has rows", file=surveyed[0].source.name)
    rows = plan.default_rows(total) if rows is None else rows
    record = plan.record(surveyed, signature, rows=rows)
    plan.adopt(folder, record)
    cut = plan.cut(surveyed, rows=rows)
    return PlannedRun(folder, record, cut, shards.finished(folder))


def work(
    planned: PlannedRun,
    job: Job,
    connect: Callable[[], AbstractContextManager[Work]],
    *,
    track: Track,
) -> ShardStatistics:
    """Do the shards that are left; the statistics of all.

    connect: gives the function that does shards; not called if all are finished. track: shows the progress; its
    function is called with the number of each finished shard.

    Raises:
        InputError: a bad row, unless bad rows are skipped; rows were skipped by an earlier run; or an input changed.
    """
    if planned.unfinished:
        with connect() as do, track(planned.unfinished) as advance:
            for number in do(job, planned.unfinished):
                advance(number)
    found = shards.statistics(planned.folder, planned.shards)
    if found.skipped and not job.skip:
        message = f"an earlier run skipped {found.skipped} bad rows here; give `on_error=skip`, or a new folder"
        raise InputError(message, file=planned.folder.url)
    return found


def finish(planned: PlannedRun, found: ShardStatistics, content: Mapping[str, Any]) -> None:
    """Write errors and manifest, with `content` about the results."""
    if planned.unfinished or not storage.exists(planned.folder / MANIFEST):
        shards.write_errors(planned.folder, planned.shards, skipped=found.skipped)
        head = {"version": __version__, "shards": len(planned.shards), "rows": found.rows, "skipped": found.skipped}
        storage.write_json(planned.folder / MANIFEST, {**planned.record, **head, **content})
    shards.clean(planned.folder)
