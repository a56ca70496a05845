from __future__ import annotations

import pytest

from pronmetric.pronouns.finder import FORMS
from pronmetric.pronouns.kinds import KINDS, kinds
from pronmetric.pronouns.languages import language


@pytest.mark.parametrize(
    ("reference", "wrong", "expected"),
    [
        ("he", "she", "gender"),
        ("her", "his", "gender"),  # determiner against determiner, not object against independent
        ("her", "him", "gender"),
        ("herself", "himself", "gender"),
        ("it", "he", "animacy"),
        ("her", "its", "animacy"),
        ("her", "it", "animacy"),
        ("they", "it", "number"),
        ("he", "they", "number"),
        ("i", "we", "number"),
        ("yourself", "yourselves", "number"),
        ("i", "he", "person"),
        ("i", "you", "person"),
        ("you", "him", "person"),  # you is an object too, and shows no number
        ("we", "it", "number person"),
        ("he", "him", "case"),
        ("her", "hers", "case"),
        ("it", "its", "case"),
        ("him", "himself", "case"),
        ("she", "him", "gender case"),
        ("he", "them", "number case"),
        ("we", "me", "number case"),
        ("i", "them", "number person case"),
        ("it", "that", "demonstrative"),
        ("these", "this", "demonstrative"),
        ("that", "it", "demonstrative"),
        ("those", "their", "demonstrative"),
        ("that", "which", "relative"),
        ("who", "he", "relative"),
        ("what", "this", "relative"),
        ("whom", "who", "relative"),
        ("he", "he", ""),
        ("he", "dog", ""),
        ("", "she", ""),
    ],
)
def test_kinds(reference: str, wrong: str, expected: str) -> None:
    assert set(kinds(reference, wrong)) == set(expected.split())


@pytest.mark.parametrize(
    ("reference", "wrong", "expected"),
    [("er", "es", "gender"), ("sie", "er", "gender"), ("er", "ich", "person"), ("er", "he", "")],
)
def test_kinds_of_another_language_are_by_its_table(reference: str, wrong: str, expected: str) -> None:
    assert set(kinds(reference, wrong, language("de"))) == set(expected.split())


def test_every_two_forms_differ_in_some_kind_and_the_same_the_other_way() -> None:
    for one in FORMS:
        for other in FORMS:
            found = kinds(one, other)
            assert bool(found) == (one != other)
            assert found == kinds(other, one)
            assert list(found) == [kind for kind in KINDS if kind in found]
