"""Error span annotation (ESA) as WMT24 and WMT25 publish it: scores from 0 to 100 of segments, higher is better.

- CSV of WMT24 (`esa_generalMT2024_wave0.csv`), without a header: annotator, system, line of the segment (from 0), type,
  source language, target language, score, document, a flag, error spans, start, end. Tutorial items, quality control
  (types other than TGT), and repeated or incomplete documents (`#dup`, `#bad`, `#incomplete`) are left out and counted.
- JSONL of WMT24 (`wmt24_esa.jsonl`), a record for each annotation: `langs`, `line_id`, `system`, `esa_score`, `doc_id`.
- JSONL of WMT25 (`wmt25-genmt-humeval.jsonl`), a record for each segment in order: `doc_id` with the language pair
  (`cs-de_DE_#_news_#_NAME_#_0`) and `scores`: `{SYSTEM: {"human1": SCORE, "human2": SCORE}}`.
- JSON of WMT26 (`annotations.json`), see `contrastive_esa`, whose segments are numbered in their documents.

Of several scores by one annotator the latest counts; the score of a segment is the mean over its annotators. Kocmi et
al. 2024, "Error Span Annotation". Formats: github.com/wmt-conference/wmt24-news-systems (`humeval`),
github.com/wmt-conference/wmt25-general-mt (README).
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.errors import InputError
from pronmetric.lab.human import contrastive_esa
from pronmetric.text import language_codes, numbers, strict_json
from pronmetric.text.lines import iter_lines

CONTROL = "items of quality control or tutorials"
REPEATED = "items of repeated or incomplete documents"
EARLIER = "scores replaced by a later one of the same annotator"
_COLUMNS = 12  # of the files that WMT24 and WMT25 publish
_HUMAN = re.compile(r"human[0-9]*|score")
_SEPARATOR = "_#_"
_ANNOTATION = ("langs", "line_id", "system", "esa_score")


@dataclass(frozen=True, slots=True)
class Esa:
    """The scores of a language pair.

    scores: of each system by segment, from 0. docs: the document of each scored segment. segments: how many the text
    has, None if the file does not tell. left_out: rows that are no score, by kind. places: where segments are known by
    their documents only, the document of each, and its number there from 0.
    """

    pair: str
    scores: Mapping[str, Mapping[int, float]]
    docs: Mapping[int, str]
    segments: int | None
    left_out: Mapping[str, int]
    places: Mapping[int, tuple[str, int]] = field(default_factory=dict)


class _Score(NamedTuple):
    """One score of one annotator."""

    pair: str
    segment: int
    doc: str
    system: str
    annotator: str
    value: float
    time: float


def holds(path: str | Path) -> bool:
    """Whether a file is one of these, by its first line.

    Raises:
        InputError: the file cannot be read.
    """
    if _is_json(path) and contrastive_esa.holds(path):
        return True
    lines = iter_lines(path, kept=False)
    first = next(lines, "")
    lines.close()
    if not first.lstrip().startswith("{"):
        row = _fields(first)
        return len(row) == _COLUMNS and numbers.is_whole(row[2]) and row[3].isalpha()
    try:
        record = strict_json.parse(first)
    except ValueError:
        return False
    return _is_annotation(record) or _is_segment(record)


def read(path: str | Path, *, pair: str | None = None) -> Esa:
    """The scores of the language pair `pair` ("cs-de", or "cs-de_DE" as in the file); None: of the only pair.

    Raises:
        InputError: with file and line, for a malformed row, or a score outside of 0 to 100; several pairs but no
            `pair`, no score of it, a segment that is of two documents.
    """
    tally: Counter[str] = Counter()
    sizes: Counter[str] = Counter()  # segments by pair, of WMT25's records
    places: dict[tuple[str, str, int], int] = {}  # segments by pair, document and number there, of WMT26
    scores = list(_scores(path, tally, sizes, places))
    chosen = _choose(path, {score.pair for score in scores}, pair)
    latest: dict[tuple[str, int, str], _Score] = {}
    docs: dict[int, str] = {}
    for score in scores:
        if score.pair != chosen:
            continue
        if docs.setdefault(score.segment, score.doc) != score.doc:
            message = f"segment {score.segment} is of document {docs[score.segment]!r} and of {score.doc!r}"
            raise InputError(f"{message}: expected one", file=path)
        key = score.system, score.segment, score.annotator
        if score.annotator and (other := latest.get(key)):
            tally[EARLIER] += 1
            latest[key] = score if score.time >= other.time else other
        else:
            latest[(*key[:2], score.annotator or f"#{len(latest)}")] = score
    values: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for score in latest.values():
        values[score.system][score.segment].append(score.value)
    means = {s: {k: sum(own) / len(own) for k, own in sorted(its.items())} for s, its in values.items()}
    own = {number: (doc, place) for (name, doc, place), number in places.items() if name == chosen}
    return Esa(chosen, means, docs, sizes.get(chosen), dict(+tally), own)


def pairs(path: str | Path) -> list[str]:
    """The language pairs that a file has scores of, as in the file."""
    return sorted({score.pair for score in _scores(path, Counter(), Counter(), {})})


def bare(pair: str) -> str:
    """A pair without variants of its languages: "cs-de_DE" -> "cs-de"."""
    codes = language_codes.pair(pair)
    return "-".join(codes) if codes else pair


def _choose(path: str | Path, there: set[str], pair: str | None) -> str:
    if not there:
        raise InputError("no score: expected rows of ESA", file=path)
    found = [each for each in sorted(there) if pair is None or pair in (each, bare(each))]
    if pair is not None and not found:
        found = [each for each in sorted(there) if bare(pair) == bare(each)]
    if len(found) == 1:
        return found[0]
    told = ", ".join(sorted(there))
    wish = "the language pair to be named" if pair is None else f"scores of one language pair {pair}"
    raise InputError(f"expected {wish}; there are {told}: give `pair=`", file=path)


def _scores(
    path: str | Path, tally: Counter[str], sizes: Counter[str], places: dict[tuple[str, str, int], int]
) -> Iterator[_Score]:
    lines = iter_lines(path, kept=False)
    first = next(lines, "")
    lines.close()
    if _is_json(path) and contrastive_esa.holds(path):
        yield from _of_documents(path, tally, places)
    elif first.lstrip().startswith("{"):
        yield from _of_records(path, sizes)
    else:
        yield from _of_rows(path, tally)


def _of_rows(path: str | Path, tally: Counter[str]) -> Iterator[_Score]:
    for line, text in enumerate(iter_lines(path), start=1):
        row = _fields(text)
        if len(row) != _COLUMNS:
            raise InputError(f"expected {_COLUMNS} columns of ESA, with commas, got {len(row)}", file=path, line=line)
        annotator, system, item, kind, source, target, score, doc, _, _, _, end = row
        if kind != "TGT" or "tutorial" in system or doc.endswith("#bad"):
            tally[CONTROL] += 1
        elif "#" in doc:
            tally[REPEATED] += 1
        else:
            pair = f"{language_codes.bare(source)}-{language_codes.bare(target)}"
            value, time = _number(score, path, line), _number(end, path, line, limit=math.inf)
            yield _Score(pair, _whole(item, path, line), doc, system, annotator, value, time)


def _fields(text: str) -> list[str]:
    """The fields of a line of CSV; none of a line that is no CSV."""
    try:
        return next(csv.reader([text]), [])
    except csv.Error:
        return []


def _of_records(path: str | Path, sizes: Counter[str]) -> Iterator[_Score]:
    for line, text in enumerate(iter_lines(path), start=1):
        if not text.strip():
            continue
        try:
            record = strict_json.parse(text)
        except ValueError as error:
            raise InputError(f"broken JSON: {error}", file=path, line=line) from None
        if _is_annotation(record):
            value = _number(record["esa_score"], path, line)
            segment = _whole(record["line_id"], path, line)
            times = record.get("times")
            time = _number(times[-1], path, line, limit=math.inf) if isinstance(times, list) and times else 0.0
            pair, doc, system, annotator = (
                str(record.get(key) or "") for key in ("langs", "doc_id", "system", "annotator")
            )
            yield _Score(pair, segment, doc, system, annotator, value, time)
        elif _is_segment(record):
            yield from _of_segment(record, sizes, path, line)
        else:
            message = f'expected a record with {", ".join(_ANNOTATION)}, or with "doc_id" and "scores"'
            raise InputError(message, file=path, line=line)


def _of_documents(path: str | Path, tally: Counter[str], places: dict[tuple[str, str, int], int]) -> Iterator[_Score]:
    for pair, whole in contrastive_esa.read(path):
        for one in contrastive_esa.segments(whole, tally):
            segment = places.setdefault((pair, one.doc, one.number), len(places))
            for system in one.said.record:
                value = one.said.entry(system).get("score")
                if value is not None:
                    yield _Score(pair, segment, one.doc, system, "", _number(value, path, None), 0.0)


def _is_json(path: str | Path) -> bool:
    return Path(path).name.removesuffix(".gz").endswith(".json")


def _of_segment(record: dict[str, Any], sizes: Counter[str], path: str | Path, line: int) -> Iterator[_Score]:
    identity = str(record["doc_id"])
    fields = identity.split(_SEPARATOR)
    doc = _SEPARATOR.join(fields[:-1]) if len(fields) > 1 and numbers.is_whole(fields[-1]) else identity
    pair = fields[0]
    if language_codes.pair(pair) is None:
        message = (
            f"expected a doc_id that begins with the language pair (cs-de_DE{_SEPARATOR}news), got {identity[:60]!r}"
        )
        raise InputError(message, file=path, line=line)
    segment = sizes[pair]
    sizes[pair] += 1
    for system, given in record["scores"].items():
        each = given if isinstance(given, list) else [given]
        if not all(isinstance(one, dict) for one in each):
            raise InputError(f'{system}: expected an object such as {{"human1": 90}}', file=path, line=line)
        for one in each:
            for key, value in one.items():
                if _HUMAN.fullmatch(key) and value is not None:
                    yield _Score(pair, segment, doc, system, "", _number(value, path, line), 0.0)


def _is_annotation(record: Any) -> bool:
    return isinstance(record, dict) and all(key in record for key in _ANNOTATION)


def _is_segment(record: Any) -> bool:
    return isinstance(record, dict) and "doc_id" in record and isinstance(record.get("scores"), dict)


def _number(value: Any, path: str | Path, line: int | None, *, limit: float = 100.0) -> float:
    try:
        number = math.nan if isinstance(value, bool) else numbers.real(str(value))
    except (TypeError, ValueError):
        number = math.nan
    if not (0 <= number <= limit and math.isfinite(number)):
        wish = "a score from 0 to 100" if limit == 100 else "a time in seconds"
        raise InputError(f"expected {wish}, got {str(value)[:40]!r}", file=path, line=line)
    return number


def _whole(value: Any, path: str | Path, line: int) -> int:
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch("[0-9]{1,9}", text):
        raise InputError(f"expected the line of the segment, a whole number, got {text[:40]!r}", file=path, line=line)
    return int(text)
