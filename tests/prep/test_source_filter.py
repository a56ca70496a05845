"""Pairs whose reference form the source contradicts, or whose two forms it supports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from data_prep.filters import ALIKE, CONTRADICTS, Reader, judge, sources
from data_prep.noise import noisy_references
from pronmetric.schema import Document, Mismatch, Pair, Segment
from pronmetric.text.context import Source, Text

SOURCE = "Sie hat ihren Bruder gesehen."


def pair(better: str, worse: str, ref: str, hyp: str) -> Pair:
    start, other = better.lower().index(ref), worse.lower().index(hyp)
    mismatch = Mismatch("pronoun", ref, hyp, start, start + len(ref), other, other + len(hyp))
    return Pair("t/A/S/1", "system", "t", "de-en", "d", 1, "A", "S", better, worse, (), (), (mismatch,))


RIGHT = pair("She has seen a man.", "He has seen a man.", "she", "he")
REPHRASED = pair("He has seen a man.", "She has seen a man.", "he", "she")


def reader(she: float, he: float, seen: list[Text]) -> Reader:
    """A reader that gives these log-odds, and lists the texts that it read."""

    def log_odds(text: Text, start: int) -> float:
        seen.append(text)
        return she if text.text[start:].startswith("She") else he

    return Reader("tiny", log_odds)


def test_a_reference_that_the_source_contradicts_is_no_clean_label() -> None:
    judged = judge({1: Source(SOURCE)}, reader(2.0, -1.0, []))
    assert judged is not None
    (noisy,) = noisy_references(RIGHT)
    assert judged(noisy) is None
    (noisy,) = noisy_references(REPHRASED)
    assert judged(noisy) == CONTRADICTS


def test_nothing_is_judged_without_sources() -> None:
    assert judge({}, reader(2.0, -1.0, [])) is None


@pytest.mark.parametrize(
    ("she", "he", "reason"),
    [(2.0, -1.0, None), (-1.0, 2.0, CONTRADICTS), (1.5, 1.4, ALIKE), (0.5, 0.4, None), (1.5, 0.4, None)],
)
def test_a_reader_judges_both_texts_in_their_context(she: float, he: float, reason: str | None) -> None:
    source, seen = Source(SOURCE, ("Es ist spät.",)), list[Text]()
    judged = judge({1: source}, reader(she, he, seen))
    assert judged is not None
    (noisy,) = noisy_references(replace(RIGHT, context=("It is", "late.")))
    assert judged(noisy) == reason
    assert seen == [Text("It is late.", text, source) for text in (RIGHT.better, RIGHT.worse)]


def test_sources_with_those_before_in_their_document() -> None:
    segments = tuple(Segment(k, src, {}, {}) for k, src in ((1, "A"), (2, None), (3, "B")))
    documents = [Document("t", "de-en", "d", segments), Document("t", "de-en", "e", (Segment(4, "C", {}, {}),))]
    assert sources(documents) == {1: Source("A"), 3: Source("B", ("A",)), 4: Source("C")}
