"""Permutation tests of which of two metrics agrees better with human scores, as in mt-metrics-eval; numpy only.

`swap_scores` is PERM-BOTH of Deutsch et al. 2021: the two metrics' scores of an output are swapped with probability one
half, and the difference of the two figures is computed again. Scores are standardised first, so that metrics on
different scales can be mixed. At the system level the outputs are the systems.

`swap_pairs` (Deutsch et al. 2023) is for accuracy with calibrated ties, where each metric has its own threshold: the
verdicts on a pair are swapped. Only pairs that exactly one metric gets right matter. The number of those that are not
swapped is binomial in each group and is drawn directly.

p values are one-sided: the share of permutations whose difference is at least the observed one. The observed one counts
as a permutation, (hits + 1) / (permutations + 1), so that p is never 0 (mt-metrics-eval: hits / permutations, and it
may stop early).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.kendall import calibrate, only_right
from pronmetric.eval.scaling import scaled
from pronmetric.eval.segment_correlation import ACC_EQ, FIGURES, group_scores, mean_figure

RESAMPLES = 1000
"""As in mt-metrics-eval (`PermutationSigDiff`, k)."""
PAIRWISE = ("tau_eq", ACC_EQ)  # figures for which pairs are swapped

_Array = NDArray[np.float64]
_Statistic = Callable[[_Array, _Array], float]


@dataclass(frozen=True, slots=True)
class Test:
    """Difference of two metrics' figures, first minus second, and p values of "the first (second) is better".

    All are None if a figure is undefined.
    """

    difference: float | None
    first_better: float | None
    second_better: float | None


@dataclass(frozen=True, slots=True)
class Matrix:
    """p[a][b]: of "metric a agrees better with people than metric b"; None on the diagonal and if undefined."""

    metrics: tuple[str, ...]
    p: tuple[tuple[float | None, ...], ...]


_UNDEFINED = Test(None, None, None)


def swap_scores(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    statistic: _Statistic,
    *,
    resamples: int = RESAMPLES,
    seed: int,
) -> Test:
    """PERM-BOTH on scores of the same shape with NaN in the same positions; `statistic(metric, human)` is the figure.

    A permutation that leaves the statistic undefined (NaN) is not counted.

    Raises:
        PronmetricError: different shapes, or NaN in different positions.
    """
    a, b, y = (np.asarray(scores, dtype=float) for scores in (first, second, human))
    if not a.shape == b.shape == y.shape:
        raise PronmetricError(f"expected scores of the same outputs, got the shapes {a.shape}, {b.shape} and {y.shape}")
    if not ((np.isnan(a) == np.isnan(y)).all() and (np.isnan(b) == np.isnan(y)).all()):
        raise PronmetricError("expected the same missing scores in both metrics and the human scores; see `common`")
    a, b = _standard(a), _standard(b)
    observed = statistic(a, y) - statistic(b, y)
    if np.isnan(observed):
        return _UNDEFINED
    rng = np.random.default_rng(seed)
    drawn = np.empty(resamples)
    for k in range(resamples):
        swap = rng.integers(2, size=a.shape).astype(bool)
        drawn[k] = statistic(np.where(swap, b, a), y) - statistic(np.where(swap, a, b), y)
    return _test(observed, drawn[~np.isnan(drawn)])


def swap_pairs(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    thresholds: tuple[float, float],
    *,
    resamples: int = RESAMPLES,
    seed: int,
) -> Test:
    """Permutation of the verdicts on pairs, for the mean accuracy with ties of groups; each side (groups, scores)."""
    ours, theirs, number = only_right(first, second, human, thresholds)
    there = number > 0
    if not there.any():
        return _UNDEFINED
    ours, theirs, number = ours[there], theirs[there], number[there]
    observed = float(((ours - theirs) / number).mean())
    rng = np.random.default_rng(seed)
    differing = (ours + theirs).astype(np.int64)
    drawn = np.array([((2 * rng.binomial(differing, 0.5) - differing) / number).mean() for _ in range(resamples)])
    return _test(observed, drawn)


def segment_matrix(
    metrics: Mapping[str, ArrayLike],
    human: ArrayLike,
    *,
    figure: str,
    average: str,
    resamples: int = RESAMPLES,
    seed: int,
    advance: Callable[[], object] | None = None,
) -> Matrix:
    """One-sided p values of all pairs of metrics, (systems, segments) with NaN in the same positions (see `common`).

    figure: of `segment_correlation.FIGURES`, or "acc_eq". For those in `PAIRWISE` the verdicts on pairs are swapped
    ("tau_eq" at threshold 0), for the others the scores.
    advance: called after each pair of metrics.

    Raises:
        PronmetricError: unknown figure or average, or NaN in different positions.
    """
    sides = {name: group_scores(scores, average) for name, scores in metrics.items()}
    y = group_scores(human, average)
    if figure in PAIRWISE:
        best = {name: calibrate(x, y, seed=seed).threshold if figure == ACC_EQ else 0.0 for name, x in sides.items()}

        def test(a: str, b: str) -> Test:
            thresholds = best[a], best[b]
            return swap_pairs(sides[a], sides[b], y, thresholds, resamples=resamples, seed=seed)

        return matrix(list(sides), test, advance)
    if figure not in FIGURES:
        raise PronmetricError(f"expected one of {', '.join((*FIGURES, ACC_EQ))} as the figure, got {figure!r}")
    statistic = mean_figure(figure)
    return matrix(
        list(sides),
        lambda a, b: swap_scores(sides[a], sides[b], y, statistic, resamples=resamples, seed=seed),
        advance,
    )


def matrix(
    metrics: Sequence[str], test: Callable[[str, str], Test], advance: Callable[[], object] | None = None
) -> Matrix:
    """The p values of all pairs of metrics, each pair tested once in the order of names; `advance`: after each test."""
    p: dict[tuple[str, str], float | None] = {}
    for a, b in combinations(sorted(metrics), 2):
        p_values = test(a, b)
        p[a, b], p[b, a] = p_values.first_better, p_values.second_better
        if advance is not None:
            advance()
    return Matrix(tuple(metrics), tuple(tuple(p.get((a, b)) for b in metrics) for a in metrics))


def _standard(scores: _Array) -> _Array:
    """Mean 0 and, unless all are equal, standard deviation 1."""
    scores = scaled(scores.ravel()).reshape(scores.shape)
    known = scores[~np.isnan(scores)]
    if not len(known):
        return scores
    deviation = known.std() if known.min() < known.max() else 0.0
    return np.asarray((scores - known.mean()) / (deviation if deviation > 0 else 1.0))


def _test(observed: float, drawn: _Array) -> Test:
    above, below = (int((sign * drawn >= sign * observed - 1e-12).sum()) for sign in (1, -1))
    return Test(float(observed), (above + 1) / (len(drawn) + 1), (below + 1) / (len(drawn) + 1))
