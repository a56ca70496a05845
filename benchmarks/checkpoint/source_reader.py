"""What the source adds: references with wrong pronouns, scored with their sources and without.

    python -m benchmarks.checkpoint.source_reader --model FOLDER --data PREPARED
        [--datasets wmt23:de-en wmt23:ja-en wmt23:ru-en wmt23:uk-en] [--lines 1200 | --natural] [--out FILE.json]

Figures are areas under the ROC curve in percent, of all pronouns and of the third person: by the checkpoint alone and
with its reader of sources. A fifth of the pronouns are replaced, drawn from the confusion table of PREPARED. With
`--natural` each text is a noisy reference of PREPARED's development split: one pronoun is that of a system, where at
least half of the systems have the reference's form. wmt22:de-en and wmt22:zh-en are test data. For a language that the
reader was not trained on, measure a reader of `train experiment=source source.without=[ja]` on wmt23:ja-en.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pages
from data_prep.wmt import corpus as wmt_corpus
from pronmetric.data import arrow
from pronmetric.eval.detection import detect
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.corrupt import ConfusionTable, CorruptionRates
from pronmetric.pronouns.finder import THIRD_PERSON, find
from pronmetric.schema import Pair
from pronmetric.text.context import COMMON, Source, Text, join
from pronmetric.training.examples.labelled import Corrupter
from pronmetric.training.source.data import POWER, RATE, translation

DEVELOPMENT = ("wmt23:de-en", "wmt23:ja-en", "wmt23:ru-en", "wmt23:uk-en")
WAYS = ("without source", "reader")


class Case(NamedTuple):
    """A text with replaced pronouns: whether each is right and of the third person, by its start."""

    text: Text
    right: dict[int, bool]
    third: dict[int, bool]


def cases(dataset: str, wmt: Path, table: ConfusionTable, *, lines: int) -> Iterator[Case]:
    """The references of a test set in their contexts and with their sources; at most `lines` with a pronoun."""
    corpus = wmt_corpus.read(dataset, str(wmt), None, lambda note: None)
    rates = replace(CorruptionRates.raw(RATE), power=POWER)
    rows = ((row, contexts[0][0]) for row, contexts in corpus.in_context(COMMON, size=2))
    made = 0
    for number, (row, context) in enumerate(rows):
        found = find(row.reference or "")
        if not found or row.evidence is None or made == lines:
            continue
        made += 1
        given = {"text": row.reference, "context": [context], "source": row.evidence.text}
        item = translation(
            {**given, "source_context": row.evidence.before},
            np.random.default_rng([7, number]),
            Corrupter(table),
            rates,
        )
        starts = [start for start, _ in item.example.spans]
        yield Case(
            Text(item.example.context, item.example.text, item.example.source),
            dict(zip(starts, (right == 1.0 for right in item.right), strict=True)),
            dict(zip(starts, (each.form in THIRD_PERSON for each in found), strict=True)),
        )


def majority_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs R vs R' whose pronoun at most half of the systems translate otherwise than the reference."""
    systems, others = defaultdict(set), Counter[tuple[object, ...]]()
    for pair in pairs:
        if pair.kind == "system":
            systems[pair.testset, pair.lp].add(pair.system)
            others.update(_place(pair, mismatch.ref_start) for mismatch in pair.mismatches)
    return [
        pair
        for pair in pairs
        if pair.kind == "noisy"
        and 2 * others[_place(pair, pair.mismatches[0].ref_start)] <= len(systems[pair.testset, pair.lp])
    ]


def _place(pair: Pair, start: int) -> tuple[object, ...]:
    return pair.testset, pair.lp, pair.seg, pair.ref, start


def sources(dataset: str, wmt: Path) -> dict[int, Source | None]:
    """The source of each segment of a test set, by its number from 1."""
    corpus = wmt_corpus.read(dataset, str(wmt), None, lambda note: None)
    return {seg: row.evidence for seg, (row, _) in enumerate(corpus.in_context(COMMON, size=2), start=1)}


def natural_cases(dataset: str, wmt: Path, pairs: Sequence[Pair]) -> Iterator[Case]:
    """The noisy references of a test set with their sources; the system's pronoun is wrong, all others are right."""
    name, lp = dataset.split(":")
    given = sources(dataset, wmt)
    for pair in pairs:
        if pair.lp == lp and pair.testset.endswith(name.removeprefix("wmt")):
            found = find(pair.worse)
            yield Case(
                Text(join(pair.context), pair.worse, given[pair.seg]),
                {each.start: each.start != pair.mismatches[0].hyp_start for each in found},
                {each.start: each.form in THIRD_PERSON for each in found},
            )


def score(metric: PronounMetric, given: Sequence[Case], *, with_source: bool) -> list[list[float | None]]:
    """The score of each case's pronouns; None where the finder finds none."""
    texts = (case.text if with_source else case.text._replace(source=None) for case in given)
    found = ({p.start: p.score for p in segment.pronouns} for segment in metric.stream(texts))
    return [[scores.get(start) for start in case.right] for case, scores in zip(given, found, strict=True)]


def areas(given: Sequence[Case], scores: Sequence[Sequence[float | None]]) -> dict[str, Any]:
    """The areas of all pronouns and of the third person, and their numbers."""
    wrong = [not right for case in given for right in case.right.values()]
    third = [each for case in given for each in case.third.values()]
    values = [value for each in scores for value in each]
    own = [k for k, each in enumerate(third) if each]
    figures = {}
    for name, part in (("all", range(len(wrong))), ("third", own)):
        area = detect([wrong[k] for k in part], [values[k] for k in part]).roc_auc if part else None
        figures[name] = {"auc": None if area is None else area.value, "pronouns": len(part)}
    return figures


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of each test set and of all together."""
    metric = PronounMetric.from_pretrained(options.model)
    if options.natural:
        pairs = majority_pairs([arrow.to_pair(row) for row in arrow.read_pairs(options.data, "development")])
        sets = {name: list(natural_cases(name, options.wmt_dir, pairs)) for name in options.datasets}
    else:
        table = ConfusionTable.load(options.data / "confusion.json")
        sets = {name: list(cases(name, options.wmt_dir, table, lines=options.lines)) for name in options.datasets}
    figures: dict[str, Any] = {}
    every: dict[str, list[list[float | None]]] = {way: [] for way in WAYS}
    for name, given in sets.items():
        found = {WAYS[0]: score(metric, given, with_source=False)}
        if metric.reader is not None:
            found[WAYS[1]] = score(metric, given, with_source=True)
        figures[name] = {way: areas(given, scores) for way, scores in found.items()}
        for way, scores in found.items():
            every[way] += scores
    together = [case for given in sets.values() for case in given]
    figures["together"] = {way: areas(together, found) for way, found in every.items() if len(found) == len(together)}
    return figures


def show(figures: dict[str, Any]) -> str:
    """The figures as a short table."""
    rows = []
    for name, ways in figures.items():
        first = next(iter(ways.values()))
        row = [name, first["all"]["pronouns"], first["third"]["pronouns"]]
        for way in WAYS:
            aucs = [ways[way][part]["auc"] for part in ("all", "third")] if way in ways else [None]
            row.append(" / ".join("-" if auc is None else f"{100 * auc:.1f}" for auc in aucs))
        rows.append(row)
    return pages.table(["AUC, all / third person", "pronouns", "third", *WAYS], rows)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", metavar="NAME|FOLDER", help="default: the shipped checkpoint")
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--wmt-dir", type=Path, default=pages.ROOT.parent / "shared" / "data" / "wmt", metavar="DIR")
    parser.add_argument("--datasets", nargs="+", default=DEVELOPMENT, metavar="NAME:LP")
    parser.add_argument("--lines", type=int, default=1200, metavar="N", help="at most, of each set (default: 1200)")
    parser.add_argument("--natural", action="store_true", help="pronouns of systems in place of drawn ones")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    options = parser.parse_args()
    figures = measure(options)
    print(show(figures))
    if options.out is not None:
        content = {**pages.origin("checkpoint.source_reader"), "figures": figures}
        pages.write_page(options.out.with_suffix(".md"), show(figures) + "\n", content)


if __name__ == "__main__":
    pages.run(main)
