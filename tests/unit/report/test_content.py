"""What a report lists and counts."""

from __future__ import annotations

from dataclasses import replace

from pronmetric.eval.decision import PREFERENCE, SCORE
from pronmetric.report.content import (
    ADDED,
    NOTHING,
    PRONOUN,
    SAME,
    WORD,
    Link,
    best,
    confusion,
    describe_model,
    differing,
    gap,
)
from pronmetric.results import Output, Pronoun, Result, Segment, System, Verdict, judge

SHE, HE = Link(SAME, 0, "she", 0, "she"), Link(PRONOUN, 0, "she", 0, "he")


def output(text: str, *scores: float) -> Output:
    pronouns = tuple(Pronoun(text.split()[0], 0, len(text.split()[0]), score) for score in scores)
    return Output(text, "", sum(scores) / len(scores) if scores else None, pronouns)


def result(*rows: tuple[Output, ...], tie: float = 0.1) -> Result:
    judged = [judge(outputs, by=SCORE, tie=tie) for outputs in rows]
    segments = tuple(Segment(k, None, None, None, *each) for k, each in enumerate(zip(rows, judged, strict=True)))
    systems = tuple(System(name, 50.0, None, 1, len(rows), 1) for name in "abc"[: len(rows[0])])
    return Result(systems=systems, pairs=(), segments=segments, signature="s:1", tie=tie, probability=True)


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
    assert differing(result(*ROWS, tie=0.6), None) == [1, 4]
    segments = result(*ROWS).segments
    assert gap(segments[1]) == 0.9 - 0.3 and gap(segments[4]) == 0.0
    assert [best(segment) for segment in segments] == [(), (0,), (0,), None, None]


def test_the_verdict_is_that_of_the_result_whatever_the_scores() -> None:
    """By the preference, equal scores differ and other scores tie."""
    equal = output("She left", 0.9)
    outputs = tuple(equal._replace(preference=value) for value in (-1.0, 2.5))
    segment = Segment(0, None, None, None, outputs, judge(outputs, by=PREFERENCE, tie=0.1))
    found = replace(result(outputs), segments=(segment,), by=PREFERENCE)
    assert segment.verdicts == (Verdict("b", -3.5),) and best(segment) == (1,) and gap(segment) == 3.5
    assert differing(found, None) == [0]


def test_the_best_of_several_systems_loses_to_the_fewest() -> None:
    rows = tuple(output("She left", *scores) for scores in ((0.9,), (0.85,), (0.4,), ()))
    (segment,) = result(rows).segments
    assert best(segment) == (0, 1)  # 0.85 is within the threshold of 0.9; the last has no pronoun
    circle = (Verdict("a", 1.0), Verdict("b", -1.0), Verdict("a", 1.0))  # 0 beats 1, 2 beats 0, 1 beats 2
    assert best(segment._replace(outputs=rows[:3], verdicts=circle)) == ()


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


def test_a_model_is_known_by_its_weights_and_settings_whatever_its_name() -> None:
    loaded = "model:small|weights:ab12cd34|settings:01|precision:32"
    told = describe_model(loaded, "model:default|weights:ab12cd34|settings:01|precision:bf16")
    assert told.endswith("are from the model that produced the scores, small")
    for other in ("model:small|weights:ab12cd34|settings:02", "model:small|hash:ab12cd34", "none"):
        assert "from a different model (small, weights ab12cd34, settings 01)" in describe_model(loaded, other)
