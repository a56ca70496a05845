"""Ties: the threshold up to which two scores count as equal, and agreement with human ties."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pronmetric.errors import PronmetricError
from pronmetric.eval.decision import ANSWERS, TIE, decide
from pronmetric.eval.estimates import Estimate, cluster_share

NULL = "null"
PEOPLES_RATE = 44 / 2640
"""The share of ties in the answers of the published study; tie thresholds are chosen to reach it on development pairs.

It is not a general rate of human ties: in MQM annotations 14.7 % of pairs are ties, of which this threshold ties none.

From the answers that Jwalapuram et al. 2019 publish for each pronoun pair (`pronoun_pair_list.pkl` of
github.com/ntunlp/eval-anaphora, all languages): 2,527 for the reference, 69 for the wrong pronoun, 44 ties.
Only pairs on which the raters agreed (0.8 or more) were published, so that the true rate is higher. It is the only
known rate of raters who saw both texts. MQM raters judge one text at a time, and two texts without a pronoun error are
ties by definition.
"""


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """A metric's answers A, B and tie compared with human answers; pairs without a score are wrong.

    accuracy: share of equal answers with its interval, higher is better. people_ties, metric_ties: shares of ties.
    table: human answer -> the metric's answer (also "null") -> pairs.
    """

    threshold: float
    pairs: int
    accuracy: Estimate
    people_ties: float
    metric_ties: float
    table: Mapping[str, Mapping[str, int]]


def three_way(
    people: Sequence[str],
    scores: Sequence[tuple[float | None, float | None]],
    clusters: Sequence[Hashable],
    *,
    threshold: float,
) -> ThreeWay:
    """Compare a metric with a tie threshold with human answers, each of which is A, B or tie."""
    if not 0 <= threshold < float("inf"):
        raise PronmetricError(f"expected a tie threshold from 0, got {threshold}")
    if not all(score is None or math.isfinite(score) for pair in scores for score in pair):
        raise PronmetricError("expected finite scores, None where there is none")
    verdicts = [decide(a, b, tie=threshold) or NULL for a, b in scores]
    table = {label: dict.fromkeys((*ANSWERS, NULL), 0) for label in ANSWERS}
    for label, verdict in zip(people, verdicts, strict=True):
        table[label][verdict] += 1
    same = [label == verdict for label, verdict in zip(people, verdicts, strict=True)]
    return ThreeWay(
        threshold=threshold,
        pairs=len(verdicts),
        accuracy=cluster_share(same, clusters),
        people_ties=sum(label == TIE for label in people) / len(verdicts),
        metric_ties=sum(verdict == TIE for verdict in verdicts) / len(verdicts),
        table=table,
    )


def choose_threshold(differences: ArrayLike, rate: float) -> float:
    """The tie threshold at which a share `rate` of these pairs are ties; choose it on development data.

    Args:
        differences: score of A minus score of B for each pair that has both scores; the sign does not matter.
        rate: the share of ties to reach, in [0, 1].

    Returns:
        The threshold, from 0, whose share of |difference| <= threshold is nearest to `rate`; of two equally near ones
        the smaller. It is half-way between the largest difference inside and the smallest outside, so that rounding
        does not matter; the largest difference if all are inside, 0 if none must be.

    Raises:
        PronmetricError: no differences, a difference that is not finite, a rate outside [0, 1].

    >>> choose_threshold([0.1, -0.3, 0.6, 0.9], 0.5)
    0.45
    """
    sizes = np.sort(np.abs(np.asarray(differences, dtype=float)))
    if sizes.ndim != 1 or not len(sizes) or not np.isfinite(sizes).all():
        raise PronmetricError(f"a tie threshold needs finite score differences, one or more; got {len(sizes)} numbers")
    if not 0 <= rate <= 1:
        raise PronmetricError(f"expected a rate of ties from 0 to 1, got {rate}")
    values, counts = np.unique(np.append(0.0, sizes), return_counts=True)
    counts[0] -= 1  # with the added zero, threshold 0 can be chosen even if no two scores are equal
    shares = np.cumsum(counts) / len(sizes)
    nearest = int(np.argmin(np.round(np.abs(shares - rate), 12)))
    if nearest in (0, len(values) - 1):
        return float(values[nearest])
    return float((values[nearest] + values[nearest + 1]) / 2)
