"""What the workers of a bulk run need to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pronmetric.bulk.inputs import Source
from pronmetric.bulk.plan import Shard


class Worker(Protocol):
    """Works on shards; made once in each process."""

    def work(self, number: int) -> None:
        """Do a shard, unless its file is there.

        Raises:
            PronmetricError: a bad row, unless bad rows are skipped; or the worker lacks something.
        """
        ...


class Task(Protocol):
    """What a run does; it is sent to the workers."""

    def worker(self, job: Job, /) -> Worker:
        """The worker of a process."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """A bulk run. output: path or URL of its folder. skip: bad rows are skipped, not errors."""

    output: str
    sources: Sequence[Source]
    shards: Sequence[Shard]
    skip: bool
    task: Task
