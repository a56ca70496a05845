"""A file of scores that grows while a model works, and goes on where an interrupted run stopped.

FILE.partial holds what the scores depend on in its first line, then one score on each line; it becomes FILE at the end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pronmetric.errors import InputError
from pronmetric.output.targets import AtomicFile
from pronmetric.text import strict_json
from pronmetric.text.lines import read_lines

Pair = tuple[str, str]


class ResumableScores:
    """The scores that are in a partial file, and those that are added to it.

    settings: what the scores depend on, in JSON. window: how many scores are written together.

    Raises:
        InputError: a partial file of other settings is there.
    """

    def __init__(self, path: str | Path, settings: dict[str, Any], *, window: int) -> None:
        self.path, self.partial = Path(path), Path(f"{path}.partial")
        self.window = window
        self._head = strict_json.dump(settings, sort_keys=True) + "\n"
        self.done = self._resume() if self.partial.exists() else self._begin()

    def _begin(self) -> int:
        self.partial.write_text(self._head, encoding="utf-8")
        return 0

    def _resume(self) -> int:
        """Cut off what was not written as a whole window; the number of scores that stay."""
        with open(self.partial, "r+b") as file:
            head = file.readline()
            if head != self._head.encode():
                if not head.endswith(b"\n"):
                    return self._begin()
                message = "an interrupted run with another model, set or settings; delete it, or write to another file"
                raise InputError(message, file=self.partial)
            ends = [file.tell()]
            number = 0
            while file.readline().endswith(b"\n"):
                number += 1
                if number % self.window == 0:
                    ends.append(file.tell())
            file.truncate(ends[-1])
        return (len(ends) - 1) * self.window

    def add(self, scores: Iterable[float]) -> None:
        """Write one window of scores (the last may be shorter)."""
        with open(self.partial, "a", encoding="utf-8") as file:
            file.writelines(f"{score!r}\n" for score in scores)
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> list[float]:
        """Put the file in its place; all scores."""
        lines = read_lines(self.partial)[1:]
        with AtomicFile(self.path) as file:
            file.writelines(f"{line}\n" for line in lines)
        with suppress(FileNotFoundError):
            self.partial.unlink()
        return [float(line) for line in lines]


def fingerprint(pairs: Iterable[Pair]) -> str:
    """A digest of the texts to score."""
    digest = blake2b(digest_size=16)
    for source, target in pairs:
        digest.update(f"{source}\0{target}\0".encode())
    return digest.hexdigest()


def fill(
    file: ResumableScores, pairs: Sequence[Pair], score: Callable[[Sequence[Pair]], Sequence[float]]
) -> list[float]:
    """Score what is not in the file yet, window by window; all scores."""
    for start in range(file.done, len(pairs), file.window):
        file.add(score(pairs[start : start + file.window]))
    return file.finish()


def folder_digest(folder: str | Path) -> str:
    """A digest of a model's folder: its configuration, and the names, sizes and times of its files."""
    config = Path(folder) / "config.json"  # a folder with a GGUF file has none
    digest = blake2b(config.read_bytes() if config.is_file() else b"", digest_size=16)
    for path in sorted(Path(folder).iterdir()):
        state = path.stat()
        digest.update(f"{path.name}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
    return digest.hexdigest()


@contextmanager
def open_scores(path: str | Path | None, settings: dict[str, Any], *, window: int) -> Iterator[ResumableScores]:
    """The scores of a file that can be continued; without a path, of one that is deleted afterwards."""
    if path is not None:
        yield ResumableScores(path, settings, window=window)
        return
    with TemporaryDirectory() as folder:
        yield ResumableScores(Path(folder) / "scores", settings, window=window)
