"""`pronmetric correlate`: scores of whole systems against people's scores of the same systems."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric import score_files, targets
from pronmetric.cli import numbers, scoring, tables
from pronmetric.errors import InputError
from pronmetric.eval.correlation import MINIMUM, RESAMPLES, Correlation, Correlations, correlate, correlate_segments
from pronmetric.eval.significance import Totals, totals
from pronmetric.lines import iter_lines
from pronmetric.report import result
from pronmetric.report.result import Result

DESCRIPTION = """Pearson's r, Spearman's rho, Kendall's tau-b and pairwise accuracy between a metric's scores of
systems and people's, each with a 95 % interval. Higher is better on both sides.

SCORES is mt-metrics-eval's .sys.score (SYSTEM, a tab, a score or None), or what `score` or `compare` wrote with
--to_json. HUMAN is such a .sys.score, or a ranking of WMT's direct assessment; of these the files
ad-sys-ranking-SL-TL-z-names.csv are the ones to read, for they have the names of the outputs."""
EPILOG = """Systems that stand in one file only are counted and named, and so are those without a score. What has the
name of a human translation (HUMAN, HUMAN-B, ref, refA ...) is left out and named too; --keep-references takes it in.
A system of --to_json that has the name of a file is the one that people's file names: out/Alder.txt and
newstest2021.de-en.hyp.Alder.en are Alder. What `score --also` put there stands in the same table.

Pairwise accuracy (Kocmi et al. 2021): the share of the pairs of systems that people ordered which the metric orders
alike; equal scores of the metric are wrong. The intervals draw systems anew (what other systems might have given), or
with --resample segments whole documents, or segments where these are unknown (what another text might have given for
these systems); they need five of what is drawn. Few systems give wide intervals. People's ranking is of whole
translations: a score of pronouns alone need not follow it.

examples:
  pronmetric correlate COMET.sys.score human.sys.score
  pronmetric score -d wmt22:cs-en --wmt-dir DIR --only_system --to_json result.json
  pronmetric correlate result.json ad-sys-ranking-cs-en-z-names.csv --resample segments --to_sys_score mine.sys.score"""
_FIGURES = {
    "pearson": ("pearson", "Pearson's r"),
    "spearman": ("spearman", "Spearman's rho"),
    "kendall": ("kendall", "Kendall's tau-b"),
    "pairwise": ("pairwise_accuracy", "pairwise accuracy"),
}
_OUTPUT = re.compile(r"(?:.+\.)?hyp\.(?P<system>.+)\.[a-z]{2,3}(?:\.gz)?")
_GZIP = ".gz"


class Metric(NamedTuple):
    """A metric's scores of systems; of a result also those of each segment."""

    systems: dict[str, float | None]
    result: Result | None


@dataclass(frozen=True, slots=True)
class Left:
    """The systems that don't count, and why."""

    metric_only: tuple[str, ...]
    human_only: tuple[str, ...]
    unscored: tuple[str, ...]
    references: tuple[str, ...]


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = _arguments(argv)
    targets.check([args.to_json, args.to_sys_score, args.to_seg_score], read=[args.scores, args.human])
    scoring.open_stdout()
    people = score_files.read_human(args.human, score=args.human_score)
    metric = _read(args.scores, people)
    if metric.result is None and (args.resample == "segments" or args.to_seg_score):
        flag = "--to_seg_score" if args.to_seg_score else "--resample segments"
        raise InputError(f"holds no segments, which {flag} needs: give what score --to_json wrote", file=args.scores)
    left = _left(metric.systems, people, keep=args.keep_references)
    counted = [s for s in metric.systems if s in people and s not in (*left.unscored, *left.references)]
    if len(counted) < 2:
        raise InputError(
            f"expected two or more systems with a score here and in {args.human}, found {len(counted)}: here are "
            f"{_listed(metric.systems)}; there are {_listed(people)}; name them alike"
            + (f" (human references are left out: {_listed(left.references)})" if left.references else ""),
            file=args.scores,
        )
    x, y = ({system: scores[system] for system in counted} for scores in (metric.systems, people))
    found = correlate(x, y, seed=args.seed)
    also = _also(metric, y, seed=args.seed)
    if args.resample == "segments" and metric.result is not None:
        unit, parts = _totals(metric.result, list(metric.systems))
        found = correlate_segments({s: parts[s] for s in counted}, y, seed=args.seed)
        found = replace(found, resampled=unit)
        also = {name: _estimates(older) for name, older in also.items()}
    _write(args, metric, _content(args, found, x, y, left, also))
    print(_text(args, found, left, also))
    return 0


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="pronmetric correlate",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("scores", metavar="SCORES", help="the metric's: .sys.score, or the JSON of score or compare")
    parser.add_argument("human", metavar="HUMAN", help="people's: .sys.score, or a WMT ranking")
    scoring.both(
        parser, "human-score", choices=("z", "raw"), default="z", help="of a WMT ranking (default: %(default)s)"
    )
    parser.add_argument(
        "--resample",
        choices=("systems", "segments"),
        default="systems",
        help="what the intervals draw; segments needs JSON (default: %(default)s)",
    )
    scoring.both(parser, "keep-references", action="store_true", help="human references are systems too")
    scoring.both(parser, "to-json", metavar="FILE", help="write everything, with the systems' scores")
    scoring.both(parser, "to-sys-score", metavar="FILE", help="write SCORES in mt-metrics-eval's form")
    scoring.both(parser, "to-seg-score", metavar="FILE", help="write the segments' scores in that form; needs JSON")
    parser.add_argument(
        "--seed", type=numbers.count, default=scoring.SEED, metavar="N", help="of the drawing (default: %(default)s)"
    )
    return parser.parse_args(argv)


def _read(path: str, people: Collection[str]) -> Metric:
    """The metric's scores, under people's names."""
    if next((line.lstrip()[:1] for line in iter_lines(path)), "") not in ("{", "["):
        return Metric(score_files.read_system_scores(path), None)
    found = result.read(path)
    systems: dict[str, float | None] = {}
    for system in found.systems:
        name = _named(system.name, people)
        if name in systems:
            raise InputError(f"{name} for the second time, of {system.name}: expected each system once", file=path)
        systems[name] = system.score
    return Metric(systems, found)


def _named(name: str, people: Collection[str]) -> str:
    """The system that a name stands for: itself, or the one whose output has this file name."""
    file = Path(name).name.removesuffix(_GZIP)
    output = _OUTPUT.fullmatch(file)
    names = (name, file, output["system"] if output else file, Path(file).stem)
    return next((one for one in names if one in people), name)


def _left(metric: Mapping[str, float | None], people: Mapping[str, float | None], *, keep: bool) -> Left:
    references = [] if keep else [s for s in dict.fromkeys((*metric, *people)) if score_files.is_human(s)]
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
        "metric": args.scores,
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


def _write(args: argparse.Namespace, metric: Metric, content: Mapping[str, Any]) -> None:
    """The files asked for."""
    if args.to_sys_score is not None:
        _write_lines(args.to_sys_score, score_files.system_score_lines(metric.systems))
    if args.to_seg_score is not None and metric.result is not None:
        segments = {
            name: [segment.outputs[place].score for segment in metric.result.segments]
            for place, name in enumerate(metric.systems)
        }
        _write_lines(args.to_seg_score, score_files.segment_score_lines(segments))
    if args.to_json is not None:
        _write_lines(args.to_json, [json.dumps(content, ensure_ascii=False, indent=1) + "\n"])


def _write_lines(path: str, lines: Iterable[str]) -> None:
    with targets.AtomicFile(path) as file:
        file.writelines(lines)


def _text(args: argparse.Namespace, found: Correlations, left: Left, also: Mapping[str, Correlations]) -> str:
    """What a person reads."""
    told = {
        f"only in {args.scores}": left.metric_only,
        f"only in {args.human}": left.human_only,
        "without a score": left.unscored,
        "human references, left out": left.references,
        **{f"without {name}": [s for s in found.systems if s not in one.systems] for name, one in also.items()},
    }
    lines = [f"{len(found.systems)} systems: {', '.join(found.systems)}"]
    lines += [f"{why}: {len(names)} ({', '.join(names)})" for why, names in told.items() if names]
    rows = [
        (name, *(_number(getattr(one, figure)) for figure in _FIGURES))
        for name, one in ((Path(args.scores).name, found), *also.items())
    ]
    lines += ["", tables.table(("", *(label for _, label in _FIGURES.values())), rows), ""]
    drawn = f"in brackets: 95 % intervals, {found.units} {found.resampled} drawn anew {RESAMPLES} times"
    lines.append(drawn if found.units >= MINIMUM else f"no intervals: {found.units} {found.resampled}, below {MINIMUM}")
    if len(found.systems) == 2:
        lines.append("two systems: the first three figures are 1 or -1 whatever the scores")
    return "\n".join(lines)


def _number(one: Correlation) -> str:
    if one.value is None:
        return "-"
    return f"{one.value:.4f}" + ("" if one.low is None else f" [{one.low:.4f}, {one.high:.4f}]")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
