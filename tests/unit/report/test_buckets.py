"""Tables of pronouns by form, document, length and distance, on scores written by hand; the chart as a file."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from pronmetric.report import buckets, tables
from pronmetric.report.chart import svg
from pronmetric.report.content import Content, ModelView
from pronmetric.results import Output, Pronoun, Result, Segment, System


def output(text: str, *scores: float, context: str = "Anna came .") -> Output:
    """Pronouns are the words with a capital letter."""
    places = [(at, word) for at, word in enumerate(text.split()) if word[0].isupper()]
    starts = [len(" ".join(text.split()[:at])) + (at > 0) for at, _ in places]
    found = zip(starts, places, scores, strict=True)
    pronouns = tuple(Pronoun(word, start, start + len(word), score) for start, (_, word), score in found)
    return Output(text, context, 0.5, pronouns)


def content(*, probability: bool = True) -> Content:
    segments = (
        Segment(0, "d1", None, None, (output("She left .", 0.9), output("He left .", 0.1))),
        Segment(1, "d1", None, None, (output("then She saw It .", 0.5, 0.7), output("then She saw It .", 0.8, 0.6))),
        Segment(2, "d2", None, None, (output("She " + "very " * 10 + ".", 0.7), output("rain ."))),
    )
    systems = tuple(System(name, 50.0, (40.0, 60.0), 4, 3, 3) for name in ("a.txt", "b.txt"))
    result = Result(systems=systems, pairs=(), segments=segments, signature="m:x", tie=0.0, probability=probability)
    return Content(result=result, links=None, listed=(0, 1, 2), differing=3)


def test_by_form_with_the_difference_to_the_first_system() -> None:
    made = buckets.make("forms", content())
    assert made.header == ("form", "system", "pronouns", "mean", "below 0.7, %", "less the first system's")
    assert made.rows == (
        ("she", "a.txt", "3", "0.700", "33.3", "-"),  # 0.9, 0.5, 0.7
        ("she", "b.txt", "1", "0.800", "0.0", "+0.100"),
        ("it", "a.txt", "1", "0.700", "0.0", "-"),
        ("it", "b.txt", "1", "0.600", "100.0", "-0.100"),
        ("he", "b.txt", "1", "0.100", "100.0", "-"),
    )


def test_by_document_and_by_length_of_the_sentence() -> None:
    assert [row[:3] for row in buckets.make("documents", content()).rows] == [
        ("d1", "a.txt", "3"),
        ("d1", "b.txt", "3"),
        ("d2", "a.txt", "1"),
    ]
    assert [row[:3] for row in buckets.make("lengths", content()).rows] == [
        ("1 to 10", "a.txt", "3"),
        ("1 to 10", "b.txt", "3"),
        ("11 to 20", "a.txt", "1"),
    ]


def test_by_distance_to_the_word_attended_to_most() -> None:
    given = content()
    assert buckets.make("distances", given).rows == ()
    # "Anna came . She left .": the mark and the pronoun itself do not count, so that it is "Anna", three words before.
    weights = (0.2, 0.1, 0.9, 0.8, 0.1, 0.0)
    far = (0.9, *(0.0,) * 5)
    views = {0: (ModelView((weights,), (None,)), ModelView((far,), (None,)))}
    made = buckets.make("distances", replace(given, views=views))
    assert [row[:4] for row in made.rows] == [("1 to 5", "a.txt", "1", "0.900"), ("1 to 5", "b.txt", "1", "0.100")]


def test_unbounded_scores_have_no_share_of_doubtful_ones() -> None:
    made = buckets.make("forms", content(probability=False))
    assert made.header == ("form", "system", "pronouns", "mean", "less the first system's")
    assert tables.tsv(made).startswith(
        "form\tsystem\tpronouns\tmean\tless the first system's\nshe\ta.txt\t3\t0.700\t-\n"
    )


def test_the_chart_as_a_file_is_one_complete_svg() -> None:
    systems = (System("out/<a>.txt", 50.0, (40.0, 60.0), 4, 3, 3), System("b.txt", None, None, 0, 3, 0))
    top = ElementTree.fromstring(svg(systems))
    texts = [text.text for text in top.iter("{http://www.w3.org/2000/svg}text")]
    assert "<a>.txt: 50.00 (40.00 to 60.00)" in texts and "b.txt: no pronouns" in texts
    assert len(list(top.iter("{http://www.w3.org/2000/svg}circle"))) == 1


@pytest.mark.parametrize("name", list(buckets.TABLES))
def test_every_table_can_be_chosen_by_its_columns(name: str) -> None:
    made = buckets.make(name, content())
    assert tables.choose(made, ["system", "mean"]).header == ("system", "mean")
