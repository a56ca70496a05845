"""Which connection of a server makes room for a new one, and how many there may be; the log repeats nothing."""

from __future__ import annotations

import logging
import resource
from types import SimpleNamespace
from typing import Any

import pytest

from pronmetric.serve import connections
from pronmetric.serve.connections import Connections, Seconds


class Fake:
    """A connection from an address."""

    def __init__(self, among: Connections, address: str) -> None:
        self.address, self.closed = address, False
        self.transport = SimpleNamespace(abort=self.abort)
        self.among: Any = among
        self.among.add(self)
        self.among.wait(self)

    def abort(self) -> None:
        self.closed = True


def test_the_address_with_most_connections_makes_room() -> None:
    among = Connections(4, Seconds())
    one, *crowd = (Fake(among, address) for address in "abbb")
    among.busy(crowd[0])  # it is answered
    new = Fake(among, "c")
    assert [each.closed for each in (one, *crowd, new)] == [False, False, True, False, False]
    among.wait(crowd[0])  # it waits for its next request, behind crowd[2]
    last = Fake(among, "a")
    assert [each.closed for each in (one, *crowd, new, last)] == [False, False, True, True, False, False]


def test_where_all_are_busy_the_new_one_is_closed() -> None:
    among = Connections(2, Seconds())
    old = [Fake(among, "a"), Fake(among, "b")]
    for each in old:
        among.busy(each)  # type: ignore[arg-type]
    new = Fake(among, "c")
    assert new.closed and not any(each.closed for each in old)
    among.discard(old[0])  # type: ignore[arg-type]
    assert not Fake(among, "c").closed


@pytest.mark.parametrize(
    ("soft", "hard", "raised", "most"),
    [
        (256, 10_000, 2320, 2000),
        (1024, 1024, None, 704),
        (256, resource.RLIM_INFINITY, 2320, 2000),
        (1024, 1500, 1500, 1180),
        (50, 50, None, 8),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None, 2000),
    ],
)
def test_connections_stay_below_the_number_of_descriptors(
    soft: int, hard: int, raised: int | None, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: made.append(limits))
    assert connections.most() == most
    assert made[-1:] in ([], [(soft, hard)]) if raised is None else made == [(raised, hard)]


def test_equal_lines_of_the_log_come_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(connections.time, "monotonic", lambda: clock[0])
    seldom = connections._Seldom()

    def passes(text: str) -> bool:
        return seldom.filter(logging.LogRecord("x", logging.ERROR, "", 0, text, (), None))

    assert [passes("a"), passes("a"), passes("b")] == [True, False, True]
    clock[0] = 60.0
    assert passes("a") and len(seldom._last) == 1
