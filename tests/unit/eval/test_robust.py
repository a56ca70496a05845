"""What the figures of `pronmetric.eval` do with NaN, infinite, missing, constant and too few scores."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval import agreement, kappa
from pronmetric.eval.accuracy import accuracy, decide
from pronmetric.eval.calibration import logit
from pronmetric.eval.correlation import kendall, pairwise, pearson, spearman
from pronmetric.eval.detection import detect
from pronmetric.eval.estimates import cluster_mean
from pronmetric.eval.significance import Totals, difference, holm, interval, randomisation
from pronmetric.eval.ties import three_way

FIGURES = (pearson, spearman, kendall, pairwise)
NAN, INF = math.nan, math.inf


def sums(*values: float) -> Totals:
    return Totals(np.array(values), np.ones(len(values)))


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("scores", [[], [1.0], [1.0, 1.0], [NAN, NAN], [NAN, 1.0, 2.0]])
def test_too_few_constant_and_missing_scores_have_no_correlation(
    figure: Callable[..., object], scores: list[float]
) -> None:
    assert math.isnan(figure(scores, scores))  # type: ignore[arg-type]


@pytest.mark.parametrize("figure", FIGURES)
def test_missing_on_one_side_is_missing(figure: Callable[..., object]) -> None:
    assert math.isnan(figure([1.0, NAN, 3.0], [1.0, 2.0, 3.0]))  # type: ignore[arg-type]
    assert math.isnan(figure([1.0, 2.0, 3.0], [1.0, NAN, 3.0]))  # type: ignore[arg-type]


def test_pairs_without_a_score_are_wrong_and_counted() -> None:
    found = accuracy(decide([None, NAN, 1.0], [1.0, 0.5, 0.5]), [0, 1, 2])
    assert (found.right, found.null, found.pairs) == (1, 2, 3)


def test_constants_have_no_interval() -> None:
    estimate = cluster_mean([0.1] * 6, range(6))
    assert (estimate.value, estimate.low, estimate.high) == (pytest.approx(0.1), None, None)
    assert randomisation(sums(*[0.5] * 6), sums(*[0.5] * 6), seed=0) == 1


def test_one_category_has_no_kappa() -> None:
    for figure in (kappa.fleiss_kappa, kappa.krippendorff_alpha):
        assert figure([[3, 0], [3, 0]]).estimate is None
    assert agreement.gwet_ac1([[3, 0], [3, 0]]).ac1 == 1


BAD: dict[str, Callable[[], object]] = {
    **{f"{figure.__name__} infinite": (lambda f=figure: f([1.0, INF], [1.0, 2.0])) for figure in FIGURES},
    "mean NaN": lambda: cluster_mean([NAN, 1.0], [0, 1]),
    "interval NaN": lambda: interval(sums(NAN, 1.0, 2.0)),
    "interval infinite": lambda: interval(sums(INF, 1.0, 2.0)),
    "paired NaN": lambda: difference(sums(1.0, 2.0), sums(NAN, 1.0)),
    "randomisation infinite": lambda: randomisation(sums(INF, 2.0), sums(1.0, 1.0), seed=0),
    "negative numbers": lambda: interval(Totals(np.ones(2), -np.ones(2))),
    "p NaN": lambda: holm([NAN, 0.1]),
    "p above 1": lambda: holm([2.0, 0.1]),
    "tie NaN": lambda: three_way(["A"], [(NAN, 1.0)], [0], threshold=0.1),
    "threshold NaN": lambda: three_way(["A"], [(0.0, 1.0)], [0], threshold=NAN),
    "detect NaN": lambda: detect([True, False], [NAN, 0.5]),
    "detect infinite": lambda: detect([True, False], [INF, 0.5]),
    "detect threshold": lambda: detect([True, False], [0.1, 0.5], threshold=NAN),
    "logit NaN": lambda: logit([NAN]),
    "logit range": lambda: logit([1.5]),
    **{
        f"{figure.__name__} infinite": (lambda f=figure: f([[INF, 1], [1, 1]]))
        for figure in (kappa.cohen_kappa, kappa.fleiss_kappa, kappa.krippendorff_alpha, agreement.gwet_ac1)
    },
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_number_is_a_clear_error(name: str) -> None:
    with pytest.raises(PronmetricError, match=r"expected|finite|needs|whole numbers"):
        BAD[name]()
