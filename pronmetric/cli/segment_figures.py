"""How `correlate` prints figures of segments."""

from __future__ import annotations

from collections.abc import Mapping

from pronmetric.cli.system_figures import head, matrix_lines
from pronmetric.cli.tables import table
from pronmetric.eval.permutation import PAIRWISE
from pronmetric.eval.segment_correlation import ACC_EQ, ITEM, NONE, SYS, Mean, SegmentFigures
from pronmetric.lab.human.segment_level import SegmentLevel

LABELS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "tau_b": "tau-b",
    "tau_c": "tau-c",
    "tau_10": "tau-10",
    "tau_eq": "tau-eq",
    ACC_EQ: "acc-eq",
}
_AVERAGED = {
    NONE: "none: all scores as one list",
    SYS: "sys: the {units} of each system, then the mean over {number} systems",
    ITEM: "item: the systems' scores of each {unit}, then the mean over {number} {units}",
}


def format_all(level: SegmentLevel) -> str:
    """The metrics on the same outputs, and the tests between them."""
    reasons = {"without a score by all": level.left_out, "human references, left out": level.references}
    lines = head(level.systems, reasons)
    lines.append(
        f"{level.segments} {level.unit}; {level.scores} outputs count, of {level.human_scores} with a human score"
    )
    lines += ["", *_table(level.found, level.average, level.unit)]
    if level.p is not None:
        what = "the verdicts on a pair" if level.figure in PAIRWISE else "the scores of an output"
        lines += ["", *matrix_lines(level.p, LABELS[level.figure], what=what)]
    return "\n".join(lines)


def _table(found: Mapping[str, SegmentFigures], average: str, units: str) -> list[str]:
    any_one = next(iter(found.values()))
    rows = [
        (label, *(_number(one.figures[name]) for name in LABELS), f"{one.threshold:.4g}")
        for label, one in found.items()
    ]
    lines = [table(("", *LABELS.values(), "threshold"), rows)]
    how = _AVERAGED[average].format(number=any_one.groups, units=units, unit=units.removesuffix("s"))
    lines.append(f"average {how}; {any_one.pairs} pairs")
    if any_one.small:
        groups = "systems" if average == SYS else units
        lines.append(f"{any_one.small} {groups} with a single score have no pair and are left out")
    for label, one in found.items():
        undefined = {name: figure.undefined for name, figure in one.figures.items() if figure.undefined}
        if undefined:
            reasons = ", ".join(f"{LABELS[name]} {count}" for name, count in undefined.items())
            lines.append(f"{label}: undefined, all scores of one side equal, and left out of the mean: {reasons}")
    if any_one.sought < any_one.pairs:
        lines.append(f"the threshold was chosen on {any_one.sought} randomly drawn pairs")
    return lines


def _number(one: Mean) -> str:
    return "-" if one.value is None else f"{one.value:.4f}"
