"""The gate of a release on scores written by hand, and what is said of its verdict."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from pronmetric.errors import PronmetricError
from pronmetric.report import gate_text
from pronmetric.report.gate_text import Names
from pronmetric.scoring.gate import MAX_ERRORS, MAX_REFUSALS, MIN_SCORE, NO_WORSE, Gate, Limits, Verdict
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.corpus import Row

NEW, OLD = "It works.", "She works."


def segment(text: str, probability: float) -> SegmentScore:
    word = text.split()[0]
    return SegmentScore(probability, (PronounScore(word, 0, len(word), probability, probability),), words=2)


def run(limits: Limits, new: list[float], old: list[float] | None = None, *, worst: int = 3) -> Verdict:
    """A document for each segment."""
    gate = Gate(limits, tie=0.01, worst=worst, baseline=old is not None)
    for number, probability in enumerate(new):
        texts = (NEW,) if old is None else (NEW, OLD)
        before = None if old is None else segment(OLD, old[number])
        gate.add(number, Row(texts, f"d{number}", None, ()), "Before.", segment(NEW, probability), before)
    return gate.verdict(seed=1)


def test_the_score_and_the_errors_have_limits() -> None:
    found = run(Limits(min_score=80, max_errors=1.0), [1.0, 0.9, 0.5, 1.0])  # mean 0.85, errors 0.1 + 0.5
    assert found.passed and [one.kind for one in found.conditions] == [MIN_SCORE, MAX_ERRORS]
    assert [one.found for one in found.conditions] == pytest.approx([85.0, 0.6])
    assert [one.met for one in run(Limits(min_score=85.1, max_errors=0.6), [1.0, 0.9, 0.5, 1.0]).conditions] == [
        False,
        True,
    ]


def test_without_a_baseline_doubtful_pronouns_are_found_lowest_first() -> None:
    found = run(Limits(min_score=1), [0.6, 0.2, 0.9, 0.5, 0.69], worst=3)
    assert found.found == 4
    assert [(one.number, one.value) for one in found.findings] == [(1, 0.2), (3, 0.5), (0, 0.6)]


@pytest.mark.parametrize(("margin", "passed"), [(1.0, False), (15.0, True)])
def test_no_worse_is_a_test_with_a_margin(margin: float, passed: bool) -> None:
    new, old = [0.8, 0.7, 0.9, 0.6, 0.9, 0.8], [0.9, 0.8, 0.9, 0.7, 0.9, 0.9]  # four of six are worse by 0.1
    found = run(Limits(margin=margin), new, old)
    (one,) = found.conditions
    assert (one.kind, one.limit, one.met, found.passed) == (NO_WORSE, margin, passed, passed)
    assert one.found == pytest.approx(-100 * 0.4 / 6)
    # With the margin of 15 all differences are positive, so that of 64 swaps the observed one alone is as large.
    assert one.p == (1 / 64 if passed else pytest.approx(15 / 16, abs=0.1))
    assert found.found == 4 and [f.number for f in found.findings][-1:] != [2]
    assert {(f.other, f.pronouns[0].text, f.other_pronouns[0].text) for f in found.findings} == {(OLD, "It", "She")}


@pytest.mark.parametrize(("most", "passed"), [(0, False), (1, False), (2, True)])
def test_lines_that_are_no_translation_fail_the_gate(most: int, passed: bool) -> None:
    gate = Gate(Limits(min_score=50, max_refusals=most), tie=0.01, worst=2, baseline=False)
    for number, why in enumerate([None, "refusal", "JSON", None]):
        gate.add(number, Row((NEW,), None, None, ()), "", segment(NEW, 0.9)._replace(no_translation=why), None)
    found = gate.verdict(seed=1)
    assert [(one.kind, one.limit, one.found, one.met) for one in found.conditions[1:]] == [
        (MAX_REFUSALS, most, 2, passed)
    ]
    assert found.passed == passed
    lines = gate_text.summary(found, Names("new.txt", None, "score")).splitlines()
    assert f"at most {most} lines that are no translation" in lines[3] and lines[3].endswith("2 of 4 lines")
    assert lines[4] == "2 segments with a doubtful pronoun, or no translation:"
    assert [line for line in lines if line.startswith("new.txt:") and "no translation (" in line] == [
        "new.txt:2: no translation (refusal)",
        "new.txt:3: no translation (JSON)",
    ]


def test_such_lines_are_worse_than_any_difference_to_a_baseline() -> None:
    gate = Gate(Limits(margin=50), tie=0.01, worst=1, baseline=True)
    for number in range(6):
        new = segment(NEW, 0.9)._replace(no_translation="refusal" if number == 4 else None)
        gate.add(number, Row((NEW, OLD), None, None, ()), "", new, segment(OLD, 0.9))
    found = gate.verdict(seed=1)
    assert not found.passed and found.findings[0].number == 4


def test_too_few_documents_for_the_level_are_an_error() -> None:
    with pytest.raises(PronmetricError, match=r"4 documents with a pronoun are too few for a test at `alpha=0.05`"):
        run(Limits(), [0.9] * 4, [0.9] * 4)  # p cannot be below 1 / 16
    assert run(Limits(), [0.9] * 5, [0.9] * 5).passed  # 1 / 32


def test_a_text_without_pronouns_is_an_error() -> None:
    gate = Gate(Limits(min_score=1), tie=0.01, worst=1, baseline=False)
    gate.add(0, Row(("Rain.",), None, None, ()), "", SegmentScore(None, ()), None)
    with pytest.raises(PronmetricError, match="no pronoun"):
        gate.verdict(seed=1)


def test_unbounded_scores_have_no_errors() -> None:
    gate = Gate(Limits(max_errors=1), tie=0.01, worst=1, baseline=False)
    gate.add(0, Row((NEW,), None, None, ()), "", SegmentScore(2.5, (PronounScore("It", 0, 2, 2.5, None),)), None)
    with pytest.raises(PronmetricError, match="leave out `max_errors=`"):
        gate.verdict(seed=1)


def test_the_text_names_the_conditions_and_the_worst_segments() -> None:
    names = Names("new.txt", "old.txt", "score")
    lines = gate_text.summary(run(Limits(min_score=99), [0.9, 0.5, 0.9, 0.9, 0.9], [0.9] * 5), names).splitlines()
    assert lines[0] == "new.txt: failed"
    assert "18.0 pronoun errors per 100 pronouns" in lines[1]
    assert lines[2].startswith(
        "No clear difference between the pronouns of old.txt and new.txt: old.txt has 8.00 points"
    )
    assert lines[3].startswith("NOT MET  score at least 99") and "82.00 (95 % " in lines[3]
    assert lines[4].startswith("NOT MET  no worse than old.txt (margin 1)") and "-8.00 points, p = " in lines[4]
    assert lines[5:] == [
        "1 segment worse than in old.txt:",
        "new.txt:2 (d1): -0.40 score; now It 0.50, before She 0.90",
        "  context: Before.",
        "  before:  She works.",
        "  now:     It works.",
    ]


def test_junit_has_a_case_for_each_condition() -> None:
    verdict = run(Limits(min_score=80, max_errors=0.1), [0.9, 0.5, 1.0, 1.0])
    top = ElementTree.fromstring(gate_text.junit(verdict, Names("a<b&\x01\udce9\uffff.txt", None, "score"), "model:x"))
    (suite,) = top
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (
        "pronmetric check a<b&\\x01\\udce9\\uffff.txt",
        "2",
        "1",
    )
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["score at least 80", "at most 0.1 pronoun errors expected"]
    assert cases[0].find("failure") is None
    failure = cases[1].find("failure")
    assert failure is not None and failure.get("message") == "0.60 in 4 pronouns"
    assert "now:     It works." in (failure.text or "")
    assert [p.get("value") for p in suite.iter("property")] == ["model:x"]


def test_annotations_escape_what_github_reads() -> None:
    verdict = run(Limits(min_score=80), [0.9, 0.5, 0.9, 0.9])
    names = Names("out,1:50%.txt", None, "score")
    (line,) = gate_text.github_commands(verdict, names)
    assert line == "::warning file=out%2C1%3A50%25.txt,line=2,title=pronouns::doubtful: It 0.50: It works."
    failed = gate_text.github_commands(run(Limits(min_score=99), [0.9, 0.5, 0.9, 0.9]), names)
    assert failed[0].startswith("::error title=pronmetric check::score at least 99: 80.00 (95 %25 ")
    assert failed[1].startswith("::error file=")
