"""How `correlate` prints figures of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pronmetric.cli.tables import table
from pronmetric.eval.correlation import MINIMUM, RESAMPLES, Correlation, Correlations
from pronmetric.eval.permutation import RESAMPLES as PERMUTATIONS
from pronmetric.eval.permutation import Matrix
from pronmetric.lab.human.system_level import OneMetric, SeveralMetrics, join_names

LABELS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "pairwise": "pairwise accuracy",
}


def format_one(one: OneMetric, human: str) -> str:
    """A metric and the --also scores of its result; `human` is the file of the human scores."""
    left, systems = one.left_out, one.found.systems
    reasons = {
        f"only in {one.path}": left.metric_only,
        f"only in {human}": left.human_only,
        "without a score": left.unscored,
        "human references, left out": left.references,
        **{f"without {name}": [s for s in systems if s not in found.systems] for name, found in one.also.items()},
    }
    rows = {Path(one.path).name: one.found, **one.also}
    return "\n".join([*head(systems, reasons), "", _figures(rows), "", _interval_line(one.found)])


def format_several(several: SeveralMetrics) -> str:
    """Several metrics on the same systems, and the tests between them."""
    reasons = {"without a score by all": several.left_out, "human references, left out": several.references}
    lines = [*head(several.systems, reasons), "", _figures(several.found), ""]
    lines += [_interval_line(next(iter(several.found.values()))), ""]
    return "\n".join([*lines, *matrix_lines(several.p, LABELS[several.figure], what="the scores of a system")])


def head(systems: Sequence[str], reasons: Mapping[str, Sequence[str]]) -> list[str]:
    """The systems that count, and those left out by reason."""
    lines = [f"{len(systems)} systems: {join_names(systems)}"]
    return lines + [f"{why}: {len(names)} ({', '.join(names)})" for why, names in reasons.items() if names]


def matrix_lines(p: Matrix, figure: str, *, what: str) -> list[str]:
    """The p values of the tests between metrics; `what` the test swaps."""
    rows = [
        (name, *("-" if value is None else f"{value:.4f}" for value in row))
        for name, row in zip(p.metrics, p.p, strict=True)
    ]
    return [
        f"one-sided p of: the row's metric agrees better than the column's, in {figure}",
        f"({what} of the two metrics are swapped at random, {PERMUTATIONS} times)",
        table(("", *p.metrics), rows),
    ]


def _figures(rows: Mapping[str, Correlations]) -> str:
    return table(
        ("", *LABELS.values()),
        [(label, *(_number(getattr(found, name)) for name in LABELS)) for label, found in rows.items()],
    )


def _interval_line(found: Correlations) -> str:
    drawn = f"in brackets: 95 % intervals, {found.units} {found.resampled} resampled {RESAMPLES} times"
    line = drawn if found.units >= MINIMUM else f"no intervals: {found.units} {found.resampled}, below {MINIMUM}"
    if len(found.systems) == 2:
        line += "\nwith two systems the first three figures are always 1 or -1"
    return line


def _number(one: Correlation) -> str:
    if one.value is None:
        return "-"
    return f"{one.value:.4f}" + ("" if one.low is None else f" [{one.low:.4f}, {one.high:.4f}]")
