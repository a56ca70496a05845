"""A bulk run of `score`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from pronmetric.bulk import run
from pronmetric.bulk.job import Job
from pronmetric.bulk.run import PlannedRun, Track, Work
from pronmetric.bulk.statistics import ShardStatistics
from pronmetric.results.write import counts_entry, system
from pronmetric.scoring.score import SPEAKERS
from pronmetric.signature import Signature

NO_SYSTEM = "(no system)"
"""How rows without a system are shown; in the manifest the name of their system is null."""


def score(
    planned: PlannedRun,
    job: Job,
    connect: Callable[[], AbstractContextManager[Work]],
    *,
    track: Track,
) -> ShardStatistics:
    """Score the unfinished shards, and write errors and manifest.

    Raises:
        InputError: as `run.work`.
    """
    found = run.work(planned, job, connect, track=track)
    run.finish(planned, found, {"signature": signature(planned, found), **_content(found)})
    return found


def signature(planned: PlannedRun, found: ShardStatistics) -> str:
    """The signature of the scores: that of the plan, with the speakers that records have."""
    signed = Signature.parse(planned.record["signature"])
    return str(signed.plus(speakers=SPEAKERS) if found.counts.with_speaker else signed)


def _content(found: ShardStatistics) -> dict[str, Any]:
    """What was scored, and the scores of systems."""
    systems = [{**system(name or "", sums.system_score()), "system": name} for name, sums in found.systems.items()]
    return {"scored": found.rows - found.skipped, "counts": counts_entry(found.counts), "systems": systems}
