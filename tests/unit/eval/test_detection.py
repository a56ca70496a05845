from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pronmetric.errors import PronmetricError
from pronmetric.eval.accuracy import Estimate
from pronmetric.eval.detection import average_precision, detect, detect_by, roc_auc


def value(found: Estimate | None) -> float | None:
    return None if found is None else found.value


def test_figures_by_hand() -> None:
    # suspicion from the top: wrong (0.1), right (0.3), wrong (0.6), right (0.9); flagged below 0.5 are the first two
    found = detect([True, False, True, False], [0.1, 0.9, 0.6, 0.3])
    assert (found.pronouns, found.wrong, found.flagged, found.unscored) == (4, 2, 2, 0)
    assert (value(found.precision), value(found.recall), value(found.f1)) == (0.5, 0.5, 0.5)
    assert value(found.average_precision) == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert value(found.roc_auc) == 0.75  # of the four pairs of a wrong and a right one three are in order
    assert found.f1 == Estimate(0.5, None, None)


def test_a_score_at_the_threshold_is_not_flagged() -> None:
    assert detect([True], [0.5]).flagged == 0
    assert detect([True], [0.5], threshold=0.51).flagged == 1


def test_without_a_score_never_flagged_and_last_in_suspicion() -> None:
    found = detect([True, False, False], [None, 0.2, 0.9])
    assert (found.flagged, found.unscored) == (1, 1)
    assert (value(found.precision), value(found.recall), value(found.f1)) == (0.0, 0.0, None)
    assert value(found.roc_auc) == 0.0
    assert value(detect([True, False], [None, None]).roc_auc) == 0.5


def test_what_does_not_exist_is_none() -> None:
    nothing_wrong = detect([False, False], [0.1, 0.9])
    assert value(nothing_wrong.precision) == 0.0
    assert (nothing_wrong.recall, nothing_wrong.f1) == (None, None)
    assert (nothing_wrong.average_precision, nothing_wrong.roc_auc) == (None, None)
    nothing_flagged = detect([True, False], [0.7, 0.9])
    assert (nothing_flagged.precision, value(nothing_flagged.recall)) == (None, 0.0)
    all_wrong = detect([True, True], [0.1, 0.2])
    assert (value(all_wrong.average_precision), all_wrong.roc_auc) == (1.0, None)


def test_intervals_resample_clusters() -> None:
    rng = np.random.default_rng(0)
    wrong = (rng.random(200) < 0.3).tolist()
    scores = [float(s) for s in np.where(wrong, rng.normal(0.4, 0.2, 200), rng.normal(0.6, 0.2, 200))]
    found = detect(wrong, scores, [i // 10 for i in range(200)], draws=200)
    for figure in (found.precision, found.recall, found.f1, found.average_precision, found.roc_auc):
        assert figure is not None and figure.low is not None and figure.high is not None
        assert figure.low < figure.value < figure.high
    assert found == detect(wrong, scores, [i // 10 for i in range(200)], draws=200)
    alone = detect(wrong, scores, ["one"] * 200, draws=20)
    assert alone.roc_auc is not None and alone.roc_auc.low is None


def test_by_group() -> None:
    found = detect_by(["she", "he", "she"], [True, False, False], [0.1, 0.2, 0.9])
    assert list(found) == ["he", "she"]
    assert (found["she"].pronouns, value(found["she"].roc_auc)) == (2, 1.0)
    assert found["he"].roc_auc is None


def test_labels_and_scores_go_together() -> None:
    with pytest.raises(PronmetricError, match="got 1 and 0"):
        detect([True], [])
    with pytest.raises(PronmetricError, match="got 0 and 0"):
        detect([], [])


def test_area_is_the_share_of_ordered_pairs() -> None:
    rng = np.random.default_rng(3)
    wrong = rng.random(60) < 0.4
    scores = rng.integers(0, 8, size=60) / 8  # with ties
    found = value(detect(wrong.tolist(), scores.tolist()).roc_auc)
    ordered = stats.mannwhitneyu(-scores[wrong], -scores[~wrong]).statistic / (wrong.sum() * (~wrong).sum())
    assert found == pytest.approx(ordered)


def test_equal_scores_are_one_step_of_average_precision() -> None:
    # scores 0.1: one wrong; 0.2: a wrong and a right one; 0.3: right. Recall rises by 1/2 at precisions 1 and 2/3.
    found = detect([True, True, False, False], [0.1, 0.2, 0.2, 0.3])
    assert value(found.average_precision) == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)


def test_weighted_figures_are_those_of_scikit_learn() -> None:
    from sklearn import metrics

    rng = np.random.default_rng(3)
    wrong, suspicion, weights = rng.random(200) < 0.2, rng.random(200).round(1), rng.integers(0, 4, 200).astype(float)
    expected = [
        of(wrong, suspicion, sample_weight=weights) for of in (metrics.average_precision_score, metrics.roc_auc_score)
    ]
    assert [of(wrong, suspicion, weights) for of in (average_precision, roc_auc)] == pytest.approx(expected)
