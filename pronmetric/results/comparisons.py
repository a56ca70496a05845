"""The content of a result of `compare`: one entry and one row for each segment and pair of systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pronmetric.results.write import Writer, interval, pronoun, round_score, segment_entry, system
from pronmetric.scoring.comparison import Decision, PairDecision, PairResult
from pronmetric.scoring.score import PronounScore
from pronmetric.text.corpus import Row

COLUMNS = ("a", "b", "segment", "doc", "better", "difference", "a_score", "b_score", "a_decided", "b_decided")


def columns(references: Iterable[str]) -> tuple[str, ...]:
    """The columns of the table, with those of several references."""
    return (*COLUMNS, *(f"difference with {name}" for name in references))


def add_segment(writer: Writer, number: int, row: Row, pair: PairDecision) -> None:
    """Add a segment of a pair of systems to the files."""
    decision = pair.decision
    content: dict[str, Any] = {
        "a": pair.names[0],
        "b": pair.names[1],
        "segment": number,
        "doc": row.doc,
        "source": row.source,
        "reference": row.reference,
        "better": decision.better,
        "difference": round_score(decision.difference),
        "a_text": row.texts[pair.a],
        "b_text": row.texts[pair.b],
        "a_scored": segment_entry(decision.a),
        "b_scored": segment_entry(decision.b),
        "a_decided": [pronoun(p) for p in decision.a_decided],
        "b_decided": [pronoun(p) for p in decision.b_decided],
    }
    if pair.by_reference:
        content["by_reference"] = _by_reference(row, pair.by_reference)
    cells = (*pair.names, number, row.doc, decision.better, decision.difference, decision.a.score, decision.b.score)
    decided = list_pronouns(decision.a_decided), list_pronouns(decision.b_decided)
    differences = (one.difference for one in pair.by_reference.values())
    writer.segment(content, [(*cells, *decided, *differences)])


def _by_reference(row: Row, decisions: Mapping[str, Decision]) -> list[dict[str, Any]]:
    return [
        {"reference": name, "text": text, "difference": round_score(one.difference), "better": one.better}
        for (name, one), text in zip(decisions.items(), row.references, strict=True)
    ]


def list_pronouns(pronouns: Sequence[PronounScore]) -> str:
    """Pronouns with their scores in one cell: "she 0.91, it 0.40"."""
    return ", ".join(f"{p.text} {p.score:.2f}" for p in pronouns)


def pair_entry(pair: PairResult) -> dict[str, Any]:
    """A pair of systems in JSON."""
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
