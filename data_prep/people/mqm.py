"""MQM annotations of translations, in three published formats, as the records of `pronmetric.lab.human.mqm`.

- Marot TSV: as `pronmetric.lab.human.mqm` reads it. Raters of WMT20 put corrections into the text, and marked them or
  the words before them; such errors are carried over to the system's text, see `carry`.
- TSV of the WMT shared task on quality estimation, see `wmt_qe`.
- JSON of MQM of medical abstracts: a list of segments with `target_errors`, whose spans have inclusive ends
  (github.com/amazon-science/bio-mqm-dataset).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from data_prep.people import wmt_qe
from pronmetric.errors import InputError
from pronmetric.lab.human import mqm
from pronmetric.lab.human.mqm import OMISSION, WEIGHTS, Error, Insertion, Judgement
from pronmetric.text import strict_json
from pronmetric.text.lines import read_lines
from pronmetric.text.words import Word, words

_JSON_KEYS = ("DOC_ID", "SEG_ID", "MT_Engine", "source", "target", "target_errors")
_FIX = "expected a file as its owners publish it"


def read(path: Path, tally: Counter[str]) -> list[Judgement]:
    """The annotations of a file; rows that cannot be used are counted in `tally`.

    Raises:
        InputError: the file has another format, or a line of it is broken.
    """
    if path.suffix == ".json":
        return list(_segments(path, tally))
    return list(wmt_qe.read(path, tally)) if has_offsets(path) else mqm.read(path, tally=tally, carry=carry)


def has_offsets(path: Path) -> bool:
    """Whether a TSV has spans as offsets, not as marks in the text."""
    first = next(iter(read_lines(path)), "").split("\t")
    return len(first) == len(wmt_qe.COLUMNS) and "severity" not in first


def carry(error: Error, marked: str, text: str) -> Error | None:
    """An error that a rater marked in a changed text, in the system's text; None if it has no place there.

    Words of the span that the system's text has too are the span there; the rater's words in place of others are a
    correction of these, and those beside them an insertion. A copy of the words before or after it is no insertion but
    marks these words. An omission marks no word of the system's.
    """
    split = words(marked), words(text)
    lower = [[word.text.lower() for word in each] for each in split]
    blocks = SequenceMatcher(None, lower[0], lower[1], autojunk=False).get_opcodes()
    spans: list[tuple[int, int]] = []
    inserted: list[Insertion] = []
    omission = OMISSION in error.category.lower()
    for start, end in error.spans:
        there: list[int] = []
        for tag, i, j, k, m in blocks:
            inside = [n for n in range(i, j) if split[0][n].start < end and split[0][n].end > start]
            if not inside:
                continue
            if tag == "equal":
                there += [k + n - i for n in inside]
            elif tag == "replace":
                there += range(k, m)
                inserted.append(_insertion(split, inside, k, marked, text))
            elif (copied := _copied(lower, inside, k)) is not None:
                there += copied
            else:
                inserted.append(_insertion(split, inside, k, marked, text))
        if there and not omission:
            spans.append((split[1][min(there)].start, split[1][max(there)].end))
    if not spans and not inserted:
        return None
    return Error(error.category, error.severity, tuple(spans), tuple(inserted))


def _insertion(split: tuple[tuple[Word, ...], ...], inside: list[int], place: int, marked: str, text: str) -> Insertion:
    offset = split[1][place].start if place < len(split[1]) else len(text)
    return Insertion(offset, marked[split[0][inside[0]].start : split[0][inside[-1]].end])


def _copied(lower: list[list[str]], inside: list[int], place: int) -> range | None:
    """The words of the system's text before or after `place` that the rater's words repeat; None if they do not."""
    size = len(inside)
    own = lower[0][inside[0] : inside[-1] + 1]
    for begin in (place - size, place):
        if begin >= 0 and lower[1][begin : begin + size] == own:
            return range(begin, begin + size)
    return None


def _segments(path: Path, tally: Counter[str]) -> Iterator[Judgement]:
    records = strict_json.read(path, _FIX)
    if not isinstance(records, list):
        raise InputError(f"expected a JSON list of segments, {_FIX}", file=path)
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict) or (missing := [key for key in _JSON_KEYS if key not in record]):
            what = f"has no {missing[0]!r}" if isinstance(record, dict) else "is no object"
            raise InputError(f"segment {number} {what}; {_FIX}", file=path)
        errors = tuple(_json_errors(record, tally))
        yield Judgement(
            str(record["MT_Engine"]),
            str(record["DOC_ID"]),
            int(record["SEG_ID"]),
            str(record.get("Annotator_ID", "rater")),
            record["target"],
            errors,
            record["source"],
        )


def _json_errors(record: Mapping[str, Any], tally: Counter[str]) -> Iterator[Error]:
    for each in record["target_errors"]:
        severity = str(each.get("severity", "")).lower()
        start, end = each.get("startIndex"), each.get("endIndex")
        if severity not in WEIGHTS or not isinstance(start, int) or not isinstance(end, int):
            tally["errors without a severity or a span"] += 1
            continue
        category = str(each.get("error_subcategory") or each.get("error_category") or "")
        yield Error(category, severity, ((start, end + 1),))
