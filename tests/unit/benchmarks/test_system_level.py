"""The benchmark of system-level correlation: traps of the data, going on after a stop, averages, the table."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.checkpoint.system_level import (
    BLEU,
    EXACT,
    PRONMETRIC,
    average,
)
from pronmetric.eval.correlation import kendall
from pronmetric.lab.human.wmt_scores import Ranking


def test_averages_are_over_the_test_sets_that_have_the_metric() -> None:
    rng = np.random.default_rng(0)
    names = [f"s{i}" for i in range(8)]
    sets = [
        Ranking(f"wmt22:{lp}-en", dict(zip(names, rng.normal(size=8), strict=True)), ()) for lp in ("cs", "de", "ja")
    ]
    noisy = {r.dataset: {s: z + rng.normal() for s, z in r.scores.items()} for r in sets}
    scores = {r.dataset: {BLEU: noisy[r.dataset], EXACT: dict(r.scores)} for r in sets}
    del scores["wmt22:ja-en"][EXACT]
    found = average(sets, scores, EXACT, seed=0)["kendall"]
    taus = [float(kendall(list(noisy[r.dataset].values()), list(r.scores.values()))) for r in sets]
    assert (found.sets, found.value.value, found.value.low) == (2, pytest.approx(1), None)  # all draws are equal
    assert found.above_bleu is not None
    assert found.above_bleu.value == pytest.approx(1 - (taus[0] + taus[1]) / 2)
    bleu = average(sets, scores, BLEU, seed=0)["kendall"]
    assert (bleu.sets, bleu.value.value) == (3, pytest.approx(sum(taus) / 3))
    assert bleu.value.low is not None and bleu.value.high is not None
    assert bleu.value.low < sum(taus) / 3 < bleu.value.high
    assert average(sets, scores, PRONMETRIC, seed=0) == {}
    alone = average(sets[:1], {"wmt22:cs-en": {EXACT: dict(sets[0].scores)}}, EXACT, seed=0)["kendall"]
    assert alone.above_bleu is None


def test_draws_of_one_system_alone_are_left_out() -> None:
    ranked = Ranking("wmt22:cs-en", {"A": 0.1, "B": 0.3}, ())  # half of the draws are twice the same
    found = average([ranked], {"wmt22:cs-en": {EXACT: {"A": 1.0, "B": 2.0}}}, EXACT, seed=0)["pearson"]
    assert (found.value.value, found.value.low, found.value.high) == (1, None, None)
