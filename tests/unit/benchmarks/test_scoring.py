from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from benchmarks.checkpoint import scoring
from benchmarks.checkpoint.scoring import Contrast, Record, Result


class Remembering:
    """A scorer that keeps what it was asked: the score is the length of context and text."""

    def __init__(self) -> None:
        self.calls: list[list[Record]] = []

    def __call__(self, records: Sequence[Record]) -> list[Result]:
        self.calls.append(list(records))
        return [Result(score=float(len(" ".join([*r["context"], r["text"]]))), pronouns=[]) for r in records]


def test_all_kinds_of_context_in_one_call_and_each_record_once() -> None:
    scorer = Remembering()
    contrasts = [Contrast("it rains", "he rains"), Contrast("it rains", "she rains")]
    judged = scoring.judge(
        scorer,
        contrasts,
        {"common": scoring.same([["a b"], ["a b"]]), "none": scoring.same([(), ()])},
    )
    (call,) = scorer.calls
    assert Counter((r["text"], tuple(r["context"])) for r in call) == Counter(
        {(text, context): 1 for text in ("it rains", "he rains", "she rains") for context in (("a b",), ())}
    )
    assert [r["score"] for r in judged["common"].better] == [12.0, 12.0]
    assert [r["score"] for r in judged["none"].worse] == [8.0, 9.0]
    assert judged["none"].decisions.equal.tolist() == [True, False]


def test_records_come_in_a_drawn_order() -> None:
    records = [(f"text {i:03}", ()) for i in range(50)]
    first, second, other = Remembering(), Remembering(), Remembering()
    results = scoring.score_all(first, records, seed=1)
    scoring.score_all(second, records, seed=1)
    scoring.score_all(other, records, seed=2)
    order = [r["text"] for r in first.calls[0]]
    assert order != sorted(order)
    assert order == [r["text"] for r in second.calls[0]] != [r["text"] for r in other.calls[0]]
    assert [r["score"] for r in results] == [8.0] * 50


def test_two_contexts_of_one_contrast() -> None:
    judged = scoring.judge(Remembering(), [Contrast("it", "it")], {"respective": [(["a"], ["a b c"])]})
    assert judged["respective"].decisions.lost.tolist() == [True]


def test_scored_at() -> None:
    result = Result(score=0.5, pronouns=[{"start": 3, "end": 5}])
    assert scoring.scored_at(result, 3, 5) and scoring.scored_at(result, 0, 4)
    assert not scoring.scored_at(result, 0, 3) and not scoring.scored_at(result, 5, 9)


def test_difference_of_two_contexts_is_paired() -> None:
    contrasts = [Contrast("aa", "a"), Contrast("bb", "b"), Contrast("c", "cc")]
    judged = scoring.judge(Remembering(), contrasts, {"one": scoring.same([()] * 3), "two": [((), ["x"])] * 3})
    # one: right right wrong; two: "x a" is longer than "aa": all wrong
    assert scoring.difference(judged["one"], judged["two"], "abc").value == pytest.approx(2 / 3)
