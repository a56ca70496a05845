"""The correlation of metrics with human scores of systems and of segments, as tables of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pronmetric.eval.correlation import MINIMUM, RESAMPLES, Correlation, Correlations
from pronmetric.eval.permutation import PAIRWISE, Matrix
from pronmetric.eval.permutation import RESAMPLES as PERMUTATIONS
from pronmetric.eval.segment_correlation import ACC_EQ, ITEM, NONE, SYS, Mean, SegmentFigures
from pronmetric.eval.soft_pairwise import PERMUTATIONS as PERMUTED
from pronmetric.eval.soft_pairwise import SPA
from pronmetric.lab.human.segment_level import SegmentLevel
from pronmetric.lab.human.system_level import OneMetric, SeveralMetrics, join_names
from pronmetric.report.text import table

SYSTEM_LABELS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau-b",
    "pairwise": "pairwise accuracy",
}
SEGMENT_LABELS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "tau_b": "tau-b",
    "tau_c": "tau-c",
    "tau_10": "tau-10",
    "tau_eq": "tau-eq",
    ACC_EQ: "acc-eq",
}
TEST_LABELS = {**SEGMENT_LABELS, SPA: "soft pairwise accuracy"}
_AVERAGED = {
    NONE: "none: all scores as one list",
    SYS: "sys: the {units} of each system, then the mean over {number} systems",
    ITEM: "item: the systems' scores of each {unit}, then the mean over {number} {units}",
}


def format_one(one: OneMetric, human: str) -> str:
    """A metric and the --also scores of its result; `human` is the file of the human scores."""
    left, systems = one.left_out, one.correlations.systems
    reasons = {
        f"only in {one.path}": left.metric_only,
        f"only in {human}": left.human_only,
        "without a score": left.unscored,
        "human references, left out": left.references,
        **{f"without {name}": [s for s in systems if s not in other.systems] for name, other in one.also.items()},
    }
    rows = {Path(one.path).name: one.correlations, **one.also}
    return "\n".join([*_head(systems, reasons), "", _system_table(rows), "", _interval_line(one.correlations)])


def format_several(several: SeveralMetrics) -> str:
    """Several metrics on the same systems, and the tests between them."""
    reasons = {"without a score by all": several.left_out, "human references, left out": several.references}
    lines = [*_head(several.systems, reasons), "", _system_table(several.correlations), ""]
    lines += [_interval_line(next(iter(several.correlations.values()))), ""]
    return "\n".join([*lines, *_matrix_lines(several.p, SYSTEM_LABELS[several.figure], what="the scores of a system")])


def _head(systems: Sequence[str], reasons: Mapping[str, Sequence[str]]) -> list[str]:
    """The systems that count, and those left out by reason."""
    lines = [f"{len(systems)} systems: {join_names(systems)}"]
    return lines + [f"{why}: {len(names)} ({', '.join(names)})" for why, names in reasons.items() if names]


def _matrix_lines(p: Matrix, figure: str, *, what: str) -> list[str]:
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


def _system_table(rows: Mapping[str, Correlations]) -> str:
    return table(
        ("", *SYSTEM_LABELS.values()),
        [(label, *(_format_correlation(getattr(one, name)) for name in SYSTEM_LABELS)) for label, one in rows.items()],
    )


def _interval_line(one: Correlations) -> str:
    drawn = f"in brackets: 95 % intervals, {one.units} {one.resampled} resampled {RESAMPLES} times"
    line = drawn if one.units >= MINIMUM else f"no intervals: {one.units} {one.resampled}, below {MINIMUM}"
    if len(one.systems) == 2:
        line += "\nwith two systems the first three figures are always 1 or -1"
    return line


def _format_correlation(one: Correlation) -> str:
    if one.value is None:
        return "-"
    return f"{one.value:.4f}" + ("" if one.low is None else f" [{one.low:.4f}, {one.high:.4f}]")


def format_segments(level: SegmentLevel) -> str:
    """The metrics on the same outputs, and the tests between them."""
    reasons = {"without a score by all": level.left_out, "human references, left out": level.references}
    lines = _head(level.systems, reasons)
    lines.append(
        f"{level.segments} {level.unit}; {level.scores} outputs count, of {level.human_scores} with a human score"
    )
    lines += ["", *_segment_table(level.figures, level.average, level.unit)]
    if any(value is not None for value in level.soft.values()):
        lines += ["", *_soft_table(level)]
    if level.p is not None:
        what = "the verdicts on a pair" if level.figure in PAIRWISE else "the scores of an output"
        lines += ["", *_matrix_lines(level.p, TEST_LABELS[level.figure], what=what)]
    return "\n".join(lines)


def _soft_table(level: SegmentLevel) -> list[str]:
    rows = [(label, "-" if value is None else f"{value:.4f}") for label, value in level.soft.items()]
    pairs = len(level.systems) * (len(level.systems) - 1) // 2
    counted = f"the {level.soft_units} {level.unit} that all systems have"
    return [table(("", TEST_LABELS[SPA]), rows), f"of systems, on {pairs} pairs and {counted}; {PERMUTED} permutations"]


def _segment_table(figures: Mapping[str, SegmentFigures], average: str, units: str) -> list[str]:
    any_one = next(iter(figures.values()))
    rows = [
        (label, *(_format_mean(one.figures[name]) for name in SEGMENT_LABELS), f"{one.threshold:.4g}")
        for label, one in figures.items()
    ]
    lines = [table(("", *SEGMENT_LABELS.values(), "threshold"), rows)]
    how = _AVERAGED[average].format(number=any_one.groups, units=units, unit=units.removesuffix("s"))
    lines.append(f"average {how}; {any_one.pairs} pairs")
    if any_one.small:
        groups = "systems" if average == SYS else units
        lines.append(f"{any_one.small} {groups} with a single score have no pair and are left out")
    for label, one in figures.items():
        undefined = {name: figure.undefined for name, figure in one.figures.items() if figure.undefined}
        if undefined:
            reasons = ", ".join(f"{SEGMENT_LABELS[name]} {count}" for name, count in undefined.items())
            lines.append(f"{label}: undefined, all scores of one side equal, and left out of the mean: {reasons}")
    if any_one.sought < any_one.pairs:
        lines.append(f"the threshold was chosen on {any_one.sought} randomly drawn pairs")
    return lines


def _format_mean(one: Mean) -> str:
    return "-" if one.value is None else f"{one.value:.4f}"
