"""`pronmetric correlate`: metrics' scores of systems or segments against people's scores of the same."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pronmetric.cli import metric_scores, numbers, options, output, segment_level, tables, written
from pronmetric.cli.metric_scores import Metric
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
from pronmetric.results import Result
from pronmetric.suites import wmt_scores

DESCRIPTION = """How far metrics' scores agree with people's: of whole systems, or of segments, as HUMAN has them.
Higher is better on both sides.

SCORES is mt-metrics-eval's .sys.score or .seg.score (SYSTEM, a tab, a score or None; a line for each system, or for
each segment of each system in their order), or what `score` or `compare` wrote with --to_json. HUMAN is such a file,
or one of WMT's direct assessment: a ranking of systems (of these ad-sys-ranking-SL-TL-z-names.csv has the names of the
outputs) or scores of segments (ad-seg-scores-SL-TL.csv). Several SCORES are held against each other too."""
EPILOG = """Systems that stand in one file only are counted and named, and so are those without a score. What has the
name of a human translation (HUMAN, HUMAN-B, ref, refA ...) is left out and named too; --keep-references takes it in.
A system of --to_json that has the name of a file is the one that people's file names: out/Alder.txt and
newstest2021.de-en.hyp.Alder.en are Alder. What `score --also` put there stands in the same table.

Of systems: Pearson's r, Spearman's rho, Kendall's tau-b and pairwise accuracy (Kocmi et al. 2021), the share of the
pairs of systems that people ordered which the metric orders alike; equal scores of the metric are wrong. The 95 %
intervals draw systems anew (what other systems might have given), or with --resample segments whole documents, or
segments where these are unknown (what another text might have given for these systems); they need five of what is
drawn. Few systems give wide intervals. People's ranking is of whole translations: a score of pronouns alone need not
follow it.

Of segments: Pearson's r, Spearman's rho, Kendall's tau-b, tau-c, tau-10 (people's ties left out, the metric's wrong),
tau-eq (ties on both sides right, on one wrong) and acc-eq, pairwise accuracy in which scores of the metric that differ
by a threshold or less are tied; the threshold is the one that makes acc-eq greatest (Deutsch et al. 2023). --average
names what is correlated: item, the systems' scores of each segment, then the mean over segments; sys, the segments of
each system, then the mean over systems; none, all scores as one list. Only outputs count that people and all SCORES
have a score of.

With several SCORES a table of one-sided p values says whether the row's metric agrees better than the column's, in the
figure that --test names: PERM-BOTH (Deutsch et al. 2021), in which the two metrics' scores of an output change places
(of systems, of a system); for acc-eq and tau-eq their verdicts on a pair.

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
    """The systems that don't count, and why."""

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
        help="a metric's: .sys.score, .seg.score, or the JSON of score or compare",
    )
    parser.add_argument("human", metavar="HUMAN", help="people's: .sys.score, .seg.score, or a file of WMT's DA")
    options.both(
        parser, "human-score", choices=("z", "raw"), default="z", help="of a file of WMT's DA (default: %(default)s)"
    )
    parser.add_argument(
        "--average",
        choices=segment_correlation.AVERAGES,
        help=f"how segments are grouped (default, where HUMAN is of segments: {segment_level.AVERAGE})",
    )
    parser.add_argument(
        "--test",
        metavar="FIGURE",
        choices=tuple(dict.fromkeys((*_FIGURES, *segment_level.FIGURES))),
        help="what the p values of several SCORES are of: of systems pearson, spearman, kendall, pairwise (default); "
        f"of segments {', '.join(segment_level.FIGURES)} (default)",
    )
    parser.add_argument(
        "--resample",
        choices=("systems", "segments"),
        default="systems",
        help="what the intervals draw; segments needs JSON (default: %(default)s)",
    )
    options.both(parser, "keep-references", action="store_true", help="human references are systems too")
    options.both(parser, "to-json", metavar="FILE", help="write everything, with the systems' scores")
    options.both(parser, "to-sys-score", metavar="FILE", help="write SCORES in mt-metrics-eval's form")
    options.both(parser, "to-seg-score", metavar="FILE", help="write the segments' scores in that form; needs JSON")
    parser.add_argument(
        "--seed", type=numbers.count, default=SEED, metavar="N", help="of the drawing (default: %(default)s)"
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
    """The older scores of a result's systems, those of them that two or more of the counted systems have."""
    if metric.result is None:
        return {}
    own = dict(zip(metric.systems, metric.result.systems, strict=True))
    names = dict.fromkeys(name for system in own.values() for name in system.also)
    scores = {name: {s: own[s].also.get(name) for s in y} for name in names}
    enough = {name: its for name, its in scores.items() if sum(score is not None for score in its.values()) > 1}
    return {name: correlate(its, y, seed=seed) for name, its in enough.items()}


def _estimates(found: Correlations) -> Correlations:
    """Without intervals: of the older scores a result has no parts that could be drawn."""
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
    """Everything, as --to_json has it."""
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
    """What a person reads."""
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
