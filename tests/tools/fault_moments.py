"""A verb in a forked process in which something fails at a given moment; for `tests.tools.fault_points`.

A moment is an audit event of the interpreter: a file of the output folder is opened for writing, renamed, removed or
made. Nothing of the package is replaced.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT")
DISK, READ_ONLY, HANDLES, MEMORY = "full disk", "read-only disk", "no file handles", "no memory"
FILLER = "filler"
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_PATHS = {"os.rename": 2, "os.mkdir": 1, "os.remove": 1, "os.rmdir": 1}
_SPARE = 1 << 20  # bytes of memory that are left
_CHUNK = 1 << 16


class Ended(NamedTuple):
    """How a process ended: its exit code, or less 0 the signal's number; stderr; the moments that it had."""

    code: int
    stderr: str
    moments: int


def fill(disk: Path) -> None:
    """Write a file until the disk is full."""
    with suppress(OSError), (disk / FILLER).open("wb", buffering=0) as file:
        while True:
            if not file.write(bytes(_CHUNK)):
                return


def fail(fault: str, disk: Path) -> None:
    """Let the fault happen to this process."""
    if fault in SIGNALS:
        os.kill(os.getpid(), signal.Signals[fault])
    elif fault == DISK:
        fill(disk)
    elif fault == HANDLES:
        opened = max(map(int, os.listdir("/proc/self/fd")))
        resource.setrlimit(resource.RLIMIT_NOFILE, (opened, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    elif fault == MEMORY:
        held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_DATA, (held + _SPARE, resource.getrlimit(resource.RLIMIT_DATA)[1]))


class Moments:
    """Counts the moments of an output folder, its files and those next to it; at one of them acts."""

    def __init__(self, out: Path, at: int | None, act: Callable[[], None]) -> None:
        self._out, self._at, self._act = os.path.abspath(out), at, act
        self._beside = os.path.join(os.path.dirname(self._out), f".{out.name}")
        self.number = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit event."""
        if event == "open":
            if not isinstance(arguments[2], int) or not arguments[2] & _WRITES:
                return
            paths = arguments[:1]
        else:
            paths = arguments[: _PATHS.get(event, 0)]
        if any(map(self._is_output, paths)):
            self.number += 1
            if self.number == self._at:
                self._act()

    def _is_output(self, path: Any) -> bool:
        if not isinstance(path, str | bytes | os.PathLike):
            return False
        place = os.path.abspath(os.fsdecode(path))
        return place.startswith((self._out, self._beside))


def run(line: Sequence[str], *, out: Path, fault: str | None = None, at: int | None = None) -> Ended:
    """Run a verb in a forked process; `fault` happens at the moment `at`, from 1. The working folder is that of `out`.

    The caller has imported what the verb needs, so that no import fails in its place.
    """
    beside = out.parent.parent  # the disk may be full
    notes, counted = beside / "stderr", beside / "moments"
    child = os.fork()
    if not child:
        code = 70
        try:
            code = _run(line, out, fault, at, notes, counted)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    stderr = notes.read_text(encoding="utf-8", errors="replace")
    moments = int(counted.read_text(encoding="ascii") or 0)  # a process that is killed has not told them
    for path in (notes, counted):
        path.unlink(missing_ok=True)
    return Ended(os.waitstatus_to_exitcode(status), stderr, moments)


def _run(line: Sequence[str], out: Path, fault: str | None, at: int | None, notes: Path, counted: Path) -> int:
    os.chdir(out.parent)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    count = os.open(counted, os.O_WRONLY | os.O_CREAT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    moments = Moments(out, at, lambda: fail(fault or "", out.parent))
    sys.addaudithook(moments)
    from pronmetric.cli.main import main as pronmetric

    try:
        code = pronmetric(line)
    except SystemExit as exit:
        code = exit.code if isinstance(exit.code, int) else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    os.write(count, b"%d" % moments.number)
    return code
