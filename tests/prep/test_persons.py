"""Exchanged persons: which pronouns and verbs of talk change, and which lines give no pair."""

from __future__ import annotations

from collections import Counter

import pytest

from data_prep.fidelity import persons
from data_prep.survey import Row, SegmentId
from pronmetric.schema import Pair


def talk(*lines: tuple[str, str]) -> list[Row]:
    """Lines with their speakers as a surveyed document."""
    return [
        Row(SegmentId("own", "fr-en", number), ("own", "fr-en", "one"), None, {"A": text}, True, speaker)
        for number, (speaker, text) in enumerate(lines, start=1)
    ]


def exchange(*lines: tuple[str, str], free: bool = True) -> tuple[list[Pair], Counter[tuple[str, ...]]]:
    counts: Counter[tuple[str, ...]] = Counter()
    found = persons.pairs(talk(*lines), is_free=lambda row: free, context_size=2, seed=1, counts=counts)
    return list(found), counts


@pytest.mark.parametrize(
    ("text", "worse"),
    [
        ("Did you see my keys?", "Did I see your keys?"),
        ("I'm sure I put them on your desk.", "You're sure you put them on my desk."),
        ("Are you angry with me?", "Am I angry with you?"),
        ("I\u2019m late.", "You\u2019re late."),
        ("We lost our way.", "You lost your way."),
        ("I WAS HERE.", "YOU WERE HERE."),
        ("Thank you, it is mine.", "Thank you, it is yours."),
        ("You hurt yourself, didn't you?", "I hurt myself, didn't you?"),
    ],
)
def test_persons_are_exchanged_with_their_verbs(text: str, worse: str) -> None:
    found, counts = exchange(("Lena", "Hello."), ("Omar", text))
    assert found[0].better == text
    assert found[0].worse == worse
    assert counts["lines", "exchanged"] == 1
    for mismatch in found[0].mismatches:
        assert found[0].better[mismatch.ref_start : mismatch.ref_end].lower() == mismatch.ref_form
        assert found[0].worse[mismatch.hyp_start : mismatch.hyp_end].lower() == mismatch.hyp_form


def test_a_line_of_several_persons_gives_a_pair_of_one_of_them() -> None:
    (every, one), _ = exchange(("Lena", "Hello."), ("Omar", "I saw you."))
    assert (len(every.mismatches), len(one.mismatches)) == (2, 1)
    assert one.worse in ("You saw you.", "I saw me.")


def test_the_context_says_who_speaks() -> None:
    (pair,), _ = exchange(("Lena", "Hello."), ("Omar", "I left."))
    assert pair.context == pair.system_context == ("Lena: Hello. Omar:",)
    assert (pair.kind, pair.lp, pair.doc) == ("fidelity", "fr-en", "one")


@pytest.mark.parametrize("text", ["She left.", "You and I left.", "Thank you.", "You know, it rained."])
def test_lines_without_a_clear_person_give_no_pair(text: str) -> None:
    found, counts = exchange(("Lena", "Hello."), ("Omar", text))
    assert not found
    assert counts["lines", "no person that can be exchanged"] == 2


def test_talk_needs_two_speakers_and_lines_of_the_split() -> None:
    assert exchange(("Lena", "Hello."), ("Lena", "I left."), ("", "I stayed."))[0] == []
    assert exchange(("Lena", "Hello."), ("Omar", "I left."), free=False)[0] == []
