"""The sentence on a system and on two: the same wherever a result is shown, and in either order of the two."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pronmetric.checkpoint.config import read
from pronmetric.checkpoint.people import People, people_from, people_of
from pronmetric.errors import PronmetricError
from pronmetric.eval.decision import ERRORS, PREFERENCE, SCORE
from pronmetric.report.score_text import summary
from pronmetric.report.verdict import of_pair, of_people, of_result, of_system
from pronmetric.results.records import ERROR_RATES, Pair, Result, System
from pronmetric.results.scored import pair_of
from pronmetric.results.write import people_entry
from pronmetric.scoring.comparison import AllPairs
from pronmetric.scoring.score import PronounScore, SegmentScore

NAMES = ("first.txt", "second.txt")


def system(*rates: float, interval: tuple[float, float] | None = (1.9, 4.6), pronouns: int = 240) -> System:
    values = {
        key: (rate, interval if key == ERROR_RATES[0] else None) for key, rate in zip(ERROR_RATES, rates, strict=False)
    }
    return System("system-a", 96.4, (95.0, 97.5), pronouns, 90, 80, rates=values)


def pair(difference: float | None, p: float | None, *, wins: int = 3, losses: int = 1) -> Pair:
    ends = None if p is None or difference is None else (difference - 1.0, difference + 1.0)
    return Pair(0, 1, difference, ends, p, p, wins, 4, losses, units=8, resampled="documents")


def test_a_system_is_said_in_errors_by_kind_and_the_papers_score() -> None:
    beside = "score 96.40 (95 % 95.00 to 97.50) over 240 pronouns."
    assert of_system(system(3.1, 1.6, 1.2, 0.3)) == (
        "system-a: 3.1 pronoun errors per 100 pronouns (1.6 wrong, 1.2 missing, 0.3 surplus; 95 % 1.9 to 4.6); "
        + beside
    )
    assert "(1.9 wrong or surplus, 1.2 missing; 95 % 1.9 to 4.6)" in of_system(system(3.1, 1.9, 1.2))
    assert of_system(system(3.1, interval=None)) == (
        "system-a: 3.1 pronoun errors per 100 pronouns (wrong or surplus); " + beside
    )
    assert of_system(system()) == f"system-a: {beside}"  # an unbounded head expects no number of errors
    assert of_system(system(3.1, pronouns=1)).endswith(" over 1 pronoun.")
    none = System("b", None, None, 0, 3, 0)
    assert of_system(none, "b.txt") == "b.txt: no pronouns, so there is nothing to score."


def test_what_a_rater_would_mark_is_said_where_the_record_has_it() -> None:
    known = People("MQM", 0.25, 0.4, 0.5)
    assert of_people(known, system(3.0)).startswith(
        "A professional rater would mark about 1.5 per 100 pronouns, and 1 in 4 "
    )
    told = of_people(known, system(3.1, 1.6, 1.1, 0.4))
    assert "would mark about 1.0 per 100 pronouns" in told  # missing ones are not marked
    assert of_people(known._replace(marks=None), system(3.0)) == of_people(known)


@pytest.mark.parametrize(
    ("by", "amount"),
    [
        (ERRORS, "3.10 fewer errors in 100 segments"),
        (SCORE, "3.10 points more"),
        (PREFERENCE, "a mean preference of 3.10"),
    ],
)
def test_the_better_of_two_comes_first_in_either_order(by: str, amount: str) -> None:
    said = of_pair(pair(-3.1, 0.002), NAMES, by=by)
    assert said == f"second.txt has better pronouns than first.txt: {amount} (95 % 2.10 to 4.10, p = 0.0020)."
    assert of_pair(pair(3.1, 0.002), NAMES[::-1], by=by) == said


def test_a_difference_is_not_clear_by_the_test_alone() -> None:
    said = of_pair(pair(1.5, 0.05), NAMES, by=SCORE)
    assert said.startswith("No clear difference between the pronouns of first.txt and second.txt: first.txt has 1.50 ")
    assert said.endswith("(95 % 0.50 to 2.50, p = 0.0500).")
    few = of_pair(pair(1.5, 0.0625)._replace(units=5), NAMES, by=SCORE)
    assert few.endswith("p = 0.0625); 5 documents are too few for a clear one.")  # at best 2 / 32
    few = of_pair(pair(1.5, None), NAMES, by=SCORE)
    assert few.endswith("1.50 points more; not tested, as there are fewer than 4 documents with a pronoun.")
    same = of_pair(pair(0.0, 1.0, wins=0, losses=0), NAMES, by=SCORE)
    assert same == "first.txt and second.txt do not differ in their pronouns."
    assert "not compared" in of_pair(pair(None, None), NAMES, by=SCORE)


def test_compare_says_the_sentence_of_the_holm_adjusted_p() -> None:
    good, bad = (SegmentScore(x, (PronounScore("It", 0, 2, x, x),), words=2) for x in (0.9, 0.4))
    pairs = AllPairs(("x", "y", "z"), (), tie=0.01)
    for number in range(8):
        scores = {(a, b): ((good, bad, good)[a],) for a in range(3) for b in range(3) if a != b}
        list(pairs.add(scores, number))
    first = pairs.results(seed=1)[0]
    record = pair_of(first.outcome, p_randomisation=first.p_randomisation_holm)
    assert summary(first, tie=0.01).splitlines()[0] == of_pair(record, ("x", "y"), by=SCORE)
    assert f"p = {first.p_randomisation_holm:.4f}" in summary(first, tie=0.01).splitlines()[0]


def result(*systems: System, pairs: Sequence[Pair] = ()) -> Result:
    return Result(
        systems=systems, pairs=tuple(pairs), segments=(), signature="model:x", tie=0.1, probability=True, by=ERRORS
    )


def test_several_systems_begin_with_the_best_two() -> None:
    one, two, three = (system(rate, interval=None)._replace(name=name) for rate, name in ((7, "a"), (3, "b"), (9, "c")))
    names = ("a", "b", "c")
    said, *each = of_result(result(one, two, three), names)
    assert said == (
        "b has the fewest pronoun errors, 3.0 per 100 pronouns, then a with 7.0; "
        "`pronmetric compare` tests whether they differ."
    )
    assert [sentence[:2] for sentence in each] == ["a:", "b:", "c:"]
    tests = [pair(-1.5, 0.01)._replace(a=0, b=1), pair(1.0, 0.3)._replace(b=2), pair(4.0, 0.01)._replace(a=1, b=2)]
    said = of_result(result(one, two, three, pairs=tests), names)[0]
    assert said == (
        "b has better pronouns than a: 1.50 fewer errors in 100 segments (95 % 0.50 to 2.50, p = 0.0100). "
        "They are the best two of 3 systems."
    )
    assert of_result(result(one), ("a",))[0] == of_system(one)


def test_equal_systems_are_said_to_be_equal() -> None:
    said = of_result(result(system(3.0, interval=None), system(3.0, interval=None)), ("a", "b"))[0]
    assert said.startswith("a and b have equally few pronoun errors, 3.0 per 100 pronouns; ")
    assert of_result(result(system(), system()), ("a", "b"))[0].startswith("a and b have the same score, 96.40; ")


@pytest.mark.parametrize(
    "given",
    [
        [],
        {"shared": 0.2},
        {"texts": "MQM", "shared": 0.0, "raters": 0.4},
        {"texts": "MQM", "shared": 0.2, "raters": 1.2},
        {"texts": "MQM", "shared": "0.2", "raters": 0.4},
        {"texts": "MQM", "shared": 0.2, "raters": 0.4, "marks": -1},
        {"texts": "MQM", "shared": 0.2, "raters": 0.4, "more": 1},
    ],
)
def test_a_record_of_people_that_is_none_is_refused(given: object) -> None:
    with pytest.raises(PronmetricError, match="people"):
        people_from(given)


def test_the_record_is_that_of_the_reader_where_sources_count() -> None:
    folder = Path(__file__).parents[3] / "checkpoints" / "base"
    config = read(folder / "config.yaml")
    alone, with_source = people_of(config), people_of(config, folder / "source")
    assert alone is not None and with_source is not None and alone.shared < with_source.shared < with_source.raters
    assert people_of({key: value for key, value in config.items() if key != "people"}) is None
    assert people_entry(alone) == {"people": config["people"]} and people_entry(None) == {}
