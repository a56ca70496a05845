"""The list of the worst pronouns: which, in which order, and what is said of each."""

from __future__ import annotations

import re
from dataclasses import replace

from pronmetric.report.content import PRONOUN, Content, Link, ModelView
from pronmetric.report.worst import html, worst
from pronmetric.results import Output, Pronoun, Result, Segment, System
from pronmetric.scoring.score import Gap

NAMES = ("one", "two")


def output(text: str, *scores: float, gaps: tuple[Gap, ...] = ()) -> Output:
    word = text.split()[0]
    found = tuple(Pronoun(word, 0, len(word), score) for score in scores)
    return Output(text, "", sum(scores) / len(scores) if scores else None, found, gaps=gaps)


def content(*rows: tuple[Output, ...], listed: tuple[int, ...] = (), probability: bool = True) -> Content:
    segments = tuple(Segment(number, None, None, None, outputs) for number, outputs in enumerate(rows))
    systems = tuple(System(name, 50.0, None, 1, len(rows), 1) for name in NAMES[: len(rows[0])])
    result = Result(systems=systems, pairs=(), segments=segments, signature="s:1", tie=0.01, probability=probability)
    return Content(result=result, links=None, listed=listed, differing=len(listed))


def test_the_worst_come_first_and_equal_texts_count_once() -> None:
    rows = [(output("She left.", 0.9), output("He left.", 0.2)), (output("It works.", 0.4), output("It works.", 0.4))]
    found = worst(content(*rows))
    assert [(place.value, place.segment, place.systems) for place in found] == [
        (0.2, 0, (1,)),
        (0.4, 1, (0, 1)),
        (0.9, 0, (0,)),
    ]
    assert len(worst(content(*rows), 2)) == 2


def test_a_gap_is_as_bad_as_it_is_likely() -> None:
    missing = output("It left for home.", 0.5, gaps=(Gap(8, "her", 0.9),))
    (first, second) = worst(content((missing,)))
    assert (round(first.value, 6), first.at, second.value) == (0.1, None, 0.5)
    said = html(content((missing,)), ["one"])
    assert (
        "“her” is missing with probability 0.90" in said
        and 'It left <span class="gap doubtful">‸her</span> for' in said
    )


def test_each_says_where_and_what() -> None:
    made = content((output("She left.", 0.9), output("He left.", 0.2)), listed=(0,))
    links = [[(), (Link(PRONOUN, 0, "she", 0, "he"),)]]
    views = {0: (ModelView(None, (None,)), ModelView(None, ((("she", 0.8), ("it", 0.3)),)))}
    said = html(replace(made, links=links, views=views), NAMES)
    first = re.sub("<[^>]+>", "", said.split("</li>")[0])
    told = "“He” is right with probability 0.20; the reference has “she”; more probable: “she” 0.80"
    assert first == f"Line 1 · two: {told}He left."
    assert said.count('href="#l1"') == 2 and '<span class="p doubtful">He</span> left.' in said
    assert "#l1" not in html(replace(made, listed=()), NAMES)  # the line is not on the page


def test_surplus_pronouns_unbounded_scores_and_good_texts() -> None:
    surplus = output("It rains.", 0.4)
    surplus = surplus._replace(pronouns=(surplus.pronouns[0]._replace(surplus=0.5),))
    assert "surplus rather than wrong" in html(content((surplus,)), ["one"])
    assert "“She” has the score -1.50" in html(content((output("She left.", -1.5),), probability=False), ["one"])
    assert "None of them is doubtful" in html(content((output("She left.", 0.95),)), ["one"])
    assert "No text has a pronoun" in html(content((output("Gone."),)), ["one"])


def test_text_is_no_mark_up() -> None:
    said = html(content((output("She <b>left</b>.", 0.2),)), ["<i>one</i>"])
    assert "<b>" not in said and "<i>" not in said
