"""Shared by the scripts that score: contrasts in several contexts, the checkpoint as a scorer, reports of figures."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np

from benchmarks import pages
from pronmetric.checkpoint.config import decision_of
from pronmetric.errors import InputError
from pronmetric.eval import accuracy as evaluation
from pronmetric.eval.accuracy import Decisions
from pronmetric.eval.decision import DECISIONS, SCORE
from pronmetric.eval.estimates import Estimate, cluster_mean
from pronmetric.eval.resampling import shuffle_contexts as shuffle_contexts
from pronmetric.pronouns.finder import THIRD_PERSON as THIRD_PERSON
from pronmetric.report.text import percent as percent
from pronmetric.report.text import table as table
from pronmetric.text.context import join
from pronmetric.text.strict_json import plain as plain

COMMON, NONE, SHUFFLED = "common", "none", "shuffled"


class Record(TypedDict):
    """The input of `PronounMetric.predict`; without a source language its source is ignored."""

    text: str
    context: list[str]
    source: NotRequired[str]
    source_context: NotRequired[list[str]]
    speaker: NotRequired[str]
    context_speakers: NotRequired[list[str]]


class Result(TypedDict):
    """Its output for a record; a pronoun has `start`, `end` and `probability` (None with an unbounded head).

    values: all numbers that can decide, by name.
    """

    score: float | None
    pronouns: list[dict[str, Any]]
    values: NotRequired[Mapping[str, float | None]]


Scorer = Callable[[Sequence[Record]], Sequence[Result]]
Contexts = Sequence[tuple[Sequence[str], Sequence[str]]]
"""For each contrast the context of the better text and that of the worse one."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two versions of a text, the first of which has the better pronouns."""

    better: str
    worse: str


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The results of all contrasts in one kind of context, and who won each."""

    better: list[Result]
    worse: list[Result]
    decisions: Decisions


def same(contexts: Sequence[Sequence[str]]) -> Contexts:
    """One context for both texts of a contrast."""
    return [(context, context) for context in contexts]


def score_all(score: Scorer, records: Sequence[tuple[str, Sequence[str]]], *, seed: int = 0) -> list[Result]:
    """Score (text, context) records in one call: each distinct one once, in an order drawn by `seed`."""
    distinct = list(dict.fromkeys((text, tuple(context)) for text, context in records))
    order = np.random.default_rng(seed).permutation(len(distinct))
    results = score([Record(text=distinct[i][0], context=list(distinct[i][1])) for i in order])
    found = {distinct[i]: result for i, result in zip(order, results, strict=True)}
    return [found[text, tuple(context)] for text, context in records]


def judge(
    score: Scorer, contrasts: Sequence[Contrast], contexts: Mapping[str, Contexts], *, seed: int = 0
) -> dict[str, Judged]:
    """Judge every contrast in every kind of context, all in one call of `score`."""
    records = [
        (text, context)
        for kind in contexts
        for contrast, both in zip(contrasts, contexts[kind], strict=True)
        for text, context in zip((contrast.better, contrast.worse), both, strict=True)
    ]
    results = score_all(score, records, seed=seed)
    judged, size = {}, 2 * len(contrasts)
    for number, kind in enumerate(contexts):
        part = results[number * size : (number + 1) * size]
        judged[kind] = judged_of(part[::2], part[1::2])
    return judged


def judged_of(better: list[Result], worse: list[Result]) -> Judged:
    """Compare the results and decide."""
    return Judged(better, worse, evaluation.decide([r["score"] for r in better], [r["score"] for r in worse]))


def pick(judged: Mapping[str, Judged], part: Sequence[int]) -> dict[str, Judged]:
    """The contrasts that `part` numbers."""
    return {
        kind: judged_of([found.better[i] for i in part], [found.worse[i] for i in part])
        for kind, found in judged.items()
    }


def scored_at(result: Result, start: int, end: int) -> bool:
    """Whether a scored pronoun overlaps [start, end)."""
    return any(p["start"] < end and p["end"] > start for p in result["pronouns"])


def counts(results: Sequence[Result]) -> list[int]:
    """The number of scored pronouns of each result."""
    return [len(result["pronouns"]) for result in results]


def difference(first: Judged, second: Judged, clusters: Sequence[Hashable]) -> Estimate:
    """Accuracy of `first` minus that of `second` on the same contrasts, with a paired clustered interval."""
    gap = first.decisions.right.astype(float) - second.decisions.right
    return cluster_mean(gap, clusters)


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The flags that every script has."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument(
        "--model", required=True, metavar="FOLDER", help="checkpoint folder, as `pronmetric train` wrote it"
    )
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="write the figures there")
    parser.add_argument("--seed", type=int, default=0, help="of shuffling (default 0)")
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--precision", choices=("32", "bf16", "16"), help="default: the metric's own")
    parser.add_argument(
        "--by", choices=DECISIONS, default=SCORE, help="what decides between two texts (default: %(default)s)"
    )
    return parser


def add_data(parser: argparse.ArgumentParser) -> None:
    """The flags that choose pairs of a prepared folder."""
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--split", choices=("development", "test", "development_study"), default="development")
    parser.add_argument("--testsets", nargs="+", metavar="NAME", help="only pairs of these, such as newstest2014")
    parser.add_argument("--limit", type=int, metavar="N", help="measure only N pairs, drawn by --seed")


@dataclass(slots=True)
class Counting:
    """A scorer that counts the records and the time."""

    score: Scorer
    signature: str
    records: int = 0
    seconds: float = 0.0

    def __call__(self, records: Sequence[Record]) -> Sequence[Result]:
        """Score, and count."""
        start = time.perf_counter()
        results = self.score(records)
        self.seconds += time.perf_counter() - start
        self.records += len(records)
        return results


def load(options: argparse.Namespace) -> Counting:
    """The checkpoint that the flags name, as a scorer; sources of records count if it has a reader of them."""
    from pronmetric.metric import PronounMetric

    metric = PronounMetric.from_pretrained(options.model, precision=options.precision)
    by = decision_of(metric.config, options.by, name=metric.name)
    scorer = Counting(lambda records: [], "")

    def score(records: Sequence[Record]) -> Sequence[Result]:
        # one text: contexts of more sentences than the checkpoint was trained with are read whole
        given = [
            record if "context_speakers" in record else {**record, "context": [join(record["context"])]}
            for record in records
        ]
        out = metric.predict(given, batch_size=options.batch_size, progress=True)
        scorer.signature = str(out.signature if by == SCORE else out.signature.plus(by=by))
        return [
            Result(
                score=segment.value(by),
                pronouns=[{"start": p.start, "end": p.end, "probability": p.probability} for p in segment.pronouns],
                values={name: segment.value(name) for name in DECISIONS},
            )
            for segment in out.segments
        ]

    scorer.score = score
    return scorer


def report(name: str, options: argparse.Namespace, scorer: Counting, figures: Mapping[str, Any]) -> dict[str, Any]:
    """Figures with their origin; written to `--out` if given."""
    content = {
        "benchmark": name,
        **pages.origin(f"checkpoint.{name}"),
        "weights": pages.weights_hash(options.model),
        "signature": scorer.signature,
        "records": scorer.records,
        "seconds": round(scorer.seconds, 1),
        "figures": pages.plain(figures),
    }
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return content


def read_report(path: Path, name: str) -> dict[str, Any]:
    """The report that the script `name` wrote to its `--out` (see `report`).

    Raises:
        InputError: no such file, broken JSON, or the figures of another script.
    """
    cure = f"expected the figures of `python -m benchmarks.checkpoint.{name} --out`"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{error.strerror}; {cure}", file=path) from None
    except ValueError as error:
        raise InputError(f"broken JSON ({error}); {cure}", file=path) from None
    if not isinstance(content, dict) or content.get("benchmark") != name:
        raise InputError(cure, file=path)
    return content
