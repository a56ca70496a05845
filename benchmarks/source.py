"""What the source adds: fitting the combination on WMT23, and figures with and without a source on held-out pairs.

    python benchmarks/source.py fit --data PREPARED --wmt-dir WMT
    python benchmarks/source.py test --data PREPARED --wmt-dir WMT --json benchmarks/source.json

`fit` scores WMT23 references with errors as systems make them (`training.calibrate.noised`) and prints the logistic
regression of "right" on the model's logit and the source's log-odds, then, for fixed ratios of the two weights, scale,
bias and log-loss. `test` scores the pairs of a split (reference against the reference with one pronoun of a system)
without and with the source. Both take a random sample of short texts.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from data_prep.wmt import discovery
from pronmetric.alignment import source_files
from pronmetric.alignment.source import Item
from pronmetric.data import arrow
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.pronouns.finder import THIRD_PERSON, find
from pronmetric.schema import Pair
from pronmetric.text.context import Source, SourceHistory, Text, join
from pronmetric.text.words import words
from pronmetric.training.calibrate import noised

LONGEST = 450  # characters of a text with its context
RATIOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
RATE = 0.0634  # natural share of wrong pronouns
Key = tuple[str, str, int]


def sources(folder: str, languages: Sequence[str]) -> Mapping[Key, Source]:
    """The source of each segment of all test sets from these languages."""
    found: dict[Key, Source] = {}
    testsets = discovery.discover(folder, pairs=[f"{language}-en" for language in languages]).testsets
    for testset in testsets:
        for document in discovery.read(testset):
            history = SourceHistory()
            for segment in document.segments:
                if segment.src is not None:
                    found[testset.name, testset.lp, segment.seg] = history.source(segment.src)
    return found


def pairs(data: str, split: str, language: str, most: int) -> list[Pair]:
    """Distinct noisy pairs of a pronoun against a pronoun, short ones, drawn at random."""
    found: dict[tuple[str, str], Pair] = {}
    for row in arrow.read_pairs(data, split):
        if row["kind"] != "noisy" or row["lp"] != f"{language}-en":
            continue
        pair = arrow.to_pair(row)
        short = len(pair.better) + len(join(pair.context)) < LONGEST
        if short and pair.mismatches[0].kind == "pronoun":
            found.setdefault((pair.better, pair.worse), pair)
    drawn = list(found.values())
    random.Random(1).shuffle(drawn)
    return drawn[:most]


def test(args: argparse.Namespace) -> dict[str, Any]:
    """Accuracy of R against R', without and with the source, by language."""
    given = sources(args.wmt_dir, args.languages)
    figures: dict[str, Any] = {}
    for language in args.languages:
        chosen = pairs(args.data, args.split, language, args.most)
        metric = PronounMetric.from_pretrained(args.model, source_lang=language)
        plain = [Text(join(pair.context), text) for pair in chosen for text in (pair.better, pair.worse)]
        read = [given[pair.testset, pair.lp, pair.seg] for pair in chosen for _ in range(2)]
        start = time.process_time()
        without = list(metric.stream(plain))
        middle = time.process_time()
        counted = list(metric.stream(text._replace(source=source) for text, source in zip(plain, read, strict=True)))
        end = time.process_time()
        figures[language] = {
            "signature": str(metric.signature(context="common")),
            "seconds": {"without": middle - start, "with": end - middle},
            **dict(_shares(chosen, without, counted)),
        }
        print(language, json.dumps(figures[language]), flush=True)
        _show(chosen, without, counted, given, args.show)
    return figures


def _shares(chosen: Sequence[Pair], without: Sequence[Any], counted: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    for name in ("all", "both third person"):
        keep = [
            k
            for k, pair in enumerate(chosen)
            for m in pair.mismatches
            if name == "all" or {m.ref_form, m.hyp_form} <= THIRD_PERSON
        ]
        before, after, support = [], [], []
        for k in keep:
            before.append(_mark(*(without[2 * k + side].score for side in (0, 1))))
            after.append(_mark(*(counted[2 * k + side].score for side in (0, 1))))
            support.append(_mark(*(_log_odds(chosen[k], side, counted[2 * k + side]) for side in (0, 1))))
        count = max(1, len(keep))
        yield (
            name,
            {
                "pairs": len(keep),
                "without": sum(before) / count,
                "with": sum(after) / count,
                "source alone": sum(support) / count,
                "changed to right": sum(a > b for a, b in zip(after, before, strict=True)),
                "changed to wrong": sum(a < b for a, b in zip(after, before, strict=True)),
            },
        )


def _mark(better: float | None, worse: float | None) -> float:
    return 0.0 if better is None or worse is None else 0.5 * (better >= worse) + 0.5 * (better > worse)


def _log_odds(pair: Pair, side: int, scored: Any) -> float:
    start = pair.mismatches[0].hyp_start if side else pair.mismatches[0].ref_start
    return next((p.evidence.log_odds for p in scored.pronouns if p.start == start), 0.0)


def _show(
    chosen: Sequence[Pair], without: Sequence[Any], counted: Sequence[Any], given: Mapping[Key, Source], most: int
) -> None:
    """Print pairs that the source decided, to be read."""
    for k, pair in enumerate(chosen):
        before, after = (_mark(found[2 * k].score, found[2 * k + 1].score) for found in (without, counted))
        if before != after and most > 0:
            most -= 1
            m = pair.mismatches[0]
            evidence = [p.evidence for p in counted[2 * k].pronouns if p.start == m.ref_start]
            print(f"{pair.id} {m.ref_form}/{m.hyp_form} {before}->{after} {evidence}")
            print(f"  S {given[pair.testset, pair.lp, pair.seg]}\n  R {pair.better}")


def fit(args: argparse.Namespace) -> dict[str, Any]:
    """The logistic regression on WMT23, and its fits with fixed ratios of the weights."""
    given = sources(args.wmt_dir, args.languages)
    table = ConfusionTable.load(Path(args.data) / "confusion.json")
    metric = PronounMetric.from_pretrained(args.model)
    logits, log_odds, right = [], [], []
    for language in args.languages:
        evidence = source_files.of_language(language)
        rows: dict[tuple[str, str], Mapping[str, Any]] = {}
        for row in arrow.read_pairs(args.data, "development"):
            if row["lp"] == f"{language}-en" and row["kind"] == "system" and len(row["better"]) < LONGEST / 2:
                rows.setdefault((join(row["context"]), row["better"]), row)
        drawn = list(rows.values())
        random.Random(3).shuffle(drawn)
        drawn = drawn[: args.most]
        items = list(noised(drawn, context="common", table=table, rate=0.15, seed=1))
        texts = [Text(item.example.context, item.example.text) for item in items]
        asked = []
        for row, text in zip(drawn, texts, strict=True):
            split = words(text.text)
            asked.append(Item(given[row["testset"], row["lp"], row["seg"]], split, find(text.text, split)))
        for item, scored, ask, found in zip(items, metric.stream(texts), asked, evidence.evidence(asked), strict=True):
            labels = dict(zip(map(tuple, item.example.spans), item.right, strict=True))
            by_place = {(p.start, p.end): one.log_odds for p, one in zip(ask.pronouns, found, strict=True)}
            for p in scored.pronouns:
                if labels.get((p.start, p.end)) in (0, 1):
                    score = min(max(p.score, 1e-6), 1 - 1e-6)
                    logits.append(np.log(score / (1 - score)))
                    log_odds.append(by_place[p.start, p.end])
                    right.append(labels[p.start, p.end])
    z, d, y = np.array(logits), np.array(log_odds), np.array(right)
    wrong = float((y == 0).mean())
    weight = np.where(y == 1, (1 - RATE) / (1 - wrong), RATE / wrong)
    free = LogisticRegression(C=1e3).fit(np.stack([z, d], 1), y, sample_weight=weight)
    figures: dict[str, Any] = {
        "pronouns": len(y),
        "replaced": int((y == 0).sum()),
        "free": {"logit": free.coef_[0][0], "evidence": free.coef_[0][1], "bias": free.intercept_[0]},
    }
    for ratio in RATIOS:
        seen = (z + ratio * d)[:, None]
        fitted = LogisticRegression(C=1e3).fit(seen, y, sample_weight=weight)
        shares = fitted.predict_proba(seen)[:, 1]
        loss = -(weight * np.log(np.where(y == 1, shares, 1 - shares))).sum() / weight.sum()
        scale = fitted.coef_[0][0]
        figures[f"ratio {ratio:g}"] = {
            "logit": scale,
            "evidence": scale * ratio,
            "bias": fitted.intercept_[0],
            "log-loss": loss,
        }
    print(json.dumps(figures, indent=1))
    return figures


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("fit", "test"))
    parser.add_argument("--data", required=True, help="a folder of `pronmetric prepare`")
    parser.add_argument("--wmt-dir", required=True)
    parser.add_argument("--split", default="development")
    parser.add_argument("--languages", nargs="+", default=["de", "ja", "ru", "uk"])
    parser.add_argument("--model")
    parser.add_argument("--most", type=int, default=250, help="texts or pairs of a language")
    parser.add_argument("--show", type=int, default=0, help="print so many pairs that the source decided")
    parser.add_argument("--json", help="write the figures to this file")
    args = parser.parse_args()
    figures = (fit if args.what == "fit" else test)(args)
    if args.json:
        Path(args.json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
