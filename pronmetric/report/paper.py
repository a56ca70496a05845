"""Tables like those of Jwalapuram et al. 2019, from finished cells of Table 4 and the JSON of `agree` and `evaluate`.

The paper's figures are for its own data (outputs of WMT14). The best result of its Table 4 (common context, attention)
is shown next to row 7; figures that we do not know are "-".
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pronmetric.errors import InputError
from pronmetric.eval.estimates import Estimate, cluster_mean
from pronmetric.report.tables import Table, interval, number
from pronmetric.text import strict_json

CELL = "cell.json"
SAMPLE = "data/sample.json"
MEASURES = {"noisy": "R vs R'", "system": "R vs S"}
HEADS = {"average": "average", "paper": "attention (the paper's)", "logit": "attention (ours)"}
BEST = {"noisy": "89.1", "system": "90.7"}  # of the paper's Table 4
BEST_ROW = 7
"""Of the paper's Table 4; its best figures are known, those of the other rows are not."""
STUDY = {
    "french": ("82.0", "67.6"),
    "german": ("81.6", "68.2"),
}  # by language: the paper's, a baseline
BASE = "glove"
Cells = Sequence[Mapping[str, Any]]
Setting = tuple[str, str, str]  # column, context, head
Sources = Mapping[str, Sequence[str]]


class PaperFiles(NamedTuple):
    """What stands in the files.

    cells. sources: by kind, the source sentence of each test pair of the cells; empty if unknown.
    evaluated, agreed: by file name, what `evaluate` and `agree` wrote.
    """

    cells: Cells
    sources: Sources
    evaluated: Mapping[str, Mapping[str, Any]]
    agreed: Mapping[str, Mapping[str, Any]]


def files(paths: Sequence[str]) -> list[Path]:
    """The files that `read` reads; a path where nothing is stands for itself."""
    inside = [path for folder in map(Path, paths) for name in (f"*/{CELL}", "*.json") for path in folder.glob(name)]
    return [*(path for path in map(Path, paths) if not path.is_dir()), *inside]


def read(paths: Sequence[str]) -> PaperFiles:
    """The cells in the folders among `paths` and their subfolders, and the JSON files in those folders and `paths`.

    Raises:
        InputError: a missing path, broken JSON, a file of another kind, or nothing to show.
    """
    cells: list[Mapping[str, Any]] = []
    samples: list[Sources] = []
    evaluated: dict[str, Mapping[str, Any]] = {}
    agreed: dict[str, Mapping[str, Any]] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise InputError("no such file or folder", file=path)
        cells += [_json(file) for file in sorted(path.glob(f"*/{CELL}"))]
        samples += [_sources(_json(file)) for file in path.glob(SAMPLE)]
        for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
            content = _json(file)
            if "preference" in content:
                agreed[file.name] = content
            elif "parts" in content and ("baselines" in content or "floors" in content):
                evaluated[file.name] = content
            elif file.name == CELL:
                cells.append(content)
            elif not path.is_dir():
                raise InputError("expected JSON of `agree` or `evaluate`, or a cell.json", file=file)
    if not (cells or evaluated or agreed):
        raise InputError(
            "nothing to show: expected cells of `pronmetric train --multirun experiment=table4`, or the JSON of "
            "`agree` or `evaluate`",
            file=paths[0],
        )
    sources = samples[0] if samples and all(each == samples[0] for each in samples) else {}
    return PaperFiles(sorted(cells, key=lambda cell: (cell["row"], cell["seed"])), sources, evaluated, agreed)


def _sources(sample: Mapping[str, Any]) -> Sources:
    """By kind, the test set and the segment of each test pair of a `sample.json`; its ids are TESTSET/.../SEGMENT#N."""
    parts = {kind: [each.split("/") for each in found["ids"]] for kind, found in sample["splits"]["test"].items()}
    return {kind: [f"{id[0]}/{id[-1].split('#')[0]}" for id in ids] for kind, ids in parts.items()}


def tables(found: PaperFiles) -> list[Table]:
    """All tables that there are figures for."""
    made = [table1(name, content) for name, content in found.agreed.items()]
    if found.cells:
        made += [table4(found.cells, measure) for measure in MEASURES]
        made.append(findings(found.cells, found.sources))
    made += [table5(name, content) for name, content in found.evaluated.items()]
    made += [metric_agreement(name, content) for name, content in found.agreed.items() if "metric" in content]
    return [table for table in made if table.rows]


def notes(found: PaperFiles) -> list[str]:
    """The number of cells and pairs behind the tables, and how to read them."""
    if not found.cells:
        return []
    pairs = {json.dumps(cell["pairs"]) for cell in found.cells}
    sizes = [f"{len(found.cells)} cells, {sum(cell['seconds'] for cell in found.cells) / 60:.0f} minutes"]
    sizes += [_sizes(json.loads(each)) for each in sorted(pairs)]
    return [
        *sizes,
        "mean over seeds, ± their standard deviation where there are several (their number in brackets); equal and "
        "null scores are wrong",
        "the paper's figures are of its own data, the outputs of WMT14; - marks an unknown figure",
    ]


def _sizes(pairs: Mapping[str, Mapping[str, int]]) -> str:
    parts = (
        f"{split} {' + '.join(f'{n} {MEASURES[kind]}' for kind, n in kinds.items())}" for split, kinds in pairs.items()
    )
    return f"pairs: {'; '.join(parts)}"


def table4(cells: Cells, measure: str) -> Table:
    """Pair accuracy in percent on one kind of pairs: a row for each setting, a column for each encoder."""
    columns = _columns(cells)
    rows = []
    for row in sorted({cell["row"] for cell in cells}):
        mine = [cell for cell in cells if cell["row"] == row]
        values = [[_accuracy(cell, measure) for cell in mine if cell["column"] == column] for column in columns]
        paper = BEST[measure] if row == BEST_ROW else "-"
        rows.append((str(row), mine[0]["context"], HEADS[mine[0]["head"]], *map(spread, values), paper))
    header = ("row", "context", "head", *columns.values(), "paper's best")
    return Table(f"Table 4, {MEASURES[measure]}: pair accuracy, %", header, tuple(rows), numbers_from=3)


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation (number) of percentages; a single one as it is, "-" for none.

    >>> spread([70.0, 72.0]), spread([70.0]), spread([])
    ('71.0 ± 1.4 (2)', '70.0', '-')
    """
    if len(values) < 2:
        return number(values[0], ".1f") if values else "-"
    return f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f} ({len(values)})"


def findings(cells: Cells, sources: Sources) -> Table:
    """The paper's findings, tested on the cells: mean differences between settings that differ in one thing.

    Uncertainty: the standard error over the settings and, if the cells and `sources` have the outcome of each pair, the
    95 % interval over source sentences. A difference is significant if that interval, or else two standard errors,
    exclude 0.
    """
    wins = {measure: _wins(cells, measure) for measure in MEASURES}
    names = _columns(cells)
    rows: list[tuple[str, ...]] = []
    for text, field, better, worse in (
        ("attention over averaging", 2, "paper", "average"),
        ("our attention over the paper's", 2, "logit", "paper"),
        ("common context over none", 1, "common", "none"),
        ("common context over respective", 1, "common", "respective"),
        ("no context over respective", 1, "none", "respective"),
        *((f"{names[column]} over {names.get(BASE)}", 0, column, BASE) for column in names if column != BASE),
    ):
        for measure, found in wins.items():
            gaps = [
                value - found[other]
                for key, value in found.items()
                if key[field] == better and (other := (*key[:field], worse, *key[field + 1 :])) in found
            ]
            rows += _finding(text, MEASURES[measure], gaps, sources.get(measure))
    gaps = [value.mean(keepdims=True) - wins["noisy"][key].mean() for key, value in wins["system"].items()]
    rows += _finding("R vs S above R vs R'", "both", gaps, None)
    header = ("finding", "pairs", "settings", "difference, points", "standard error", "95 % interval", "here")
    return Table("What the paper found, and these cells", header, tuple(rows), numbers_from=2)


def _finding(
    text: str, measure: str, gaps: Sequence[NDArray[np.float64]], sources: Sequence[str] | None
) -> Iterator[tuple[str, ...]]:
    """One row; gaps: for each setting, its gain in points on each pair (pairs,), or on all pairs (1,)."""
    if not gaps:
        return
    means = [float(gap.mean()) for gap in gaps]
    mean = statistics.mean(means)
    error = statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None
    estimate = Estimate(mean, None, None)
    if sources is not None and {len(gap) for gap in gaps} == {len(sources)}:
        estimate = cluster_mean(np.mean(gaps, axis=0), sources)
    ends = None if estimate.low is None or estimate.high is None else (estimate.low, estimate.high)
    if ends is not None:
        sure = not ends[0] <= 0 <= ends[1]
    else:
        sure = error is not None and abs(mean) > 2 * error  # not where all are 0
    verdict = "open" if not sure else "confirmed" if mean > 0 else "refuted"
    yield text, measure, str(len(gaps)), f"{mean:+.1f}", number(error, ".1f"), interval(ends, "+.1f"), verdict


def table5(name: str, content: Mapping[str, Any]) -> Table:
    """Pair accuracy of one file of `evaluate` by part and group, with the paper's figures for the study's languages."""
    rows = []
    for part, figures in content["parts"].items():
        groups = {"all": figures["accuracy"], **figures["by_group"]}
        for group, accuracies in groups.items():
            ends = None if accuracies["low"] is None else (100 * accuracies["low"], 100 * accuracies["high"])
            accuracy = number(100 * accuracies["accuracy"], ".1f")
            rows.append(
                (part, group, str(accuracies["pairs"]), accuracy, interval(ends, ".1f"), *STUDY.get(group, ("-", "-")))
            )
    header = ("pairs", "group", "number", "accuracy, %", "95 % interval", "paper, on its study", "trigram model")
    return Table(f"Table 5, {name}: accuracy against people", header, tuple(rows), numbers_from=2)


def table1(name: str, content: Mapping[str, Any]) -> Table:
    """Agreement between the raters of one file of `agree`: all pairs and each group."""
    shares = {key: shares_of for key, shares_of in content["preference"].items() if key != "of"}
    rows = (
        (
            group,
            str(shares_of["pairs"]),
            *(_percent(shares_of[key]) for key in ("average", "average_without_ties")),
            *(number(shares_of[key], ".3f") for key in ("ac1", "ac1_without_ties")),
        )
        for group, shares_of in shares.items()
    )
    header = ("", "pairs", "with ties, %", "without ties, %", "AC1", "AC1 without ties")
    return Table(f"Table 1, {name}: raters preferring {content['preference']['of']}", header, tuple(rows))


def metric_agreement(name: str, content: Mapping[str, Any]) -> Table:
    """Agreement of the metric with each rater of one file of `agree --scores`."""

    def ac1(found: Mapping[str, Any] | None) -> tuple[str, str]:
        if found is None or found["ac1"] is None:
            return "-", "-"
        of = found["ac1"]
        ends = None if of["ci_low"] is None else (of["ci_low"], of["ci_high"])
        return number(of["estimate"], ".3f"), interval(ends, ".3f")

    raters = content["metric"]["raters"]
    rows = ((rater, *ac1(found), *ac1(found["without_ties"])) for rater, found in raters.items())
    header = ("rater", "AC1", "95 % interval", "AC1 without ties", "95 % interval")
    return Table(f"Table 5, {name}: the metric's agreement", header, tuple(rows))


def _columns(cells: Cells) -> dict[str, str]:
    """The encoders by the names of their columns, in the order of the grid."""
    order = ("glove", "elmo", "minilm", "sgd", "tuned")
    names = {cell["column"]: cell["name"] for cell in cells}
    return {
        column: names[column] for column in sorted(names, key=lambda c: order.index(c) if c in order else len(order))
    }


def _wins(cells: Cells, measure: str) -> dict[Setting, NDArray[np.float64]]:
    """For each setting the percentage of seeds that win each test pair (pairs,), or the overall percentage (1,)."""
    wins: dict[Setting, list[list[float]]] = {}
    for cell in cells:
        won = cell["test"][measure].get("won")
        each = [_accuracy(cell, measure)] if won is None else [100.0 * (one == "1") for one in won]
        wins.setdefault((cell["column"], cell["context"], cell["head"]), []).append(each)
    whole = len({len(each) for runs in wins.values() for each in runs}) == 1
    return {
        key: np.mean(runs if whole else [[statistics.mean(each)] for each in runs], axis=0)
        for key, runs in wins.items()
    }


def _accuracy(cell: Mapping[str, Any], measure: str) -> float:
    return 100 * cell["test"][measure]["accuracy"]


def _percent(share: float | None) -> str:
    return number(None if share is None else 100 * share, ".1f")


def _json(path: Path) -> dict[str, Any]:
    content = strict_json.read(path, "expected what `agree`, `evaluate` or `train` wrote")
    return content if isinstance(content, dict) else {}
