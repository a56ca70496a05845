"""`pronmetric correlate`: correlation of metric scores with human scores, of systems or segments."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pronmetric.cli import numbers, options, output, segment_level, tables, written
from pronmetric.errors import InputError
from pronmetric.eval import permutation, segment_correlation
from pronmetric.eval.correlation import (
    MINIMUM,
    RESAMPLES,
    Correlation,
    Correlations,
    correlate,
    correlate_segments,
    kendall,
    pairwise,
    pearson,
    spearman,
)
from pronmetric.eval.resampling import SEED
from pronmetric.eval.significance import Totals, totals
from pronmetric.output import targets
from pronmetric.results import Result, metric_scores
from pronmetric.results.metric_scores import Metric
from pronmetric.suites import wmt_scores

DESCRIPTION = """Correlation of metric scores with human scores, of systems or segments, depending on HUMAN. Higher is
better on both sides.

SCORES is a file of mt-metrics-eval, .sys.score or .seg.score (SYSTEM, a tab, a score or None; one line for each system,
or for each segment of each system in order), or the --to_json output of `score` or `compare`. HUMAN is such a file, or
WMT direct assessment: a ranking of systems (ad-sys-ranking-SL-TL-z-names.csv names the outputs) or scores of segments
(ad-seg-scores-SL-TL.csv). Several SCORES are also compared with each other."""
EPILOG = """Systems that are missing on one side or have no score are counted and listed. Human translations (HUMAN,
HUMAN-B, ref, refA ...) are left out and listed; --keep-references includes them. Systems in JSON that are named after
files are matched with the names in HUMAN: out/Alder.txt and newstest2021.de-en.hyp.Alder.en are both Alder. Scores of
`score --also` are added to the table.

Systems: Pearson's r, Spearman's rho, Kendall's tau-b and pairwise accuracy (Kocmi et al. 2021): of the pairs of systems
that humans ordered, the share that the metric orders alike; equal metric scores are wrong. 95 % intervals are bootstrap
intervals over systems or, with --resample segments, over documents (segments if documents are unknown); they need at
least five of these. With few systems the intervals are wide. Human rankings rate whole translations; a pronoun score
need not correlate with them.

Segments: Pearson's r, Spearman's rho, Kendall's tau-b, tau-c, tau-10 (human ties are left out, metric ties are wrong),
tau-eq (ties on both sides are right, on one side wrong) and acc-eq, pairwise accuracy with metric ties up to a
threshold, which is chosen to maximise acc-eq (Deutsch et al. 2023). --average: item, the systems' scores of each
segment, then the mean over segments; sys, the segments of each system, then the mean over systems; none, all scores in
one list. Only outputs scored by humans and by all SCORES count.

With several SCORES, a table gives one-sided p values that the metric of the row correlates better than the metric of
the column, for the statistic of --test. The test is PERM-BOTH (Deutsch et al. 2021): it swaps the two metrics' scores
of an output (of a system at the system level); for acc-eq and tau-eq it swaps the decisions on a pair of outputs.

examples:
  pronmetric correlate COMET.sys.score human.sys.score
  pronmetric score -d wmt22:cs-en --wmt-dir DIR --only_system --to_json result.json
  pronmetric correlate result.json ad-sys-ranking-cs-en-z-names.csv --resample segments --to_sys_score mine.sys.score
  pronmetric correlate result.json COMET.seg.score ad-seg-scores-cs-en.csv --average item"""
_FIGURES = {
    "pearson": ("pearson", "Pearson's r"),
    "spearman": ("spearman", "Spearman's rho"),
    "kendall": ("kendall", "Kendall's tau-b"),
    "pairwise": ("pairwise_accuracy", "pairwise accuracy"),
}
_STATISTICS = {"pearson": pearson, "spearman": spearman, "kendall": kendall, "pairwise": pairwise}


@dataclass(frozen=True, slots=True)
class Left:
    """The systems that are left out, by reason."""

    metric_only: tuple[str, ...]
    human_only: tuple[str, ...]
    unscored: tuple[str, ...]
    references: tuple[str, ...]


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parser().parse_args(argv)
    targets.check([args.to_json, args.to_sys_score, args.to_seg_score], read=[*args.scores, args.human])
    output.open_stdout()
    if wmt_scores.holds_segments(args.human):
        return segment_level.run(args)
    if args.average is not None:
        raise InputError("has scores of systems, but --average is of segments: leave it out", file=args.human)
    people = wmt_scores.read_human(args.human, score=args.human_score)
    return _one(args, people) if len(args.scores) == 1 else _several(args, people)


def _one(args: argparse.Namespace, people: Mapping[str, float | None]) -> int:
    """One metric's systems."""
    (path,) = args.scores
    if args.test is not None:
        raise InputError("is the only metric, but --test compares two or more: give several SCORES", file=path)
    metric = metric_scores.read(path, people)
    if metric.result is None and (args.resample == "segments" or args.to_seg_score):
        flag = "--to_seg_score" if args.to_seg_score else "--resample segments"
        raise InputError(f"holds no segments, which {flag} needs: give what score --to_json wrote", file=path)
    left = _left(metric.systems, people, keep=args.keep_references)
    counted = [s for s in metric.systems if s in people and s not in (*left.unscored, *left.references)]
    if len(counted) < 2:
        raise InputError(
            f"expected two or more systems with a score here and in {args.human}, found {len(counted)}: here are "
            f"{_listed(metric.systems)}; there are {_listed(people)}; name them alike"
            + (f" (human references are left out: {_listed(left.references)})" if left.references else ""),
            file=path,
        )
    x, y = ({system: scores[system] for system in counted} for scores in (metric.systems, people))
    found = correlate(x, y, seed=args.seed)
    also = _also(metric, y, seed=args.seed)
    if args.resample == "segments" and metric.result is not None:
        unit, parts = _totals(metric.result, list(metric.systems))
        found = correlate_segments({s: parts[s] for s in counted}, y, seed=args.seed)
        found = replace(found, resampled=unit)
        also = {name: _estimates(older) for name, older in also.items()}
    written.write(args, metric)
    written.write_json(args.to_json, _content(args, found, x, y, left, also))
    print(_text(args, found, left, also))
    return 0


def _several(args: argparse.Namespace, people: Mapping[str, float | None]) -> int:
    """Several metrics, on the systems that all of them and people have a score of."""
    for flag, given in (("--resample segments", args.resample == "segments"), *written.flags(args)):
        if given:
            raise InputError(f"is one of {len(args.scores)} SCORES, but {flag} takes one", file=args.scores[0])
    figure = segment_level.tested(args, tuple(_FIGURES), default="pairwise")
    found_in = [metric_scores.read(path, people) for path in args.scores]
    metrics = dict(zip(metric_scores.labels(args.scores), found_in, strict=True))
    names = list(dict.fromkeys([s for metric in metrics.values() for s in metric.systems] + list(people)))
    references = [] if args.keep_references else [s for s in names if wmt_scores.is_human(s)]
    sides = [metric.systems for metric in metrics.values()] + [people]
    counted = [s for s in names if s not in references and all(side.get(s) is not None for side in sides)]
    left = [s for s in names if s not in counted and s not in references]
    if len(counted) < 2:
        told = "; ".join(f"{label} has {_listed(metric.systems)}" for label, metric in metrics.items())
        message = f"expected two or more systems with a score here and in all SCORES, found {len(counted)}"
        raise InputError(f"{message}: here are {_listed(people)}; {told}; name them alike", file=args.human)
    y = {s: people[s] for s in counted}
    found = {
        label: correlate({s: metric.systems[s] for s in counted}, y, seed=args.seed)
        for label, metric in metrics.items()
    }
    vectors = {label: np.array([m.systems[s] for s in counted], dtype=float) for label, m in metrics.items()}
    human = np.array(list(y.values()), dtype=float)
    statistic = _STATISTICS[figure]
    p = permutation.matrix(
        list(metrics),
        lambda a, b: permutation.swap_scores(
            vectors[a], vectors[b], human, lambda x, z: float(statistic(x, z)), seed=args.seed
        ),
    )
    content = {
        "level": "system",
        "human": args.human,
        "metrics": [
            {"metric": path, **_figures(found[label])} for label, path in zip(metrics, args.scores, strict=True)
        ],
        "resampled": "systems",
        "units": len(counted),
        "resamples": RESAMPLES,
        "seed": args.seed,
        "significance": segment_level.significance(p, figure),
        "systems": [
            {"system": s, "metrics": [metric.systems[s] for metric in metrics.values()], "human": y[s]} for s in counted
        ],
        "left_out": {"not_scored_by_all": left, "references": references},
    }
    written.write_json(args.to_json, content)
    lines = [f"{len(counted)} systems: {_listed(counted)}"]
    told_left = {"without a score by all": left, "human references, left out": references}
    lines += [f"{why}: {len(some)} ({', '.join(some)})" for why, some in told_left.items() if some]
    rows = [(label, *(_number(getattr(one, name)) for name in _FIGURES)) for label, one in found.items()]
    lines += [
        "",
        tables.table(("", *(label for _, label in _FIGURES.values())), rows),
        "",
        _drawn(next(iter(found.values()))),
    ]
    print("\n".join([*lines, "", *segment_level.matrix_lines(p, _FIGURES[figure][1], what="the scores of a system")]))
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = argparse.ArgumentParser(
        prog="pronmetric correlate",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "scores",
        metavar="SCORES",
        nargs="+",
        help="metric scores: .sys.score, .seg.score, or the JSON of score or compare",
    )
    parser.add_argument("human", metavar="HUMAN", help="human scores: .sys.score, .seg.score, or WMT direct assessment")
    options.both(
        parser,
        "human-score",
        choices=("z", "raw"),
        default="z",
        help="which score of WMT direct assessment (default: %(default)s)",
    )
    parser.add_argument(
        "--average",
        choices=segment_correlation.AVERAGES,
        help=f"how segment scores are grouped (default: {segment_level.AVERAGE})",
    )
    parser.add_argument(
        "--test",
        metavar="FIGURE",
        choices=tuple(dict.fromkeys((*_FIGURES, *segment_level.FIGURES))),
        help="statistic of the p values; systems: pearson, spearman, kendall, pairwise (default); "
        f"segments: {', '.join(segment_level.FIGURES)} (default)",
    )
    parser.add_argument(
        "--resample",
        choices=("systems", "segments"),
        default="systems",
        help="unit of the bootstrap intervals; segments needs JSON (default: %(default)s)",
    )
    options.both(parser, "keep-references", action="store_true", help="include human translations as systems")
    options.both(parser, "to-json", metavar="FILE", help="write all figures and the systems' scores as JSON")
    options.both(parser, "to-sys-score", metavar="FILE", help="write SCORES as a .sys.score file")
    options.both(
        parser, "to-seg-score", metavar="FILE", help="write the segment scores as a .seg.score file; needs JSON"
    )
    parser.add_argument(
        "--seed", type=numbers.count, default=SEED, metavar="N", help="seed of the resampling (default: %(default)s)"
    )
    return parser


def _left(metric: Mapping[str, float | None], people: Mapping[str, float | None], *, keep: bool) -> Left:
    references = [] if keep else [s for s in dict.fromkeys((*metric, *people)) if wmt_scores.is_human(s)]
    return Left(
        metric_only=tuple(s for s in metric if s not in people and s not in references),
        human_only=tuple(s for s in people if s not in metric and s not in references),
        unscored=tuple(s for s in metric if s in people and s not in references and None in (metric[s], people[s])),
        references=tuple(references),
    )


def _also(metric: Metric, y: Mapping[str, float | None], *, seed: int) -> dict[str, Correlations]:
    """Correlation of each --also score that two or more of the systems have."""
    if metric.result is None:
        return {}
    own = dict(zip(metric.systems, metric.result.systems, strict=True))
    names = dict.fromkeys(name for system in own.values() for name in system.also)
    scores = {name: {s: own[s].also.get(name) for s in y} for name in names}
    enough = {name: its for name, its in scores.items() if sum(score is not None for score in its.values()) > 1}
    return {name: correlate(its, y, seed=seed) for name, its in enough.items()}


def _estimates(found: Correlations) -> Correlations:
    """The same without intervals: results contain no segment parts of --also scores to resample."""
    figures = {name: replace(getattr(found, name), low=None, high=None) for name in _FIGURES}
    return replace(found, **figures)


def _totals(found: Result, names: Sequence[str]) -> tuple[str, dict[str, Totals]]:
    """Sums and numbers of the pronouns' scores of each system, by document where two or more are known."""
    docs = [segment.doc for segment in found.segments]
    known = None not in docs and len(set(docs)) > 1
    parts = {}
    for place, name in enumerate(names):
        pronouns = [segment.outputs[place].pronouns for segment in found.segments]
        sums, counts = [sum(p.score for p in some) for some in pronouns], [len(some) for some in pronouns]
        parts[name] = totals(sums, counts, docs if known else None)
    return "documents" if known else "segments", parts


def _content(
    args: argparse.Namespace,
    found: Correlations,
    x: Mapping[str, float | None],
    y: Mapping[str, float | None],
    left: Left,
    also: Mapping[str, Correlations],
) -> dict[str, Any]:
    """The content of --to_json."""
    return {
        "metric": args.scores[0],
        "human": args.human,
        **_figures(found),
        "also": {name: _figures(older) for name, older in also.items()},
        "resampled": found.resampled,
        "units": found.units,
        "resamples": RESAMPLES,
        "seed": args.seed,
        "systems": [{"system": s, "metric": x[s], "human": y[s]} for s in found.systems],
        "left_out": tables.plain(left),
    }


def _figures(found: Correlations) -> dict[str, dict[str, float | None]]:
    figures: dict[str, Correlation] = {key: getattr(found, name) for name, (key, _) in _FIGURES.items()}
    return {key: {"estimate": one.value, "ci_low": one.low, "ci_high": one.high} for key, one in figures.items()}


def _text(args: argparse.Namespace, found: Correlations, left: Left, also: Mapping[str, Correlations]) -> str:
    """The printed text."""
    (path,) = args.scores
    told = {
        f"only in {path}": left.metric_only,
        f"only in {args.human}": left.human_only,
        "without a score": left.unscored,
        "human references, left out": left.references,
        **{f"without {name}": [s for s in found.systems if s not in one.systems] for name, one in also.items()},
    }
    lines = [f"{len(found.systems)} systems: {', '.join(found.systems)}"]
    lines += [f"{why}: {len(names)} ({', '.join(names)})" for why, names in told.items() if names]
    rows = [
        (name, *(_number(getattr(one, figure)) for figure in _FIGURES))
        for name, one in ((Path(path).name, found), *also.items())
    ]
    lines += ["", tables.table(("", *(label for _, label in _FIGURES.values())), rows), ""]
    return "\n".join([*lines, _drawn(found)])


def _drawn(found: Correlations) -> str:
    drawn = f"in brackets: 95 % intervals, {found.units} {found.resampled} drawn anew {RESAMPLES} times"
    line = drawn if found.units >= MINIMUM else f"no intervals: {found.units} {found.resampled}, below {MINIMUM}"
    if len(found.systems) == 2:
        line += "\ntwo systems: the first three figures are 1 or -1 whatever the scores"
    return line


def _number(one: Correlation) -> str:
    if one.value is None:
        return "-"
    return f"{one.value:.4f}" + ("" if one.low is None else f" [{one.low:.4f}, {one.high:.4f}]")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
