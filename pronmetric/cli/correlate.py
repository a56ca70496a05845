"""`pronmetric correlate`: correlation of metric scores with human scores, of systems or segments."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pronmetric.cli import output
from pronmetric.cli.correlate_flags import AVERAGE, parser
from pronmetric.errors import InputError
from pronmetric.eval.decision import SCORE
from pronmetric.eval.segment_correlation import ACC_EQ
from pronmetric.lab.human import (
    correlation_tables,
    esa,
    human_scores,
    metric_scores,
    segment_level,
    system_level,
    wmt_scores,
)
from pronmetric.lab.human.system_level import STATISTICS
from pronmetric.output import targets


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parser().parse_args(argv)
    targets.check([args.to_json, args.to_sys_score, args.to_seg_score], read=[*args.scores, args.human])
    output.open_stdout()
    unit = human_scores.unit_of(args.human)
    if args.pair is not None and (unit != human_scores.SEGMENTS or not esa.holds(args.human)):
        raise InputError("has scores of one language pair: leave out --pair, which is of ESA", file=args.human)
    if unit == human_scores.SYSTEMS:
        if args.level not in (None, human_scores.SYSTEMS):
            raise InputError(f"has scores of systems, but --level is {args.level}: leave it out", file=args.human)
        people = wmt_scores.read_human(args.human, score=args.human_score)
        return _systems(args, people, {})
    human = human_scores.read(args.human, score=args.human_score, pair=args.pair)
    for kind, number in human.left_out.items():
        print(f"{args.human}: {number} {kind}, left out")
    if args.level != human_scores.SYSTEMS:
        return _segments(args, human)
    systems = [name for path in args.scores for name in metric_scores.read(path, human.names, by=args.by).systems]
    return _systems(args, human.means(systems), human.left_out)


def _systems(args: argparse.Namespace, people: system_level.HumanScores, left_out: Mapping[str, int]) -> int:
    """Scores of systems; left_out: rows of HUMAN that are no score, by kind."""
    if args.average is not None:
        raise InputError("has scores of systems, but --average is of segments: leave it out", file=args.human)
    return (_one if len(args.scores) == 1 else _several)(args, people, left_out)


def _content(content: dict[str, Any], left_out: Mapping[str, int]) -> dict[str, Any]:
    """The figures for JSON, with the rows of HUMAN that are no score, if there are any."""
    return {**content, "human_rows_left_out": dict(left_out)} if left_out else content


def _one(args: argparse.Namespace, people: system_level.HumanScores, left_out: Mapping[str, int]) -> int:
    """One metric's systems."""
    (path,) = args.scores
    if args.test is not None:
        raise InputError("is the only metric, but --test compares two or more: give several SCORES", file=path)
    metric = metric_scores.read(path, people, by=args.by)
    segments = args.resample == "segments"
    if metric.result is None and (segments or args.to_seg_score):
        flag = "--to_seg_score" if args.to_seg_score else "--resample segments"
        raise InputError(f"has no segments, which {flag} needs: give the output of score --to_json", file=path)
    if segments and args.by != SCORE:
        raise InputError(f"--resample segments is of scores: leave out --by {args.by}", file=path)
    found = system_level.correlate_one(
        metric,
        people,
        files=(path, args.human),
        keep_references=args.keep_references,
        segments=segments,
        seed=args.seed,
    )
    _write_scores(args, metric)
    output.write_json(args.to_json, _content(found.content(args.human, seed=args.seed), left_out))
    print(correlation_tables.format_one(found, args.human))
    return 0


def _several(args: argparse.Namespace, people: system_level.HumanScores, left_out: Mapping[str, int]) -> int:
    """Several metrics, on the systems with scores of all of them and human scores."""
    _refuse_several(args, (("--resample segments", args.resample == "segments"), *_written_flags(args)))
    found = system_level.correlate_several(
        args.scores,
        people,
        human=args.human,
        figure=_choose_statistic(args, tuple(STATISTICS), default="pairwise"),
        keep_references=args.keep_references,
        by=args.by,
        seed=args.seed,
    )
    output.write_json(args.to_json, _content(found.content(args.human, seed=args.seed), left_out))
    print(correlation_tables.format_several(found))
    return 0


def _segments(args: argparse.Namespace, human: human_scores.HumanScores) -> int:
    """Metrics of segments, documents or domains."""
    if args.level is not None and args.level != human.unit:
        raise InputError(f"has scores of {human.unit}, but --level is {args.level}: leave it out", file=args.human)
    left_out = human.left_out
    if args.resample == "segments":
        raise InputError(
            f"has scores of {human.unit}, but --resample is of figures of systems: leave it out", file=args.human
        )
    _refuse_several(args, _written_flags(args))
    figure = _choose_statistic(args, tuple(correlation_tables.SEGMENT_LABELS), default=ACC_EQ)
    files = segment_level.read_metrics(args.scores, human, by=args.by)
    for file in files:
        for flag, given in _written_flags(args):
            if given and file.result is None:
                raise InputError(
                    f"is not a result, which {flag} needs: give the output of score --to_json", file=file.path
                )
    found = segment_level.correlate(
        files,
        human=human,
        average=args.average or AVERAGE,
        figure=figure,
        keep_references=args.keep_references,
        seed=args.seed,
    )
    for file in files:
        if file.result is not None:
            _write_scores(args, file.result)
    output.write_json(args.to_json, _content(found.content(args.human, seed=args.seed), left_out))
    print(correlation_tables.format_segments(found))
    return 0


def _refuse_several(args: argparse.Namespace, given_flags: Iterable[tuple[str, bool]]) -> None:
    """Refuse flags that take one metric with several."""
    for flag, given in given_flags:
        if given and len(args.scores) > 1:
            raise InputError(f"is one of {len(args.scores)} SCORES, but {flag} takes one", file=args.scores[0])


def _choose_statistic(args: argparse.Namespace, figures: Sequence[str], *, default: str) -> str:
    """The statistic for the p values, one of `figures`."""
    if args.test is None:
        return default
    if len(args.scores) < 2:
        raise InputError(
            "is the only metric, but --test compares two or more: give several SCORES", file=args.scores[0]
        )
    if args.test not in figures:
        raise InputError(f"with these scores --test takes {', '.join(figures)}, got {args.test}", file=args.human)
    return str(args.test)


def _written_flags(args: argparse.Namespace) -> tuple[tuple[str, bool], ...]:
    """The flags that write one metric's scores, and whether they were used."""
    return ("--to_sys_score", args.to_sys_score is not None), ("--to_seg_score", args.to_seg_score is not None)


def _write_scores(args: argparse.Namespace, metric: metric_scores.Metric) -> None:
    """Write the metric's scores as files of mt-metrics-eval, if requested."""
    if args.to_sys_score is not None:
        _write_lines(args.to_sys_score, wmt_scores.system_score_lines(metric.systems))
    if args.to_seg_score is not None and metric.result is not None:
        _write_lines(args.to_seg_score, wmt_scores.segment_score_lines(metric.segments()))


def _write_lines(path: str, lines: Iterable[str]) -> None:
    with targets.AtomicFile(path) as file:
        file.writelines(lines)
