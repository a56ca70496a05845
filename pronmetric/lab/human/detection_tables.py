"""The table of how well low scores detect wrong pronouns."""

from __future__ import annotations

from pronmetric.eval.detection import Detection
from pronmetric.lab.human.pronoun_detection import DetectionFigures
from pronmetric.report.text import percent, table


def format_detection(figures: DetectionFigures) -> str:
    """Precision, recall, F1, average precision and ROC AUC in percent: of all pronouns, by system, by pronoun."""
    by_frequency = sorted(figures.by_pronoun.items(), key=lambda named: (-named[1].pronouns, named[0]))
    rows = [_row("all", figures.whole)]
    rows += [_row(*named) for named in (*figures.by_system.items(), *by_frequency)]
    return table(["", "pronouns", "wrong", "flagged", "unscored", "P", "R", "F1", "AP", "AUC"], rows)


def _row(name: str, found: Detection) -> list[object]:
    figures = (found.precision, found.recall, found.f1, found.average_precision, found.roc_auc)
    return [name, found.pronouns, found.wrong, found.flagged, found.unscored, *map(percent, figures)]
