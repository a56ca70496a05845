"""What verbs write: notes and progress on stderr, lines on stdout, figures as JSON."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from pronmetric.errors import STDIN
from pronmetric.output import targets
from pronmetric.output.display import visible
from pronmetric.output.progress import progress
from pronmetric.text import strict_json

if TYPE_CHECKING:
    from pronmetric.scoring.score import Counts


_ARGUMENT = re.compile(r"`([a-z]\w*)=([^`]*)`")
_UNDERSCORED = {"allow_network"}  # the flags with an underscore that messages name


def in_flags(message: str) -> str:
    """A message with the arguments that it names (see `pronmetric.errors`) as flags; "-", as the file, is stdin.

    >>> in_flags("give `gpus=0`, or `source_language=`"), in_flags("leave out `allow_network=True`")
    ('give --gpus 0, or --source-language', 'leave out --allow_network')
    >>> in_flags("-: 2 rows are left out")
    '<stdin>: 2 rows are left out'
    """

    def flag(argument: re.Match[str]) -> str:
        name, value = argument.groups()
        spelt = name if name in _UNDERSCORED else name.replace("_", "-")
        return f"--{spelt}" if value in ("", "True") else f"--{spelt} {value}"

    return _ARGUMENT.sub(flag, STDIN + message[1:] if message.startswith("-:") else message)


class Notes:
    """Notes on stderr, none with --quiet; they wait for `begin`, so that invalid input prints only its error.

    A verb that scores has one routine note, its signature; what else is routine is a detail, printed with --verbose.
    What the user must see, such as ignored input, is a note.
    """

    def __init__(self, *, quiet: bool, verbose: bool = False) -> None:
        self.quiet, self.verbose = quiet, verbose
        self._held: list[str] | None = []

    def __call__(self, message: str) -> None:
        """Print one line, now or when `begin` is called."""
        if self._held is not None:
            self._held.append(message)
        elif not self.quiet:
            print(f"pronmetric: {visible(in_flags(message))}", file=sys.stderr)

    def detail(self, message: str) -> None:
        """Print one line with --verbose."""
        if self.verbose:
            self(message)

    def begin(self) -> None:
        """Print the waiting notes: the input is valid."""
        held, self._held = self._held or [], None
        for message in held:
            self(message)

    def lengths(self, counts: Counts) -> None:
        """Note how many texts were changed to read them, and how many were too long for the encoder."""
        for line in counts.notes():
            self(line)


class Lines:
    """Lines of a run on stdout that do not cost its files: if stdout fails (`| head`), the files are finished first.

    files: those that the run writes; without one it ends where stdout fails.
    """

    def __init__(self, *files: str | None) -> None:
        self._wait = any(file is not None for file in files)
        self._error: OSError | None = None

    def __call__(self, line: str) -> None:
        """Print a line."""
        self._try(lambda: print(line))

    def flush(self) -> None:
        """Pass on what was printed."""
        self._try(sys.stdout.flush)

    def finish(self) -> None:
        """Raise the error of stdout, if there was one; the files are written."""
        if self._error is not None:
            raise self._error

    def _try(self, do: Callable[[], object]) -> None:
        if self._error is None:
            try:
                do()
            except OSError as error:
                if not self._wait:
                    raise
                self._error = error


def bar(
    hidden: bool,
    items: Iterable[Any] | None = None,
    *,
    total: int | None,
    label: str = "score",
    unit: str = "texts",
    done: int = 0,
    short: bool = False,
) -> tqdm:
    """Progress on stderr, see `progress`; none if `hidden`."""
    if hidden:
        return tqdm(items, disable=True)
    return progress(items, label=label, total=total, unit=unit, done=done, short=short)


def write_json(path: str | None, content: Mapping[str, Any]) -> None:
    """Write all figures, if requested."""
    if path is not None:
        with targets.AtomicFile(path) as file:
            file.write(strict_json.dump(content, indent=1) + "\n")
