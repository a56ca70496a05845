"""The figures of metrics on pairs of texts, and the scores of each pair, as a JSON file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from pronmetric.lab.human.judged_pairs import PairScores
from pronmetric.lab.human.pair_accuracy import human_answer
from pronmetric.lab.human.pair_evaluation import Results, Settings
from pronmetric.lab.human.pair_sets import PairSet
from pronmetric.lab.human.simple_baselines import BaselineComparison
from pronmetric.output import targets
from pronmetric.results.write import counts_entry
from pronmetric.scoring.score import Counts
from pronmetric.text import strict_json
from pronmetric.text.strict_json import plain

ONLY = "pairs"
"""The name of the single part of a file."""


class Scores(NamedTuple):
    """The scores of all pairs: of a file, or of a model with context, signature and counts of cut texts."""

    by_id: PairScores
    scored_by: str | None
    context: str | None = None
    signature: str | None = None
    counts: Counts | None = None


def write(
    path: str,
    pairs: PairSet,
    scores: Scores,
    results: Mapping[str, Results],
    settings: Settings,
    *,
    against: str | None,
) -> None:
    """Write every figure, and the scores of each pair; `against` is the file of the other metric's scores."""

    def by_part(part: Callable[[Results], Any]) -> dict[str, Any]:
        return {name or ONLY: part(found) for name, found in results.items()}

    baselines = settings.baselines
    content = {
        "input": pairs.name,
        "scores": scores.scored_by,
        "signature": scores.signature,
        "context": scores.context,
        "tie": settings.tie_threshold,
        "counts": None if scores.counts is None else counts_entry(scores.counts),
        "parts": by_part(lambda found: plain(found.figures)),
        "against": None
        if against is None
        else {"scores": against, "parts": by_part(lambda found: plain(found.against))},
        "also": None
        if baselines is None
        else {**baselines.describe(), "parts": by_part(lambda found: plain(found.baselines))},
        "language_model": by_part(lambda found: plain(found.language_model)) if settings.language_model else None,
        "baselines": by_part(lambda found: {name: _baseline(its) for name, its in found.simple.items()}),
        "pairs": list(_pairs(pairs, scores, settings)),
    }
    with targets.AtomicFile(path) as file:
        file.write(strict_json.dump(content, indent=1) + "\n")


def _baseline(found: BaselineComparison) -> dict[str, Any]:
    return {
        "pairs": found.pairs,
        "decided": found.decided,
        "baseline": plain(found.baseline),
        "metric": plain(found.metric),
        "difference": plain(found.difference),
    }


def _pairs(pairs: PairSet, scores: Scores, settings: Settings) -> Iterator[dict[str, Any]]:
    """Each pair: its answer, the metric's scores, and the scores of both texts by baselines and language model."""
    for name, part in pairs.parts.items():
        for pair in part:
            a, b = scores.by_id[pair.id]
            also: dict[str, Any] = {}
            if settings.baselines is not None:
                also["also"] = settings.baselines.scores_of(pair.id)
            if settings.language_model:
                also["language_model"] = {how: its[pair.id] for how, its in settings.language_model.items()}
            yield {
                "id": pair.id,
                "part": name or ONLY,
                "better": human_answer(pair),
                "score_a": a,
                "score_b": b,
                **also,
            }
