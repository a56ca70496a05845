from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pronmetric.baselines import simple
from pronmetric.baselines.simple import CHRF, FEWER, SYSTEM, Both, Standings, beside
from pronmetric.errors import PronmetricError
from pronmetric.suites.judged_pairs import JudgedPair

FEW, MANY = "The dog slept.", "He slept while it rained."
LONG = JudgedPair("1", (), FEW, MANY, better="A", doc="d1")


def pair(id: str, better: str | None, doc: str, a: str = "oak", b: str = "elm", **more: str) -> JudgedPair:
    return JudgedPair(id, (), "She left.", "He left.", better=better, doc=doc, system_a=a, system_b=b, **more)


def test_fewer_pronouns_wins_whatever_they_are() -> None:
    assert simple.fewer_pronouns(LONG) == (0.0, -2.0)
    assert simple.fewer_pronouns(pair("1", "A", "d")) == (-1.0, -1.0)


def test_chrf_is_sacrebleus() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    a, b = simple.chrf(replace(LONG, reference="The dog was asleep."))
    assert a == sacrebleu.sentence_chrf(FEW, ["The dog was asleep."]).score
    assert a is not None and b is not None and a > b
    assert simple.chrf(LONG) == (None, None)


def test_a_system_stands_as_it_does_elsewhere() -> None:
    # oak wins d1, elm wins d2 and d3, so that in d1 elm is ahead by what happened elsewhere: 1 to -1
    pairs = [pair("1", "A", "d1"), pair("2", "B", "d2"), pair("3", "A", "d3", "elm", "oak"), pair("4", "tie", "d4")]
    standings = simple.won(pairs)
    assert standings.elsewhere("oak", "d1") == pytest.approx(-2 / 3) and standings.elsewhere("elm", "d1") == 2 / 3
    assert standings.elsewhere("oak", "d2") == pytest.approx(0.0)
    assert standings.elsewhere("ash", "d1") is None and standings.elsewhere(None, "d1") is None
    assert simple.better_system(pairs[0], standings, "d1") == (pytest.approx(-2 / 3), pytest.approx(2 / 3))
    assert Standings([("a", "d1", 1.0)]).elsewhere("a", "d1") is None


def test_only_floors_that_decide_something() -> None:
    pytest.importorskip("sacrebleu")
    equal = [pair("1", "A", "d1"), pair("2", "B", "d2")]
    # oak wins d1 and loses d2: elsewhere each is what it was in the other document
    assert set(simple.floors(equal)) == {SYSTEM}
    assert set(simple.floors([LONG])) == {FEWER}
    assert set(simple.floors([replace(LONG, reference=FEW)])) == {FEWER, CHRF}
    assert set(simple.floors(equal, standings=Standings([]))) == set()


def test_without_sacrebleu_chrf_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simple, "_has_sacrebleu", lambda: False)
    assert set(simple.floors([replace(LONG, reference=FEW)])) == {FEWER}


def test_both_are_counted_where_the_floor_decides() -> None:
    pairs = [JudgedPair(str(i), (), "", "", better=said, doc=f"d{i}") for i, said in enumerate("AABBAA")]
    pairs += [JudgedPair("6", (), "", "", better="tie"), JudgedPair("7", (), "", "")]
    #                 right     wrong     right     undecided  nothing       right      a tie     no answer
    floor: list[Both] = [(2, 1), (1, 2), (1, 2), (1, 1), (None, 1), (2, 1), (2, 1), (2, 1)]
    #                          right     right     wrong     right     right     null          -         -
    scores: Sequence[Both] = [
        (0.9, 0.1),
        (0.9, 0.1),
        (0.9, 0.1),
        (0.1, 0.9),
        (0.9, 0.1),
        (None, 0.1),
        (0.9, 0.1),
        (0.9, 0.1),
    ]
    found = beside(pairs, scores, floor)
    assert found is not None
    assert (found.pairs, found.decided) == (5, 4)
    assert (found.floor.value, found.metric.value, found.difference.value) == (0.75, 0.5, -0.25)
    assert found.difference.low is not None and found.difference.low <= -0.25
    assert beside(pairs, scores, [(1, 1)] * len(pairs)) is None
    with pytest.raises(PronmetricError, match="each pair needs its scores"):
        beside(pairs, scores, floor[1:])
