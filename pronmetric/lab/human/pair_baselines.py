"""Reference-based baselines of judged pairs, compared with a metric on the same pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pronmetric.errors import InputError
from pronmetric.eval.decision import A, B
from pronmetric.lab.baselines.corpus_scores import BaselineScorer
from pronmetric.lab.human.judged_pairs import JudgedPair, PairScores
from pronmetric.lab.human.pair_accuracy import MetricComparison, compare_metrics, human_answer


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
