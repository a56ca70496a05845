"""WebVTT subtitles (.vtt): blocks between blank lines, of which cues have text; see `cues` for what a unit is.

The header and the blocks NOTE, STYLE and REGION are no text. In captions that roll (their words have times, as in those
that YouTube makes), a line that the cue before ends with is not read again. https://www.w3.org/TR/webvtt1/
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.text.files import cues
from pronmetric.text.files.unit import FileTexts
from pronmetric.text.lines import read_lines

FORMAT = "WebVTT"
_EXAMPLE = "00:00:01.000 --> 00:00:02.500"
_HEADER = re.compile(r"WEBVTT(?:[ \t].*)?")
_TIME_OF_WORD = re.compile(r"<(?:\d+:)?\d\d:\d\d\.\d{3}>")
_NO_CUE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s.*)?")


def read(path: Path) -> FileTexts:
    """The sentences of a WebVTT file.

    Raises:
        InputError: no header, a block without times, or broken times.
    """
    lines = read_lines(path)
    if not lines or not _HEADER.fullmatch(lines[0]):
        raise InputError('expected "WEBVTT" in the first line; is this an .srt file?', file=path, line=1)
    rows = range(len(lines))
    blocks = [list(block) for filled, block in groupby(rows, key=lambda row: bool(lines[row])) if filled]
    read_cues: list[cues.Cue] = []
    _check(path, lines, blocks[0])
    for block in blocks[1:]:
        if not _NO_CUE.fullmatch(lines[block[0]]):
            read_cues.append(_cue(path, lines, block, str(len(read_cues) + 1)))
    repeated = _drop_repeats(read_cues) if any(map(_TIME_OF_WORD.search, lines)) else 0
    texts = cues.texts(read_cues, FORMAT)
    return replace(texts, left_out={**texts.left_out, "repeated lines": repeated}) if repeated else texts


def _drop_repeats(made: list[cues.Cue]) -> int:
    """Blank the lines that repeat the last one of the cue before; gives their number."""
    last, repeated = "", 0
    for place, cue in enumerate(made):
        rows = [cues.plain(row).strip() for row in cue.lines]
        kept = tuple("" if row and row == last else raw for row, raw in zip(rows, cue.lines, strict=True))
        repeated += sum(bool(row) and row == last for row in rows)
        made[place] = replace(cue, lines=kept)
        last = next(filter(None, reversed(rows)), last)
    return repeated


def _cue(path: Path, lines: list[str], block: list[int], order: str) -> cues.Cue:
    """The cue of a block of rows; without an identifier its name is `order`."""
    for place, row in enumerate(block[:2]):
        if span := cues.times(lines[row], _EXAMPLE, file=path, number=row + 1):
            _check(path, lines, block[place + 1 :])
            name = lines[block[0]].strip() if place else order
            return cues.Cue(name, *span, row + 2, tuple(lines[row + 1 : block[-1] + 1]))
    message = f'a block without times, "{lines[block[0]].strip()[:60]}"; expected "{_EXAMPLE}" in its first two lines'
    raise InputError(message, file=path, line=block[0] + 1)


def _check(path: Path, lines: list[str], rows: list[int]) -> None:
    """Refuse times in rows that begin no block: they would be read as text."""
    for row in rows:
        if cues.times(lines[row], _EXAMPLE, file=path, number=row + 1):
            raise InputError("expected a blank line before this cue", file=path, line=row + 1)
