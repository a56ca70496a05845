"""The content of a result of `compare`: one entry for each segment; in the table, a row for each segment and pair.

An entry holds "outputs", the texts with their scores in the order of the systems, and "pairs", one object for each two
systems in the order of the file's own "pairs". "a_decided" and "b_decided" are positions in the outputs' "pronouns".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pronmetric.eval.decision import SEGMENT_UNITS, SYSTEM_UNITS
from pronmetric.results.write import Writer, interval, round_score, segment_entry, system
from pronmetric.scoring.comparison import Decision, PairDecision, PairResult
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.corpus import Row

COLUMNS = ("a", "b", "segment", "doc", "better", "difference", "by", "a_score", "b_score", "a_decided", "b_decided")


def columns(references: Iterable[str]) -> tuple[str, ...]:
    """The columns of the table, with those of several references."""
    return (*COLUMNS, *(f"difference with {name}" for name in references))


def add_segment(writer: Writer, number: int, row: Row, pairs: Sequence[PairDecision], *, by: str) -> None:
    """Add a segment to the files."""
    writer.segment(segment_content(number, row, pairs), (_cells(number, row, pair, by) for pair in pairs))


def segment_content(number: int, row: Row, pairs: Sequence[PairDecision]) -> dict[str, Any]:
    """A segment in JSON: its outputs, and the decisions on all pairs of systems, in order."""
    scored = [pairs[0].decision.a, *(pair.decision.b for pair in pairs[: len(row.texts) - 1])]  # 0 and 1, 0 and 2, ...
    content: dict[str, Any] = {
        "segment": number,
        "doc": row.doc,
        "source": row.source,
        "reference": row.reference,
        "outputs": [{"text": text, **segment_entry(one)} for text, one in zip(row.texts, scored, strict=True)],
        "pairs": [_pair(pair, scored[pair.a], scored[pair.b]) for pair in pairs],
    }
    if names := list(pairs[0].by_reference):
        content["references"] = [
            {"reference": name, "text": text} for name, text in zip(names, row.references, strict=True)
        ]
    return content


def _pair(pair: PairDecision, a: SegmentScore, b: SegmentScore) -> dict[str, Any]:
    """The decision on a pair, with its own scores where those of the outputs are of other contexts ("crossed")."""
    decision = pair.decision
    own = {"a_scored": (decision.a, a), "b_scored": (decision.b, b)}
    references = [{"reference": name, **_verdict(one)} for name, one in pair.by_reference.items()]
    return {
        **_verdict(decision),
        "a_decided": _places(decision.a_decided, decision.a),
        "b_decided": _places(decision.b_decided, decision.b),
        **{side: segment_entry(its) for side, (its, shown) in own.items() if its is not shown and its != shown},
        **({"by_reference": references} if references else {}),
    }


def _verdict(decision: Decision) -> dict[str, Any]:
    return {"better": decision.better, "difference": round_score(decision.difference)}


def _places(decided: Sequence[PronounScore], segment: SegmentScore) -> list[int]:
    """Where the pronouns stand among those of the segment."""
    starts = [p.start for p in segment.pronouns]
    return [starts.index(p.start) for p in decided]


def _cells(number: int, row: Row, pair: PairDecision, by: str) -> tuple[object, ...]:
    decision = pair.decision
    cells = (*pair.names, number, row.doc, decision.better, decision.difference, by)
    scores = decision.a.score, decision.b.score
    decided = list_pronouns(decision.a_decided), list_pronouns(decision.b_decided)
    return (*cells, *scores, *decided, *(one.difference for one in pair.by_reference.values()))


def list_pronouns(pronouns: Sequence[PronounScore]) -> str:
    """Pronouns with their scores in one cell: "she 0.91, it 0.40"."""
    return ", ".join(f"{p.text} {p.score:.2f}" for p in pronouns)


def decision_entry(by: str, tie: float) -> dict[str, Any]:
    """What decides, in JSON: one of `DECISIONS`, the unit of the segments' differences, and the tie threshold."""
    return {"by": by, "unit": SEGMENT_UNITS[by], "tie": tie}


def pair_entry(pair: PairResult, *, by: str) -> dict[str, Any]:
    """A pair of systems in JSON; "difference" is in "unit", "score_difference" that of the two scores."""
    outcome = pair.outcome
    each = [
        {
            "reference": reference,
            "a": round_score(part.a.score),
            "b": round_score(part.b.score),
            "difference": round_score(part.difference),
            "interval": interval(part.interval),
            "p_randomisation": round_score(part.p_randomisation),
            "p_t": round_score(part.p_t),
        }
        for reference, part in pair.by_reference.items()
    ]
    return {
        "a": system(pair.names[0], outcome.a),
        "b": system(pair.names[1], outcome.b),
        "difference": round_score(outcome.difference),
        "unit": SYSTEM_UNITS[by],
        "score_difference": round_score(outcome.score_difference),
        "interval": interval(outcome.interval),
        "p_randomisation": round_score(outcome.p_randomisation),
        "p_randomisation_holm": round_score(pair.p_randomisation_holm),
        "p_t": round_score(outcome.p_t),
        "p_t_holm": round_score(pair.p_t_holm),
        "wins": outcome.wins,
        "ties": outcome.ties,
        "losses": outcome.losses,
        "one_sided": outcome.one_sided,
        "unscored": outcome.unscored,
        "resampled": outcome.resampled,
        "units": outcome.units,
        **({"by_reference": each} if each else {}),
    }
