"""A bulk run of `score`: plan, the shards that are not finished, then errors and manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from pronmetric import __version__
from pronmetric.bulk import dedupe, inputs, plan, shards, storage
from pronmetric.bulk.inputs import Surveyed
from pronmetric.bulk.job import BUCKET, COLLECT, SCORE, SPREAD, Job, Step
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.statistics import ShardStatistics, merge_counts
from pronmetric.bulk.storage import Place
from pronmetric.errors import InputError
from pronmetric.results.write import counts_entry, system
from pronmetric.signature import Signature

MANIFEST = "manifest.json"
NO_SYSTEM = "all"
"""The name of rows without a system."""

Work = Callable[[Job, Step], Iterator[int]]
Track = Callable[[Step], AbstractContextManager[Callable[[int], object]]]


@dataclass(frozen=True, slots=True)
class Planned:
    """A run: its folder, inputs and shards, and the names of those that are finished."""

    folder: Place
    surveyed: Sequence[Surveyed]
    record: dict[str, Any]
    shards: Sequence[Shard]
    finished: frozenset[str]

    @property
    def unfinished(self) -> list[Shard]:
        """The shards to score, in order."""
        return [shard for shard in self.shards if shard.name not in self.finished]


def prepare(folder: Place, surveyed: Sequence[Surveyed], signature: Signature, *, rows: int | None) -> Planned:
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
    return Planned(folder, surveyed, record, plan.cut(surveyed, rows=rows), shards.finished(folder))


def score(
    planned: Planned, job: Job, connect: Callable[[], AbstractContextManager[Work]], *, track: Track
) -> ShardStatistics:
    """Score the unfinished shards, and write errors and manifest.

    connect: gives the function that does a step; not called if all shards are finished. track: shows the progress of a
    step; its function is called with the number of each finished shard or bucket.

    Raises:
        InputError: a bad row, unless bad rows are skipped; or rows were skipped by an earlier run.
    """
    if planned.unfinished:
        with connect() as work:
            for step in _steps(planned, job):
                with track(step) as advance:
                    for number in work(job, step):
                        advance(number)
    found = shards.statistics(planned.folder, planned.shards)
    if found.skipped and not job.skip:
        message = f"an earlier run skipped {found.skipped} bad rows here; give --on-error skip, or a new folder"
        raise InputError(message, file=planned.folder.url)
    if planned.unfinished or not storage.exists(planned.folder / MANIFEST):
        found = replace(found, counts=merge_counts(found.counts, dedupe.counts(planned.folder)))
        shards.write_errors(planned.folder, planned.shards)
        storage.write_json(planned.folder / MANIFEST, _manifest(planned, found))
    shards.clean(planned.folder)
    return found


def _steps(planned: Planned, job: Job) -> Iterator[Step]:
    """The steps that are not finished."""
    numbers = [shard.number for shard in planned.unfinished]
    if not job.buckets:
        yield Step(SCORE, numbers)
        return
    spread, scored = (dedupe.finished(planned.folder, step) for step in (dedupe.TEXTS, dedupe.SCORED))
    yield from (
        step
        for step in (
            Step(SPREAD, [number for number in numbers if number not in spread]),
            Step(BUCKET, [number for number in range(job.buckets) if number not in scored]),
            Step(COLLECT, numbers),
        )
        if step.numbers
    )


def _manifest(planned: Planned, found: ShardStatistics) -> dict[str, Any]:
    """What was scored, from what, and the scores of systems."""
    return {
        **planned.record,
        "version": __version__,
        "shards": len(planned.shards),
        "rows": found.rows,
        "scored": found.rows - found.skipped,
        "skipped": found.skipped,
        "counts": counts_entry(found.counts),
        "systems": [system(NO_SYSTEM if name is None else name, s.system_score()) for name, s in found.systems.items()],
    }
