from __future__ import annotations

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.eval.agreement import clustered_interval, gwet_ac1
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.votes import (
    collect_given,
    collect_votes,
    count_preferences,
    measure_metric_agreement,
    measure_rater_agreement,
)


def pair(number: int, better: str | None = None, doc: str | None = None, **answers: str) -> JudgedPair:
    return JudgedPair(str(number), (), "a", "b", better=better, votes=answers, doc=doc)


PAIRS = [
    pair(1, "A", "x", ann="A", bob="A"),
    pair(2, "A", "x", ann="A", bob="tie"),
    pair(3, "B", "y", ann="B", bob="B"),
    pair(4, "B", "y", ann="tie", bob="A"),
    pair(5, "A", "z", ann="A"),
]


def test_answers_by_rater() -> None:
    assert collect_votes(PAIRS) == {
        "ann": {"1": "A", "2": "A", "3": "B", "4": "tie", "5": "A"},
        "bob": {"1": "A", "2": "tie", "3": "B", "4": "A"},
    }
    assert collect_given(PAIRS) == {"better, as given": {"1": "A", "2": "A", "3": "B", "4": "B", "5": "A"}}
    study = JudgedPair("1", (), "a", "b", better="A", judge="the reference is better")
    assert collect_given([study, pair(2)]) == {"the reference is better": {"1": "A"}}


def test_ties_are_a_category_or_no_answer() -> None:
    found = measure_rater_agreement(PAIRS, collect_votes(PAIRS))
    assert found.with_ties is not None and found.without_ties is not None
    # Counts A, B, tie: (2,0,0) (1,0,1) (0,2,0) (1,0,1) (1,0,0).
    expected = gwet_ac1([[2, 0, 0], [1, 0, 1], [0, 2, 0], [1, 0, 1], [1, 0, 0]])
    assert found.with_ties.ac1 == expected and found.with_ties.raw == 0.5
    # Both decided 1 and 3 alone, and agree; pi = 1/2 each.
    assert (found.without_ties.ac1.ac1, found.without_ties.ac1.items) == (1.0, 2)


def test_of_three_raters_those_who_decided_stay() -> None:
    pairs = [pair(1, ann="A", bob="A", cleo="tie"), pair(2, ann="B", bob="tie", cleo="tie"), pair(3, ann="B", bob="B")]
    found = measure_rater_agreement(pairs, collect_votes(pairs)).without_ties
    assert found is not None and (found.ac1.items, found.ac1.rated_twice) == (3, 2)


def test_a_metric_against_each_rater() -> None:
    found = measure_metric_agreement(PAIRS, ["A", "B", "B", None, "A"], collect_votes(PAIRS))
    assert found["ann"].with_ties is not None and found["bob"].with_ties is not None
    assert (found["ann"].with_ties.ac1.items, found["ann"].with_ties.raw) == (4, 0.75)  # 1, 2, 3, 5; not 2
    assert (found["bob"].with_ties.ac1.items, found["bob"].with_ties.raw) == (3, pytest.approx(2 / 3))
    assert found["bob"].without_ties is not None and found["bob"].without_ties.ac1.items == 2
    assert found["ann"].with_ties.formula == "table"
    nothing = measure_metric_agreement(PAIRS, [None] * 5, collect_votes(PAIRS))["ann"]
    assert (nothing.with_ties, nothing.without_ties, nothing.interval) == (None, None, None)
    with pytest.raises(PronmetricError, match='a rater is named "metric"'):
        measure_metric_agreement([pair(1, metric="A")], ["A"], {"metric": {"1": "A"}})


def test_documents_are_resampled() -> None:
    pairs = [pair(n, "A", f"d{n % 6}", ann="AB"[n % 2], bob="ABA"[n % 3]) for n in range(36)]
    found = measure_rater_agreement(pairs, collect_votes(pairs), seed=3)
    assert found.interval is not None and found.with_ties is not None
    assert found.interval[0] < found.with_ties.ac1.ac1 < found.interval[1]
    assert measure_rater_agreement(pairs, collect_votes(pairs), seed=3).interval == found.interval
    assert measure_rater_agreement(PAIRS, collect_votes(PAIRS)).interval is None  # three documents
    one = [pair(number, None, "x", ann="A", bob="B") for number in range(4)]
    assert measure_rater_agreement(one, collect_votes(one)).interval is None
    assert measure_rater_agreement(pairs, collect_votes(pairs), variant="published").interval is None


def test_clustered_interval_by_hand() -> None:
    # Two documents in full agreement on both categories, two in full disagreement. pi is 1/2, 1/2 in any draw: chance
    # 1/2, and AC1 is the share of the first two in the draw, from -1 to 1: binomial, 1/16 at both ends.
    ratings, docs = [[2, 0], [0, 2], [1, 1], [1, 1]] * 2, [name for name in "abcd" for _ in "12"]
    assert clustered_interval(ratings, docs) == pytest.approx((-1.0, 1.0))  # t of 3 degrees of freedom: 0.01 %
    # At level 0.5 the t is 0.765, times sqrt(4 / 3) 0.883: 18.9 % on each side, one of four draws and three of four
    assert clustered_interval(ratings, docs, level=0.5) == pytest.approx((-0.5, 0.5))
    assert clustered_interval(ratings, ["x", "x", "y", "y"] * 2) is None
    assert clustered_interval([[2], [2]], "xy") is None
    assert clustered_interval([[1, 0], [0, 0], [0, 1]], "xyz") is None  # nothing rated twice
    with pytest.raises(PronmetricError, match="one cluster"):
        clustered_interval(ratings, "x")


def test_preferences_by_hand() -> None:
    found = count_preferences(PAIRS, collect_votes(PAIRS))
    ann, bob = found.by_rater["ann"], found.by_rater["bob"]
    assert (ann.preferred, ann.other, ann.tied) == (4, 0, 1)
    assert (bob.preferred, bob.other, bob.tied) == (2, 1, 1)
    assert (ann.share, ann.share_without_ties, bob.share) == (0.8, 1.0, 0.5)
    assert found.average == pytest.approx(0.65)  # of 4/5 and 2/4
    assert found.average_without_ties == pytest.approx(5 / 6)  # of 4/4 and 2/3


def test_without_a_better_text_it_is_text_a() -> None:
    pairs = [pair(1, "B", ann="B"), pair(2, ann="A"), pair(3, "tie", ann="tie")]
    found = count_preferences(pairs, collect_votes(pairs)).by_rater["ann"]
    assert (found.preferred, found.other, found.tied) == (1, 1, 1)
    only_ties = count_preferences(pairs[2:], collect_votes(pairs[2:]))
    assert (only_ties.average, only_ties.average_without_ties) == (0.0, None)
    assert count_preferences(pairs, {}).average is None
