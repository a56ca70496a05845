"""System-level correlation with WMT's direct assessment into English: pronmetric, exact match, BLEU, chrF.

    python -m benchmarks.checkpoint.system_level --metrics exact,bleu,chrf
    python -m benchmarks.checkpoint.system_level --metrics pronmetric --model checkpoints/small

For each ranking `ad-sys-ranking-SL-TL-z-names.csv` of WMT21 and WMT22, the scores of its systems go into one JSON file
of `--out`; a metric that is already there is not measured again (except pronmetric, if the weights differ). Then
the table of all scores there is written to `--table`.

The first reference of a test set is the reference of all metrics. Human translations are not systems. Exact match (the
share of the reference's aligned pronouns that are kept), BLEU and chrF are those of `pronmetric score --also`.
pronmetric gives up to three numbers of a system, each higher is better: the score, the negative errors of a segment,
and, by a pair head, the preference.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks import corpora, pages
from benchmarks.corpora import Outputs
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval import correlation
from pronmetric.eval.correlation import Correlation
from pronmetric.eval.decision import DECISIONS, ERRORS, PREFERENCE, SCORE
from pronmetric.eval.resampling import SEED
from pronmetric.lab.baselines.corpus_scores import BaselineScorer
from pronmetric.lab.baselines.reference_based import BLEU, CHRF, EXACT, Counts, add_counts, get_baseline
from pronmetric.lab.human import wmt_scores
from pronmetric.lab.human.wmt_scores import Ranking
from pronmetric.output.targets import AtomicFile

PRONMETRIC = "pronmetric"
OWN = {by: PRONMETRIC if by == SCORE else f"{PRONMETRIC} {by}" for by in DECISIONS}
METRICS = (PRONMETRIC, EXACT, BLEU, CHRF)
COLUMNS = (*OWN.values(), EXACT, BLEU, CHRF)
NAMES = {
    **{name: name for name in OWN.values()},
    PRONMETRIC: "pronmetric score",
    EXACT: "exact pronoun match",
    BLEU: "BLEU",
    CHRF: "chrF",
}
FIGURES = {
    "pearson": ("Pearson's r", correlation.pearson),
    "spearman": ("Spearman's rho", correlation.spearman),
    "kendall": ("Kendall's tau-b", correlation.kendall),
    "pairwise": ("pairwise accuracy", correlation.pairwise),
}
HELD_OUT = ("wmt22:de-en", "wmt22:zh-en")
"""The test sets that the shipped checkpoints were neither trained nor tuned on."""
ALL, KEPT = "all", "held out"

_AGAINST = ("kendall", "pairwise")  # figures reported with their difference from BLEU's
_HASH = re.compile(r"\|(?:hash|weights):([0-9a-f]{8})")
_OWN = re.compile(r"\|(learned|lines):[^|]*")  # the fields of a signature that name a test set's own lines

Scores = dict[str, float]
Measure = Callable[[Outputs], tuple[str, Scores]]
Figure = Callable[[ArrayLike, ArrayLike], "_Array"]
_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Average:
    """A figure averaged over test sets, and its difference from BLEU's (None without BLEU), with intervals."""

    sets: int
    value: Correlation
    above_bleu: Correlation | None


def rankings(folder: Path) -> tuple[list[Ranking], list[str]]:
    """The rankings into English below `wmtNN-da`, and notes on other files.

    Raises:
        InputError: there is none.
    """
    found, notes = wmt_scores.find_rankings(folder)
    if not found:
        raise InputError("expected wmtNN-da/ad-sys-ranking-SL-en-z-names.csv in it, found none", file=folder)
    return found, notes


def peer(name: str) -> Measure:
    """Exact match, BLEU or chrF of `pronmetric score --also`.

    Raises:
        MissingExtra: sacreBLEU is needed and not installed.
    """
    get_baseline(name)

    def measure(outputs: Outputs) -> tuple[str, Scores]:
        scorer = BaselineScorer([name])
        rows = zip(outputs.reference, *outputs.systems.values(), strict=True)
        lines = [(reference, text) for reference, *texts in rows for text in texts]
        scorer.train_aligner(lines, number=len(lines))
        totals: list[Counts | None] = [None] * len(outputs.systems)
        for number, counts in enumerate(scorer.count_segments(lines)):
            if counts is not None:
                place = number % len(totals)
                totals[place] = add_counts(totals[place], counts[0])
        shares = [None if total is None else scorer.baselines[0].system(total) for total in totals]
        return scorer.signatures()[name], _all_scored(dict(zip(outputs.systems, shares, strict=True)))

    return measure


def learned(options: argparse.Namespace) -> dict[str, tuple[str, Measure]]:
    """Each number of the checkpoint that the flags name: its signature, and how it is measured.

    A test set is scored once for all numbers, each distinct text once.
    """
    from pronmetric.checkpoint.config import has_pair_head
    from pronmetric.metric import PronounMetric
    from pronmetric.scoring.score import Tally, tally_segments
    from pronmetric.text.context import text_of

    metric = PronounMetric.from_pretrained(options.model, precision=options.precision)
    signature = metric.signature(context="common", seed=options.seed)
    has = {SCORE: True, ERRORS: metric.config["head"]["kind"] == "logit", PREFERENCE: has_pair_head(metric.config)}
    last: dict[str, dict[str, Tally]] = {}  # the tallies of the last test set

    def tallies(outputs: Outputs) -> dict[str, Tally]:
        texts = [[text_of(record) for record in outputs.records(name)] for name in outputs.systems]
        rows = zip(*texts, strict=True)
        found = list(metric.stream((text for row in rows for text in row), batch_size=options.batch_size))
        own = {name: found[place :: len(texts)] for place, name in enumerate(outputs.systems)}
        return {name: tally_segments(segments) for name, segments in own.items()}

    def measure_by(by: str) -> tuple[str, Measure]:
        signed = str(signature if by == SCORE else signature.plus(by=by))

        def measure(outputs: Outputs) -> tuple[str, Scores]:
            if outputs.name not in last:
                last.clear()
                last[outputs.name] = tallies(outputs)
            parts = {name: tally.totals(by)[1] for name, tally in last[outputs.name].items()}
            return signed, _all_scored({name: one.mean() if one.counts.sum() else None for name, one in parts.items()})

        return signed, measure

    return {OWN[by]: measure_by(by) for by in DECISIONS if has[by]}


def _all_scored(scores: Mapping[str, float | None]) -> Scores:
    """The scores, none of which may be missing."""
    if missing := [system for system, score in scores.items() if score is None]:
        raise PronmetricError(f"no score of {', '.join(missing)}: expected outputs with pronouns")
    return {system: score for system, score in scores.items() if score is not None}


def measure(
    ranked: Ranking,
    read: Callable[[str], tuple[Outputs, list[str]]],
    measures: Mapping[str, tuple[str | None, Measure]],
    file: Path,
    tell: Callable[[str], object],
) -> None:
    """Add missing scores to the file of each test set, by metric.

    measures: of each metric the signature that a score must have to stay (None: any) and how it is measured.
    """
    content: dict[str, Any] = {"dataset": ranked.dataset, "notes": [], "metrics": {}}
    if file.is_file():
        content = json.loads(file.read_text(encoding="utf-8"))
    there = content["metrics"]
    wanted = {
        m: of for m, (sign, of) in measures.items() if m not in there or sign not in (None, there[m]["signature"])
    }
    if not wanted:
        return
    outputs, content["notes"] = read(ranked.dataset)
    if missing := [system for system in ranked.scores if system not in outputs.systems]:
        raise InputError(f"{ranked.dataset}: no output of {', '.join(missing)}, which people ranked", file=file)
    outputs = corpora.take(outputs, [system for system in outputs.systems if system in ranked.scores])
    for name, of in wanted.items():
        start = time.perf_counter()
        signature, scores = of(outputs)
        seconds = time.perf_counter() - start
        there[name] = {"signature": signature, "seconds": round(seconds, 1), "scores": scores}
        with AtomicFile(str(file)) as out:
            out.write(json.dumps(content, indent=1) + "\n")
        tell(f"{ranked.dataset}: {name}, {len(scores)} systems x {len(outputs.reference)} segments, {seconds:.1f} s")


def average(
    sets: Sequence[Ranking], scores: Mapping[str, Mapping[str, Scores]], metric: str, *, seed: int
) -> dict[str, Average]:
    """Each figure of a metric averaged over the test sets that have it; empty where none has.

    scores: by test set and metric. Intervals draw the systems of each test set anew, the same ones for all metrics; a
    draw that leaves a test set's figure undefined leaves that test set out of the draw's average.
    """
    having = [ranked for ranked in sets if metric in scores[ranked.dataset]]
    beside = [ranked for ranked in having if BLEU in scores[ranked.dataset]]

    def drawn(ranked: Ranking, name: str, figure: Figure) -> _Array:
        """A metric's figure of all systems, then of each draw."""
        own = scores[ranked.dataset][name]
        x, y = [own[system] for system in ranked.scores], list(ranked.scores.values())
        return correlation.draw_figure(x, y, figure, seed=[seed, sets.index(ranked)])

    averages = {}
    for name, (_, figure) in FIGURES.items() if having else ():
        value = correlation.average_draws([drawn(ranked, metric, figure) for ranked in having], units=_systems(having))
        above = [drawn(ranked, metric, figure) - drawn(ranked, BLEU, figure) for ranked in beside]
        gain = correlation.average_draws(above, units=_systems(beside)) if above else None
        averages[name] = Average(len(having), value, gain)
    return averages


def _systems(sets: Sequence[Ranking]) -> int:
    return sum(len(ranked.scores) for ranked in sets)


def figures(
    sets: Sequence[Ranking], files: Mapping[str, Mapping[str, Any]], *, held_out: Sequence[str], seed: int
) -> dict[str, Any]:
    """The content of the JSON: averages of all test sets and of those held out, scores and correlations of each."""
    scores = {dataset: {m: one["scores"] for m, one in file["metrics"].items()} for dataset, file in files.items()}
    measured = [ranked for ranked in sets if scores.get(ranked.dataset)]
    kept = [ranked for ranked in measured if ranked.dataset in held_out]

    def averages(chosen: Sequence[Ranking]) -> dict[str, dict[str, Average]]:
        return {m: found for m in COLUMNS if (found := average(chosen, scores, m, seed=seed))}

    def with_correlations(ranked: Ranking, one: Mapping[str, Any]) -> dict[str, Any]:
        found = correlation.correlate(one["scores"], ranked.scores, seed=seed)
        return {**one, "correlations": {name: getattr(found, name) for name in FIGURES}}

    tests = {}
    for ranked in measured:
        file = files[ranked.dataset]
        metrics = {m: with_correlations(ranked, one) for m, one in file["metrics"].items()}
        humans = list(ranked.humans)
        tests[ranked.dataset] = {"people": ranked.scores, "humans": humans, "notes": file["notes"], "metrics": metrics}
    content = {"averages": {ALL: averages(measured), KEPT: averages(kept)}, "test sets": tests}
    return pages.plain({**pages.origin("checkpoint.system_level"), "held out": [r.dataset for r in kept], **content})


def page(content: Mapping[str, Any]) -> str:
    """The tables of the figures, with what they mean."""
    tests, averages = content["test sets"], content["averages"]
    metrics = [m for m in COLUMNS if m in averages[ALL]]
    signatures = {
        m: sorted({_OWN.sub("", test["metrics"][m]["signature"]) for test in tests.values() if m in test["metrics"]})
        for m in metrics
    }
    weights = sorted({found[1] for one in signatures.get(PRONMETRIC, ()) if (found := _HASH.search(one))})
    parts, kept = pages.template("system-level"), content["held out"]
    lacking = ", ".join(NAMES[m] for m in METRICS if m not in metrics)
    summary = [_averages(averages[ALL])]
    summary += [parts["not measured"].format(metrics=lacking)] if lacking else []
    summary += [parts["held out"].format(testsets=", ".join(kept)), _averages(averages[KEPT])] if kept else []
    tables = []
    for name, (label, _) in FIGURES.items():
        rows = [
            [
                dataset + "\\*" * (dataset in kept),
                str(len(test["people"])),
                *(_number(test["metrics"][m]["correlations"][name]) if m in test["metrics"] else "" for m in metrics),
            ]
            for dataset, test in tests.items()
        ]
        tables.append(_table([label, "systems", *(NAMES[m] for m in metrics)], rows))
    lines = [f"- {NAMES[m]}: {', '.join(f'`{one}`' for one in found)}" for m, found in signatures.items()]
    humans = [f"{dataset} {', '.join(test['humans'])}" for dataset, test in tests.items() if test["humans"]]
    lines.append(parts["left out"].format(humans="; ".join(humans) or "none"))
    lines += [f"- {note}." for test in tests.values() for note in test["notes"] if "reference is" in note]
    return pages.fill(
        "system-level",
        weights=", ".join(f"`{one}`" for one in weights) or "none",
        resamples=correlation.RESAMPLES,
        date=content["date"],
        command=content["command"],
        averages="\n\n".join(summary),
        tables="\n\n".join(tables),
        how="\n".join(lines),
    )


def _averages(averages: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for metric, found in averages.items():
        above = [found[name]["above_bleu"] if metric != BLEU else None for name in _AGAINST]
        cells = [*(_number(found[name]["value"]) for name in FIGURES), *(_number(one, sign="+") for one in above)]
        rows.append([NAMES[metric], str(found["pearson"]["sets"]), *cells])
    labels = [*(label for label, _ in FIGURES.values()), *(f"{FIGURES[name][0]}, above BLEU's" for name in _AGAINST)]
    return _table(["", "test sets", *labels], rows)


def _number(one: Mapping[str, float | None] | None, *, sign: str = "") -> str:
    if one is None or one["value"] is None:
        return "-"
    span = "" if one["low"] is None or one["high"] is None else f" [{one['low']:{sign}.2f}, {one['high']:{sign}.2f}]"
    return f"{one['value']:{sign}.2f}{span}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *("---:" for _ in header[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    pages.add_shared(parser)
    parser.add_argument("--metrics", default=",".join(METRICS), metavar="A,B", help="default: %(default)s")
    parser.add_argument("--model", metavar="NAME|FOLDER", help="default: the shipped checkpoint")
    parser.add_argument("--only", nargs="+", metavar="NAME:LP", help="measure only these, e.g. wmt22:liv-en")
    parser.add_argument("--held-out", nargs="*", default=HELD_OUT, metavar="NAME:LP", help="default: %(default)s")
    parser.add_argument("--out", type=Path, default=pages.ROOT / "runs" / "system-level", metavar="FOLDER")
    parser.add_argument("--table", type=Path, default=pages.PUBLISHED / "system-level.md", metavar="FILE.md")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--batch_size", type=int)
    parser.add_argument("--precision", choices=("32", "bf16", "16"), help="default: the metric's own")
    options = parser.parse_args()
    wanted = options.metrics.split(",")
    if unknown := [name for name in wanted if name not in METRICS]:
        parser.error(f"--metrics: expected some of {','.join(METRICS)}, got {','.join(unknown)}")

    data = options.shared / "data"
    sets, notes = rankings(data / "human")
    only = [ranked.dataset for ranked in sets] if options.only is None else options.only
    if unknown := [name for name in only if name not in {ranked.dataset for ranked in sets}]:
        parser.error(f"--only: {', '.join(unknown)} not among {', '.join(ranked.dataset for ranked in sets)}")
    for note in notes:
        _tell(note)
    measures: dict[str, tuple[str | None, Measure]] = {
        **{name: (None, peer(name)) for name in (EXACT, BLEU, CHRF) if name in wanted},
        **(learned(options) if PRONMETRIC in wanted else {}),
    }

    def read(dataset: str) -> tuple[Outputs, list[str]]:
        told: list[str] = []
        return corpora.wmt(data / "wmt", dataset, told.append), told

    options.out.mkdir(parents=True, exist_ok=True)
    files = {ranked.dataset: options.out / f"{ranked.dataset.replace(':', '.')}.json" for ranked in sets}
    for ranked in sets:
        if ranked.dataset in only:
            measure(ranked, read, measures, files[ranked.dataset], _tell)
    found = {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items() if file.is_file()}
    content = figures(sets, found, held_out=options.held_out, seed=options.seed)
    pages.write_page(options.table, page(content), content)
    _tell(f"wrote {options.table}")


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    pages.run(main)
