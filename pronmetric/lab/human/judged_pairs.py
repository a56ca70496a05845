"""Judged pairs of texts: the common record of all sources of such pairs, and its JSONL format.

One object per line: {"id", "context": [sentences], "text_a", "text_b", "better": "A"|"B"|"tie", "votes": {rater:
"A"|"B"|"tie"}, "group", "doc", "pronoun_a", "pronoun_b", "reference", "system_a", "system_b"}; the id and the two texts
are required. The files of the published study ({"reference": tokens, "noisy": tokens, ...}) are recognised by their
keys. Sources in other formats (TSV, folders) have modules of their own.
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from pronmetric.errors import InputError
from pronmetric.eval.decision import ANSWERS, A
from pronmetric.text import strict_json
from pronmetric.text.context import refuse_unprintable
from pronmetric.text.lines import check_segment, iter_lines

PairScores = Mapping[str, tuple[float | None, float | None]]
"""The scores of texts A and B by the pair's id."""
_LABELS = ("group", "doc", "pronoun_a", "pronoun_b", "judge", "reference", "system_a", "system_b")
STUDY_JUDGE = "the reference is better"
_KEYS = ("id", "context", "text_a", "text_b", "better", "votes", *_LABELS)
_STUDY_KEYS = {"reference", "noisy"}


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two texts in the same context, and the answers to which of them is better.

    context: the previous sentences, oldest first. better: "A", "B" or "tie", None if not given. votes: the answer of
    each rater. group: a label for results by group (a language, a kind); doc: the unit of resampling.
    pronoun_a, pronoun_b: the pronouns in which the texts differ, if it is one in each. judge: the origin of `better`
    if it is not a rater's answer, such as "the reference is better". reference: a reference translation of the
    segment; system_a, system_b: the systems that produced the texts; only the baselines use these three.
    """

    id: str
    context: tuple[str, ...]
    text_a: str
    text_b: str
    better: str | None = None
    votes: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None
    doc: str | None = None
    pronoun_a: str | None = None
    pronoun_b: str | None = None
    judge: str | None = None
    reference: str | None = None
    system_a: str | None = None
    system_b: str | None = None


def read(path: str | Path) -> list[JudgedPair]:
    """The pairs of a JSONL file, in order; in the study's format text A, the reference, is the better one.

    Raises:
        InputError: with file and line, for a line that is not such an object, a missing or misspelt key, an invalid
            value, a duplicate id, and a file without pairs.
    """
    pairs: list[JudgedPair] = []
    lines: dict[str, int] = {}
    for number, record in read_objects(path):
        check = _Record(record, str(path), number)
        pair = _study(check) if _STUDY_KEYS <= record.keys() else _pair(check)
        if pair.id in lines:
            check.fail(f'duplicate id "{pair.id}", first in line {lines[pair.id]}; each pair needs its own')
        lines[pair.id] = number
        pairs.append(pair)
    if not pairs:
        raise InputError("no pairs: expected one JSON object a line", file=path)
    return pairs


def to_line(pair: JudgedPair) -> str:
    """The pair as one line of JSON without a line end; missing values are left out.

    >>> to_line(JudgedPair("1", (), "He left.", "It left.", better="A"))
    '{"id": "1", "context": [], "text_a": "He left.", "text_b": "It left.", "better": "A"}'
    """
    record: dict[str, Any] = {
        "id": pair.id,
        "context": list(pair.context),
        "text_a": pair.text_a,
        "text_b": pair.text_b,
        "better": pair.better,
        "votes": dict(pair.votes) or None,
        **{name: getattr(pair, name) for name in _LABELS},
    }
    return strict_json.dump({key: value for key, value in record.items() if value is not None})


def read_scores(path: str | Path) -> dict[str, tuple[float | None, float | None]]:
    """A metric's scores of pairs by id: JSONL {"id", "score_a", "score_b"}; null for a text without a score.

    Raises:
        InputError: with file and line, for a missing key, a score that is neither a finite number nor null, a
            duplicate id, and a file without scores.
    """
    scores: dict[str, tuple[float | None, float | None]] = {}
    for number, record in read_objects(path):
        check = _Record(record, str(path), number)
        identity = check.identity()
        if identity in scores:
            check.fail(f'duplicate id "{identity}"; give the scores of a pair once')
        scores[identity] = check.score("score_a"), check.score("score_b")
    if not scores:
        raise InputError('no scores: expected one object {"id", "score_a", "score_b"} a line', file=path)
    return scores


def score_line(identity: str, scores: tuple[float | None, float | None]) -> str:
    """One pair's scores as a line of JSON that `read_scores` reads, in full precision."""
    return strict_json.dump({"id": identity, "score_a": scores[0], "score_b": scores[1]})


def check_ids(ids: Sequence[str], scores: Mapping[str, object], *, what: str, file: str | Path) -> None:
    """Raise InputError unless the scores are those of exactly `ids`; `what` names the items, in the plural."""
    known = set(ids)
    missing = [identity for identity in ids if identity not in scores]
    unknown = [identity for identity in scores if identity not in known]
    for found, said in ((missing, "have no scores here"), (unknown, f"are scored, but are no {what}")):
        if found:
            raise InputError(f'{len(found)} of the ids {said}, first "{found[0]}"; score exactly the {what}', file=file)


def scores_of(
    pairs: Iterable[JudgedPair], scores: Mapping[str, tuple[float | None, float | None]], *, file: str | Path
) -> list[tuple[float | None, float | None]]:
    """The scores of each pair, in the order of the pairs; `file` is named in errors."""
    pairs = list(pairs)
    check_ids([pair.id for pair in pairs], scores, what="pairs", file=file)
    return [scores[pair.id] for pair in pairs]


def read_objects(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each JSON object of a JSONL file with its line number; empty lines are skipped.

    Raises:
        InputError: with file and line, if a line is not a JSON object, or has NaN, infinity or a duplicate key.
    """
    for number, line in enumerate(iter_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = strict_json.parse(line)
        except ValueError as error:
            message = f"expected one JSON object on the line: {error}"
            raise InputError(message, file=path, line=number) from None
        if not isinstance(record, dict):
            raise InputError(f"expected a JSON object, got {_kind(record)}", file=path, line=number)
        yield number, record


class _Record:
    """One object with its file and line; its values are checked."""

    def __init__(self, record: Mapping[str, Any], file: str, line: int) -> None:
        self.record, self.file, self.line = record, file, line

    def fail(self, message: str) -> NoReturn:
        raise InputError(message, file=self.file, line=self.line)

    def require(self, key: str) -> Any:
        if key not in self.record:
            self.fail(f'the key "{key}" is missing; the object has {sorted(self.record)}')
        return self.record[key]

    def identity(self) -> str:
        value = self.require("id")
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            self.fail(f'"id" must be a string or a whole number, got {_quote(value)}')
        return self._printable(str(value), "id")

    def text(self, key: str) -> str:
        value = self.require(key)
        if not isinstance(value, str):
            self.fail(f'"{key}" must be a string, got {_kind(value)}')
        return check_segment(self._printable(value, key), file=self.file, line=self.line)

    def label(self, key: str) -> str | None:
        value = self.record.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int):
            self.fail(f'"{key}" must be a string, got {_kind(value)}')
        return self._printable(str(value), key)

    def strings(self, key: str) -> tuple[str, ...]:
        value = self.record.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            got = "a list with other items" if isinstance(value, list) else _kind(value)
            self.fail(f'"{key}" must be a list of strings, got {got}')
        return tuple(check_segment(self._printable(item, key), file=self.file, line=self.line) for item in value)

    def answer(self, key: str) -> str | None:
        value = self.record.get(key)
        return None if value is None else self._answer(value, f'"{key}"', "leave the key out if there is no answer")

    def votes(self) -> dict[str, str]:
        value = self.record.get("votes")
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fail(f'"votes" must be an object {{rater: "A"|"B"|"tie"}}, got {_kind(value)}')
        cure = "leave out raters who did not vote"
        return {
            self._rater(rater): self._answer(vote, f'the vote of rater "{rater}"', cure)
            for rater, vote in value.items()
        }

    def score(self, key: str) -> float | None:
        value = self.require(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(f'"{key}" must be a number, or null for no score, got {_quote(value)}')
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail(f'"{key}" must be a finite number, or null for no score, got {_quote(value)}')
        return number

    def _answer(self, value: object, what: str, cure: str) -> str:
        if not isinstance(value, str) or value not in ANSWERS:
            self.fail(f'{what} must be "A", "B" or "tie", got {_quote(value)}; {cure}')
        return value

    def _rater(self, name: str) -> str:
        if not name.strip():
            self.fail('a rater in "votes" has no name; name each rater')
        return self._printable(name, "votes")

    def _printable(self, value: str, key: str) -> str:
        refuse_unprintable(value, key, file=self.file, line=self.line)
        return value


def _pair(record: _Record) -> JudgedPair:
    found = JudgedPair(
        id=record.identity(),
        context=record.strings("context"),
        text_a=record.text("text_a"),
        text_b=record.text("text_b"),
        better=record.answer("better"),
        votes=record.votes(),
        **{key: record.label(key) for key in _LABELS},
    )
    for key in record.record.keys() - set(_KEYS):  # a misspelt key must not be read as a missing one
        near = difflib.get_close_matches(key.lower(), [k for k in _KEYS if k not in record.record], n=1, cutoff=0.81)
        if near:
            record.fail(f'unknown key "{key}"; did you mean "{near[0]}"?')
    return found


def _study(record: _Record) -> JudgedPair:
    """A sample of the study: lower-case tokens joined by spaces; a reference sentence is a document."""
    text_a, text_b, context = (" ".join(record.strings(key)) for key in ("reference", "noisy", "context"))
    for key, text in (("reference", text_a), ("noisy", text_b)):
        check_segment(text, file=record.file, line=record.line)
        if not text:
            record.fail(f'"{key}" has no tokens; expected a list of words')
    return JudgedPair(
        id=record.identity(),
        context=(context,) if context else (),
        text_a=text_a,
        text_b=text_b,
        better=A,
        group=record.label("lang"),
        doc=text_a,
        pronoun_a=record.label("reference_pronoun"),
        pronoun_b=record.label("noisy_pronoun"),
        judge=STUDY_JUDGE,
    )


def _quote(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:60]


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    names: dict[type, str] = {str: "a string", type(None): "null", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
