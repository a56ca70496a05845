"""The package's exceptions; messages name what was expected, what was found, where, and the cure.

A message names an argument in backquotes, `name=` or `name=value`; the command line shows the flag instead.
"""

from __future__ import annotations

from pathlib import Path

from pronmetric.installation import pip_install

STDIN = "<stdin>"
_OUT_OF_MEMORY = ("can't allocate memory", "out of memory", "could not create a primitive")


class PronmetricError(Exception):
    """An error of the input or the set-up; the command line prints it in one line and exits with 1."""


class InputError(PronmetricError):
    """Invalid input, with its file and line (1-based)."""

    def __init__(self, message: str, *, file: str | Path | None = None, line: int | None = None) -> None:
        name = STDIN if file is not None and str(file) == "-" else file
        where = "" if file is None else f"{name}: " if line is None else f"{name}:{line}: "
        super().__init__(f"{where}{message}")
        self.file = file
        self.line = line


class Terminated(BaseException):
    """A signal (SIGTERM, SIGHUP) was received; the stack unwinds as after Ctrl-C, so that partial files are removed."""

    def __init__(self, number: int, message: str = "") -> None:
        super().__init__(message)
        self.number = number


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that no memory is left; torch and oneDNN raise a RuntimeError for it.

    >>> is_out_of_memory(MemoryError()), is_out_of_memory(RuntimeError("CUDA out of memory. Tried to")), \
    ...     is_out_of_memory(RuntimeError("a bug"))
    (True, True, False)
    """
    told = str(error) if isinstance(error, RuntimeError) else ""
    return isinstance(error, MemoryError) or any(words in told for words in _OUT_OF_MEMORY)


class MissingExtra(PronmetricError):
    """An optional dependency is not installed; the message gives the exact `pip install` command."""

    def __init__(self, package: str, extra: str, why: str) -> None:
        super().__init__(f"{why} needs {package}, which is not installed: {pip_install(extra, package)}")
