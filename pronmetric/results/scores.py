"""The content of a result of `score`: one entry for each segment and system, one row for each pronoun."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pronmetric.results.write import Writer, round_score, segment_entry, system
from pronmetric.scoring.bulk import SystemResult
from pronmetric.scoring.score import SegmentScore
from pronmetric.text import strict_json
from pronmetric.text.corpus import Row

COLUMNS = (
    *("system", "segment", "doc", "segment_score", "segment_errors", "segment_preference"),
    *("pronoun", "start", "end", "score"),
)
RECORD_COLUMNS = ("id", *COLUMNS[3:])


def columns(references: Iterable[str], also: Iterable[str]) -> tuple[str, ...]:
    """The columns of the table, with those of several references and of baselines."""
    return (*COLUMNS, *(f"score with {name}" for name in references), *also)


def texts_of(
    row: Row, text: str, contexts: Sequence[str], references: Sequence[str], each: Sequence[SegmentScore]
) -> dict[str, Any]:
    """The texts of an entry: source, reference, context and output; of several references, each with its score."""
    found: dict[str, Any] = {
        "source": row.source,
        "reference": row.reference,
        "context": contexts[0],
        "text": text,
    }
    if references:
        found["by_reference"] = [
            {"reference": name, "text": line, "context": context, "score": round_score(one.score)}
            for name, line, context, one in zip(references, row.references, contexts, each, strict=True)
        ]
    return found


def add_segment(
    writer: Writer,
    head: Mapping[str, Any],
    texts: Mapping[str, Any],
    segment: SegmentScore,
    *,
    also: Mapping[str, float | None] | None = None,
    each: Sequence[SegmentScore] = (),
) -> None:
    """Add a segment to the files.

    head: what identifies it, the first cells of its rows. texts: of `texts_of`. also: its baseline scores. each: its
    score in the context of each of several references.
    """
    cells = tuple(strict_json.dump(v) if k == "id" and not isinstance(v, str) else v for k, v in head.items())
    in_each = list(zip(*(one.pronouns for one in each), strict=True)) or [()] * len(segment.pronouns)
    no_pronoun: list[tuple[object, ...]] = [(None,) * (4 + len(each))]
    rows = [
        (p.text, p.start, p.end, p.score, *(one.score for one in its))
        for p, its in zip(segment.pronouns, in_each, strict=True)
    ] or no_pronoun
    baselines = {} if also is None else {"also": {name: round_score(score) for name, score in also.items()}}
    last = tuple((also or {}).values())
    whole = (segment.score, segment.errors, segment.preference)
    writer.segment(
        {**head, **texts, **segment_entry(segment), **baselines}, ((*cells, *whole, *row, *last) for row in rows)
    )


def system_entry(result: SystemResult, *, also: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A system in JSON, with its scores in the context of each of several references and its baseline scores."""
    entry = system(result.name, result.score)
    if result.by_reference:
        entry["by_reference"] = [
            {"reference": name, **{key: system(name, part)[key] for key in ("score", "interval")}}
            for name, part in result.by_reference.items()
        ]
    return entry if also is None else {**entry, "also": also}
