"""Pronouns labelled right or wrong, as JSONL, and a metric's scores of them.

One object per line: {"id", "text", "context": [sentences], "start", "end", "label": "right"|"wrong", "doc", "system",
"pronoun", "source", "source_context": [sentences]}; start and end are offsets in code points, half open. context, doc,
system, pronoun, source and source_context are optional.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.eval.shuffling import shuffle_contexts
from pronmetric.lab.human.judged_pairs import check_ids
from pronmetric.lab.human.pair_sets import SHUFFLED
from pronmetric.text import strict_json
from pronmetric.text.context import NONE, Text, text_of
from pronmetric.text.entry import Entry
from pronmetric.text.entry import read as read_entries

RIGHT, WRONG = "right", "wrong"
KEYS = frozenset({"text", "start", "end", "label"})
"""The keys that distinguish such a file from one of pairs."""


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
    for entry in read_entries(path):
        one = _parse(entry)
        if one.id in lines:
            entry.fail(f'duplicate id "{one.id}", first in line {lines[one.id]}; each pronoun needs its own')
        lines[one.id] = entry.line or 0
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
        one.text._replace(context="" if context == NONE else before)
        for one, before in zip(pronouns, contexts, strict=True)
    ]


def _parse(entry: Entry) -> LabelledPronoun:
    identity, text = entry.identity(), text_of(entry.record, file=entry.file, line=entry.line, with_source=None)
    start, end, label = entry.whole("start"), entry.whole("end"), entry.one_of("label", (RIGHT, WRONG))
    if not 0 <= start < end <= len(text.text):
        entry.fail(f"start {start}, end {end} is not a span of a text of {len(text.text)} characters")
    pronoun = entry.label("pronoun")
    if pronoun is not None and pronoun.lower() != text.text[start:end].lower():
        entry.fail(f"expected the pronoun {pronoun!r} at start, got {text.text[start:end]!r}")
    return LabelledPronoun(
        id=identity,
        text=text,
        start=start,
        end=end,
        wrong=label == WRONG,
        doc=entry.label("doc"),
        system=entry.label("system"),
    )


def read_scores(path: str | Path, pronouns: Sequence[LabelledPronoun]) -> list[float | None]:
    """Scores {"id", "score"} of exactly these pronouns, in their order; null for a missing score.

    Raises:
        InputError: with file and line, for a score that is not a finite number, and for ids that are missing, surplus
            or repeated.
    """
    scores: dict[str, float | None] = {}
    for entry in read_entries(path):
        identity, score = entry.identity(), entry.number_or_null("score")
        if identity in scores:
            entry.fail(f'duplicate id "{identity}"; give each score once')
        scores[identity] = score
    check_ids([one.id for one in pronouns], scores, what="labelled pronouns", file=path)
    return [scores[one.id] for one in pronouns]
