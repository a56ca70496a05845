"""What a report lists and counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pronmetric.eval.decision import PREFERENCE, SCORE
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.report.content import (
    ADDED,
    NOTHING,
    PRONOUN,
    SAME,
    WORD,
    Link,
    best,
    confusion,
    differing,
    gap,
    is_model_of,
    link_pronouns,
    listed_texts,
    model_views,
    reads_as,
)
from pronmetric.results import Output, Pronoun, Result, Segment, System, Verdict, judge
from pronmetric.scoring.alternatives import Alternative, PronounAlternatives
from pronmetric.scoring.score import PronounScore
from pronmetric.signature import Signature
from pronmetric.text.context import Source

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
    loaded = Signature.parse("model:small|weights:ab12cd34|settings:01|precision:32")
    assert is_model_of(loaded, "model:default|weights:ab12cd34|settings:01|precision:bf16")
    for other in ("model:small|weights:ab12cd34|settings:02", "model:small|hash:ab12cd34", "none"):
        assert not is_model_of(loaded, other)


def test_sources_count_where_the_same_reader_read_them() -> None:
    loaded = Signature.parse("model:a|source:reader-01")
    assert reads_as(loaded, "model:b|source:reader-01")
    assert not reads_as(loaded, "model:b|source:reader-02") and not reads_as(loaded, "model:b")
    assert not reads_as(Signature.parse("model:a"), "model:b")


def test_texts_have_the_sources_of_their_document() -> None:
    rows = result(*ROWS)
    segments = tuple(
        segment._replace(source=f"Quelle {segment.number}.", doc="a" if segment.number < 2 else "b")
        for segment in rows.segments
    )
    sourced = replace(rows, segments=segments, source_language="de")
    first, second = listed_texts(sourced, [1, 2], with_source=True)[::2]
    assert first.source == Source("Quelle 1.", ("Quelle 0.",), "de")
    assert second.source == Source("Quelle 2.", (), "de")
    assert all(text.source is None for text in listed_texts(sourced, [1, 2], with_source=False))


def test_no_form_is_proposed_that_is_below_the_one_it_replaces() -> None:
    """Neither below the probability in the result nor below that of the loaded model; the same person first."""
    pronoun = PronounScore("He", 0, 2, 0.4, 0.4)
    others = [("we", 0.9, False), ("she", 0.6, True), ("it", 0.45, True), ("they", 0.3, True)]
    found = PronounAlternatives(pronoun, tuple(Alternative(f, f, p, True, same) for f, p, same in others))
    text = Output("He left.", "", 0.5, (Pronoun("He", 0, 2, 0.5),))
    one = replace(result((text,)), segments=(Segment(0, None, None, None, (text,)),))
    (view,) = model_views(one, [0], [()], [(found,)])[0]
    assert view.others == ((("she", 0.6), ("we", 0.9)),)


@pytest.mark.parametrize(
    ("reference", "text", "kinds"),
    [
        ("It is connected to the network.", "He is connected to the network.", [(PRONOUN, "it", "he")]),
        ("It is connected to it.", "He is connected to it.", [(PRONOUN, "it", "he"), (SAME, "it", "it")]),
        ("She saw him there.", "She saw there.", [(SAME, "she", "she"), (NOTHING, "him", "")]),
        ("She saw there.", "She saw him there.", [(SAME, "she", "she"), (ADDED, "", "him")]),
    ],
)
def test_where_the_rest_is_the_same_one_pronoun_is_one_change(
    reference: str, text: str, kinds: list[tuple[str, str, str]]
) -> None:
    """Two words of an aligner that knows a single line: the rest of the sentence decides."""
    found = tuple(Pronoun(p.text, p.start, p.end, 0.5) for p in ENGLISH.find(text))
    segment = Segment(0, None, None, reference, (Output(text, "", 0.5, found),))
    one = replace(result((output("She left", 0.5),)), segments=(segment,))
    links = link_pronouns(one, lambda _: None)
    assert links is not None
    assert [(link.kind, link.reference_form, link.form) for link in links[0][0]] == kinds
