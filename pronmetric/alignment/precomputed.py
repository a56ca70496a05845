"""Word alignments that another program computed: Moses/Pharaoh files, one line of `i-j` for each pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pronmetric.alignment.agreement import TokenPair
from pronmetric.alignment.links import from_pharaoh
from pronmetric.errors import InputError
from pronmetric.schema import Alignment
from pronmetric.text.lines import read_lines


class PrecomputedAligner:
    """Gives back the lines of a Pharaoh file, which must be as many as the pairs and link words that are there."""

    def __init__(self, path: str | Path) -> None:
        """Read the file.

        Raises:
            InputError: a missing file, or a line that holds other things than links.
        """
        self._path = path
        lines = read_lines(path)
        self._lines = [from_pharaoh(line, file=path, number=number) for number, line in enumerate(lines, start=1)]

    def align_all(self, pairs: Iterable[TokenPair]) -> Iterator[Alignment]:
        """Yield the links of each pair, in order.

        Raises:
            InputError: a link to a word that a pair lacks, or another number of pairs than of lines.
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
