"""Mismatches: what counts as one, its kind and its position."""

from __future__ import annotations

from data_prep.pairs import in_use, mismatches
from pronmetric.pronouns.finder import FORMS
from pronmetric.schema import Alignment, Mismatch
from pronmetric.text.words import words


def found(ref: str, hyp: str, links: list[tuple[int, int]], forms: tuple[str, ...] = FORMS) -> list[Mismatch]:
    ref_words = words(ref)
    used = in_use(ref, ref_words, forms)
    return list(mismatches(ref_words, used, hyp, words(hyp), Alignment(tuple(links)), forms=forms))


def straight(text: str) -> list[tuple[int, int]]:
    return [(i, i) for i in range(len(words(text)))]


def test_another_pronoun_is_found_with_both_spans() -> None:
    ref, hyp = "Then she sold it.", "Then he sold it."
    assert found(ref, hyp, straight(ref)) == [Mismatch("pronoun", "she", "he", 5, 8, 5, 7)]


def test_equal_pronouns_are_none_whatever_the_letter_case() -> None:
    assert found("She left.", "she left.", straight("She left.")) == []


def test_another_word_and_nothing_are_kinds_of_their_own() -> None:
    ref, hyp = "She saw him.", "Anna saw."
    assert found(ref, hyp, [(0, 0), (1, 1), (3, 2)]) == [
        Mismatch("word", "she", "anna", 0, 3, 0, 4),
        Mismatch("nothing", "him", "", 8, 11, -1, -1),
    ]


def test_a_conjunction_is_another_word() -> None:
    ref, hyp = "He knows it , she left.", "He knows that she left."
    links = [(0, 0), (1, 1), (2, 2), (4, 3), (5, 4), (6, 5)]
    assert [(m.kind, m.hyp_form) for m in found(ref, hyp, links)] == [("word", "that")]


def test_a_conjunction_in_the_reference_is_no_pronoun() -> None:
    ref, hyp = "He knows that she left.", "He knows it she left."
    assert found(ref, hyp, straight(ref)) == []


def test_a_form_outside_the_inventory_is_passed_over() -> None:
    ref, hyp = "The boat is theirs.", "The boat is ours."
    assert [m.ref_form for m in found(ref, hyp, straight(ref))] == ["theirs"]
    assert found(ref, hyp, straight(ref), tuple(form for form in FORMS if form != "theirs")) == []


def test_names_in_capitals_are_none() -> None:
    ref, hyp = "The US sold it.", "The us sold IT."
    assert [(m.kind, m.ref_form) for m in found(ref, hyp, straight(ref))] in ([], [("word", "it")])
