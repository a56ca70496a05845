"""Soft pairwise accuracy (Thompson et al. 2024, WMT's measure of metrics at the system level since 2024); numpy only.

Of each two systems, people and a metric each say how sure it is that the first is better: the one-sided p value of a
paired permutation test on the scores of the segments. Soft pairwise accuracy is the mean over pairs of systems of
1 - |p of people - p of the metric|, in [0, 1], higher is better. Unlike pairwise accuracy it does not count a pair that
people cannot tell apart as right or wrong by chance.

As in mt-metrics-eval, a segment counts where all systems have a score, and the same permutations serve all pairs and
both sides. p is the share of permutations whose difference is above the observed one, and half of those whose
difference equals it (mid-p), so that p of "the second is better" is 1 - p.

Relative to mt-metrics-eval: there equal differences count whole. People often give the same score to two systems, and
then p of both directions add up to more than 1, so that the figure depends on which system comes first.

Thompson, Mathur, Deutsch and Khayrallah 2024, "Improving Statistical Significance in Human Evaluation of Automatic
Metrics via Soft Pairwise Accuracy".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.eval import permutation
from pronmetric.eval.permutation import Matrix
from pronmetric.eval.scaling import scaled

SPA = "spa"
PERMUTATIONS = 1000
"""Of each pair of systems. More: p values vary less with the seed, and take longer."""
_ROUNDING = 1e-9  # relative to the scores without what all systems share; differences that agree so far are equal
_EPSILON = float(np.finfo(np.float64).eps)

_Array = NDArray[np.float64]


class SoftPairwise:
    """Human scores, (systems, segments) with NaN for a missing one, by which metrics are measured.

    segments: how many count.
    """

    def __init__(self, human: ArrayLike, *, seed: int, permutations: int = PERMUTATIONS) -> None:
        scores = np.asarray(human, dtype=float)
        self._counted = ~np.isnan(scores).any(axis=0)
        self.segments = int(self._counted.sum())
        swaps = np.random.default_rng(seed).integers(2, size=(permutations, self.segments))
        self._signs: _Array = np.where(swaps == 1, 1.0, -1.0)
        self._pairs = np.triu_indices(len(scores), 1)
        self._human = self._p(scores[:, self._counted])

    def accuracy(self, metric: ArrayLike) -> float | None:
        """The metric's soft pairwise accuracy, from scores with NaN where the human ones have it.

        None with fewer than two systems, or without a segment that counts.
        """
        value = self._accuracy(np.asarray(metric, dtype=float)[:, self._counted])
        return None if np.isnan(value) else value

    def test(
        self,
        metrics: Mapping[str, ArrayLike],
        *,
        resamples: int = permutation.RESAMPLES,
        seed: int,
        advance: Callable[[], object] | None = None,
    ) -> Matrix:
        """One-sided p values of "metric a is more accurate than metric b", by PERM-BOTH (`permutation.swap_scores`)."""
        sides = {name: np.asarray(scores, dtype=float)[:, self._counted] for name, scores in metrics.items()}
        present = np.zeros((len(next(iter(sides.values()))), self.segments))
        return permutation.matrix(
            list(sides),
            lambda a, b: permutation.swap_scores(
                sides[a], sides[b], present, lambda x, _: self._accuracy(x), resamples=resamples, seed=seed
            ),
            advance,
        )

    def _accuracy(self, scores: _Array) -> float:
        if not len(self._human) or not self.segments:
            return float("nan")
        return 1.0 - float(np.abs(self._p(scores) - self._human).mean())

    def _p(self, scores: _Array) -> _Array:
        """The p value of "the first is better" of each two systems, (pairs,)."""
        first, second = self._pairs
        scores = scaled(scores.ravel()).reshape(scores.shape)
        own = scores - scores.mean(axis=0)  # what all systems share cancels in each difference
        null, total = self._signs @ own.T, own.sum(axis=1)
        excess = null[:, first] - null[:, second] - (total[first] - total[second])
        slack = max(_ROUNDING * np.abs(own).sum(axis=1).max(initial=0.0), 4 * _EPSILON * self.segments)
        return np.asarray(((excess > slack).mean(axis=0) + (excess >= -slack).mean(axis=0)) / 2)
