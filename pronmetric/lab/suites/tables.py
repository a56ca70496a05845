"""How the figures of a suite are printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pronmetric.cli.tables import table
from pronmetric.lab.suites.contrastive import Judged
from pronmetric.lab.suites.figures import Figures, Share


def show(title: str, judged: Judged, figures: Figures) -> None:
    """Print the title, the accuracy overall and by group, and the further figures."""
    print(f"{title}; intervals over {figures.documents} documents or blocks")
    rows = [("all", "", *_cells(figures.overall))]
    rows += [(name, group, *_cells(one)) for name, groups in figures.by.items() for group, one in groups.items()]
    print(table(("break-down", "group", "accuracy, %", "95 % interval", "correct", "total"), rows, left=(0, 1)))
    for name, value in judged.further.items():
        _show_further(name, value)


def _show_further(name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        print(f"\n{name}")
        rows = [
            (group, key, number)
            for group, cell in value.items()
            for key, number in (cell.items() if isinstance(cell, Mapping) else (("", cell),))
        ]
        print(table(("group", "", "value"), rows, left=(0, 1)))
    elif isinstance(value, list):
        print(f"{name}: {', '.join(map(str, value))}")
    else:
        print(f"{name}: {value:.4f}" if isinstance(value, float) else f"{name}: {value}")


def _cells(share: Share) -> tuple[object, ...]:
    ends = "-" if share.low is None or share.high is None else f"{100 * share.low:.1f} to {100 * share.high:.1f}"
    return f"{100 * share.accuracy:.1f}", ends, share.correct, share.total
