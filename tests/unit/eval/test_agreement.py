from __future__ import annotations

import math

import numpy as np
import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.agreement import confusion_ratings, gwet_ac1, gwet_ac1_table


def test_three_items_two_raters_by_hand() -> None:
    # Items (2,0) (2,0) (1,1): agreements 1, 1, 0, so pa = 2/3. Shares of the first category 1, 1, 1/2: pi = 5/6, 1/6.
    # pe = (5/6 * 1/6 + 1/6 * 5/6) / 1 = 5/18; AC1 = (2/3 - 5/18) / (13/18) = (7/18) / (13/18) = 7/13.
    found = gwet_ac1([[2, 0], [2, 0], [1, 1]])
    assert found.observed == pytest.approx(2 / 3)
    assert found.chance == pytest.approx(5 / 18)
    assert found.ac1 == pytest.approx(7 / 13)
    # a = 1, 1, -5/13; e = 1/6, 1/6, 1/2; x = a - 2 * 6/13 * (e - 5/18) * 18/13, and e - 5/18 = -1/9, -1/9, 2/9.
    x = [1 + 24 / 169, 1 + 24 / 169, -5 / 13 - 48 / 169]
    error = math.sqrt(sum((value - 7 / 13) ** 2 for value in x) / 6)
    assert found.error == pytest.approx(error)
    assert 7 / 13 - 4.302652729911275 * error < -1  # t(2) at 0.975
    assert (found.low, found.high) == (-1.0, 1.0)  # cut


def test_gwets_raw_ratings() -> None:
    """Handbook of Inter-Rater Reliability: 12 units, 4 raters, 5 categories, missing ratings (R package irrCAC)."""
    raters = [
        [1, 1, None, 1],
        [2, 2, 3, 2],
        [3, 3, 3, 3],
        [3, 3, 3, 3],
        [2, 2, 2, 2],
        [1, 2, 3, 4],
        [4, 4, 4, 4],
        [1, 1, 2, 1],
        [2, 2, 2, 2],
        [None, 5, 5, 5],
        [None, None, 1, 1],
        [None, None, 3, None],
    ]
    found = gwet_ac1([[row.count(category) for category in range(1, 6)] for row in raters])
    assert found.ac1 == pytest.approx(0.77544, abs=5e-6)
    assert found.error == pytest.approx(0.14295, abs=5e-6)
    assert (found.low, found.high) == (pytest.approx(0.46081, abs=5e-6), 1.0)
    assert (found.observed, found.chance) == (pytest.approx(0.81818, abs=5e-6), pytest.approx(0.19032, abs=5e-6))
    assert (found.items, found.rated_twice, found.categories) == (12, 11, 5)


def test_gwets_table_of_two_raters() -> None:
    """The diagnosis of ectopic pregnancy by two abstractors (cont3x3abstractors of irrCAC)."""
    found = gwet_ac1_table([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    # pa = 89/100; margins 13 13, 27 24, 60 63: pi = .13, .255, .615; pe = (.1131 + .189975 + .236775) / 2 = .269925
    assert found.ac1 == pytest.approx((0.89 - 0.269925) / (1 - 0.269925))
    assert found.ac1 == pytest.approx(0.84933, abs=5e-6)
    assert found.error == pytest.approx(0.04322, abs=5e-6)
    assert (found.low, found.high) == (pytest.approx(0.76358, abs=5e-6), pytest.approx(0.93508, abs=5e-6))
    assert found.items == 100


def test_a_table_is_its_ratings_but_for_the_divisor() -> None:
    table = [[5, 1], [2, 4]]
    one, other = gwet_ac1(confusion_ratings(table)), gwet_ac1_table(table)
    assert one.ac1 == other.ac1
    assert one.error is not None and other.error == pytest.approx(one.error * math.sqrt(11 / 12))


def test_one_category_is_full_agreement_without_interval() -> None:
    found = gwet_ac1([[3], [2]])
    assert (found.ac1, found.error, found.low, found.high) == (1.0, None, None, None)
    assert gwet_ac1([[3, 0], [2, 0]], declared=False).ac1 == 1.0


def test_a_declared_category_that_nobody_used_changes_ac1() -> None:
    ratings = [[2, 0, 0], [1, 1, 0], [0, 2, 0]]
    # q = 3: pi = 1/2, 1/2, 0, pe = (1/4 + 1/4) / 2 = 1/4, AC1 = (2/3 - 1/4) / (3/4) = 5/9; q = 2: pe = 1/2, AC1 = 1/3.
    assert gwet_ac1(ratings).ac1 == pytest.approx(5 / 9)
    assert gwet_ac1(ratings, declared=False).ac1 == pytest.approx(1 / 3)


def test_full_agreement_on_several_categories() -> None:
    found = gwet_ac1([[2, 0], [0, 2], [2, 0]])
    assert (found.ac1, found.low, found.high) == (1.0, None, None)  # no width


def test_items_without_rating_are_dropped_and_single_ratings_count_for_chance() -> None:
    # (2,0), (1,0) and an empty row: N = 2, pa = 1 over the one rated twice, pi = 1, 0, pe = 0.
    found = gwet_ac1([[2, 0], [0, 0], [0, 1]])
    assert (found.items, found.rated_twice) == (2, 1)
    assert found.observed == 1.0 and found.chance == pytest.approx(1 / 2)
    assert found.ac1 == 1.0


def test_one_item_has_no_interval() -> None:
    found = gwet_ac1([[2, 1]])
    assert found.error is None and found.low is None and found.high is None
    # pa = 2 * 1 / 6 = 1/3, pe = 2 * (2/3 * 1/3) = 4/9, AC1 = (1/3 - 4/9) / (5/9) = -1/5
    assert found.ac1 == pytest.approx(-0.2)
    assert gwet_ac1_table([[0, 1], [0, 0]]).error is None


@pytest.mark.parametrize("ratings", [[[1, 0], [0, 1]], [[0, 0]]])
def test_nobody_rated_twice(ratings: list[list[int]]) -> None:
    with pytest.raises(PronmetricError, match="at least two ratings"):
        gwet_ac1(ratings)


@pytest.mark.parametrize("ratings", [[[1.5, 0.5]], [[-1, 3]], [[float("nan"), 1]]])
def test_ratings_are_counts(ratings: list[list[float]]) -> None:
    with pytest.raises(PronmetricError, match="whole numbers"):
        gwet_ac1(ratings)


def test_shapes() -> None:
    with pytest.raises(PronmetricError, match="table of ratings"):
        gwet_ac1([1, 2])
    with pytest.raises(PronmetricError, match="square"):
        gwet_ac1_table([[1, 2, 3], [4, 5, 6]])


def test_error_falls_with_the_number_of_items() -> None:
    ratings = np.array([[2, 0], [1, 1], [0, 2], [2, 0]])
    small, large = gwet_ac1(ratings), gwet_ac1(np.tile(ratings, (25, 1)))
    assert small.error is not None and large.error is not None
    # the same spread over N (N - 1): sqrt(sum / (4 * 3)) against sqrt(25 sum / (100 * 99))
    assert large.error == pytest.approx(small.error * math.sqrt(25 * 12 / 9900))


@pytest.mark.parametrize(
    ("ratings", "low", "high"),
    [
        ([[2, 0], [1, 1]], -1.0, 1.0),  # two raters, two categories: at least -1 / (2 - 1)
        ([[1, 1, 0], [1, 1, 0], [2, 0, 0]], -0.5, 1.0),  # three categories: at least -1 / 2
        ([[2, 1], [2, 1], [3, 0]], -1 / 3, 1.0),  # three raters agree in 1 of 3 pairs: 1 - (1 - 1/3) / (1 - 1/2)
    ],
)
def test_the_interval_is_within_the_bounds_of_ac1(ratings: list[list[int]], low: float, high: float) -> None:
    found = gwet_ac1(ratings)
    assert found.error is not None and found.error > 0
    assert (found.low, found.high) == (pytest.approx(low), high)
    if len(ratings[0]) == sum(ratings[0]) == 2:
        table = gwet_ac1_table([[1, 1], [0, 0]])
        assert (table.low, table.high) == (-1.0, 1.0)


@pytest.mark.parametrize("ratings", [[[1, 1]] * 4, [[2, 0]] * 5, (np.eye(9) + np.roll(np.eye(9), 1, axis=1)).tolist()])
def test_an_interval_without_width_is_none(ratings: list[list[int]]) -> None:
    found = gwet_ac1(ratings)
    assert found.error == pytest.approx(0, abs=1e-12)
    assert (found.low, found.high) == (None, None)
