"""Ties: the threshold up to which two scores count as equal, and how a metric's ties agree with people's."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pronmetric.errors import PronmetricError
from pronmetric.eval.accuracy import Estimate, cluster_bootstrap
from pronmetric.eval.decision import ANSWERS, TIE, decide

NULL = "null"
PEOPLES_RATE = 44 / 2640
"""The share of ties in the answers of the published study, which tie thresholds reach on development pairs.

It is no rate of people in general: on MQM annotations people tie 14.7 % of pairs, where this threshold ties none.

From the answers that Jwalapuram et al. 2019 publish for each pronoun pair (`pronoun_pair_list.pkl` of
github.com/ntunlp/eval-anaphora, all languages): 2,527 for the reference, 69 for the wrong pronoun, 44 ties.
Only pairs on which the raters agreed (0.8 or more) were published, so that people's true rate is higher. It is the one
rate known for people who were shown both texts: MQM raters judge one text at a time, and where no error touches a
pronoun two texts tie for want of anything to judge.
"""


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """A metric's answers A, B and tie against people's, pairs without a score being wrong.

    accuracy: share of equal answers with its interval, higher is better. people_ties, metric_ties: shares of ties.
    table: people's answer -> the metric's answer ("null" too) -> pairs.
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
    seed: int = 0,
) -> ThreeWay:
    """Compare a metric with a tie threshold with people's answers, each of which is A, B or tie."""
    if not 0 <= threshold < float("inf"):
        raise PronmetricError(f"expected a tie threshold from 0, got {threshold}")
    if not all(score is None or math.isfinite(score) for pair in scores for score in pair):
        raise PronmetricError("expected finite scores, None where there is none")
    given = [decide(a, b, tie=threshold) or NULL for a, b in scores]
    table = {label: dict.fromkeys((*ANSWERS, NULL), 0) for label in ANSWERS}
    for label, said in zip(people, given, strict=True):
        table[label][said] += 1
    same = [label == said for label, said in zip(people, given, strict=True)]
    return ThreeWay(
        threshold=threshold,
        pairs=len(given),
        accuracy=cluster_bootstrap(same, clusters, seed=seed),
        people_ties=sum(label == TIE for label in people) / len(given),
        metric_ties=sum(said == TIE for said in given) / len(given),
        table=table,
    )


def choose_threshold(differences: ArrayLike, rate: float) -> float:
    """The tie threshold that ties a share `rate` of these pairs; choose it on development data.

    Args:
        differences: score of A minus score of B for each pair that has both scores; the sign does not matter.
        rate: the share of ties to reach, in [0, 1].

    Returns:
        The threshold, from 0, whose share of |difference| <= threshold is nearest to `rate`, the smaller of two as
        near. It lies half-way between the last difference inside and the first outside, so that rounding moves no pair
        over it; where all are inside it is the largest, where none need be it is 0.

    Raises:
        PronmetricError: no difference, one that is not finite, a rate outside [0, 1].

    >>> choose_threshold([0.1, -0.3, 0.6, 0.9], 0.5)
    0.45
    """
    sizes = np.sort(np.abs(np.asarray(differences, dtype=float)))
    if sizes.ndim != 1 or not len(sizes) or not np.isfinite(sizes).all():
        raise PronmetricError(f"a tie threshold needs finite score differences, one or more; got {len(sizes)} numbers")
    if not 0 <= rate <= 1:
        raise PronmetricError(f"a rate of ties lies from 0 to 1, got {rate}")
    values, counts = np.unique(np.append(0.0, sizes), return_counts=True)
    counts[0] -= 1  # the zero put in: threshold 0 is a choice even where no two scores are equal
    shares = np.cumsum(counts) / len(sizes)
    nearest = int(np.argmin(np.round(np.abs(shares - rate), 12)))
    if nearest in (0, len(values) - 1):
        return float(values[nearest])
    return float((values[nearest] + values[nearest + 1]) / 2)
