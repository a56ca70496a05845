"""Baselines on judged pairs: reference-based scores, and rules that a metric must outperform to be useful.

- Fewer pronouns: the text with fewer pronouns in use is better. A pronoun that is absent cannot be wrong, so annotators
  who look for wrong pronouns find fewer in that text.
- chrF to the reference: the text with the higher chrF against a reference of the segment is better (Popović 2015, as
  sacreBLEU computes it).
- Better system overall: the text of the system that does better in the other documents is better. The pair's own
  document is excluded, so no pair is predicted from its own answer.

A baseline leaves many pairs undecided (texts with equally many pronouns). Therefore baseline and metric are compared on
the pairs that the baseline decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.decision import TIE, A, B, decide
from pronmetric.eval.estimates import Estimate, cluster_mean, cluster_share
from pronmetric.lab.baselines.corpus_scores import BaselineScorer
from pronmetric.lab.human.judged_pairs import JudgedPair, PairScores
from pronmetric.lab.human.pair_accuracy import MetricComparison, Scores, clusters_of, compare_metrics, human_answer
from pronmetric.pronouns.languages import ENGLISH, Language

FEWER, CHRF, SYSTEM = "fewer pronouns", "chrF to the reference", "better system overall"
Both = tuple[float | None, float | None]
"""A baseline's scores of text A and text B, higher is better; None where it cannot be computed."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """A baseline and a metric on the same pairs, all with an answer A or B.

    pairs: those for which the baseline can be computed. decided: those of them that it decides. On these: the share
    that the baseline gets right, the share that the metric gets right (equal and missing scores are wrong), and the
    difference metric minus baseline, paired.
    """

    pairs: int
    decided: int
    baseline: Estimate
    metric: Estimate
    difference: Estimate


class SystemMeans:
    """The mean of each system, from (system, document, value) with higher values for better."""

    def __init__(self, observations: Iterable[tuple[str, Hashable, float]]) -> None:
        self._values: defaultdict[str, defaultdict[Hashable, list[float]]] = defaultdict(lambda: defaultdict(list))
        for system, doc, value in observations:
            self._values[system][doc].append(value)

    def excluding(self, system: str | None, doc: Hashable) -> float | None:
        """The system's mean over all documents but `doc`; None for an unknown system, or without another document.

        >>> SystemMeans([("a", 1, 0.0), ("a", 2, 1.0), ("a", 3, 0.0)]).excluding("a", 1)
        0.5
        """
        values = [v for d, own in self._values.get(system or "", {}).items() if d != doc for v in own]
        return sum(values) / len(values) if values else None


def count_pronouns(pair: JudgedPair, language: Language = ENGLISH) -> Both:
    """The negative numbers of pronouns in use.

    >>> count_pronouns(JudgedPair("1", (), "She left.", "She left when it rained."))
    (-1.0, -2.0)
    """
    return -float(len(language.find(pair.text_a))), -float(len(language.find(pair.text_b)))


def compute_chrf(pair: JudgedPair) -> Both:
    """The chrF of both texts against the pair's reference, from 0 to 100.

    Raises:
        ImportError: sacreBLEU is not installed.
    """
    from sacrebleu.metrics import CHRF as Metric

    if pair.reference is None:
        return None, None
    metric = Metric()
    a, b = (metric.sentence_score(text, [pair.reference]).score for text in (pair.text_a, pair.text_b))
    return a, b


def compare_systems(pair: JudgedPair, means: SystemMeans, doc: Hashable) -> Both:
    """The means of both texts' systems over the documents other than `doc`, the pair's own."""
    return means.excluding(pair.system_a, doc), means.excluding(pair.system_b, doc)


def average_systems(pairs: Sequence[JudgedPair]) -> SystemMeans:
    """System means from the pairs' answers: +1 for the system of the better text, -1 for the other, 0 for a tie."""
    observations: list[tuple[str, Hashable, float]] = []
    for pair, doc in zip(pairs, clusters_of(pairs)[1], strict=True):
        answer = human_answer(pair)
        if answer is not None and pair.system_a is not None and pair.system_b is not None:
            value = {A: 1.0, TIE: 0.0, B: -1.0}[answer]
            observations += [(pair.system_a, doc, value), (pair.system_b, doc, -value)]
    return SystemMeans(observations)


def score_baselines(
    pairs: Sequence[JudgedPair], *, means: SystemMeans | None = None, language: Language = ENGLISH
) -> dict[str, list[Both]]:
    """The scores of each baseline that decides at least one pair; chrF only where sacreBLEU is installed.

    means: of the systems; None computes them by `average_systems`. language: of the texts.
    """
    known = average_systems(pairs) if means is None else means
    baselines: dict[str, Callable[[JudgedPair, Hashable], Both]] = {
        FEWER: lambda pair, _: count_pronouns(pair, language),
        CHRF: lambda pair, _: compute_chrf(pair),
        SYSTEM: lambda pair, doc: compare_systems(pair, known, doc),
    }
    docs = clusters_of(pairs)[1]
    scored = {}
    for name, score in baselines.items():
        if name == CHRF and not _has_sacrebleu():
            continue
        scores = [score(pair, doc) for pair, doc in zip(pairs, docs, strict=True)]
        if any(decide(a, b) in (A, B) for a, b in scores):
            scored[name] = scores
    return scored


def compare_with_baseline(
    pairs: Sequence[JudgedPair], scores: Scores, baseline: Sequence[Both]
) -> BaselineComparison | None:
    """Compare a metric's scores with a baseline's; None where the baseline decides no pair with an answer A or B.

    Intervals are over documents; see `pronmetric.lab.human.pair_accuracy.clusters_of`.
    """
    if not len(pairs) == len(scores) == len(baseline):
        raise PronmetricError(
            f"each pair needs its scores and those of the baseline: got {len(scores)} and {len(baseline)} for "
            f"{len(pairs)}"
        )
    rows = [
        (pair, decide(*own) == human_answer(pair), decide(*other))
        for pair, own, other in zip(pairs, scores, baseline, strict=True)
        if human_answer(pair) in (A, B) and None not in other
    ]
    kept = [(pair, float(right), float(answer == human_answer(pair))) for pair, right, answer in rows if answer != TIE]
    if not kept:
        return None
    clusters = clusters_of([pair for pair, _, _ in kept])[1]
    metric, simple = [right for _, right, _ in kept], [right for _, _, right in kept]

    differences = [a - b for a, b in zip(metric, simple, strict=True)]
    return BaselineComparison(
        pairs=len(rows),
        decided=len(kept),
        baseline=cluster_share(simple, clusters),
        metric=cluster_share(metric, clusters),
        difference=cluster_mean(differences, clusters),
    )


def compare_with_baselines(
    pairs: Sequence[JudgedPair], scores: Scores, *, language: Language = ENGLISH
) -> dict[str, BaselineComparison]:
    """Compare a metric's scores with each simple baseline that decides a pair with an answer A or B."""
    scored = score_baselines(pairs, language=language)
    by_name = {name: compare_with_baseline(pairs, scores, baseline) for name, baseline in scored.items()}
    return {name: comparison for name, comparison in by_name.items() if comparison is not None}


def _has_sacrebleu() -> bool:
    from importlib.util import find_spec

    return find_spec("sacrebleu") is not None


@dataclass(frozen=True, slots=True)
class PairBaselines:
    """The baselines' scores of both texts of each pair that has an answer A or B and an independent reference.

    scores: by baseline, then by the pair's id. without_reference, same_reference: ids of pairs that are left out,
    because they have no reference, or because it is one of the two texts and any reference-based score would prefer
    that text. signatures: by baseline.
    """

    scores: Mapping[str, PairScores]
    without_reference: frozenset[str]
    same_reference: frozenset[str]
    signatures: Mapping[str, str]

    def compare(self, pairs: Sequence[JudgedPair], metric: PairScores, *, seed: int) -> dict[str, MetricComparison]:
        """The metric (first) and each baseline (second) on those of `pairs` that are scored; empty without any."""
        scored = [pair for pair in pairs if all(pair.id in scores for scores in self.scores.values())]
        if not scored:
            return {}
        own = [metric[pair.id] for pair in scored]
        return {
            name: compare_metrics(scored, own, [scores[pair.id] for pair in scored], seed=seed)
            for name, scores in self.scores.items()
        }

    def count_left_out(self, pairs: Sequence[JudgedPair]) -> dict[str, int]:
        """The number of `pairs` left out for each reason."""
        reasons = {
            "whose reference is one of the texts": self.same_reference,
            "without a reference": self.without_reference,
        }
        return {reason: sum(pair.id in ids for pair in pairs) for reason, ids in reasons.items()}

    def describe(self) -> dict[str, Any]:
        """The signatures and the numbers of pairs left out, for JSON."""
        left_out = {"reference_is_a_text": len(self.same_reference), "no_reference": len(self.without_reference)}
        return {"signatures": dict(self.signatures), "left_out": left_out}

    def scores_of(self, identity: str) -> dict[str, tuple[float | None, float | None] | None]:
        """The scores of one pair by baseline; None where it is left out."""
        return {name: scores.get(identity) for name, scores in self.scores.items()}


def score_pairs(names: Sequence[str], pairs: Iterable[JudgedPair], *, source: str) -> PairBaselines:
    """Score both texts of the pairs against their references; `source` is named in errors.

    Raises:
        InputError: no pair has a reference that differs from both of its texts.
        MissingExtra: sacreBLEU is needed and not installed.
    """
    scorer = BaselineScorer(names)
    decided = [pair for pair in pairs if human_answer(pair) in (A, B)]
    without = frozenset(pair.id for pair in decided if not (pair.reference or "").strip())
    same = frozenset(pair.id for pair in decided if pair.id not in without and _reference_is_text(pair))
    kept = [pair for pair in decided if pair.id not in without | same]
    if not kept:
        raise InputError(
            f'`also=` needs pairs with a "reference" that differs from both texts: {len(without)} pairs have none, '
            f"{len(same)} have one of their texts; add another reference translation under that key (for a WMT test "
            "set or prepared folder: a second reference)",
            file=source,
        )
    lines = [(pair.reference, text) for pair in kept for text in (pair.text_a, pair.text_b)]
    scorer.train_aligner(lines, number=len(lines))
    segments = map(scorer.score_segment, scorer.count_segments(lines))
    scores: dict[str, dict[str, tuple[float | None, float | None]]] = {name: {} for name in names}
    for pair, a, b in zip(kept, segments, segments, strict=True):
        for name in names:
            scores[name][pair.id] = a[name], b[name]
    return PairBaselines(scores, without, same, scorer.signatures(segment=True))


def _reference_is_text(pair: JudgedPair) -> bool:
    reference = (pair.reference or "").strip()
    return reference in (pair.text_a.strip(), pair.text_b.strip())
