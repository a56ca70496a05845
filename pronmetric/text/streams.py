"""The standard streams: which of them are there, and what is left of them when their other end is gone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, TextIO

from pronmetric.errors import STDIN, InputError, PronmetricError

_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_STDOUT = frozenset({"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
_kept: TextIO | None = None
"""The stdout that an output file is written to, while what is printed goes to stderr."""
_read: tuple[TextIO, bytes] | None = None
"""Stdin, and what was read from it."""


def check() -> None:
    """Make closed standard streams harmless.

    A descriptor that is closed would be given to the next file that is opened, which then gets what is meant for the
    stream; it is taken by the null device. Notes of a program with a closed stderr go there too.

    Raises:
        PronmetricError: stdout is closed.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free descriptor, which is this one
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # closed with the process
    if sys.stdout is None:
        raise PronmetricError("stdout is closed; send it to a file, or to /dev/null if nobody reads it")


def stdin() -> BinaryIO:
    """The bytes of stdin.

    Raises:
        InputError: it is closed.
    """
    if sys.stdin is None:
        raise InputError("is closed; send a file or a pipe into it", file=STDIN)
    return sys.stdin.buffer


def kept_stdin(limit: int) -> bytes:
    """The bytes of stdin, which can be read only once and are kept; at most one more than the limit.

    Raises:
        InputError: it is closed.
    """
    global _read
    if _read is None or _read[0] is not sys.stdin:
        _read = sys.stdin, stdin().read(limit + 1)
    return _read[1]


def is_stdin(name: object) -> bool:
    """Whether the name of an input file means stdin; a file of the name "-" is "./-"."""
    return str(name) in _STDIN if isinstance(name, str | os.PathLike) else False


def is_stdout(name: object) -> bool:
    """Whether the name of an output file means stdout; a file of the name "-" is "./-"."""
    return str(name) in _STDOUT if isinstance(name, str | os.PathLike) else False


@contextmanager
def run() -> Iterator[None]:
    """A run of a verb: inside, `divert_stdout` may keep stdout for an output file; at the end all is as before."""
    global _kept, _read
    try:
        yield
    finally:
        _read = None
        if _kept is not None:
            sys.stdout, _kept = _kept, None


def divert_stdout() -> None:
    """Keep stdout for an output file: what is printed goes to stderr from now on."""
    global _kept
    if _kept is None:
        _kept, sys.stdout = sys.stdout, sys.stderr


def stdout_file() -> TextIO:
    """Stdout, for an output file."""
    return sys.stdout if _kept is None else _kept


def open_stdout() -> None:
    """Write UTF-8 to stdout whatever the locale; bytes of file names that are not UTF-8 pass unchanged."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def discard_stdout() -> None:
    """Send what is still unwritten nowhere, so that Python does not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
