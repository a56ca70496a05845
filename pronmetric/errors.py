"""The package's exceptions; messages name what was expected, what was found, where, and the cure."""

from __future__ import annotations

from pathlib import Path


class PronmetricError(Exception):
    """An error of the input or the set-up; the command line prints it in one line and exits with 1."""


class InputError(PronmetricError):
    """Invalid input, with its file and line (1-based)."""

    def __init__(self, message: str, *, file: str | Path | None = None, line: int | None = None) -> None:
        where = "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "
        super().__init__(f"{where}{message}")
        self.file = file
        self.line = line


class Terminated(BaseException):
    """A signal (SIGTERM, SIGHUP) was received; the stack unwinds as after Ctrl-C, so that partial files are removed."""

    def __init__(self, number: int, message: str = "") -> None:
        super().__init__(message)
        self.number = number


class MissingExtra(PronmetricError):
    """An optional dependency is not installed; the message gives the exact `pip install` command."""

    def __init__(self, package: str, extra: str, why: str) -> None:
        super().__init__(f'{why} needs {package}, which is not installed: pip install "pronmetric[{extra}]"')
