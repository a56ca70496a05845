"""Soft pairwise accuracy against a loop over the permutations, and on scores whose p values are known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pronmetric.eval.soft_pairwise import SoftPairwise


def loop(metric: np.ndarray, human: np.ndarray, signs: np.ndarray) -> float:
    """The definition, pair by pair and permutation by permutation."""
    errors = []
    for a, b in combinations(range(len(human)), 2):
        p = []
        for side in (human, metric):
            gaps = side[a] - side[b]
            excess = np.array([(sign * gaps).sum() - gaps.sum() for sign in signs])
            p.append(((excess > 1e-9).mean() + (excess >= -1e-9).mean()) / 2)
        errors.append(abs(p[0] - p[1]))
    return 1 - float(np.mean(errors))


def test_it_is_the_definition() -> None:
    rng = np.random.default_rng(1)
    human, metric = rng.normal(size=(2, 4, 30)) + np.arange(4)[:, None] / 5
    found = SoftPairwise(human, seed=3, permutations=50)
    assert found.accuracy(metric) == pytest.approx(loop(metric, human, found._signs))
    assert found.segments == 30


def test_people_agree_with_themselves_and_not_with_their_reverse() -> None:
    human = np.array([[1.0] * 20, [0.0] * 20])  # surely better: p 0, reversed 1
    found = SoftPairwise(human, seed=1)
    assert found.accuracy(human) == 1.0 and found.accuracy(human * 7) == 1.0
    assert found.accuracy(-human) == pytest.approx(0.0, abs=1e-3)
    assert found.accuracy(np.zeros((2, 20))) == pytest.approx(0.5, abs=1e-3)  # it tells nothing: p 0.5


def test_segments_without_all_scores_do_not_count() -> None:
    rng = np.random.default_rng(2)
    human, metric = rng.normal(size=(2, 3, 12))
    holes = human.copy()
    holes[1, 4] = holes[0, 7] = np.nan
    kept = [k for k in range(12) if k not in (4, 7)]
    found = SoftPairwise(holes, seed=5)
    assert found.segments == 10
    assert found.accuracy(metric) == SoftPairwise(human[:, kept], seed=5).accuracy(metric[:, kept])


@pytest.mark.parametrize("shape", [(1, 5), (3, 0)])
def test_it_is_undefined_for_one_system_and_without_segments(shape: tuple[int, int]) -> None:
    assert SoftPairwise(np.ones(shape), seed=1).accuracy(np.ones(shape)) is None


def test_a_better_metric_is_told_from_noise() -> None:
    rng = np.random.default_rng(4)
    human = rng.normal(size=(6, 60)) + np.arange(6)[:, None] / 6
    close, noise = human + rng.normal(scale=0.2, size=human.shape), rng.normal(size=human.shape)
    p = SoftPairwise(human, seed=1, permutations=200).test({"close": close, "noise": noise}, resamples=99, seed=1)
    assert p.metrics == ("close", "noise") and p.p[0][0] is None
    assert p.p[0][1] is not None and p.p[0][1] <= 0.05 and p.p[1][0] is not None and p.p[1][0] > 0.9


@pytest.mark.parametrize(("factor", "offset"), [(1.0, 1e9), (1.0, -1e6), (1e200, 0.0), (1e-200, 0.0)])
def test_an_offset_and_a_factor_change_nothing(factor: float, offset: float) -> None:
    rng = np.random.default_rng(7)
    human = -rng.binomial(1, 0.2, (5, 40)).astype(float)
    metric = human + rng.integers(-4, 5, human.shape) / 4
    found = SoftPairwise(human, seed=1)
    assert found.accuracy(metric * factor + offset) == pytest.approx(found.accuracy(metric), abs=1e-12)
