"""A bulk run in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from pronmetric.bulk import cluster
from pronmetric.bulk.cluster import Pool
from pronmetric.bulk.job import Job


@pytest.fixture
def serial(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Works in this process, in place of Ray; gives the numbers of the shards that were done."""
    done: list[int] = []

    @contextmanager
    def connect(pool: Pool) -> Iterator[Callable[[Job, Sequence[int]], Iterator[int]]]:
        def work(job: Job, numbers: Sequence[int]) -> Iterator[int]:
            worker = job.task.worker(job)
            for number in numbers:
                worker.work(number)
                done.append(number)
                yield number

        yield work

    monkeypatch.setattr(cluster, "connect", connect)
    monkeypatch.setattr(cluster, "require", lambda _: None)
    return done
