"""Single pronouns that somebody labelled right or wrong, as JSONL, and a metric's scores of them.

One object a line: {"id", "text", "context": [sentences], "start", "end", "label": "right"|"wrong", "doc", "system",
"pronoun"}; start and end count code points of the text, half open. context, doc, system and pronoun may be absent.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.suites.judged_pairs import check_ids, read_objects
from pronmetric.text import strict_json
from pronmetric.text.context import Text, refuse_unprintable, text_of

RIGHT, WRONG = "right", "wrong"
KEYS = frozenset({"text", "start", "end", "label"})
"""What tells such a file from one of pairs."""
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class LabelledPronoun:
    """One pronoun in its text and context, and whether it is wrong. form: lower-cased. doc: what is resampled."""

    id: str
    text: Text
    start: int
    end: int
    wrong: bool
    doc: str | None = None
    system: str | None = None

    @property
    def form(self) -> str:
        """The pronoun, lower-cased."""
        return self.text.text[self.start : self.end].lower()


def holds_tokens(line: str) -> bool:
    """Whether a file whose first line this is holds labelled pronouns."""
    try:
        record = strict_json.parse(line)
    except ValueError:
        return False
    return isinstance(record, dict) and record.keys() >= KEYS


def read(path: str | Path) -> list[LabelledPronoun]:
    """The labelled pronouns of a file, in order.

    Raises:
        InputError: with file and line, where a key is missing or is not what it means, or an id comes again.
    """
    found: list[LabelledPronoun] = []
    lines: dict[str, int] = {}
    for number, record in read_objects(path):
        one = _token(record, path, number)
        if one.id in lines:
            raise InputError(
                f'the id "{one.id}" stands in line {lines[one.id]} too; each needs its own', file=path, line=number
            )
        lines[one.id] = number
        found.append(one)
    if not found:
        raise InputError("no pronouns: expected one JSON object a line", file=path)
    return found


def _token(record: Mapping[str, Any], path: str | Path, line: int) -> LabelledPronoun:
    if missing := sorted((KEYS | {"id"}) - record.keys()):
        raise InputError(f"the key {missing[0]!r} is missing; the object has {sorted(record)}", file=path, line=line)
    text = text_of(record, file=str(path), line=line)
    start, end, label = record["start"], record["end"], record["label"]
    for value in (start, end):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f'"start" and "end" must be whole numbers, got {value!r}', file=path, line=line)
    if not 0 <= start < end <= len(text.text):
        size = len(text.text)
        raise InputError(f"start {start}, end {end} are no place in a text of {size} characters", file=path, line=line)
    if label not in (RIGHT, WRONG):
        raise InputError(f'"label" must be "right" or "wrong", got {label!r}', file=path, line=line)
    pronoun = _label(record, "pronoun", path, line)
    if pronoun is not None and pronoun.lower() != text.text[start:end].lower():
        raise InputError(f"the pronoun {pronoun!r} is not at start, {text.text[start:end]!r} is", file=path, line=line)
    return LabelledPronoun(
        id=_identity(record, path, line),
        text=text,
        start=start,
        end=end,
        wrong=label == WRONG,
        doc=_label(record, "doc", path, line),
        system=_label(record, "system", path, line),
    )


def read_scores(path: str | Path, tokens: Sequence[LabelledPronoun]) -> list[float | None]:
    """Scores {"id", "score"} of exactly these pronouns, in their order; null is one without a score.

    Raises:
        InputError: with file and line, a score that is no finite number; ids that are missing, surplus or repeated.
    """
    scores: dict[str, float | None] = {}
    for line, record in read_objects(path):
        identity = _identity(record, path, line)
        if "score" not in record:
            raise InputError(f"the key 'score' is missing; the object has {sorted(record)}", file=path, line=line)
        value = record["score"]
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InputError(f'"score" must be a number or null, got {value!r}', file=path, line=line)
        if value is not None and not abs(value) <= _LARGEST:
            raise InputError(f'"score" must be a finite number or null, got {str(value)[:40]}', file=path, line=line)
        if identity in scores:
            raise InputError(f'the id "{identity}" comes a second time; give each score once', file=path, line=line)
        scores[identity] = value
    check_ids([token.id for token in tokens], scores, what="labelled pronouns", file=path)
    return [scores[token.id] for token in tokens]


def _identity(record: Mapping[str, Any], path: str | Path, line: int) -> str:
    value = record.get("id")
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise InputError(f'"id" must be a string or a whole number, got {value!r}', file=path, line=line)
    refuse_unprintable(str(value), "id", file=str(path), line=line)
    return str(value)


def _label(record: Mapping[str, Any], key: str, path: str | Path, line: int) -> str | None:
    """A string, or a whole number as one; None where the key is absent."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f'"{key}" must be a string, got {value!r}', file=path, line=line)
    refuse_unprintable(str(value), key, file=str(path), line=line)
    return str(value)
