r"""Score files: mt-metrics-eval's `.seg.score` and `.sys.score`; rankings and segment scores of direct assessment (DA).

`.seg.score` has a line `SYSTEM<TAB>SCORE` for each segment of each system, in the order of the segments, with `None`
for a missing score; `.sys.score` has one such line for each system. WMT's rankings
(`ad-sys-ranking-de-en-z-names.csv`) have, separated by spaces, raw score, z score, number of annotations, number of
segments, SYSTEM.NUMBER and, in some files, the system's name as in the names of its output files. Its segment scores
(`ad-seg-scores-de-en.csv`) have a header and then SYSTEM.NUMBER, segment (from 1), raw score, z score, number of
annotations. A folder of rankings holds `wmtNN-da/ad-sys-ranking-SL-TL-z-names.csv`. Higher is better in all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pronmetric.errors import InputError, PronmetricError
from pronmetric.text import numbers
from pronmetric.text.lines import read_lines

MISSING = "None"
RANKING = "RAW Z ANNOTATIONS SEGMENTS SYSTEM [NAME]"
SEGMENT_HEAD = ["SYS", "SID", "RAW.SCR", "Z.SCR", "N"]

_HUMAN = re.compile(r"human(?![a-z]).*|ref[-_.]?[a-z0-9]?", re.IGNORECASE)
INDEX = re.compile(r"\.[0-9]+$")
_COUNT = re.compile(r"[0-9]{1,9}")
_SHOWN = 80  # characters of a line that an error quotes
_RANKING_NAME = re.compile(r"wmt(?P<year>\d\d)-da/ad-sys-ranking-(?P<source>[a-z]+)-(?P<target>[a-z]+)-z-names\.csv")
_SOURCE = {"lv": "liv"}  # Livonian, which the rankings of WMT22 call by the code of Latvian


class RankedSystem(NamedTuple):
    """A system in a ranking. `system` is its name among the outputs, `id` that of the rating campaign."""

    system: str
    raw: float
    z: float
    annotations: int
    segments: int
    id: str


class AssessedSegment(NamedTuple):
    """A segment's mean scores and the number of annotations."""

    raw: float
    z: float
    annotations: int


class Ranking(NamedTuple):
    """A test set ("wmt22:cs-en") and the human z score of each of its systems.

    humans: the human translations that were also ranked.
    """

    dataset: str
    scores: dict[str, float]
    humans: tuple[str, ...]


def read_segment_scores(path: str | Path) -> dict[str, list[float | None]]:
    """Read `.seg.score`: the scores of all segments for each system, None if missing.

    Raises:
        InputError: with file and line, for a malformed line, or different numbers of segments.
    """
    scores: dict[str, list[float | None]] = {}
    for _, system, score in _pairs(path):
        scores.setdefault(system, []).append(score)
    lengths = {len(own) for own in scores.values()}
    if len(lengths) > 1:
        shortest, longest = (pick(scores, key=lambda s: len(scores[s])) for pick in (min, max))
        message = f"{len(scores[shortest])} segments of {shortest}, but {len(scores[longest])} of {longest}"
        raise InputError(f"{message}: expected as many for each; write {MISSING} where there is no score", file=path)
    return scores


def read_system_scores(path: str | Path) -> dict[str, float | None]:
    """Read `.sys.score`: the score of each system, None if missing.

    Raises:
        InputError: with file and line, for a malformed line or a duplicate system.
    """
    scores: dict[str, float | None] = {}
    for line, system, score in _pairs(path):
        if system in scores:
            message = f"a second score of {system}: expected one for each (.seg.score holds those of segments)"
            raise InputError(message, file=path, line=line)
        scores[system] = score
    return scores


def segment_score_lines(scores: Mapping[str, Sequence[float | None]]) -> Iterator[str]:
    r"""The lines of `.seg.score` with line ends; `read_segment_scores` restores the scores exactly.

    >>> list(segment_score_lines({"Alder": [0.5, None]}))
    ['Alder\t0.5\n', 'Alder\tNone\n']

    Raises:
        PronmetricError: a system's name contains white space, a score is not finite, or the systems have different
            numbers of segments.
    """
    if len({len(own) for own in scores.values()}) > 1:
        lengths = ", ".join(f"{system}: {len(own)}" for system, own in scores.items())
        raise PronmetricError(f"expected as many segments for each system, got {lengths}")
    for system, own in scores.items():
        yield from (_line(system, score) for score in own)


def system_score_lines(scores: Mapping[str, float | None]) -> Iterator[str]:
    """The lines of `.sys.score`, with line ends; raises as `segment_score_lines`."""
    return (_line(system, score) for system, score in scores.items())


def read_ranking(path: str | Path) -> list[RankedSystem]:
    """Read a ranking `ad-sys-ranking-*.csv`, keeping its order.

    If the file gives no names, the system's number is removed (`Online-A.5` is Online-A). A few systems have another
    name in the outputs, so that `-z-names` files are preferable.

    Raises:
        InputError: with file and line, for a malformed line or a duplicate name; for an empty file.
    """
    ranked: list[RankedSystem] = []
    seen: set[str] = set()
    for line, text in lines_of(path):
        fields = text.split()
        if len(fields) not in (5, 6):
            raise InputError(f"expected 5 or 6 fields, {RANKING}, got {len(fields)}", file=path, line=line)
        name = fields[5] if len(fields) == 6 else INDEX.sub("", fields[4])
        if name in seen:
            raise InputError(f"{name} for the second time: expected each system once", file=path, line=line)
        seen.add(name)
        raw, z = (finite(field, path, line) for field in fields[:2])
        annotations, segments = (_count(field, path, line) for field in fields[2:4])
        ranked.append(RankedSystem(name, raw, z, annotations, segments, fields[4]))
    return ranked


def find_rankings(folder: Path, *, target: str = "en") -> tuple[list[Ranking], list[str]]:
    """The rankings into `target` in folders `wmtNN-da` anywhere in `folder`, and notes on files that are left out.

    Raises:
        InputError: a malformed ranking.
    """
    rankings, notes = [], []
    for path in sorted(folder.rglob(f"wmt*-da/ad-sys-ranking-*-{target}-z-names.csv")):
        name = path.relative_to(path.parents[1]).as_posix()
        match = _RANKING_NAME.fullmatch(name)
        if match is None or not path.stat().st_size:
            notes.append(f"{name}: {'empty' if match else 'no ranking of a language pair'}, left out")
            continue
        ranked = {one.system: one.z for one in read_ranking(path)}
        humans = tuple(filter(is_human, ranked))
        dataset = f"wmt{match['year']}:{_SOURCE.get(match['source'], match['source'])}-{match['target']}"
        rankings.append(Ranking(dataset, {s: z for s, z in ranked.items() if s not in humans}, humans))
    return rankings, notes


def read_assessments(path: str | Path) -> dict[str, dict[int, AssessedSegment]]:
    """Read `ad-seg-scores-*.csv`: the segments of each SYSTEM.NUMBER (`RankedSystem.id`), by their number from 1.

    Raises:
        InputError: with file and line, for another header, a malformed line or a duplicate segment.
    """
    assessed: dict[str, dict[int, AssessedSegment]] = {}
    lines = lines_of(path)
    if next(lines)[1].split() != SEGMENT_HEAD:
        raise InputError(f"expected the head {' '.join(SEGMENT_HEAD)}", file=path, line=1)
    for line, text in lines:
        fields = text.split()
        if len(fields) != len(SEGMENT_HEAD):
            message = f"expected the fields {' '.join(SEGMENT_HEAD)}, got {len(fields)} of them"
            raise InputError(message, file=path, line=line)
        system = assessed.setdefault(fields[0], {})
        segment = _count(fields[1], path, line)
        if segment in system:
            message = f"segment {segment} of {fields[0]} for the second time: expected each once"
            raise InputError(message, file=path, line=line)
        raw, z = (finite(field, path, line) for field in fields[2:4])
        system[segment] = AssessedSegment(raw, z, _count(fields[4], path, line))
    return assessed


def read_human(path: str | Path, *, score: Literal["z", "raw"] = "z") -> dict[str, float | None]:
    """The human score of each system, from a ranking (its `score`) or from `.sys.score`.

    Raises:
        InputError: with file and line, for a malformed line or a duplicate system.
    """
    _, first = next(lines_of(path))
    is_json = first.lstrip().startswith(("{", "["))
    if not is_json and ("\t" in first or len(first.split()) == 2):
        return read_system_scores(path)
    if is_json or len(first.split()) not in (5, 6):
        forms = f"SYSTEM and a score or {MISSING} (.sys.score), or {RANKING} (a WMT ranking)"
        raise InputError(f"expected {forms}, got {_quote(first)}", file=path, line=1)
    return {ranked.system: ranked.z if score == "z" else ranked.raw for ranked in read_ranking(path)}


def is_human(system: str) -> bool:
    """Whether a system's name is one that these files use for human translations.

    >>> [name for name in ("HUMAN", "HUMAN-B.12", "refA", "ref", "RefineMT", "Alder") if is_human(name)]
    ['HUMAN', 'HUMAN-B.12', 'refA', 'ref']
    """
    return _HUMAN.fullmatch(system) is not None


def _pairs(path: str | Path) -> Iterator[tuple[int, str, float | None]]:
    """Line number, system and score of each line of mt-metrics-eval's files."""
    for line, text in lines_of(path):
        fields = text.split("\t") if "\t" in text else text.split()
        if len(fields) != 2 or not fields[0].strip():
            message = f"expected SYSTEM, a tab and a score or {MISSING}, got {_quote(text)}"
            raise InputError(message, file=path, line=line)
        system, score = fields
        yield line, system, None if score == MISSING else finite(score, path, line)


def lines_of(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; an empty file is an error."""
    lines = read_lines(path)
    if not lines:
        raise InputError("the file is empty: expected at least one line", file=path)
    return iter(enumerate(lines, start=1))


def _quote(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}...")


def finite(text: str, path: str | Path, line: int, *, expected: str = "a finite number") -> float:
    """The number in a field; `expected` says what the field may hold, for the error."""
    try:
        value = numbers.real(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"expected {expected}, got {_quote(text)}", file=path, line=line)
    return value


def _count(text: str, path: str | Path, line: int) -> int:
    if not _COUNT.fullmatch(text):
        raise InputError(f"expected a whole number from 0, got {text!r}", file=path, line=line)
    return int(text)


def _line(system: str, score: float | None) -> str:
    if not system or system.split() != [system]:
        raise PronmetricError(f"the system's name {system!r} holds white space or nothing: these files cannot hold it")
    if score is not None and not math.isfinite(score):
        raise PronmetricError(f"{system}: expected a finite score or None, got {score}")
    return f"{system}\t{MISSING if score is None else repr(float(score))}\n"
