"""MQM annotations in the TSV of the WMT shared task on quality estimation (github.com/WMT-QE-Task/wmt-qe-2023-data).

The columns are system, document, segment, rater, source, target, starts and ends of the marked spans (half-open
offsets, -1 for a text without errors) and severities; those of a text are separated by spaces. The files are of two
kinds:

- Without a header. Where the name of a document has a space, the file has a tab instead and lacks the rater; a row
  whose name has two lacks the segment too, and is left out.
- With a header (into Russian). Texts with quotation marks are quoted as in CSV, and the offsets are those of the quoted
  text. Nine of ten ends are three characters too far (and a blank after the span belongs to it); the others are right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.lab.human.mqm import NO_ERROR, WEIGHTS, Error, Judgement
from pronmetric.text import numbers
from pronmetric.text.lines import read_lines

COLUMNS = ("mt_system", "doc_id", "seg_id", "annotator_id", "source", "target", "start_ids", "end_ids", "errors")
"""The header, if there is one."""
_TOO_FAR = 3  # characters, of nine of ten ends in the files with a header


def read(path: Path, tally: Counter[str]) -> Iterator[Judgement]:
    """The annotations of a file; rows that cannot be used are counted in `tally`.

    Raises:
        InputError: a line is broken.
    """
    lines = read_lines(path)
    headed = bool(lines) and tuple(lines[0].split("\t")) == COLUMNS
    for number, line in enumerate(lines[headed:], start=1 + headed):
        fields = line.split("\t")
        if len(fields) != len(COLUMNS):
            message = f"{len(fields)} fields, expected {len(COLUMNS)}: a header of MQM annotations, or spans as offsets"
            raise InputError(message, file=path, line=number)
        system, doc, segment, rater, source, target, starts, ends, severities = fields
        if numbers.is_whole(rater) and not numbers.is_whole(segment):
            doc, segment, rater = f"{doc} {segment}", rater, "rater"
        elif not numbers.is_whole(segment):
            tally["rows without a segment"] += 1
            continue
        try:
            offsets = [list(map(numbers.whole, each.split())) for each in (starts, ends)]
            spans = list(zip(*offsets, strict=True))
            levels = severities.split()
            errors = tuple(
                Error("", level, (_corrected(target, *span) if headed else span,))
                for span, level in zip(spans, levels, strict=True)
                if level != NO_ERROR and span[0] >= 0
            )
            place = int(segment)
        except ValueError:
            message = "expected a segment number, and as many starts as ends and severities of spans"
            raise InputError(message, file=path, line=number) from None
        if unknown := {error.severity for error in errors} - WEIGHTS.keys():
            raise InputError(f"unknown severity {min(unknown)!r}", file=path, line=number)
        if headed:
            source, target = _unquoted(source), _unquoted(target)
        yield Judgement(system, doc, place, rater, target, errors, source)


def _corrected(quoted: str, start: int, end: int) -> tuple[int, int]:
    """The span of the unquoted text that a file with a header means by offsets of the quoted one.

    The end as it stands is right where only this one is the end of a word.
    """
    near = end - _TOO_FAR
    if near <= start or (_is_bound(quoted, end) and not _is_bound(quoted, near)):
        near = max(start, end)
    last = start + len(quoted[start:near].rstrip())
    return _unquoted_offset(quoted, start), _unquoted_offset(quoted, last)


def _is_bound(text: str, offset: int) -> bool:
    """Whether no word goes on at an offset."""
    return not (0 < offset < len(text) and text[offset - 1].isalnum() and text[offset].isalnum())


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == text[-1] == '"'


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if _is_quoted(text) else text


def _unquoted_offset(text: str, offset: int) -> int:
    return len(text[1:offset].replace('""', '"')) if _is_quoted(text) else offset
