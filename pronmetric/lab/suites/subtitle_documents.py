"""Documents of parallel subtitles, one sentence a line, as the setup script of ContraPro writes them.

A document is two line-parallel files in some folder below the given one: NAME.SOURCE and NAME.TARGET. An id with a
suffix names the target file and counts segments from 1; an id without one names both files and counts from 0.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.lines import read_lines


class Documents:
    """The documents below a folder.

    Raises:
        InputError: there is no such folder.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise InputError("no such folder; expected the documents of the subtitles", file=folder)
        self._files: dict[str, list[Path]] = {}
        for path in sorted(self.folder.rglob("*")):
            if path.is_file():
                self._files.setdefault(path.stem, []).append(path)
        self._lines = lru_cache(maxsize=64)(read_lines)

    def before(self, document: str, segment: int, source: str, size: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The `size` source and target sentences before a segment, oldest first, "" where the document has none.

        Raises:
            InputError: the document is not there, its files differ in length, or its segment is not `source`.
        """
        named = Path(document).suffix
        files = self._files.get(Path(document).stem, [])
        place = segment - 1 if named else segment
        sides = {path: self._lines(path) for path in files}
        originals = [path for path in files if path.suffix != named and _same(sides[path], place, source)]
        targets = [path for path in files if (path.suffix == named if named else path not in originals)]
        if len(originals) != 1 or len(targets) != 1:
            names = ", ".join(path.name for path in files) or "none"
            message = f"expected the document {document} as two files, one with the item's source in line {place + 1}"
            raise InputError(f"{message}; found {names}", file=self.folder)
        pair = sides[originals[0]], sides[targets[0]]
        if len(pair[0]) != len(pair[1]):
            raise InputError(f"{len(pair[1])} lines, but {originals[0].name} has {len(pair[0])}", file=targets[0])
        return _before(pair[0], place, size), _before(pair[1], place, size)


def _before(lines: list[str], place: int, size: int) -> tuple[str, ...]:
    return tuple(lines[k] if k >= 0 else "" for k in range(place - size, place))


def _same(lines: list[str], place: int, text: str) -> bool:
    return 0 <= place < len(lines) and "".join(lines[place].split()) == "".join(text.split())
