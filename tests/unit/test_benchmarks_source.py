"""Figures of benchmarks.source from arrays and scores made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import source
from benchmarks.source import Judged, Labelled
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.source.evidence import Combination


def judged(score: float, log_odds: float, missing: int = 0) -> Judged:
    segment = SegmentScore(score, (PronounScore("he", 0, 2, score, score),))
    return Judged(segment, (log_odds,), missing, 0)


def test_a_source_that_knows_the_answer_has_all_the_weight() -> None:
    rng = np.random.default_rng(0)
    right = rng.random(400) < 0.8
    logit = rng.normal(size=400)
    figures = source.fit(Labelled(logit, np.where(right, 2.0, -2.0) + rng.normal(size=400), right, np.arange(400) // 4))
    assert (figures["pronouns"], figures["wrong"]) == (400, int((~right).sum()))
    assert figures["free"]["evidence"] > 1 > abs(figures["free"]["logit"])
    assert figures["ratios"]["1"]["auc"] > figures["ratios"]["0.1"]["auc"] > figures["ratios"]["0"]["auc"]
    assert figures["ratios"]["0"]["gain"] == [0.0, 0.0] and figures["ratios"]["1"]["gain"][0] > 0


def test_accuracy_on_pairs_by_ratio() -> None:
    gaps = np.array([[1.0, -4.0], [-1.0, 4.0], [1.0, 0.0]])  # logit and log-odds, R minus R'
    figures = source._pairwise(gaps)
    assert figures["source alone"] == 0.5  # wrong, right, equal
    assert figures["accuracy"]["0"] == pytest.approx(2 / 3) and figures["accuracy"]["0.5"] == pytest.approx(2 / 3)
    assert figures["accuracy"]["0.2"] == pytest.approx(2 / 3)


def test_gain_of_the_source_by_score_and_errors() -> None:
    one = Combination(1.0, 1.0, 0.0)
    sides = [(judged(0.5, 2.0), judged(0.6, 0.0, missing=1)), (judged(0.7, 0.0), judged(0.6, 0.0))]
    figures = source._figures(sides, one, ["a", "b"])
    for by in ("score", "errors"):
        assert (figures[by]["without"]["value"], figures[by]["with"]["value"]) == (0.5, 1.0)
        assert (figures[by]["to right"], figures[by]["to wrong"]) == (1, 0)
    assert figures["missing"] == [0, 1]


def test_better_rated_output_with_fewer_errors_is_a_mark() -> None:
    rows: dict[str, list[tuple[int, float]]] = {name: [] for name in ("errors + missing", "fewer missing")}
    rows |= {f"ratio {ratio:g}": [] for ratio in source.RATIOS}
    found = [judged(0.9, 0.0, missing=1), judged(0.8, 0.0), judged(0.1, 0.0)]
    source._order(found, [1.0, 0.0, 0.1], 7, rows)
    assert rows["ratio 0"] == [(7, 1.0), (7, 1.0)]  # the ratings of the last two are too close
    assert rows["fewer missing"] == [(7, 0.0), (7, 0.0)]
