"""What a report lists and counts."""

from __future__ import annotations

from dataclasses import replace

from pronmetric.report.content import ADDED, NOTHING, PRONOUN, SAME, WORD, Link, confusion, differing, gap
from pronmetric.results import Output, Pronoun, Result, Segment, System

SHE, HE = Link(SAME, 0, "she", 0, "she"), Link(PRONOUN, 0, "she", 0, "he")


def output(text: str, *scores: float) -> Output:
    pronouns = tuple(Pronoun(text.split()[0], 0, len(text.split()[0]), score) for score in scores)
    return Output(text, "", sum(scores) / len(scores) if scores else None, pronouns)


def result(*rows: tuple[Output, ...]) -> Result:
    segments = tuple(Segment(number, None, None, None, outputs) for number, outputs in enumerate(rows))
    systems = tuple(System(name, 50.0, None, 1, len(rows), 1) for name in "abc"[: len(rows[0])])
    return Result(systems=systems, pairs=(), segments=segments, signature="s:1", tie=0.1, probability=True)


ROWS = (
    (output("She left", 0.9), output("She left", 0.85)),  # within the tie threshold
    (output("She left", 0.9), output("He left", 0.3)),
    (output("She left", 0.9), output("She went", 0.5)),
    (output("Gone"), output("Gone")),
    (output("She left", 0.9), output("Gone")),
)


def test_segments_that_differ_come_in_the_order_of_their_difference() -> None:
    assert differing(result(*ROWS), None) == [1, 2, 4]


def test_a_pronoun_that_is_not_the_references_makes_a_segment_differ() -> None:
    links = [[(SHE,), (SHE,)], [(SHE,), (HE,)], [(), ()], [(Link(NOTHING, 0, "it", -1, ""),), ()], [(), ()]]
    assert differing(result(*ROWS), links) == [1, 2, 4, 3]
    assert differing(result(*ROWS[:1]), [[(HE,), (HE,)]]) == [0]


def test_a_single_system_lists_what_is_not_the_references_or_all_without_one() -> None:
    alone = result((output("She left", 0.9),), (output("Gone"),), (output("He left", 0.3),))
    assert differing(alone, None) == [2, 0]
    assert differing(alone, [[(SHE,)], [()], [(HE,)]]) == [2]


def test_the_tie_threshold_decides() -> None:
    assert differing(replace(result(*ROWS), tie=0.6), None) == [1, 4]
    assert gap(Segment(0, None, None, None, ROWS[1])) == 0.9 - 0.3
    assert gap(Segment(0, None, None, None, ROWS[4])) == 0.0


def test_confusion_counts_rows_by_the_reference() -> None:
    more = (Link(WORD, 2, "his", 3, "the"), Link(NOTHING, 4, "it", -1, ""), Link(ADDED, -1, "", 5, "who"))
    links = [[(SHE,), (HE,)], [(HE,), (HE, *more)]]
    assert confusion(links, 0) == {("she", "she"): 1, ("she", "he"): 1}
    assert confusion(links, 1) == {
        ("she", "he"): 2,
        ("his", "(other word)"): 1,
        ("it", "(nothing)"): 1,
        ("(nothing)", "who"): 1,
    }
