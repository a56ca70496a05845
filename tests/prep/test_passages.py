"""Passages: nothing lost, nothing twice, cut at sentence ends, not too long."""

from __future__ import annotations

import pytest

from data_prep.passages import estimate, passages, windows
from pronmetric.text.sentences import LISTED, split_sentences

PARAGRAPH = (
    "Mr. Hale met Dr. J. T. Moss on the pier. \u201cIs it late?\u201d she asked. He looked at the clock, which had "
    "stopped\u2026 Then they left! (Nobody saw them.) At 5.30 p.m. on Oct. 3 it rained, e.g. in Leith. 12 boats sank."
)


def test_sentences_end_where_they_end() -> None:
    assert split_sentences(PARAGRAPH, LISTED) == [
        "Mr. Hale met Dr. J. T. Moss on the pier.",
        "\u201cIs it late?\u201d she asked.",
        "He looked at the clock, which had stopped\u2026",
        "Then they left!",
        "(Nobody saw them.)",
        "At 5.30 p.m. on Oct. 3 it rained, e.g. in Leith.",
        "12 boats sank.",
    ]
    assert " ".join(split_sentences(PARAGRAPH, LISTED)) == PARAGRAPH
    assert split_sentences("", LISTED) == []


LONG = "He waited, and he waited; " * 30 + "then she came."
ENDLESS = "on and " * 200 + "on"


@pytest.mark.parametrize("lines", [[PARAGRAPH] * 9, [LONG, PARAGRAPH, LONG], [ENDLESS], ["Short."], []])
@pytest.mark.parametrize("pieces", [16, 128])
def test_windows_lose_and_repeat_nothing_and_keep_the_size(lines: list[str], pieces: int) -> None:
    found = list(windows(lines, pieces=pieces))
    assert " ".join(found) == " ".join(lines)
    assert all(estimate(window) <= pieces for window in found)


def test_windows_are_full_and_end_with_a_sentence() -> None:
    found = list(windows(["She sings well."] * 100, pieces=50, count=lambda text: len(text.split())))
    assert [len(window.split()) for window in found] == [48] * 6 + [12]
    assert all(window.endswith(".") for window in found)


def test_one_word_over_the_size_is_a_passage_by_itself() -> None:
    assert list(windows(["a b c d"], pieces=1, count=lambda text: 5 if "c" in text else len(text.split()))) == list(
        "abcd"
    )


def test_a_passage_holds_the_spans_of_its_pronouns() -> None:
    first, second = passages(
        ["She  sold it.", "The US paid\tthem."], source="gum", doc="news.1", pieces=4, count=lambda t: len(t.split())
    )
    assert first.text == "She sold it." and second.text == "The US paid them."
    assert first.id == "gum/news.1#1" and (first.source, first.doc) == ("gum", "news.1")
    assert [first.text[a:b] for a, b in first.spans] == ["She", "it"]
    assert first.forms == ("she", "it") and second.forms == ("them",)


def test_a_passage_without_pronoun_is_there_with_no_span() -> None:
    (only,) = passages(["Rain fell."], source="gum", doc="d")
    assert only.spans == () and only.forms == ()
