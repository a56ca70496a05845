"""The interface of the word aligners, and their input: pairs of token lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from pronmetric.errors import InputError
from pronmetric.schema import Alignment
from pronmetric.text.corpus import TextFile
from pronmetric.text.files.columns import Role

TokenPair = tuple[Sequence[str], Sequence[str]]
"""The words of two parallel lines."""


class Aligner(Protocol):
    """The interface of every back end."""

    def align_all(self, pairs: Iterable[TokenPair]) -> Iterator[Alignment]:
        """Yield one alignment for each pair, in order."""
        ...


def read_pairs(a: str | Path, b: str | Path) -> list[TokenPair]:
    """Read two line-parallel files of tokenized text.

    Raises:
        InputError: a file that cannot be read as UTF-8 text, or files with different numbers of lines.
    """
    lines, others = (list(TextFile(str(path), Role.TRANSLATION)) for path in (a, b))
    if len(lines) != len(others):
        raise InputError(f"{len(lines)} lines, but {b} has {len(others)}: expected the same number in both", file=a)
    return [(split_tokens(line), split_tokens(other)) for line, other in zip(lines, others, strict=True)]


def split_tokens(line: str) -> list[str]:
    r"""Split at spaces only; other white space belongs to the tokens.

    >>> split_tokens("a  b\u00a0c")
    ['a', 'b\xa0c']
    """
    return [token for token in line.split(" ") if token]
