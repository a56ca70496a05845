from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pronmetric.errors import PronmetricError
from pronmetric.eval import accuracy as evaluation
from pronmetric.eval.accuracy import Confusion
from pronmetric.eval.estimates import Estimate, cluster_mean, cluster_share


def test_equal_and_null_are_wrong_and_counted_apart() -> None:
    decisions = evaluation.decide([0.9, 0.2, 0.5, None, None, 0.7], [0.1, 0.3, 0.5, 0.4, None, None])
    found = evaluation.accuracy(decisions, list("abcdef"))
    assert (found.right, found.equal, found.null, found.pairs) == (1, 1, 3, 6)
    assert decisions.lost.tolist() == [False, True, False, False, False, False]
    assert found.accuracy == pytest.approx(1 / 6)


def test_zero_is_a_score() -> None:
    assert evaluation.decide([0.0], [-1.0]).right.tolist() == [True]


def test_two_scores_for_each_pair() -> None:
    with pytest.raises(PronmetricError, match="got 2 and 1"):
        evaluation.decide([0.1, 0.2], [0.1])


def test_no_pair_is_an_error() -> None:
    with pytest.raises(PronmetricError, match="got 0 for 0"):
        evaluation.accuracy(evaluation.decide([], []), [])


def test_the_interval_of_a_share_is_inside_0_and_1() -> None:
    found = cluster_share([1] * 30 + [0], range(31))
    assert found.low is not None and found.high is not None and 0 < found.low < 30 / 31 < found.high < 1
    assert (found.low, found.high) == pytest.approx((0.82, 1.0), abs=0.02)


def test_all_right_has_an_interval() -> None:
    found = evaluation.accuracy(evaluation.decide([1.0] * 50, [0.0] * 50), range(50))
    assert (found.accuracy, found.high) == (1.0, 1.0) and found.low == pytest.approx(50 / (50 + 2.00957523**2))


def test_few_clusters_have_no_interval() -> None:
    assert cluster_share([1, 0], ["x", "x"]) == Estimate(0.5, None, None)
    assert cluster_share([1, 0, 1], list("xyz")) == Estimate(pytest.approx(2 / 3), None, None)  # type: ignore[arg-type]


def test_the_interval_of_single_items_is_binomial() -> None:
    rng = np.random.default_rng(1)
    values = rng.random(400) < 0.8
    found = cluster_share(values, range(400))
    assert found.low is not None and found.high is not None
    p = values.mean()
    half = 1.96 * np.sqrt(p * (1 - p) / 400)
    assert found.low == pytest.approx(p - half, abs=0.005)
    assert found.high == pytest.approx(p + half, abs=0.005)


def test_clusters_that_agree_inside_widen_the_interval() -> None:
    values = np.repeat([1, 0, 1, 1, 0, 1, 0, 1, 1, 1], 20)
    alone = cluster_share(values, range(200))
    together = cluster_share(values, np.repeat(range(10), 20).tolist())
    assert alone.low is not None and alone.high is not None
    assert together.low is not None and together.high is not None
    assert together.high - together.low > 3 * (alone.high - alone.low)


def test_a_mean_is_not_bounded() -> None:
    values = [0.5, -0.25, 0.0, 0.75, 0.5, 0.5]
    found, theirs = cluster_mean(values, range(6)), stats.ttest_1samp(values, 0).confidence_interval()
    assert (found.value, found.low, found.high) == pytest.approx((np.mean(values), theirs.low, theirs.high))


def test_the_order_of_items_does_not_matter() -> None:
    values, clusters = [1, 0, 1, 1, 0, 1], list("aabcde")
    order = [4, 2, 0, 3, 1, 5]
    again = cluster_share([values[i] for i in order], [clusters[i] for i in order])
    assert again.value == pytest.approx(4 / 6)
    assert (again.low, again.high) == pytest.approx(
        (cluster_share(values, clusters).low, cluster_share(values, clusters).high)
    )


def test_by_group() -> None:
    decisions = evaluation.decide([1, 1, 0, 0], [0, 0, 1, 1])
    found = evaluation.accuracy_by(["it", "he", "it", "it"], decisions, list("abcd"))
    assert list(found) == ["he", "it"]
    assert found["he"].accuracy == 1 and found["he"].low is None
    assert found["it"].accuracy == pytest.approx(1 / 3) and found["it"].pairs == 3


def test_by_count_has_the_winner_of_unequal_pairs() -> None:
    # Right with equal counts | right, better has fewer | lost, worse has fewer | right, worse has fewer | equal scores
    better, worse = [0.9, 0.9, 0.1, 0.9, 0.5], [0.1, 0.1, 0.9, 0.1, 0.5]
    decisions = evaluation.decide(better, worse)
    found = evaluation.accuracy_by_count([2, 1, 2, 3, 1], [2, 2, 1, 1, 2], decisions, list("abcde"))
    assert found.equal is not None and (found.equal.right, found.equal.pairs) == (1, 1)
    assert found.unequal is not None and (found.unequal.right, found.unequal.pairs) == (2, 4)
    assert found.fewer_won is not None and found.fewer_won.value == 0.5  # the second and third of four


def test_by_count_without_one_of_the_parts() -> None:
    decisions = evaluation.decide([1.0], [0.0])
    found = evaluation.accuracy_by_count([1], [1], decisions, ["a"])
    assert found.unequal is None and found.fewer_won is None and found.equal is not None
    assert evaluation.accuracy_by_count([1], [2], decisions, ["a"]).equal is None
    with pytest.raises(PronmetricError, match="two pronoun counts"):
        evaluation.accuracy_by_count([1, 1], [1], decisions, ["a"])


def test_confusions_in_order_of_errors() -> None:
    decisions = evaluation.decide([0, 0, 1, 1, 0.5], [1, 1, 0, 0, 0.5])
    found = evaluation.confusions(["it", "it", "it", "he", "he"], ["that", "that", "that", "it", "it"], decisions)
    assert found == [Confusion("it", "that", 3, 2), Confusion("he", "it", 2, 1)]
