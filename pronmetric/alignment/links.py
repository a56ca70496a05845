"""Word links: Moses/Pharaoh text (`i-j`), files of it, and the symmetrization of two one-way alignments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Literal, get_args

from pronmetric.alignment.aligner import TokenPair
from pronmetric.errors import InputError
from pronmetric.schema import Alignment
from pronmetric.text.lines import read_lines

Link = tuple[int, int]
Symmetrize = Literal["mutual", "intersection", "grow-diag-final-and", "union"]
METHODS: tuple[str, ...] = get_args(Symmetrize)

_LINK = re.compile(r"[0-9]{1,9}-[0-9]{1,9}")
# In the order of Moses' grow-diag: the sides before the diagonals.
_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def to_alignment(links: Iterable[Link]) -> Alignment:
    """The record of links: sorted, without repeats."""
    return Alignment(tuple(sorted(set(links))))


def to_pharaoh(links: Alignment) -> str:
    """The links as `i-j`, separated by spaces.

    >>> to_pharaoh(Alignment(((0, 0), (1, 2))))
    '0-0 1-2'
    """
    return " ".join(f"{i}-{j}" for i, j in links.links)


def from_pharaoh(line: str, *, file: str | Path | None = None, number: int | None = None) -> Alignment:
    """The links of one line of `i-j`; possible links, written `i?j`, are refused.

    Raises:
        InputError: a word that is not a link.
    """
    words = line.split()
    for word in words:
        if not _LINK.fullmatch(word):
            raise InputError(f"expected links i-j separated by spaces, found {word[:40]!r}", file=file, line=number)
    return to_alignment((int(i), int(j)) for i, j in (word.split("-") for word in words))


def symmetrize_links(forward: Collection[Link], backward: Collection[Link], how: Symmetrize) -> Alignment:
    """One alignment from two one-way ones: "intersection" and "mutual", "union", or "grow-diag-final-and".

    grow-diag-final-and is Moses' (Koehn et al., IWSLT 2005): from the intersection, add links of the union that are
    adjacent to a link and cover a new word, then links whose two words are both uncovered.

    >>> symmetrize_links([(0, 0), (1, 1)], [(0, 0), (1, 0)], "union").links
    ((0, 0), (1, 0), (1, 1))
    """
    one, other = set(forward), set(backward)
    if how == "union":
        return to_alignment(one | other)
    if how != "grow-diag-final-and":
        return to_alignment(one & other)
    links = one & other
    rows, cols = {i for i, _ in links}, {j for _, j in links}

    def add(link: Link) -> None:
        links.add(link)
        rows.add(link[0])
        cols.add(link[1])

    either = one | other
    fresh = sorted(links)
    while fresh:
        grown = []
        for i, j in fresh:
            for down, right in _NEIGHBOURS:
                near = (i + down, j + right)
                if near in either and near not in links and (near[0] not in rows or near[1] not in cols):
                    add(near)
                    grown.append(near)
        fresh = grown
    for way in (one, other):
        for link in sorted(way):
            if link[0] not in rows and link[1] not in cols:
                add(link)
    return to_alignment(links)


class PrecomputedAligner:
    """Reads alignments from a Pharaoh file with one line for each pair."""

    def __init__(self, path: str | Path) -> None:
        """Read the file.

        Raises:
            InputError: a missing file, or a line with other text than links.
        """
        self._path = path
        lines = read_lines(path)
        self._lines = [from_pharaoh(line, file=path, number=number) for number, line in enumerate(lines, start=1)]

    def align_all(self, pairs: Iterable[TokenPair]) -> Iterator[Alignment]:
        """Yield the links of each pair, in order.

        Raises:
            InputError: a link to a word outside its pair, or different numbers of pairs and lines.
        """
        count = 0
        for count, (a, b) in enumerate(pairs, start=1):
            if count > len(self._lines):
                break
            links = self._lines[count - 1]
            for i, j in links.links:
                if i >= len(a) or j >= len(b):
                    message = f"link {i}-{j}, but the pair has {len(a)} and {len(b)} words, counted from 0"
                    raise InputError(message, file=self._path, line=count)
            yield links
        if count != len(self._lines):
            more = "more" if count > len(self._lines) else str(count)
            raise InputError(f"{len(self._lines)} lines of links, but {more} pairs of lines", file=self._path)
