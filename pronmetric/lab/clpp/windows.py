"""The context of a slot: the words and tags around it, and the words around its source pronoun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pronmetric.lab.clpp.baseline import bare
from pronmetric.lab.clpp.data import SLOT, Line

MARK = "REPLACE"
"""Another slot of the line, as a word and as a tag."""


class Window(NamedTuple):
    """A slot of a line, with the words on each side, the nearest one last; the label is None in unlabelled lines."""

    line: int
    slot: int
    label: str | None
    pronoun: str
    target_left: tuple[str, ...]
    target_right: tuple[str, ...]
    tags_left: tuple[str, ...]
    tags_right: tuple[str, ...]
    source_left: tuple[str, ...]
    source_right: tuple[str, ...]

    @property
    def length(self) -> int:
        """The number of words and tags around the slot and its source pronoun."""
        return sum(map(len, self[4:]))


def windows(lines: Sequence[Line], *, size: int) -> Iterator[Window]:
    """Each slot of the lines, with at most `size` words on each side."""
    for number, line in enumerate(lines):
        words = [MARK if SLOT.fullmatch(token) else bare(token).lower() for token in line.target]
        tags = [MARK if SLOT.fullmatch(token) else tag_of(token) for token in line.target]
        source = [word.lower() for word in line.source]
        for k, (at, s) in enumerate(zip(line.slots, line.sources, strict=True)):
            yield Window(
                number,
                k,
                line.labels[k] if line.labels else None,
                source[s],
                *_around(words, at, size),
                *_around(tags, at, size),
                *_around(source, s, size),
            )


def _around(words: Sequence[str], at: int, size: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(words[max(0, at - size) : at]), tuple(reversed(words[at + 1 : at + 1 + size]))


def tag_of(token: str) -> str:
    """The tag of a target token; "" where it has none."""
    word, mark, tag = token.rpartition("|")
    return tag if mark and word else ""
