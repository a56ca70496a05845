"""Wrong and missing pronouns apart and together: of segments and systems, in notes, comparisons and the gate."""

from __future__ import annotations

import pytest

from pronmetric.bulk.statistics import SystemSums
from pronmetric.eval.decision import ERRORS, SCORE
from pronmetric.report import gate_text
from pronmetric.report.gate_text import Names
from pronmetric.report.score_text import note_system, segment_line, summary
from pronmetric.scoring.comparison import AllPairs, PairDecision, average
from pronmetric.scoring.gate import Gate, Limits, Verdict
from pronmetric.scoring.score import Gap, PronounScore, SegmentScore, SystemScore, tally_segments
from pronmetric.scoring.surplus import tell_surplus
from pronmetric.text.corpus import Row

TEXT = "It works."
IT = Gap(3, "it", 0.75)


def segment(probability: float | None, missing: float | None, *gaps: Gap) -> SegmentScore:
    """A text with one pronoun of this probability, or with none."""
    own = () if probability is None else (PronounScore("It", 0, 2, probability, probability),)
    return SegmentScore(probability, own, words=2, missing=missing, gaps=gaps)


def test_errors_are_the_sum_of_wrong_and_missing() -> None:
    both = segment(0.75, 0.5)
    assert (both.wrong, both.errors) == (0.25, 0.75)
    assert segment(None, 0.5).wrong == 0.0 and segment(0.75, None).errors == 0.25
    unbounded = SegmentScore(2.0, (PronounScore("It", 0, 2, 2.0, None),), missing=0.5)
    assert unbounded.wrong is None and unbounded.errors is None


def apart(score: SystemScore) -> list[float]:
    rates = score.errors, score.wrong_in_pronouns, score.missing_in_pronouns
    return [rate.value for rate in rates if rate is not None]


def numbers(score: SystemScore) -> list[float]:
    """The rates of a system's errors with their intervals."""
    rates = score.errors, score.errors_in_words, score.wrong_in_pronouns, score.missing_in_pronouns
    return [number for rate in rates if rate is not None for number in (rate.value, *(rate.interval or ()))]


def test_a_system_has_its_rates_apart() -> None:
    segments = [segment(0.75, 0.5), segment(0.5, 0.0), segment(None, 0.25)]
    score = tally_segments(segments).score()
    assert apart(score) == pytest.approx([75.0, 37.5, 37.5])  # 0.75 wrong and 0.75 missing for 2 pronouns
    assert numbers(SystemSums.of(tally_segments(segments)).system_score()) == pytest.approx(numbers(score))
    without = tally_segments([segment(0.75, None), segment(0.5, 0.25)]).score()
    assert apart(without) == [pytest.approx(50.0)]  # of one text missing pronouns are not known


@pytest.mark.parametrize("documents", [False, True])
def test_the_interval_holds_a_rate_above_100(documents: bool) -> None:
    """Texts may lack more pronouns than they have, also those without any."""
    segments = [segment(0.5, 2.0 + k % 3) if k % 2 else segment(None, 1.0 + k % 5) for k in range(20)]
    docs = [f"d{k // 2}" for k in range(20)] if documents else None
    tally = tally_segments(segments, docs)
    score = tally.score()
    for rate in (score.errors, score.missing_in_pronouns, score.errors_in_words):
        assert rate is not None and rate.interval is not None and rate.value > 100
        assert 0 <= rate.interval[0] < rate.value < rate.interval[1]
    parts = [SystemSums.of(tally_segments(segments[:8], docs and docs[:8]))]
    parts.append(SystemSums.of(tally_segments(segments[8:], docs and docs[8:])))
    for sums in (SystemSums.of(tally), parts[0].merge(parts[1])):
        assert numbers(sums.system_score()) == pytest.approx(numbers(score))


def test_few_errors_have_an_interval_from_0_on() -> None:
    score = tally_segments([segment(1.0, 0.0)] * 9 + [segment(1.0, 0.5)]).score()
    assert score.errors is not None and score.errors.interval is not None and score.errors.interval[0] == 0.0


def test_the_notes_on_a_system() -> None:
    said, more = list[str](), list[str]()
    note_system("a", tally_segments([segment(0.75, 0.5), segment(0.5, 0.0)]).score(), said.append, more.append)
    told = "a: 62.5 pronoun errors per 100 pronouns (37.5 wrong or surplus, 25.0 missing"
    assert said == [f"{told}); score 62.50 over 2 pronouns."]  # too few segments for an interval
    assert more[0] == "a: 312.50 errors per 1,000 words"  # 1.25 errors in 4 words
    said.clear()
    segments = [segment(0.75, 0.5), segment(0.5, 0.0)] * 4
    note_system("a", tally_segments(segments).score(), said.append, more.append)
    assert said[0].startswith(f"{told}; 95 % ")
    said.clear()
    note_system("a", tally_segments([segment(0.75, None)]).score(), said.append, more.append)
    assert said == ["a: 25.0 pronoun errors per 100 pronouns (wrong or surplus); score 75.00 over 1 pronoun."]


def test_a_comparison_shows_both_sides_apart() -> None:
    pairs = AllPairs(("x", "y"), (), tie=0.01, by=ERRORS)
    scores = {(0, 1): (segment(0.75, 0.0),), (1, 0): (segment(None, 0.75, IT),)}
    (pair,) = pairs.add(scores, None)
    assert isinstance(pair, PairDecision) and pair.decision.better == "a"
    line = segment_line(0, pair, by=ERRORS)
    assert "x: It 0.75; 0.25 wrong or surplus, 0.00 missing" in line or "x: 0.25 wrong or surplus" in line
    assert line.endswith("y: 0.00 wrong or surplus, 0.75 missing (it at 3 0.75)")
    assert "missing" not in segment_line(0, pair, by=SCORE)
    told = summary(pairs.results(seed=1)[0], tie=0.01, by=ERRORS)
    assert "25.00 pronoun errors per 100 pronouns: 25.00 wrong or surplus, 0.00 missing" in told


def gate(limits: Limits, new: list[SegmentScore], old: list[SegmentScore] | None = None) -> Verdict:
    made = Gate(limits, tie=0.01, worst=3, baseline=old is not None)
    for number, one in enumerate(new):
        texts = (TEXT,) if old is None else (TEXT, "Works.")
        made.add(number, Row(texts, f"d{number}", None, ()), "", one, None if old is None else old[number])
    return made.verdict(seed=1)


def split(*segments: SegmentScore) -> list[SegmentScore]:
    return [tell_surplus(one, {"": 0.5, "it": 0.25}) for one in segments]


def test_surplus_pronouns_are_a_part_of_those_that_are_not_right() -> None:
    (both,) = split(segment(0.5, 0.5))
    assert (both.wrong, both.surplus, both.errors) == (0.375, 0.125, 1.0)
    assert both.pronouns[0].surplus == 0.125 and both.score == 0.5
    (none,) = split(segment(None, 0.5))
    assert (none.wrong, none.surplus, none.errors) == (0.0, 0.0, 0.5)
    (other,) = split(segment(0.75, 0.0))
    mean = average(both, other)
    assert (mean.surplus, mean.pronouns[0].surplus, mean.wrong) == (0.09375, 0.09375, 0.28125)
    assert average(both, segment(0.75, 0.0)).surplus is None


def test_a_system_has_three_rates() -> None:
    segments = split(segment(0.75, 0.5), segment(0.5, 0.0), segment(None, 0.25))
    score = tally_segments(segments).score()
    assert apart(score) == pytest.approx([75.0, 28.125, 37.5])  # 0.75 are not right, a quarter of them surplus
    assert score.surplus_in_pronouns is not None and score.surplus_in_pronouns.value == pytest.approx(9.375)
    assert score.errors == tally_segments([segment(0.75, 0.5), segment(0.5, 0.0), segment(None, 0.25)]).score().errors
    of_some = tally_segments([*segments, segment(0.75, 0.5)]).score()
    assert of_some.surplus_in_pronouns is None and apart(of_some)[1] == pytest.approx(100 / 3)


@pytest.mark.parametrize("documents", [False, True])
@pytest.mark.parametrize("told_of_all", [False, True])
def test_three_rates_are_those_of_shards(documents: bool, told_of_all: bool) -> None:
    plain = [segment((k % 7) / 7, (k % 3) / 4) for k in range(20)]
    segments = split(*plain[:8]) + (split(*plain[8:]) if told_of_all else plain[8:])
    docs = [f"d{k // 2}" for k in range(20)] if documents else [None] * 20
    score = tally_segments(segments, docs).score()
    parts = (SystemSums.of(tally_segments(segments[k], docs[k])) for k in (slice(8), slice(8, 20)))
    merged = next(parts).merge(next(parts)).system_score()
    assert numbers(merged) == pytest.approx(numbers(score))
    both = score.surplus_in_pronouns, merged.surplus_in_pronouns
    assert [rate is not None for rate in both] == [told_of_all] * 2
    assert both[0] is None or both[1] is None or both[0].value == pytest.approx(both[1].value)


def test_three_kinds_of_errors_in_words() -> None:
    said: list[str] = []
    note_system("a", tally_segments(split(segment(0.75, 0.5), segment(0.5, 0.0))).score(), said.append, said.append)
    told = "62.5 pronoun errors per 100 pronouns (28.1 wrong, 25.0 missing, 9.4 surplus)"
    assert said[0] == f"a: {told}; score 62.50 over 2 pronouns."
    pairs = AllPairs(("x", "y"), (), tie=0.01, by=ERRORS)
    (pair,) = pairs.add({(0, 1): tuple(split(segment(0.75, 0.0))), (1, 0): tuple(split(segment(None, 0.75, IT)))}, None)
    line = segment_line(0, pair, by=ERRORS)
    assert "0.19 wrong, 0.00 missing, 0.06 surplus" in line
    assert line.endswith("y: 0.00 wrong, 0.75 missing (it at 3 0.75), 0.00 surplus")
    assert "25.00 pronoun errors per 100 pronouns: 18.75 wrong, 0.00 missing, 6.25 surplus" in summary(
        pairs.results(seed=1)[0], tie=0.01, by=ERRORS
    )
    verdict = gate(Limits(max_errors=2.0), split(segment(0.9, 0.0), segment(0.5, 0.5, IT)))
    told = gate_text.summary(verdict, Names("new.txt", None, SCORE)).splitlines()[2]
    assert told.endswith("1.10 (0.45 wrong, 0.50 missing, 0.15 surplus) in 2 pronouns")


def test_the_gate_counts_missing_pronouns_and_says_so() -> None:
    segments = [segment(0.9, 0.0), segment(0.5, 0.5, IT), segment(None, 1.0, IT, Gap(0, "she", 0.2))]
    verdict, names = gate(Limits(max_errors=2.0), segments), Names("new.txt", None, SCORE)
    assert not verdict.passed and verdict.conditions[0].found == pytest.approx(2.1)
    told = gate_text.summary(verdict, names).splitlines()
    assert "at most 2 pronoun errors expected" in told[2]
    assert told[2].endswith("2.10 (0.60 wrong or surplus, 1.50 missing) in 2 pronouns")
    assert told[3] == "2 segments with a doubtful or missing pronoun:"
    assert told[4] == "new.txt:2 (d1): doubtful: It 0.50; missing: it at 3 0.75"
    assert told[6] == "new.txt:3 (d2): missing: it at 3 0.75"  # the other gap is likely right
    assert [finding.value for finding in verdict.findings] == pytest.approx([0.25, 0.25])


def test_against_a_baseline_gaps_are_named_where_errors_decide() -> None:
    worse, good = segment(0.9, 0.75, IT), segment(0.9, 0.0)
    for by, expected in ((ERRORS, "now no pronoun; missing: it at 3 0.75, before no pronoun"), (SCORE, None)):
        verdict = gate(Limits(margin=1.0, by=by), [worse] + [good] * 5, [good] * 6)
        found = [gate_text.reason(one, Names("new", "old", by)) for one in verdict.findings]
        assert found == ([] if expected is None else [f"-0.75 errors; {expected}"])
