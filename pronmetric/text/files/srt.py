"""SubRip subtitles (.srt): cues of a number, times and lines of text; see `cues` for what a unit is."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.files import cues
from pronmetric.text.files.unit import FileTexts
from pronmetric.text.lines import read_lines

FORMAT = "SRT"
_EXAMPLE = "00:00:01,000 --> 00:00:02,500"


def read(path: Path) -> FileTexts:
    """The sentences of an SRT file; a cue's text ends before the number of the next cue, not at a blank line.

    Raises:
        InputError: text before the first cue, broken times, or a last cue that is cut off.
    """
    lines = read_lines(path)
    times = {
        row: span for row, line in enumerate(lines) if (span := cues.times(line, _EXAMPLE, file=path, number=row + 1))
    }
    heads = {row: row - 1 if row and lines[row - 1].strip().isdecimal() else row for row in times}
    before = lines[: next(iter(heads.values()), len(lines))]
    if (stray := next((row for row, line in enumerate(before) if line.strip()), None)) is not None:
        message = f'expected a cue, its number and "{_EXAMPLE}", found "{lines[stray].strip()[:60]}"'
        raise InputError(message, file=path, line=stray + 1)
    spans = pairwise([*heads.values(), len(lines)])
    read_cues = []
    for order, (row, (head, end)) in enumerate(zip(times, spans, strict=True), start=1):
        name = lines[head].strip() if head < row else str(order)
        read_cues.append(cues.Cue(name, *times[row], row + 2, tuple(lines[row + 1 : end])))
    if read_cues:
        _check_end(path, lines, read_cues[-1].name)
    return cues.texts(read_cues, FORMAT)


def _check_end(path: Path, lines: list[str], last: str) -> None:
    """Refuse a file that ends with the number of a cue that is not there: it would be read as text."""
    end = max(row for row, line in enumerate(lines) if line.strip())
    number = lines[end].strip()
    if last.isdecimal() and number.isdecimal() and int(number) == int(last) + 1 and not lines[end - 1].strip():
        raise InputError(f"cue {number} has no times; is the file cut off?", file=path, line=end + 1)
