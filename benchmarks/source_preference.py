"""Whether the source helps the preference of a pair head: log-odds of the pronouns added to it, on development data.

    python -m benchmarks.source_preference --model FOLDER --data PREPARED [--shared DIR] --out FILE.json

Pairs of WMT23 (de, ja, ru, uk), R vs S and R vs R' of a pronoun against a pronoun, short ones, `--most` of each
language and kind, drawn at random. To the preference of each text a weight times the sum, or the mean, of its pronouns'
log-odds is added. The weights are a grid, and the one fitted by logistic regression of "better" on the two differences.
A language is judged by the weight fitted on the three others. Gain: accuracy minus that of the preference alone; equal
counts half. Intervals resample documents, or blocks of 20 segments where documents are unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks import scoring
from benchmarks.source import DEVELOPMENT, LONGEST, drawn, sources, units
from pronmetric.checkpoint.config import has_pair_head
from pronmetric.data import arrow
from pronmetric.errors import PronmetricError
from pronmetric.eval.estimates import cluster_mean, cluster_share
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.finder import find
from pronmetric.schema import Pair
from pronmetric.source import files as source_files
from pronmetric.source.evidence import Item
from pronmetric.text.context import Source, Text, join
from pronmetric.text.words import words

KINDS = {"system": "R vs S", "noisy": "R vs R'"}
WEIGHTS = (0.05, 0.1, 0.2, 0.4, 0.8)
AGGREGATES = ("sum", "mean")


def chosen(data: Path, most: int) -> dict[tuple[str, str], list[Pair]]:
    """Distinct short pairs by kind and language, drawn at random."""
    found: dict[tuple[str, str], dict[tuple[str, str], Any]] = {(k, x): {} for k in KINDS for x in DEVELOPMENT}
    for row in arrow.read_pairs(data, "development", kinds=("pronoun",)):
        place = found.get((row["kind"], row["lp"].removesuffix("-en")))
        if place is not None and max(len(row["better"]), len(row["worse"])) + len(join(row["context"])) < LONGEST:
            place.setdefault((row["better"], row["worse"]), row)
    return {key: [arrow.to_pair(row) for row in drawn(list(rows.values()), most, 1)] for key, rows in found.items()}


def differences(
    metric: PronounMetric, language: str, pairs: Sequence[Pair], given: Mapping[Any, Source]
) -> dict[str, np.ndarray]:
    """Better minus worse text: preference, sum and mean of the log-odds; 0 for a text without a pronoun."""
    texts = [Text(join(p.context), side, given[p.testset, p.lp, p.seg]) for p in pairs for side in (p.better, p.worse)]
    preference = [s.preference or 0.0 for s in metric.stream([text._replace(source=None) for text in texts])]
    items = [Item(t.source, split := words(t.text), find(t.text, split)) for t in texts if t.source is not None]
    judged = source_files.of_language(language).evidence(items)
    log_odds = [[one.log_odds for one in each] for each in judged]
    columns: dict[str, list[float]] = {
        "preference": preference,
        "sum": [sum(each) for each in log_odds],
        "mean": [sum(each) / max(1, len(each)) for each in log_odds],
    }
    return {name: np.subtract(values[::2], values[1::2]) for name, values in columns.items()}


def fitted(found: Sequence[Mapping[str, np.ndarray]], aggregate: str) -> float:
    """The weight of the log-odds relative to the preference, by logistic regression on pairs in both orders."""
    rows = np.concatenate([np.stack([one["preference"], one[aggregate]], 1) for one in found])
    both = np.concatenate([rows, -rows])
    better = np.repeat([True, False], len(rows))
    of_preference, of_source = LogisticRegression(C=1e3, fit_intercept=False).fit(both, better).coef_[0]
    return float(of_source / of_preference)


def mark(values: np.ndarray) -> np.ndarray:
    """1 where the better text has the greater value, 0.5 where both are equal."""
    return 0.5 * (values >= 0) + 0.5 * (values > 0)


def judge(found: Mapping[str, np.ndarray], docs: Sequence[str], fits: Mapping[str, float]) -> dict[str, Any]:
    """Accuracy on pairs: of the preference, of the source alone, and the gain with each weight."""
    alone = mark(found["preference"])
    figures: dict[str, Any] = {
        "pairs": len(alone),
        "documents": len(set(docs)),
        "source differs": float((found["sum"] != 0).mean()),
        "preference": scoring.plain(cluster_share(alone, docs)),
    }
    for name in AGGREGATES:
        figures[f"{name} alone"] = scoring.plain(cluster_share(mark(found[name]), docs))
        for label, weight in [*((f"{w:g}", w) for w in WEIGHTS), ("fitted", fits[name])]:
            gain = mark(found["preference"] + weight * found[name]) - alone
            figures[f"{name}, {label}"] = scoring.plain(cluster_mean(gain, docs))
    return {**figures, "fits": dict(fits)}


def measure(metric: PronounMetric, options: Any) -> dict[str, Any]:
    """The figures of each kind and language."""
    given = sources(options.shared / "data" / "wmt", DEVELOPMENT)
    pairs = chosen(options.data, options.most)
    figures: dict[str, Any] = {}
    for kind, title in KINDS.items():
        found, docs = {}, {}
        for language in DEVELOPMENT:
            found[language] = differences(metric, language, pairs[kind, language], given)
            docs[language] = [f"{language} {unit}" for unit in units(pairs[kind, language])]
            print(f"{title} {language}", flush=True)
        figures[title] = {
            language: judge(
                found[language],
                docs[language],
                {
                    name: fitted([found[other] for other in DEVELOPMENT if other != language], name)
                    for name in AGGREGATES
                },
            )
            for language in DEVELOPMENT
        }
        whole = {name: np.concatenate([found[x][name] for x in DEVELOPMENT]) for name in ("preference", *AGGREGATES)}
        weights = {name: fitted([whole], name) for name in AGGREGATES}
        figures[title]["all"] = judge(whole, [doc for x in DEVELOPMENT for doc in docs[x]], weights)
    return figures


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    scoring.add_shared(parser)
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--most", type=int, default=400, help="pairs of a language and kind")
    options = parser.parse_args()
    metric = PronounMetric.from_pretrained(options.model)
    if not has_pair_head(metric.config):
        raise PronmetricError(f"{metric.name} has no pair head; give --model a checkpoint of head=two")
    content = {
        "benchmark": "source_preference",
        **scoring.origin("source_preference"),
        "weights": scoring.weights_hash(options.model),
        "figures": measure(metric, options),
    }
    options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    scoring.run(main)
