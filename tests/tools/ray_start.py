"""Ray that does not start in time: it limits the time in which its processes start, which a busy machine may exceed."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import pytest

Result = TypeVar("Result")
_LATE = re.compile(r"timed out|timeout|\d+ seconds|GCS|raylet", re.IGNORECASE)  # of Ray's errors at its start
_ABORTED = (-signal.SIGABRT, 128 + signal.SIGABRT)  # of a process, and of a shell whose command it was


class RayIsLateError(Exception):
    """Ray did not start within its own limits."""


def late(err: str, code: int | None = None) -> str:
    """The stderr of a driver or cluster that failed; raises if the reason is that Ray could not start in time."""
    last = (err.strip().splitlines() or [""])[-1]
    if code in _ABORTED:
        raise RayIsLateError("Ray's library aborted, as it does where it reaches no raylet in time")
    if re.search(r"a local Ray cannot be started|no Ray cluster at|Error: |Exception: ", last) and _LATE.search(last):
        raise RayIsLateError(last)
    return err


def try_twice(work: Callable[[], Result]) -> Result:
    """What `work` gives; it is tried again if Ray could not start in time, then the test is skipped with the reason."""
    for _ in range(2):
        try:
            return work()
        except RayIsLateError as error:
            reason = str(error)
    pytest.skip(f"Ray cannot start in time on this machine: {reason}")


def twice(test: Callable[..., None]) -> Callable[..., None]:
    """A test that is tried twice, without what it left in the folder `out`; see `try_twice`."""

    @wraps(test)
    def tried(*, tmp_path: Path, **fixtures: Any) -> None:
        def work() -> None:
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
            test(tmp_path=tmp_path, **fixtures)

        try_twice(work)

    return tried
