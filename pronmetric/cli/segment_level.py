"""`pronmetric correlate` where people's scores are of segments, and p values of several metrics."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from pronmetric.cli import tables, written
from pronmetric.errors import InputError
from pronmetric.eval import permutation, segment_correlation
from pronmetric.eval.permutation import RESAMPLES, Matrix, segment_matrix
from pronmetric.eval.segment_correlation import ACC_EQ, ITEM, NONE, SYS, Mean, SegmentFigures, segment_figures
from pronmetric.results import metric_scores
from pronmetric.suites import wmt_scores

AVERAGE = ITEM
_LABELS = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "tau_b": "tau-b",
    "tau_c": "tau-c",
    "tau_10": "tau-10",
    "tau_eq": "tau-eq",
    ACC_EQ: "acc-eq",
}
FIGURES = tuple(_LABELS)
_AVERAGED = {
    NONE: "none: all scores as one list",
    SYS: "sys: the segments of each system, then the mean over {} systems",
    ITEM: "item: the systems' scores of each segment, then the mean over {} segments",
}
_GROUP = {SYS: "systems", ITEM: "segments"}


def run(args: argparse.Namespace) -> int:
    """The verb, where HUMAN is of segments; the exit code."""
    _check(args)
    average = args.average or AVERAGE
    figure = tested(args, FIGURES, default=ACC_EQ)
    names = wmt_scores.assessed_names(args.human)
    labels = metric_scores.labels(args.scores)
    read = [metric_scores.read_segments(path, names) for path in args.scores]
    for (metric, _), path in zip(read, args.scores, strict=True):
        for flag, given in written.flags(args):
            if given and metric is None:
                raise InputError(f"is no result, which {flag} needs: give what score --to_json wrote", file=path)
    metrics = {label: segments for label, (_, segments) in zip(labels, read, strict=True)}
    length = _length(args.scores, list(metrics.values()))
    systems = list(dict.fromkeys(s for segments in metrics.values() for s in segments))
    people = wmt_scores.read_human_segments(args.human, systems=systems, segments=length, score=args.human_score)
    systems = list(dict.fromkeys([*systems, *people]))
    references = [] if args.keep_references else [s for s in systems if wmt_scores.is_human(s)]
    sides = [*metrics.values(), people]
    counted = [s for s in systems if s not in references and all(s in side for side in sides)]
    left = [s for s in systems if s not in references and s not in counted]
    if not counted:
        told = "; ".join(f"{label} has {', '.join(segments)}" for label, segments in metrics.items())
        message = f"expected a system that all SCORES have too: here are {', '.join(people)}; {told}"
        raise InputError(f"{message}; name them alike", file=args.human)
    matrices = {label: _matrix(segments, counted) for label, segments in metrics.items()}
    all_of_people = _matrix(people, counted)
    same = segment_correlation.common({**{str(k): m for k, m in enumerate(matrices.values())}, "human": all_of_people})
    human = same.pop("human")
    matrices = dict(zip(labels, same.values(), strict=True))
    if not (~np.isnan(human)).any():
        raise InputError(f"no output has a score here and in {', '.join(args.scores)}", file=args.human)
    found = {
        label: segment_figures(matrix, human, average=average, seed=args.seed) for label, matrix in matrices.items()
    }
    p = None
    if len(matrices) > 1:
        p = segment_matrix(matrices, human, figure=figure, average=average, seed=args.seed)
    scored = int((~np.isnan(all_of_people)).sum())
    for metric, _ in read:
        if metric is not None:
            written.write(args, metric)
    content = {
        "level": "segment",
        "human": args.human,
        "average": average,
        "metrics": [_content(path, one) for path, one in zip(args.scores, found.values(), strict=True)],
        "systems": counted,
        "segments": length,
        "scores": int((~np.isnan(human)).sum()),
        "human_scores": scored,
        "seed": args.seed,
        "significance": None if p is None else significance(p, figure),
        "left_out": {"not_scored_by_all": left, "references": references},
    }
    written.write_json(args.to_json, content)
    lines = [f"{len(counted)} systems: {', '.join(counted)}"]
    told_left = {"without a score by all": left, "human references, left out": references}
    lines += [f"{why}: {len(some)} ({', '.join(some)})" for why, some in told_left.items() if some]
    lines += [f"{length} segments; {content['scores']} outputs count, of {scored} that people scored", ""]
    print("\n".join([*lines, *_table(found, average)]))
    if p is not None:
        print("\n".join(["", *matrix_lines(p, _LABELS[figure], what=_swapped(figure))]))
    return 0


def tested(args: argparse.Namespace, figures: Sequence[str], *, default: str) -> str:
    """The figure that p values are of.

    Raises:
        InputError: it is not one of this level, or there is but one metric.
    """
    if args.test is None:
        return default
    if len(args.scores) < 2:
        raise InputError(
            "is the only metric, but --test compares two or more: give several SCORES", file=args.scores[0]
        )
    if args.test not in figures:
        raise InputError(f"with these scores --test takes {', '.join(figures)}, got {args.test}", file=args.human)
    return str(args.test)


def significance(p: Matrix, figure: str) -> dict[str, Any]:
    """The p values in JSON."""
    return {"figure": figure, "resamples": RESAMPLES, "metrics": list(p.metrics), "p": tables.plain(p.p)}


def matrix_lines(p: Matrix, figure: str, *, what: str) -> list[str]:
    """The p values as a person reads them."""
    rows = [
        (name, *("-" if value is None else f"{value:.4f}" for value in row))
        for name, row in zip(p.metrics, p.p, strict=True)
    ]
    return [
        f"one-sided p of: the row's metric agrees better than the column's, in {figure}",
        f"({what} of the two change places at random, {RESAMPLES} times)",
        tables.table(("", *p.metrics), rows),
    ]


def _swapped(figure: str) -> str:
    return "the verdicts on a pair" if figure in permutation.PAIRWISE else "the scores of an output"


def _check(args: argparse.Namespace) -> None:
    if args.resample == "segments":
        raise InputError(
            "has scores of segments, but --resample is of figures of systems: leave it out", file=args.human
        )
    for flag, given in written.flags(args):
        if given and len(args.scores) > 1:
            raise InputError(f"is one of {len(args.scores)} SCORES, but {flag} takes one", file=args.scores[0])


def _length(paths: Sequence[str], metrics: Sequence[dict[str, list[float | None]]]) -> int:
    """The number of segments, the same in all metrics."""
    lengths = [len(next(iter(segments.values()))) for segments in metrics]
    for path, length in zip(paths, lengths, strict=True):
        if length != lengths[0]:
            message = f"{length} segments of each system, but {paths[0]} has {lengths[0]}: expected the same text"
            raise InputError(message, file=path)
    return lengths[0]


def _matrix(scores: dict[str, list[float | None]], systems: Sequence[str]) -> np.ndarray:
    return np.array([scores[system] for system in systems], dtype=float)


def _content(path: str, found: SegmentFigures) -> dict[str, Any]:
    return {
        "metric": path,
        **{name: tables.plain(one) for name, one in found.figures.items()},
        "threshold": found.threshold,
        "groups": found.groups,
        "groups_of_one": found.small,
        "pairs": found.pairs,
        "pairs_for_threshold": found.sought,
    }


def _table(found: dict[str, SegmentFigures], average: str) -> list[str]:
    any_one = next(iter(found.values()))
    rows = [
        (label, *(_number(one.figures[name]) for name in FIGURES), f"{one.threshold:.4g}")
        for label, one in found.items()
    ]
    lines = [tables.table(("", *_LABELS.values(), "threshold"), rows)]
    lines.append(f"average {_AVERAGED[average].format(any_one.groups)}; {any_one.pairs} pairs")
    if any_one.small:
        lines.append(f"{any_one.small} {_GROUP[average]} with a single score have no pair and are left out")
    for label, one in found.items():
        undefined = {name: figure.undefined for name, figure in one.figures.items() if figure.undefined}
        if undefined:
            told = ", ".join(f"{_LABELS[name]} {count}" for name, count in undefined.items())
            lines.append(f"{label}: undefined, all scores of one side equal, and left out of the mean: {told}")
    if any_one.sought < any_one.pairs:
        lines.append(f"the threshold was sought on {any_one.sought} pairs, drawn at random")
    return lines


def _number(one: Mean) -> str:
    return "-" if one.value is None else f"{one.value:.4f}"
