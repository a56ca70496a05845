from __future__ import annotations

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.kappa import cohen_kappa, fleiss_kappa, krippendorff_alpha, raw_agreement


def test_cohen_by_hand() -> None:
    # 20 + 15 of 50 agree: 0.7; rows 25 25, columns 30 20: chance (25 * 30 + 25 * 20) / 2500 = 0.5; kappa 0.2 / 0.5.
    found = cohen_kappa([[20, 5], [10, 15]])
    assert (found.observed, found.chance, found.items) == (0.7, 0.5, 50)
    assert found.estimate == pytest.approx(0.4)


def test_fleiss_by_hand() -> None:
    # (3,0) (2,1) (0,3): agreements 1, 1/3, 1, mean 7/9; shares 5/9, 4/9: chance 41/81; (63 - 41) / (81 - 41).
    found = fleiss_kappa([[3, 0], [2, 1], [0, 3]])
    assert found.observed == pytest.approx(7 / 9) and found.chance == pytest.approx(41 / 81)
    assert found.estimate == pytest.approx(22 / 40)


def test_fleiss_of_two_raters_is_scotts_pi() -> None:
    ratings = [[2, 0, 0]] * 13 + [[0, 2, 0]] * 20 + [[0, 1, 1]] * 11 + [[0, 0, 2]] * 56
    assert fleiss_kappa(ratings).estimate == pytest.approx(0.79624, abs=5e-6)  # the figure for its table


def test_alpha_by_hand() -> None:
    # Items (2,0) (0,2) (1,1), and one with a single rating, which does not count: 6 values, 3 of each category.
    # Observed agreement (2 + 2 + 0) / 6 = 2/3; chance (3 * 2 + 3 * 2) / (6 * 5) = 2/5; alpha (2/3 - 2/5) / (3/5) = 4/9.
    found = krippendorff_alpha([[2, 0], [0, 2], [1, 1], [1, 0]])
    assert found.observed == pytest.approx(2 / 3) and found.chance == pytest.approx(2 / 5)
    assert found.estimate == pytest.approx(4 / 9)
    assert found.items == 3


def test_alpha_weighs_an_item_by_its_ratings() -> None:
    # (3,0) (1,1): 5 values, 4 and 1; observed (3*2/2 + 0) / 5 = 3/5; chance (4*3 + 0) / 20 = 3/5; alpha 0.
    assert krippendorff_alpha([[3, 0], [1, 1]]).estimate == pytest.approx(0.0)


def test_raw_agreement_with_gaps() -> None:
    assert raw_agreement([[2, 1], [0, 2], [1, 0], [0, 0]]) == pytest.approx((1 / 3 + 1) / 2)


def test_one_category_leaves_nothing_beyond_chance() -> None:
    """0 / 0: both coefficients are undefined where nobody ever chose a second category; AC1 is 1 there."""
    assert cohen_kappa([[4, 0], [0, 0]]).estimate is None
    assert fleiss_kappa([[2, 0], [3, 0]]).estimate is None
    assert krippendorff_alpha([[2], [3]]).estimate is None
    assert raw_agreement([[2], [3]]) == 1.0


def test_two_items_and_one() -> None:
    assert fleiss_kappa([[2, 0], [1, 1]]).estimate == pytest.approx((1 / 2 - 10 / 16) / (6 / 16))  # shares 3/4, 1/4
    assert fleiss_kappa([[1, 1]]).estimate == pytest.approx(-1.0)
    assert krippendorff_alpha([[1, 1]]).estimate == pytest.approx(0.0)  # of two values one of each: chance is 0 too


def test_nothing_to_agree_on() -> None:
    for figure in (raw_agreement, fleiss_kappa, krippendorff_alpha):
        with pytest.raises(PronmetricError, match="at least two ratings"):
            figure([[1, 0], [0, 1]])
    with pytest.raises(PronmetricError, match="both raters rated"):
        cohen_kappa([[0, 0], [0, 0]])
    with pytest.raises(PronmetricError, match="square, got 1 x 2"):
        cohen_kappa([[1, 2]])
    with pytest.raises(PronmetricError, match="whole numbers"):
        raw_agreement([[0.5, 1.5]])
