"""Judged pairs of texts: the common record of all sources of such pairs, and its JSONL format.

One object per line: {"id", "context": [sentences], "text_a", "text_b", "better": "A"|"B"|"tie", "votes": {rater:
"A"|"B"|"tie"}, "group", "doc", "pronoun_a", "pronoun_b", "reference", "system_a", "system_b", "source",
"source_context": [sentences]}; the id and the two texts are required. The files of the published study ({"reference":
tokens, "noisy": tokens, ...}) and preference pairs ({"prompt", "chosen", "rejected"}) are recognised by their keys.
Pairs in other formats (TSV, folders) have modules of their own.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.eval.decision import ANSWERS, A
from pronmetric.text import strict_json
from pronmetric.text.context import Source, source_of, source_record
from pronmetric.text.entry import Entry, kind, read_by_id, shown
from pronmetric.text.lines import check_segment

PairScores = Mapping[str, tuple[float | None, float | None]]
"""The scores of texts A and B by the pair's id."""
_LABELS = ("group", "doc", "pronoun_a", "pronoun_b", "judge", "reference", "system_a", "system_b")
STUDY_JUDGE = "the reference is better"
_KEYS = ("id", "context", "text_a", "text_b", "better", "votes", *_LABELS, "source", "source_context")
_STUDY_KEYS = {"reference", "noisy"}
_PREFERENCE_KEYS = {"chosen", "rejected"}


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two texts in the same context, and the answers to which of them is better.

    context: the previous sentences, oldest first. better: "A", "B" or "tie", None if not given. votes: the answer of
    each rater. group: a label for results by group (a language, a kind); doc: the unit of resampling.
    pronoun_a, pronoun_b: the pronouns in which the texts differ, if it is one in each. judge: the origin of `better`
    if it is not a rater's answer, such as "the reference is better". reference: a reference translation of the
    segment; system_a, system_b: the systems that produced the texts; only the baselines use these three. source: of
    both texts.
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
    source: Source | None = None


def read(path: str | Path) -> list[JudgedPair]:
    """The pairs of a JSONL file, in order; in the study's format text A, the reference, is the better one.

    So is it in preference pairs, of which it is the chosen text; an id that they lack is the number of their line.

    Raises:
        InputError: with file and line, for a line that is not such an object, a missing or misspelt key, an invalid
            value, a duplicate id, and a file without pairs.
    """

    def make(entry: Entry) -> tuple[str, JudgedPair]:
        pair = _read_as(entry)(entry)
        return pair.id, pair

    return list(read_by_id(path, make, what="pairs").values())


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
        **source_record(pair.source),
    }
    return strict_json.dump({key: value for key, value in record.items() if value is not None})


def read_scores(path: str | Path) -> dict[str, tuple[float | None, float | None]]:
    """A metric's scores of pairs by id: JSONL {"id", "score_a", "score_b"}; null for a text without a score.

    Raises:
        InputError: with file and line, for a missing key, a score that is neither a finite number nor null, a
            duplicate id, and a file without scores.
    """

    def make(entry: Entry) -> tuple[str, tuple[float | None, float | None]]:
        return entry.identity(), (entry.number_or_null("score_a"), entry.number_or_null("score_b"))

    return read_by_id(path, make, what="scores", form='one object {"id", "score_a", "score_b"}')


def score_line(identity: str, scores: tuple[float | None, float | None]) -> str:
    """One pair's scores as a line of JSON that `read_scores` reads, in full precision."""
    return strict_json.dump({"id": identity, "score_a": scores[0], "score_b": scores[1]})


def check_ids(ids: Sequence[str], scores: Mapping[str, object], *, what: str, file: str | Path) -> None:
    """Raise InputError unless the scores are those of exactly `ids`; `what` names the items, in the plural."""
    known = set(ids)
    missing = [identity for identity in ids if identity not in scores]
    unknown = [identity for identity in scores if identity not in known]
    for wrong, said in ((missing, "have no scores here"), (unknown, f"are scored, but are no {what}")):
        if wrong:
            raise InputError(f'{len(wrong)} of the ids {said}, first "{wrong[0]}"; score exactly the {what}', file=file)


def scores_of(
    pairs: Iterable[JudgedPair], scores: Mapping[str, tuple[float | None, float | None]], *, file: str | Path
) -> list[tuple[float | None, float | None]]:
    """The scores of each pair, in the order of the pairs; `file` is named in errors."""
    pairs = list(pairs)
    check_ids([pair.id for pair in pairs], scores, what="pairs", file=file)
    return [scores[pair.id] for pair in pairs]


def _read_as(entry: Entry) -> Callable[[Entry], JudgedPair]:
    """The reader of the format that the keys tell."""
    if entry.record.keys() >= _STUDY_KEYS:
        return _study
    return _preference if entry.record.keys() >= _PREFERENCE_KEYS else _pair


def _preference(entry: Entry) -> JudgedPair:
    """A pair for preference tuning; its prompt is not read, but "context" and "source" are."""
    return JudgedPair(
        id=entry.identity() if "id" in entry.record else str(entry.line),
        context=entry.sentences("context"),
        text_a=_answer_text(entry, "chosen"),
        text_b=_answer_text(entry, "rejected"),
        better=A,
        group=entry.label("group"),
        doc=entry.label("doc"),
        reference=entry.label("reference"),
        source=source_of(entry),
    )


def _answer_text(entry: Entry, key: str) -> str:
    """A text, or the last of the messages [{"role", "content"}, ...] that stand in its place."""
    messages = entry.get(key)
    if not isinstance(messages, list):
        return entry.text(key)
    last = Entry(
        messages[-1] if messages else None,
        file=entry.file,
        line=entry.line,
        name=f'the last message of "{key}"',
        expected='{"role", "content"}',
    )
    return last.text("content")


def _pair(entry: Entry) -> JudgedPair:
    pair = JudgedPair(
        id=entry.identity(),
        context=entry.sentences("context"),
        text_a=entry.text("text_a"),
        text_b=entry.text("text_b"),
        better=_better(entry),
        votes=_votes(entry),
        **{key: entry.label(key) for key in _LABELS},
        source=source_of(entry),
    )
    for key in entry.record.keys() - set(_KEYS):  # a misspelt key must not be read as a missing one
        near = difflib.get_close_matches(key.lower(), [k for k in _KEYS if k not in entry.record], n=1, cutoff=0.81)
        if near:
            entry.fail(f'unknown key "{key}"; did you mean "{near[0]}"?')
    return pair


def _better(entry: Entry) -> str | None:
    value = entry.get("better")
    return None if value is None else _answer(entry, value, '"better"', "leave the key out if there is no answer")


def _votes(entry: Entry) -> dict[str, str]:
    votes = entry.get("votes")
    if votes is None:
        return {}
    if not isinstance(votes, dict):
        entry.fail(f'"votes" must be an object {{rater: "A"|"B"|"tie"}}, got {kind(votes)}')
    for rater in votes:
        if not rater.strip():
            entry.fail('a rater in "votes" has no name; name each rater')
        entry.printable(rater, "votes")
    cure = "leave out raters who did not vote"
    return {rater: _answer(entry, vote, f'the vote of rater "{rater}"', cure) for rater, vote in votes.items()}


def _answer(entry: Entry, value: object, what: str, cure: str) -> str:
    if not isinstance(value, str) or value not in ANSWERS:
        entry.fail(f'{what} must be "A", "B" or "tie", got {shown(value)}; {cure}')
    return value


def _study(entry: Entry) -> JudgedPair:
    """A sample of the study: lower-case tokens joined by spaces; a reference sentence is a document."""
    text_a, text_b, context = (" ".join(entry.sentences(key)) for key in ("reference", "noisy", "context"))
    for key, text in (("reference", text_a), ("noisy", text_b)):
        check_segment(text, file=entry.file, line=entry.line)
        if not text:
            entry.fail(f'"{key}" has no tokens; expected a list of words')
    return JudgedPair(
        id=entry.identity(),
        context=(context,) if context else (),
        text_a=text_a,
        text_b=text_b,
        better=A,
        group=entry.label("lang"),
        doc=text_a,
        pronoun_a=entry.label("reference_pronoun"),
        pronoun_b=entry.label("noisy_pronoun"),
        judge=STUDY_JUDGE,
    )
