"""Requests that wait for the model: which of them share a batch, and which are refused or left out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from pronmetric.serve import batches
from pronmetric.serve.batches import Batches, Busy


class Model:
    """Doubles numbers; waits in its first batch until `go` is set, and remembers the batches."""

    def __init__(self) -> None:
        self.go, self.seen = threading.Event(), list[tuple[str, list[int]]]()
        self.batches = Batches()
        self.kinds = {kind: partial(self.work, kind) for kind in "xy"}

    def work(self, kind: str, items: Sequence[int]) -> Iterator[int]:
        self.seen.append((kind, list(items)))
        self.go.wait()
        if 13 in items:
            raise ValueError("unlucky")
        return (2 * item for item in items)

    def ask(self, kind: str, *items: int, size: int = 1) -> asyncio.Task[list[int]]:
        return asyncio.create_task(self.batches.run(self.kinds[kind], items, size=size))


async def until_waiting(model: Model, size: int) -> None:
    while model.batches.waiting != size:
        await asyncio.sleep(0.001)


def test_what_waits_shares_a_batch_by_kind_and_each_gets_its_own() -> None:
    async def play(model: Model) -> list[list[int]]:
        first = model.ask("x", 1)
        while not model.seen:
            await asyncio.sleep(0.001)
        rest = [model.ask("x", 2, 3), model.ask("y", 4), model.ask("x", 5)]
        await until_waiting(model, 3)
        model.go.set()
        return await asyncio.gather(first, *rest)

    model = Model()
    assert asyncio.run(play(model)) == [[2], [4, 6], [8], [10]]
    assert model.seen == [("x", [1]), ("x", [2, 3, 5]), ("y", [4])]


def test_a_batch_is_limited_and_nothing_is_left_behind() -> None:
    async def play(model: Model) -> list[list[int]]:
        tasks = [model.ask("x", number, size=batches.BATCH // 2) for number in range(5)]
        model.go.set()
        return await asyncio.gather(*tasks)

    model = Model()
    assert asyncio.run(play(model)) == [[0], [2], [4], [6], [8]]
    assert [number for _, items in model.seen for number in items] == list(range(5))
    assert max(len(items) for _, items in model.seen) == 2


def test_cancelled_work_is_left_out() -> None:
    async def play(model: Model) -> list[int]:
        first = model.ask("x", 1)
        while not model.seen:
            await asyncio.sleep(0.001)
        gone, kept = model.ask("x", 2), model.ask("x", 3)
        await until_waiting(model, 2)
        gone.cancel()
        model.go.set()
        await first
        return await kept

    model = Model()
    assert asyncio.run(play(model)) == [6] and model.seen == [("x", [1]), ("x", [3])]


def test_too_much_work_is_refused_and_the_rest_is_done() -> None:
    async def play(model: Model) -> list[list[int]]:
        first = model.ask("x", 1)
        while not model.seen:
            await asyncio.sleep(0.001)
        waits = model.ask("x", 2, size=batches.WAITING)
        await until_waiting(model, batches.WAITING)
        with pytest.raises(Busy):
            await model.ask("x", 3)
        model.go.set()
        return await asyncio.gather(first, waits)

    assert asyncio.run(play(Model())) == [[2], [4]]


def test_an_error_is_that_of_its_batch_alone() -> None:
    async def play(model: Model) -> list[int]:
        model.go.set()
        with pytest.raises(ValueError, match="unlucky"):
            await model.ask("x", 13)
        return await model.ask("x", 2)

    assert asyncio.run(play(Model())) == [4]
