"""Pairs R vs R' with their sources and without, apart from those whose label the source contradicts.

    python -m benchmarks.checkpoint.source_pairs --model FOLDER --data PREPARED [--split test]
        [--datasets wmt22:de-en wmt22:zh-en] [--limit 700] [--out FILE.json]

Reference translators rephrase, so that a system's pronoun may be what the source says. Pairs are grouped by
`data_prep.filters.verdict`: the source contradicts R's form, supports both forms, or neither, and the label is clean.
Its evidence here is the change of a pronoun's logit by the reader that is measured: so the accuracy with sources is
somewhat too high on clean pairs and too low on contradicted ones. Intervals resample documents. wmt22:de-en and
wmt22:zh-en are test data.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pages
from benchmarks.checkpoint import prepared
from benchmarks.checkpoint.source_reader import WAYS, sources
from data_prep.filters import ALIKE, CONTRADICTS, verdict
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.eval import accuracy as evaluation
from pronmetric.eval.decision import PREFERENCE, SCORE
from pronmetric.metric import PronounMetric
from pronmetric.schema import Pair
from pronmetric.scoring.score import SegmentScore
from pronmetric.text.context import Text, join

TESTS = ("wmt22:de-en", "wmt22:zh-en")
CLEAN, ALL = "clean", "all"
WITHOUT, WITH = WAYS


class Scored(NamedTuple):
    """A pair and the scores of its better and its worse text, by whether the source counts."""

    pair: Pair
    scores: dict[str, tuple[SegmentScore, SegmentScore]]


def draw(data: Path, split: str, dataset: str, limit: int | None) -> list[Pair]:
    """The pairs R vs R' of a test set; at most `limit`, drawn at random.

    Raises:
        InputError: the split has none.
    """
    name, lp = dataset.split(":")
    pairs = [
        pair
        for pair in map(arrow.to_pair, arrow.read_pairs(data, split))
        if pair.kind == "noisy" and pair.lp == lp and pair.testset.endswith(name.removeprefix("wmt"))
    ]
    if not pairs:
        raise InputError(f"no pair R vs R' of {dataset} in split {split}", file=data)
    chosen = np.random.default_rng(0).permutation(len(pairs))[:limit]
    return [pairs[number] for number in np.sort(chosen)]


def score(metric: PronounMetric, dataset: str, wmt: Path, pairs: Sequence[Pair]) -> Iterator[Scored]:
    """The scores of pairs of a test set, with their sources and without."""
    given = sources(dataset, wmt)
    texts = [Text(join(pair.context), text, given[pair.seg]) for pair in pairs for text in (pair.better, pair.worse)]
    found = {
        WITHOUT: list(metric.stream(text._replace(source=None) for text in texts)),
        WITH: list(metric.stream(texts)),
    }
    for number, pair in enumerate(pairs):
        yield Scored(pair, {way: (each[2 * number], each[2 * number + 1]) for way, each in found.items()})


def figures(found: Sequence[Scored]) -> dict[str, Any]:
    """The accuracy of pairs by what the source says about them, by way of scoring and by what decides."""
    groups: dict[str, list[Scored]] = defaultdict(list)
    for each in found:
        mismatch = each.pair.mismatches[0]
        better, worse = each.scores[WITH]
        reason = verdict(evidence(better, mismatch.ref_start), evidence(worse, mismatch.hyp_start))
        groups[reason or CLEAN].append(each)
        groups[ALL].append(each)
    return {name: _accuracies(groups[name]) for name in (CLEAN, ALIKE, CONTRADICTS, ALL) if groups[name]}


def evidence(segment: SegmentScore, start: int) -> float:
    """The source's log-odds for the pronoun that begins at a place of a text; 0 where nothing is known."""
    found = (p.evidence.log_odds for p in segment.pronouns if p.start == start and p.evidence is not None)
    return next(found, 0.0)


def _accuracies(found: Sequence[Scored]) -> dict[str, dict[str, evaluation.Accuracy]]:
    units = prepared.units([each.pair for each in found])

    def accuracy(way: str, by: str) -> evaluation.Accuracy:
        better, worse = zip(*([text.value(by) for text in each.scores[way]] for each in found), strict=True)
        return evaluation.accuracy(evaluation.decide(better, worse), units)

    return {way: {by: accuracy(way, by) for by in (PREFERENCE, SCORE)} for way in WAYS}


def show(found: dict[str, Any]) -> str:
    """The figures as a short table."""
    rows = []
    for dataset, groups in found.items():
        for name, ways in groups.items():
            values = [ways[way][by] for by in (PREFERENCE, SCORE) for way in WAYS]
            rows.append([f"{dataset}, {name}", values[0].pairs, *map(pages.percent, values)])
    head = [f"{by}, {way}" for by in (PREFERENCE, SCORE) for way in ("without source", "with")]
    return pages.table(["R vs R'", "pairs", *head], rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", metavar="NAME|FOLDER", help="default: the shipped checkpoint")
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--wmt-dir", type=Path, default=pages.ROOT.parent / "shared" / "data" / "wmt", metavar="DIR")
    parser.add_argument("--split", default="test", help="of PREPARED (default: test)")
    parser.add_argument("--datasets", nargs="+", default=TESTS, metavar="NAME:LP")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N pairs of each set")
    parser.add_argument("--precision", metavar="NAME", help="as for `pronmetric score`")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    options = parser.parse_args()
    metric = PronounMetric.from_pretrained(options.model, precision=options.precision)
    if metric.reader is None:
        raise InputError(f"expected a checkpoint with a reader of sources, got {metric.name}")
    scored = {
        name: list(score(metric, name, options.wmt_dir, draw(options.data, options.split, name, options.limit)))
        for name in options.datasets
    }
    found = {name: figures(each) for name, each in scored.items()}
    if len(scored) > 1:
        found["together"] = figures([one for each in scored.values() for one in each])
    print(show(found))
    if options.out is not None:
        content = {**pages.origin("checkpoint.source_pairs"), "weights": metric.hash, "figures": found}
        pages.write_page(options.out.with_suffix(".md"), show(found) + "\n", content)


if __name__ == "__main__":
    pages.run(main)
