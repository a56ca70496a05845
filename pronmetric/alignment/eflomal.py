"""Word alignment by eflomal (Östling and Tiedemann, PBML 2016), run as a program; GPL-3, never imported or bundled."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.links import Symmetrize, from_pharaoh, symmetrize_links
from pronmetric.errors import MissingExtra, PronmetricError
from pronmetric.schema import Alignment
from pronmetric.text.lines import read_lines

PROGRAM = "eflomal-align"
LONGEST = 1024


class EflomalAligner:
    """Trains on all pairs at once and aligns them by sampling, so that two runs may differ slightly.

    Args:
        train_on: more pairs to learn from.
        symmetrize: the method of symmetrization; "mutual" is the intersection.

    Raises:
        MissingExtra: the program is not installed.
    """

    def __init__(self, *, train_on: Sequence[TokenPair] = (), symmetrize: Symmetrize = "mutual") -> None:
        """Find the program on the PATH or next to this Python."""
        program = shutil.which(PROGRAM) or shutil.which(PROGRAM, path=str(Path(sys.executable).parent))
        if program is None:
            raise MissingExtra(f"the program {PROGRAM}", "eflomal", "the aligner eflomal")
        self._program = program
        self._train_on = train_on
        self._symmetrize: Symmetrize = symmetrize

    def align_all(self, pairs: Iterable[TokenPair]) -> Iterator[Alignment]:
        """Yield the links of each pair, in order, after the program has aligned all of them.

        Raises:
            PronmetricError: the program failed.
        """
        pairs = list(pairs)
        with tempfile.TemporaryDirectory(prefix="pronmetric-") as folder:
            forward, backward = self._run(Path(folder), [*pairs, *self._train_on])
        for pair, *ways in zip(pairs, forward, backward, strict=False):  # without those of train_on
            if not any(way.links for way in ways) and max(map(len, pair)) > LONGEST and all(pair):
                raise PronmetricError(f"{PROGRAM} found no link in a line of more than {LONGEST} words; split the line")
            yield symmetrize_links(ways[0].links, ways[1].links, self._symmetrize)

    def _run(self, folder: Path, pairs: Sequence[TokenPair]) -> tuple[list[Alignment], list[Alignment]]:
        """Both directions. The program gets words as numbers, as it would split a word at white space inside it."""
        ids: dict[str, str] = {}
        for name, side in (("a", 0), ("b", 1)):
            with open(folder / name, "w", encoding="utf-8") as file:
                for pair in pairs:
                    file.write(" ".join(ids.setdefault(word.lower(), str(len(ids))) for word in pair[side]) + "\n")
        sides = ["-s", str(folder / "a"), "-t", str(folder / "b")]
        links = ["-f", str(folder / "forward"), "-r", str(folder / "backward")]
        done = subprocess.run([self._program, *sides, *links], capture_output=True, text=True, check=False)
        written = [folder / name for name in ("forward", "backward")]
        if done.returncode or not all(path.is_file() for path in written):
            raise PronmetricError(f"{PROGRAM} failed with code {done.returncode}: {done.stderr.strip()[-300:]}")
        forward, backward = ([from_pharaoh(line) for line in read_lines(path)] for path in written)
        if not len(forward) == len(backward) == len(pairs):
            raise PronmetricError(f"{PROGRAM} wrote {len(forward)} and {len(backward)} lines for {len(pairs)} pairs")
        return forward, backward
