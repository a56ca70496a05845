"""Baseline scores as tables of text: beside the learned score, and AutoPRF alone."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.lab.baselines.autoprf import Counts, Documents, Result, format_as_published
from pronmetric.lab.baselines.corpus_scores import SystemBaselines
from pronmetric.report.text import table
from pronmetric.scoring.score import SystemScore

OURS = "pronmetric"


def format_systems(baselines: SystemBaselines, learned: Sequence[SystemScore]) -> str:
    """All scores of all systems with their numbers of instances, the learned score first."""
    rows: list[list[object]] = []
    for name, own, scores in zip(baselines.systems, learned, baselines.score_systems(), strict=True):
        cells = [(own.score, own.pronouns), *((its["score"], its["instances"]) for its in scores.values())]
        rows.append([name, *(f"{'-' if score is None else f'{score:.2f}'} ({number})" for score, number in cells)])
    return table(["", OURS, *(baseline.name for baseline in baselines.scorer.baselines)], rows)


def format_autoprf(result: Result, documents: Documents, *, compat: bool) -> str:
    """A table of pronouns and their total, and one of documents; compat: figures rounded as published."""
    rows = [
        (name, *_rates(counts, compat=compat), counts.matches, counts.reference, counts.candidate)
        for name, counts in {**result.pronouns, "total": result.total}.items()
    ]
    by_document = [
        (name, _rates(counts, compat=compat)[1], counts.matches, counts.reference)
        for name, counts in zip(documents.names, result.documents, strict=True)
    ]
    pronouns = table(("", "precision", "recall", "F1", "matches", "reference", "candidate"), rows)
    return f"{pronouns}\n\n{table(('document', 'recall', 'matches', 'reference'), by_document)}"


def _rates(counts: Counts, *, compat: bool) -> tuple[str, ...]:
    if compat:
        return format_as_published(counts)
    return tuple("-" if x is None else f"{x:.4f}" for x in (counts.precision, counts.recall, counts.f1))
