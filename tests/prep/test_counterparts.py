"""Counterparts: pronouns in the same role among linked words, and nothing else."""

from __future__ import annotations

import pytest

from pronmetric.alignment.counterparts import counterparts, expletive
from pronmetric.pronouns import finder
from pronmetric.text.words import words


def found(ref: str, hyp: str, links: dict[int, int]) -> list[tuple[str, str]]:
    split, other = words(ref), words(hyp)
    pairs = counterparts(split, finder.find(ref, split), other, finder.find(hyp, other), links)
    return [(one.form, two.form) for one, two in pairs]


def test_the_same_role_next_to_linked_words() -> None:
    links = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4}
    assert found("She sold it yesterday.", "He sold them yesterday.", links) == [("she", "he"), ("it", "them")]
    assert found("I lost her key.", "I lost its key.", links) == [("i", "i"), ("her", "its")]


def test_another_role_is_no_counterpart() -> None:
    assert found("He hits his first ball.", "He is the first.", {1: 1, 2: 0, 3: 3, 4: 4}) == []
    assert found("After he left we ate.", "After his departure we ate.", {0: 0, 1: 1, 2: 2, 4: 4}) == [("we", "we")]


def test_a_link_without_a_linked_neighbour_is_dropped() -> None:
    assert found("She walked home.", "It rains.", {0: 0}) == []
    assert found("She walked home.", "It walked home.", {0: 0, 1: 1}) == [("she", "it")]


def test_an_unlinked_pronoun_gets_the_one_in_its_place() -> None:
    assert found("Then she sang.", "Then they sang.", {0: 0, 2: 2}) == [("she", "they")]
    assert found("Then she sang.", "They sang.", {2: 1}) == [("she", "they")]


def test_what_another_word_is_linked_to_is_taken() -> None:
    assert found("Now she sang.", "He sang.", {0: 0, 2: 1}) == []


def test_expletive_it_has_no_counterpart() -> None:
    links = {0: 0, 1: 1, 2: 2, 3: 3}
    assert found("I am always amazed to see.", "It is always amazing to see.", links) == []
    assert found("I am always ill.", "It is always ill.", links) == [("i", "it")]


@pytest.mark.parametrize(
    ("text", "stands_for_nothing"),
    [
        ("It is clear that he left.", True),
        ("It would not be easy to say.", True),
        ("It seems late.", True),
        ("It has been known for years that he lies.", True),
        ("It is a red car.", False),
        ("It broke.", False),
        ("It is red, and that is good.", False),
        ("This is clear to me.", False),
        ("It", False),
    ],
)
def test_which_it_is_expletive(text: str, stands_for_nothing: bool) -> None:
    assert expletive(words(text), 0) is stands_for_nothing
