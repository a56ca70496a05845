r"""Human scores of mt-metrics-eval's test sets: `human-scores/LP.NAME.LEVEL.score` and `.seg.rating`.

`.seg.rating` has, for each segment of each system in order, a line `SYSTEM<TAB>RATING<TAB>RATER` (or without a rater):
`None`, or JSON with the errors that a rater marked, `{"errors": [{"severity": ..., "category": ..., "score": ...}]}`. A
segment's score is minus the sum of its errors' scores; an error without one counts as in MQM (Freitag et al. 2021:
minor 1, major and critical 5, a non-translation 25, minor punctuation 0.1). `.domain.score` has a line
`DOMAIN SYSTEM SCORE` for each domain of each system. `documents/LP.docs`, in the folder of `human-scores`, has a line
`DOMAIN DOCUMENT` for each segment. `.sys.score`, `.seg.score` and `.doc.score`: `pronmetric.lab.human.wmt_scores`.

Format: the README of github.com/google-research/mt-metrics-eval, and its `ratings.py` and `converters/score_mqm.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pronmetric.errors import InputError
from pronmetric.lab.human.wmt_scores import MISSING
from pronmetric.text import strict_json
from pronmetric.text.lines import iter_lines

RATING = ".seg.rating"
DOMAIN = ".domain.score"
DOCUMENT = ".doc.score"
_WEIGHTS = {"no-error": 0.0, "neutral": 0.0, "minor": 1.0, "major": 5.0, "critical": 5.0}
_NON_TRANSLATION, _PUNCTUATION = "non-translation", "fluency/punctuation"


def read_ratings(path: str | Path) -> dict[str, list[float | None]]:
    """The score of each segment of each system, at most 0, None where it has no rating; higher is better.

    Raises:
        InputError: with file and line, for another number of columns, a rating that is no JSON with errors, or an error
            without a score and a known severity; for different numbers of segments.
    """
    scores: dict[str, list[float | None]] = {}
    for number, line in _lines(path):
        fields = line.rstrip("\r").split("\t")
        if len(fields) not in (2, 3) or not fields[0].strip():
            message = f"expected SYSTEM, RATING and perhaps RATER, with tabs, got {len(fields)} fields"
            raise InputError(message, file=path, line=number)
        scores.setdefault(fields[0], []).append(_penalty(fields[1], path, number))
    if len({len(own) for own in scores.values()}) > 1:
        told = ", ".join(f"{system} has {len(own)}" for system, own in scores.items())
        raise InputError(f"expected as many segments of each system, got: {told}", file=path)
    return scores


def read_domain_scores(path: str | Path) -> dict[str, dict[str, float | None]]:
    """The score of each domain of each system.

    Raises:
        InputError: with file and line, for another number of fields, no finite number, or a domain of a system twice.
    """
    scores: dict[str, dict[str, float | None]] = {}
    for number, line in _lines(path):
        fields = line.split()
        if len(fields) != 3:
            message = f"expected DOMAIN, SYSTEM and a score or {MISSING}, got {len(fields)} fields"
            raise InputError(message, file=path, line=number)
        domain, system, text = fields
        own = scores.setdefault(system, {})
        if domain in own:
            raise InputError(f"a second score of {system} in the domain {domain}", file=path, line=number)
        own[domain] = None if text == MISSING else _finite(text, path, number)
    return scores


def read_groups(human: str | Path, *, unit: Literal["documents", "domains"]) -> list[str]:
    """The document or the domain of each segment, from `documents/LP.docs` of the test set that `human` belongs to.

    Raises:
        InputError: there is no such file, or a line is not DOMAIN and DOCUMENT.
    """
    path = Path(human)
    docs = path.resolve().parent.parent / "documents" / f"{path.name.partition('.')[0]}.docs"
    if not docs.is_file():
        raise InputError(
            f"has scores of {unit}; the {unit} of the segments are expected in {docs}: keep mt-metrics-eval's folders, "
            "or give SCORES as a file of mt-metrics-eval of the same level",
            file=human,
        )
    found = [domain_and_document(line, file=docs, line=number) for number, line in _lines(docs)]
    return [document if unit == "documents" else domain for domain, document in found]


def domain_and_document(text: str, *, file: str | Path, line: int) -> tuple[str, str]:
    """The domain and the document in a line of a `.docs` file; further fields are ignored, as mt-metrics-eval does.

    Raises:
        InputError: there are fewer than two fields.
    """
    fields = text.split()
    if len(fields) < 2:
        raise InputError(f"expected DOMAIN and DOCUMENT, got {len(fields)} fields", file=file, line=line)
    return fields[0], fields[1]


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    empty = True
    for number, line in enumerate(iter_lines(path), start=1):
        empty = False
        yield number, line
    if empty:
        raise InputError("the file is empty", file=path)


def _penalty(text: str, path: str | Path, line: int) -> float | None:
    if text.strip() == MISSING:
        return None
    try:
        rating = strict_json.parse(text)
    except ValueError as error:
        raise InputError(f"broken JSON of a rating: {error}", file=path, line=line) from None
    errors = rating.get("errors") if isinstance(rating, dict) else None
    if not isinstance(errors, list) or not all(isinstance(error, dict) for error in errors):
        raise InputError('expected a rating {"errors": [...]}', file=path, line=line)
    return 0.0 - sum(_weight(error, path, line) for error in errors)


def _weight(error: dict[str, Any], path: str | Path, line: int) -> float:
    score = error.get("score")
    if isinstance(score, int | float) and not isinstance(score, bool):
        return abs(float(score))
    severity, category = (str(error.get(key) or "").lower().replace("_", "-") for key in ("severity", "category"))
    if severity not in _WEIGHTS:
        known = ", ".join(_WEIGHTS)
        message = f'an error without "score" and with the severity {severity!r}; expected one of {known}'
        raise InputError(message, file=path, line=line)
    if severity == "major" and category.startswith(_NON_TRANSLATION):
        return 25.0
    return 0.1 if severity == "minor" and category.startswith(_PUNCTUATION) else _WEIGHTS[severity]


def _finite(text: str, path: str | Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"expected a finite number or {MISSING}, got {text[:40]!r}", file=path, line=line)
    return value
