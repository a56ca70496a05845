from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.lab.human import pair_baselines as simple
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.pair_baselines import CHRF, FEWER, SYSTEM, Both, SystemMeans, compare_with_baseline

FEW, MANY = "The dog slept.", "He slept while it rained."
LONG = JudgedPair("1", (), FEW, MANY, better="A", doc="d1")


def pair(id: str, better: str | None, doc: str, a: str = "oak", b: str = "elm", **more: str) -> JudgedPair:
    return JudgedPair(id, (), "She left.", "He left.", better=better, doc=doc, system_a=a, system_b=b, **more)


def test_fewer_pronouns_wins_whatever_they_are() -> None:
    assert simple.count_pronouns(LONG) == (0.0, -2.0)
    assert simple.count_pronouns(pair("1", "A", "d")) == (-1.0, -1.0)


def test_chrf_is_sacrebleus() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    a, b = simple.compute_chrf(replace(LONG, reference="The dog was asleep."))
    assert a == sacrebleu.sentence_chrf(FEW, ["The dog was asleep."]).score
    assert a is not None and b is not None and a > b
    assert simple.compute_chrf(LONG) == (None, None)


def test_a_system_has_its_mean_over_the_other_documents() -> None:
    # oak wins d1, elm wins d2 and d3, so that in d1 elm is ahead by what happened elsewhere: 1 to -1
    pairs = [pair("1", "A", "d1"), pair("2", "B", "d2"), pair("3", "A", "d3", "elm", "oak"), pair("4", "tie", "d4")]
    means = simple.average_systems(pairs)
    assert means.excluding("oak", "d1") == pytest.approx(-2 / 3) and means.excluding("elm", "d1") == 2 / 3
    assert means.excluding("oak", "d2") == pytest.approx(0.0)
    assert means.excluding("ash", "d1") is None and means.excluding(None, "d1") is None
    assert simple.compare_systems(pairs[0], means, "d1") == (pytest.approx(-2 / 3), pytest.approx(2 / 3))
    assert SystemMeans([("a", "d1", 1.0)]).excluding("a", "d1") is None


def test_only_baselines_that_decide_something() -> None:
    pytest.importorskip("sacrebleu")
    equal = [pair("1", "A", "d1"), pair("2", "B", "d2")]
    # oak wins d1 and loses d2: elsewhere each is what it was in the other document
    assert set(simple.score_baselines(equal)) == {SYSTEM}
    assert set(simple.score_baselines([LONG])) == {FEWER}
    assert set(simple.score_baselines([replace(LONG, reference=FEW)])) == {FEWER, CHRF}
    assert set(simple.score_baselines(equal, means=SystemMeans([]))) == set()


def test_without_sacrebleu_chrf_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simple, "_has_sacrebleu", lambda: False)
    assert set(simple.score_baselines([replace(LONG, reference=FEW)])) == {FEWER}


def test_both_are_counted_where_the_baseline_decides() -> None:
    pairs = [JudgedPair(str(i), (), "", "", better=said, doc=f"d{i}") for i, said in enumerate("AABBAA")]
    pairs += [JudgedPair("6", (), "", "", better="tie"), JudgedPair("7", (), "", "")]
    #                 right     wrong     right     undecided  nothing       right      a tie     no answer
    baseline: list[Both] = [(2, 1), (1, 2), (1, 2), (1, 1), (None, 1), (2, 1), (2, 1), (2, 1)]
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
    found = compare_with_baseline(pairs, scores, baseline)
    assert found is not None
    assert (found.pairs, found.decided) == (5, 4)
    assert (found.baseline.value, found.metric.value, found.difference.value) == (0.75, 0.5, -0.25)
    assert found.difference.low is not None and found.difference.low <= -0.25
    assert compare_with_baseline(pairs, scores, [(1, 1)] * len(pairs)) is None
    with pytest.raises(PronmetricError, match="each pair needs its scores"):
        compare_with_baseline(pairs, scores, baseline[1:])
