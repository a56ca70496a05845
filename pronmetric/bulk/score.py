"""A bulk run of `score`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from pronmetric.bulk import dedupe, parts, run
from pronmetric.bulk.job import Job, Step
from pronmetric.bulk.run import Planned, Track, Work
from pronmetric.bulk.statistics import ShardStatistics, merge_counts
from pronmetric.bulk.worker import BUCKET, COLLECT, SCORE, SPREAD
from pronmetric.results.write import counts_entry, system

NO_SYSTEM = "(no system)"
"""How rows without a system are shown; in the manifest the name of their system is null."""


def score(
    planned: Planned,
    job: Job,
    connect: Callable[[], AbstractContextManager[Work]],
    *,
    buckets: int,
    track: Track,
) -> ShardStatistics:
    """Score the unfinished shards, and write errors and manifest. buckets: of `dedupe`; 0 without it.

    Raises:
        InputError: as `run.work`.
    """
    found = run.work(planned, job, _steps(planned, buckets), connect, track=track)
    found = replace(found, counts=merge_counts(found.counts, dedupe.counts(planned.folder)))
    run.finish(planned, found, _content(found))
    return found


def _steps(planned: Planned, buckets: int) -> Iterator[Step]:
    """The steps that are not finished."""
    numbers = planned.unfinished
    if not buckets:
        yield Step(SCORE, numbers, gpu=True)
        return
    spread, scored = (parts.finished(planned.folder, step) for step in (dedupe.TEXTS, dedupe.SCORED))
    yield from (
        step
        for step in (
            Step(SPREAD, [number for number in numbers if number not in spread]),
            Step(BUCKET, [number for number in range(buckets) if number not in scored], buckets=True, gpu=True),
            Step(COLLECT, numbers),
        )
        if step.numbers
    )


def _content(found: ShardStatistics) -> dict[str, Any]:
    """What was scored, and the scores of systems."""
    systems = [{**system(name or "", sums.system_score()), "system": name} for name, sums in found.systems.items()]
    return {"scored": found.rows - found.skipped, "counts": counts_entry(found.counts), "systems": systems}
