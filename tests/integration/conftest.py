"""What the tests of `bulk` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from pronmetric.bulk import cluster
from pronmetric.bulk.cluster import Pool
from pronmetric.bulk.job import Job, Step


@pytest.fixture
def serial(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Works in this process, in place of Ray; gives the steps and numbers of the shards or buckets that were done."""
    done: list[tuple[str, int]] = []

    @contextmanager
    def connect(pool: Pool) -> Iterator[Callable[[Job, Step], Iterator[int]]]:
        def work(job: Job, step: Step) -> Iterator[int]:
            worker = job.task.worker(job)
            for number in step.numbers:
                worker.work(step.name, number)
                done.append((step.name, number))
                yield number

        yield work

    monkeypatch.setattr(cluster, "connect", connect)
    monkeypatch.setattr(cluster, "require", lambda _: None)
    return done
