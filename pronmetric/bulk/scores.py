"""The rows of the scores that `bulk score` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pronmetric.bulk.rows import Row
from pronmetric.scoring.score import SegmentScore

if TYPE_CHECKING:
    import pyarrow

FOLDER = "scores"


def scores_schema(*, with_source: bool | None) -> pyarrow.Schema:
    """The columns of the scores; `with_source` as for `text_of`: unless False, also what the source says.

    Only a source table, for which it is True, finds missing and surplus pronouns.
    """
    import pyarrow as pa

    span = [("text", pa.string()), ("start", pa.int32()), ("end", pa.int32())]
    numbers = [("score", pa.float64()), ("probability", pa.float64())]
    source = pa.struct([("log_odds", pa.float64()), ("word", pa.string()), ("start", pa.int32()), ("end", pa.int32())])
    pronouns = pa.struct([*span, *numbers, *([("source", source)] if with_source is not False else [])])
    words = pa.list_(pa.struct(span))
    return pa.schema(
        [
            ("input", pa.string()),
            ("row", pa.int64()),
            ("id", pa.string()),
            ("system", pa.string()),
            ("score", pa.float64()),
            ("errors", pa.float64()),
            ("preference", pa.float64()),
            ("words", pa.int32()),
            ("pronouns", pa.list_(pronouns)),
            *([("missing", words), ("surplus", words)] if with_source else []),
        ]
    )


def scores_row(row: Row, segment: SegmentScore, *, name: str) -> dict[str, Any]:
    """The score of a row of the input file `name`."""
    return {
        "input": name,
        "row": row.number,
        "id": row.id,
        "system": row.system,
        "score": segment.score,
        "errors": segment.errors,
        "preference": segment.preference,
        "words": segment.words,
        **_pronouns(segment),
    }


def _pronouns(segment: SegmentScore) -> dict[str, Any]:
    pronouns = [
        {**p._asdict(), "source": None if p.evidence is None else p.evidence._asdict()} for p in segment.pronouns
    ]
    without = segment.unmatched
    if without is None:
        return {"pronouns": pronouns}
    return {
        "pronouns": pronouns,
        "missing": [word._asdict() for word in without.missing],
        "surplus": [word._asdict() for word in without.surplus],
    }
