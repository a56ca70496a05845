from __future__ import annotations

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.agreement import gwet_ac1_published
from pronmetric.eval.ratings import Ratings, agreement

TWO = {"ann": {1: "yes", 2: "no", 3: "yes"}, "bob": {2: "no", 1: "yes", 3: "no"}}
GAPS = {"ann": {1: "x", 2: "y", 3: None}, "bob": {1: "x", 4: "z"}, "cleo": {2: "x", 1: "y"}}


def issue_table() -> Ratings:
    cells = [[13, 0, 0], [0, 20, 7], [0, 4, 56]]
    pairs = [(a, b) for a in range(3) for b in range(3) for _ in range(cells[a][b])]
    return Ratings.of({"a": dict(enumerate(a for a, _ in pairs)), "b": dict(enumerate(b for _, b in pairs))})


def test_codes_categories_and_counts() -> None:
    ratings = Ratings.of(GAPS, categories=["z", "w"])
    assert ratings.categories == ("z", "w", "x", "y")  # declared first, the others in alphabetical order
    assert ratings.codes.tolist() == [[2, 2, 3], [3, -1, 2], [-1, 0, -1]]
    assert ratings.counts().tolist() == [[0, 0, 2, 1], [0, 0, 1, 1], [1, 0, 0, 0]]
    assert ratings.table(0, 2).tolist() == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert not ratings.complete() and ratings.overlap()
    assert ratings.only({"bob", "cleo"}).raters == ("bob", "cleo")


def test_the_order_of_the_items() -> None:
    assert Ratings.of(GAPS, order=[3, 4, 1]).codes[:, 0].tolist() == [-1, 0, 1]  # 3 is unrated: 4, 1, 2


def test_without_a_category() -> None:
    ratings = Ratings.of(GAPS).without("x")
    assert ratings.categories == ("y", "z")
    assert ratings.codes.tolist() == [[-1, -1, 0], [0, -1, -1], [-1, 1, -1]]
    assert not ratings.overlap()
    assert ratings.without("none such") is ratings


def test_the_table_of_the_issue() -> None:
    """Two raters who rated everything are a table: the error divides by N; asked for, that of single ratings."""
    found = agreement(issue_table())
    assert found.ac1.ac1 == pytest.approx(0.84933, abs=5e-6)
    assert found.ac1.error == pytest.approx(0.04322, abs=5e-6)
    assert (found.ac1.low, found.ac1.high) == (pytest.approx(0.76358, abs=5e-6), pytest.approx(0.93508, abs=5e-6))
    assert (found.formula, found.raw) == ("table", pytest.approx(0.89))
    assert found.fleiss.estimate == pytest.approx(0.79624, abs=5e-6)
    assert found.cohen == pytest.approx(0.796409, abs=5e-7)
    single = agreement(issue_table(), formula="ratings")
    assert (single.formula, single.ac1.error) == ("ratings", pytest.approx(0.043435189, abs=5e-10))  # irrCAC's raw


def test_a_gap_makes_single_ratings_of_a_table() -> None:
    assert agreement(Ratings.of(TWO)).formula == "table"
    assert agreement(Ratings.of({**TWO, "bob": {1: "yes", 2: "yes"}})).formula == "ratings"


def test_cohen_of_more_than_two_raters_is_the_mean_of_the_pairs() -> None:
    ratings = Ratings.of({**TWO, "cleo": {1: "yes", 2: "no", 3: "yes"}, "dan": {4: "yes"}})
    found = agreement(ratings)
    # ann/bob, bob/cleo: 2 of 3 agree, chance (2 * 1 + 1 * 2) / 9 = 4/9, kappa (2/3 - 4/9) / (5/9) = 2/5; ann/cleo: 1.
    assert [(a, b, pytest.approx(c.estimate)) for a, b, c in found.by_pair] == [
        ("ann", "bob", 0.4),
        ("ann", "cleo", 1.0),
        ("bob", "cleo", 0.4),
    ]
    assert found.cohen == pytest.approx(0.6)


def test_one_category() -> None:
    found = agreement(Ratings.of({"a": {1: "x", 2: "x"}, "b": {1: "x", 2: "x"}}))
    assert (found.ac1.ac1, found.ac1.error, found.formula) == (1.0, None, None)
    assert (found.raw, found.fleiss.estimate, found.krippendorff.estimate, found.cohen) == (1.0, None, None, None)


@pytest.mark.parametrize(
    ("items", "expected"),
    [  # lines of the study's file, as three or four items with a split one that is the last, or is not
        ([[4, 0, 0], [4, 0, 0], [3, 1, 0]], 0.8080),  # 11 : 1 : 0
        ([[5, 0, 0], [4, 0, 1], [5, 0, 0]], 0.8500),  # 14 : 0 : 1
        ([[3, 0, 0], [3, 0, 0], [3, 0, 0], [1, 0, 2]], 0.8132),  # 10 : 0 : 2
    ],
)
def test_the_published_variant_gives_the_studys_figures(items: list[list[int]], expected: float) -> None:
    found = gwet_ac1_published(items)
    assert found.ac1 == pytest.approx(expected, abs=5e-5)
    assert (found.error, found.low, found.high) == (None, None, None)


def test_the_published_variant_by_hand() -> None:
    # pa = (1 + 1 + 0) / 3; the last item's shares 1/2, 1/2 over 3: 1/6 each; pe = 2 * (1/6 * 5/6) / 1 = 5/18.
    found = gwet_ac1_published([[2, 0], [2, 0], [1, 1], [0, 0]])
    assert found.chance == pytest.approx(5 / 18)
    assert found.ac1 == pytest.approx((2 / 3 - 5 / 18) / (13 / 18))
    assert gwet_ac1_published([[2, 0], [1, 1], [2, 0]]).chance == pytest.approx(2 / 9)  # 1/3, 0: the order counts
    assert gwet_ac1_published([[2], [3]]).ac1 == 1.0
    ratings = Ratings.of(TWO)
    assert agreement(ratings, variant="published").formula is None


def test_too_little() -> None:
    with pytest.raises(PronmetricError, match="at least two raters, got 1"):
        agreement(Ratings.of({"a": {1: "x"}}))
    with pytest.raises(PronmetricError, match="none of the 2 has two ratings"):
        agreement(Ratings.of({"a": {1: "x"}, "b": {2: "x"}}))
    with pytest.raises(PronmetricError, match="none of the 0 has"):
        agreement(Ratings.of({"a": {}, "b": {}}))
