"""Pronouns labelled right or wrong, as JSONL, and a metric's scores of them.

One object per line: {"id", "text", "context": [sentences], "start", "end", "label": "right"|"wrong", "doc", "system",
"pronoun"}; start and end are offsets in code points, half open. context, doc, system and pronoun are optional.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.eval.shuffling import shuffle_contexts
from pronmetric.lab.human.judged_pairs import check_ids, read_objects
from pronmetric.lab.human.pair_sets import SHUFFLED
from pronmetric.text import strict_json
from pronmetric.text.context import NONE, Text, refuse_unprintable, text_of

RIGHT, WRONG = "right", "wrong"
KEYS = frozenset({"text", "start", "end", "label"})
"""The keys that distinguish such a file from one of pairs."""
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class LabelledPronoun:
    """A pronoun in its text and context, and whether it is wrong. doc: the unit of resampling."""

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


def is_record(line: str) -> bool:
    """Whether a line is a labelled pronoun, judged by its keys."""
    try:
        record = strict_json.parse(line)
    except ValueError:
        return False
    return isinstance(record, dict) and record.keys() >= KEYS


def read(path: str | Path) -> list[LabelledPronoun]:
    """The labelled pronouns of a file, in order.

    Raises:
        InputError: with file and line, for a missing key, an invalid value, or a repeated id.
    """
    found: list[LabelledPronoun] = []
    lines: dict[str, int] = {}
    for number, record in read_objects(path):
        one = _parse(record, path, number)
        if one.id in lines:
            raise InputError(
                f'duplicate id "{one.id}", first in line {lines[one.id]}; each pronoun needs its own',
                file=path,
                line=number,
            )
        lines[one.id] = number
        found.append(one)
    if not found:
        raise InputError("no pronouns: expected one JSON object a line", file=path)
    return found


def clusters_of(pronouns: Sequence[LabelledPronoun]) -> tuple[str, list[str]]:
    """The units of resampling: documents or, if some pronoun has none, texts in their contexts."""
    docs = [one.doc for one in pronouns]
    if None not in docs:
        return "document", [str(doc) for doc in docs]
    return "text", ["\0".join(one.text[:2]) for one in pronouns]


def texts(pronouns: Sequence[LabelledPronoun], context: str, *, seed: int) -> list[Text]:
    """The text of each pronoun in a context: common (its own), none or shuffled (another document's)."""
    contexts = [one.text.context for one in pronouns]
    if context == SHUFFLED:
        _, groups = clusters_of(pronouns)
        contexts = shuffle_contexts(contexts, items=list(zip(groups, contexts, strict=True)), groups=groups, seed=seed)
    return [
        Text("" if context == NONE else before, one.text.text) for one, before in zip(pronouns, contexts, strict=True)
    ]


def _parse(record: Mapping[str, Any], path: str | Path, line: int) -> LabelledPronoun:
    if missing := sorted((KEYS | {"id"}) - record.keys()):
        raise InputError(f"the key {missing[0]!r} is missing; the object has {sorted(record)}", file=path, line=line)
    text = text_of(record, file=str(path), line=line)
    start, end, label = record["start"], record["end"], record["label"]
    for value in (start, end):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f'"start" and "end" must be whole numbers, got {value!r}', file=path, line=line)
    if not 0 <= start < end <= len(text.text):
        size = len(text.text)
        raise InputError(f"start {start}, end {end} is not a span of a text of {size} characters", file=path, line=line)
    if label not in (RIGHT, WRONG):
        raise InputError(f'"label" must be "right" or "wrong", got {label!r}', file=path, line=line)
    pronoun = _label(record, "pronoun", path, line)
    if pronoun is not None and pronoun.lower() != text.text[start:end].lower():
        raise InputError(
            f"expected the pronoun {pronoun!r} at start, got {text.text[start:end]!r}", file=path, line=line
        )
    return LabelledPronoun(
        id=_identity(record, path, line),
        text=text,
        start=start,
        end=end,
        wrong=label == WRONG,
        doc=_label(record, "doc", path, line),
        system=_label(record, "system", path, line),
    )


def read_scores(path: str | Path, pronouns: Sequence[LabelledPronoun]) -> list[float | None]:
    """Scores {"id", "score"} of exactly these pronouns, in their order; null for a missing score.

    Raises:
        InputError: with file and line, for a score that is not a finite number, and for ids that are missing, surplus
            or repeated.
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
            raise InputError(f'duplicate id "{identity}"; give each score once', file=path, line=line)
        scores[identity] = value
    check_ids([one.id for one in pronouns], scores, what="labelled pronouns", file=path)
    return [scores[one.id] for one in pronouns]


def _identity(record: Mapping[str, Any], path: str | Path, line: int) -> str:
    value = record.get("id")
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise InputError(f'"id" must be a string or a whole number, got {value!r}', file=path, line=line)
    refuse_unprintable(str(value), "id", file=str(path), line=line)
    return str(value)


def _label(record: Mapping[str, Any], key: str, path: str | Path, line: int) -> str | None:
    """A string, or a whole number as a string; None if the key is missing."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f'"{key}" must be a string, got {value!r}', file=path, line=line)
    refuse_unprintable(str(value), key, file=str(path), line=line)
    return str(value)
