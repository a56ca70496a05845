"""The few exceptions of our own: each message names what came, where, and the cure."""

from __future__ import annotations

from pathlib import Path


class PronmetricError(Exception):
    """A fault of the input or the set-up: the command line prints it in one line and exits 1."""


class InputError(PronmetricError):
    """Bad input, with the file and line (1-based) where it stands."""

    def __init__(self, message: str, *, file: str | Path | None = None, line: int | None = None) -> None:
        where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(f"{where}{message}")
        self.file = file
        self.line = line


class Terminated(BaseException):
    """A signal (SIGTERM, SIGHUP) came: the stack unwinds as after Ctrl-C, so that nothing half-written stays."""

    def __init__(self, number: int, message: str = "") -> None:
        super().__init__(message)
        self.number = number


class MissingExtra(PronmetricError):
    """An optional dependency is not installed; the message says the exact `pip install`."""

    def __init__(self, package: str, extra: str, why: str) -> None:
        super().__init__(f'{why} needs {package}, which is not installed: pip install "pronmetric[{extra}]"')
