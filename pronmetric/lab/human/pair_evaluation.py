"""A metric on one part of a set of judged pairs, compared with another metric and with all baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pronmetric.lab.human import pair_accuracy
from pronmetric.lab.human import simple_baselines as simple
from pronmetric.lab.human.judged_pairs import JudgedPair, PairScores
from pronmetric.lab.human.pair_accuracy import Figures, MetricComparison
from pronmetric.lab.human.pair_baselines import PairBaselines
from pronmetric.lab.human.seen_pairs import PronounPairs
from pronmetric.lab.human.simple_baselines import BaselineComparison


@dataclass(frozen=True, slots=True)
class Settings:
    """How scores are evaluated.

    seed: of tests. tie_threshold: scores that differ by no more are a tie; None leaves ties out. seen: the pronoun
    pairs of the training data; None where they are not known. against: another metric's scores. baselines:
    reference-based ones. language_model: the scores of language models, by how they are taken.
    """

    seed: int
    tie_threshold: float | None = None
    seen: PronounPairs | None = None
    against: PairScores | None = None
    baselines: PairBaselines | None = None
    language_model: Mapping[str, PairScores] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one part. against: None without another metric; baselines, language_model, simple: by name."""

    figures: Figures
    against: MetricComparison | None
    baselines: dict[str, MetricComparison]
    language_model: dict[str, MetricComparison]
    simple: dict[str, BaselineComparison]


def evaluate(pairs: Sequence[JudgedPair], scores: PairScores, settings: Settings) -> Results:
    """Evaluate a metric's scores of these pairs.

    Raises:
        PronmetricError: no pair has an answer A or B.
    """
    own, seed = [scores[pair.id] for pair in pairs], settings.seed
    other = None if settings.against is None else [settings.against[pair.id] for pair in pairs]
    return Results(
        pair_accuracy.evaluate(pairs, own, seen=settings.seen, tie_threshold=settings.tie_threshold),
        None if other is None else pair_accuracy.compare_metrics(pairs, own, other, seed=seed),
        {} if settings.baselines is None else settings.baselines.compare(pairs, scores, seed=seed),
        {
            name: pair_accuracy.compare_metrics(pairs, own, [its[pair.id] for pair in pairs], seed=seed)
            for name, its in settings.language_model.items()
        },
        simple.compare_with_baselines(pairs, own),
    )
