"""The figures of a suite as tables of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pronmetric.lab.suites.contrastive import Judged
from pronmetric.lab.suites.figures import Difference, Figures, Share
from pronmetric.report.text import table


def format_figures(title: str, judged: Judged, figures: Figures) -> str:
    """The title, the accuracy overall and by group, and the further figures."""
    rows = [("all", "", *_cells(figures.overall))]
    rows += [(name, group, *_cells(one)) for name, groups in figures.by.items() for group, one in groups.items()]
    header = ("break-down", "group", "accuracy, %", "95 % interval", "correct", "total")
    lines = [f"{title}; intervals over {figures.documents} documents or blocks", table(header, rows, left=(0, 1))]
    return "\n".join([*lines, *(_format_further(name, value) for name, value in judged.further.items())])


def _format_further(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        rows = [
            (group, key, number)
            for group, cell in value.items()
            for key, number in (cell.items() if isinstance(cell, Mapping) else (("", cell),))
        ]
        return f"\n{name}\n{table(('group', '', 'value'), rows, left=(0, 1))}"
    if isinstance(value, list):
        return f"{name}: {', '.join(map(str, value))}"
    return f"{name}: {value:.4f}" if isinstance(value, float) else f"{name}: {value}"


def _cells(share: Share) -> tuple[object, ...]:
    ends = "-" if share.low is None or share.high is None else f"{100 * share.low:.1f} to {100 * share.high:.1f}"
    return f"{100 * share.accuracy:.1f}", ends, share.correct, share.total


def format_comparison(shares: Mapping[str, Share], differences: Sequence[Difference]) -> str:
    """The accuracy of each system, and the difference of each pair of systems with its tests."""
    rows = [(name, f"{100 * one.accuracy:.1f}", one.correct, one.total) for name, one in shares.items()]
    header = ("A", "B", "A - B, points", "95 % interval", "p", "p, Holm", "A alone", "B alone")
    systems = table(("system", "accuracy, %", "correct", "total"), rows)
    return f"{systems}\n\n{table(header, [_difference_row(one) for one in differences], left=(0, 1))}"


def _difference_row(one: Difference) -> tuple[object, ...]:
    ends = "-" if one.low is None or one.high is None else f"{100 * one.low:+.1f} to {100 * one.high:+.1f}"
    p, adjusted = ("-" if value is None else f"{value:.4f}" for value in (one.p, one.holm))
    return one.a, one.b, f"{100 * one.difference:+.1f}", ends, p, adjusted, one.only_a, one.only_b
