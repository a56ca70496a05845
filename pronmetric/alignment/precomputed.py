"""Word alignments computed by another program: Moses/Pharaoh files, one line of `i-j` for each pair."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.links import from_pharaoh
from pronmetric.errors import InputError
from pronmetric.schema import Alignment
from pronmetric.text.lines import read_lines


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
