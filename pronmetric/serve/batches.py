"""Work of several requests at once: what waits for the model is run together, in the one thread that runs it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

BATCH = 50_000
"""Characters to read after which no further request joins a batch."""
WAITING = 400_000
"""Characters that may wait to be read; beyond that a request is refused."""
Work = Callable[[Sequence[Any]], Iterable[Any]]
"""Gives a result for each item, in order."""


class Busy(Exception):
    """So much work waits that a further request would wait too long."""


@dataclass(slots=True, eq=False)
class _Job:
    """What a request asks for: the work, its items, the characters to read, and its results when done."""

    work: Work
    items: Sequence[Any]
    size: int
    results: asyncio.Future[list[Any]]


class Batches:
    """Does work, one batch after the other; a batch is all that waits of the work that waits longest.

    What is cancelled before its batch begins is left out.
    """

    def __init__(self) -> None:
        self._waiting: deque[_Job] = deque()
        self._thread = ThreadPoolExecutor(1, "model")
        self._running: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """The characters that wait to be read."""
        return sum(job.size for job in self._waiting)

    async def run(self, work: Work, items: Sequence[Any], *, size: int) -> list[Any]:
        """The results of this work on these items; size: the characters to read.

        Raises:
            Busy: too much waits.
        """
        if self._waiting and self.waiting + size > WAITING:
            raise Busy
        job = _Job(work, items, size, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._work())
        return await job.results

    async def _work(self) -> None:
        while batch := self._take():
            items = list(chain.from_iterable(job.items for job in batch))
            try:
                run = asyncio.get_running_loop().run_in_executor(self._thread, _results, batch[0].work, items)
                results = iter(await run)
            except Exception as error:
                for job in batch:
                    if not job.results.done():
                        job.results.set_exception(error)
                continue
            for job in batch:
                own = list(islice(results, len(job.items)))
                if not job.results.done():
                    job.results.set_result(own)

    def _take(self) -> list[_Job]:
        """The jobs of the next batch, taken from those that wait."""
        live = [job for job in self._waiting if not job.results.done()]
        batch: list[_Job] = []
        size = 0
        for job in live:
            if job.work == live[0].work and (not batch or size + job.size <= BATCH):
                batch.append(job)
                size += job.size
        self._waiting = deque(job for job in live if job not in batch)
        return batch


def _results(work: Work, items: Sequence[Any]) -> list[Any]:
    return list(work(items))
