"""A metric as a further rater, against tables counted by hand and against raters drawn one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.agreement import gwet_ac1_table
from pronmetric.eval.kappa import cohen_kappa
from pronmetric.eval.rater import among_raters, as_rater, curve, one_rater, precision_at


def test_two_raters_who_agree_are_a_table_of_their_own() -> None:
    doubt, marks = [0.9, 0.8, 0.7, 0.2, 0.1, 0.0], [1, 0, 1, 1, 0, 0]
    found = as_rater(doubt, [1] * 6, marks)  # the metric marks the first three
    assert (found.share, found.f1, found.marked) == (2 / 3, 2 / 3, 0.5)
    table = [[2, 1], [1, 2]]
    assert found.ac1 == pytest.approx(gwet_ac1_table(table).ac1)
    assert found.kappa == pytest.approx(cohen_kappa(table).estimate)


def test_raters_among_each_other_are_the_mean_over_their_pairs() -> None:
    said = np.array([[1, 1, 0], [0, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]])  # items, raters
    both = sum(said[:, a] @ said[:, b] for a, b in combinations(range(3), 2)) / 3
    found = among_raters([3] * 5, said.sum(axis=1))
    assert found is not None
    assert found.share == pytest.approx(both / (said.sum() / 3)) and found.marked == pytest.approx(said.sum() / 15)


def test_items_of_one_rater_say_nothing_of_raters_among_each_other() -> None:
    assert among_raters([1, 1], [1, 0]) is None
    assert among_raters([1, 2], [1, 1]) == among_raters([2], [1])


def test_equal_doubts_are_marked_in_part() -> None:
    found = as_rater([0.5, 0.5, 0.0, 0.0], [1] * 4, [1, 0, 0, 0])
    assert found.share == 0.5 and found.marked == 0.25


def test_a_weight_is_a_repetition() -> None:
    doubt, raters, marks = [0.9, 0.5, 0.1], [2, 3, 1], [1, 1, 1]
    twice = [0, 1, 1, 2]
    repeated = as_rater(*(np.array(each)[twice] for each in (doubt, raters, marks)))
    assert as_rater(doubt, raters, marks, [1, 2, 1]) == repeated
    again = among_raters(*(np.array(each)[twice] for each in (raters, marks)))
    assert among_raters(raters, marks, [1, 2, 1]) == again


def test_precision_of_the_most_doubted() -> None:
    assert precision_at([3, 2, 1, 0], [2] * 4, [2, 1, 0, 0], 0.5) == 0.75
    assert precision_at([3, 2, 1, 0], [2] * 4, [2, 1, 0, 0], 0.0) is None


def test_the_order_of_items_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    doubt, raters = rng.random(50).round(1), rng.integers(1, 4, 50)
    marks = (rng.random(50) * (raters + 1)).astype(int)
    order = rng.permutation(50)
    for of in (as_rater, lambda *each: among_raters(*each[1:])):
        one, other = of(doubt, raters, marks), of(doubt[order], raters[order], marks[order])
        assert one is not None and other is not None
        assert (one.share, one.f1, one.ac1, one.kappa) == pytest.approx((other.share, other.f1, other.ac1, other.kappa))


def test_curve_ends_at_the_share_of_marks_and_at_all_of_them() -> None:
    precision, recall = curve([2, 1, 0], [2, 2, 2], [2, 0, 1])
    assert precision.tolist() == [1.0, 0.5, 0.5] and recall.tolist() == pytest.approx([2 / 3, 2 / 3, 1.0])


def test_equal_doubts_are_one_point_of_the_curve() -> None:
    precision, recall = curve([1, 2, 1, 0], [1] * 4, [1, 0, 0, 1])
    assert precision.tolist() == pytest.approx([0, 1 / 3, 0.5]) and recall.tolist() == [0, 0.5, 1]


def test_one_rater_is_compared_with_each_of_the_others() -> None:
    said = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]])  # items, raters
    both = np.mean([said[:, 0] @ said[:, k] for k in (1, 2)])
    found = one_rater(said[:, 0], [3] * 5, said.sum(axis=1))
    assert found == pytest.approx((both / said[:, 0].sum(), both / said[:, 1:].mean(axis=1).sum()))
    assert one_rater([1, 0], [1, 2], [1, 1]) is None  # marked nothing that another saw
    assert one_rater([1, 0], [2, 2], [1, 0]) is None  # nobody else marked anything


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([0.1], [1, 1], [0, 0]), r"got \(1,\), \(2,\), \(2,\), \(1,\)"),
        (([np.nan], [1], [0]), "finite suspicions"),
        (([0.1], [0], [0]), "at least one rater of each item"),
        (([0.1], [1], [2]), "no more marks than raters"),
    ],
)
def test_wrong_numbers_are_refused(given: tuple[list[float], ...], message: str) -> None:
    with pytest.raises(PronmetricError, match=message):
        as_rater(*given)
