"""Baseline scores of systems beside the learned score, as tables of text."""

from __future__ import annotations

from collections.abc import Sequence

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
