"""Exact pronoun match, counted by hand."""

from __future__ import annotations

from pronmetric.lab.baselines.reference_based import Exact, exact
from pronmetric.pronouns.finder import find
from pronmetric.text.words import words


def count(reference: str, output: str, links: list[tuple[int, int]]) -> Exact:
    return exact(find(reference), words(output), links)


def test_a_pronoun_is_kept_replaced_or_linked_to_nothing() -> None:
    # She(0) gave(1) him(2) her(3) book(4) .(5)
    links = [(0, 0), (1, 1), (2, 2), (4, 4)]  # "her" has no link
    assert count("She gave him her book.", "She gave it the book.", links) == Exact(kept=1, aligned=2, pronouns=3)


def test_another_word_than_a_pronoun_is_no_match() -> None:
    assert count("She left.", "Mary left.", [(0, 0), (1, 1)]) == Exact(kept=0, aligned=1, pronouns=1)


def test_case_makes_no_difference() -> None:
    assert count("It left.", "Then it left.", [(0, 1)]).share == 1


def test_the_t_of_tis_is_it() -> None:
    assert count("It is late.", "'Tis late.", [(0, 0), (1, 1)]).share == 1
    assert count("'Tis late.", "It is late.", [(0, 0), (1, 1)]).share == 1


def test_one_of_several_links_is_enough_and_counts_once() -> None:
    assert count("She left.", "It was she.", [(0, 0), (0, 2)]) == Exact(kept=1, aligned=1, pronouns=1)


def test_words_that_only_look_like_pronouns_do_not_count() -> None:
    assert count("I know that US law.", "I know the US law.", [(0, 0), (2, 2), (3, 3)]).pronouns == 2  # I, that


def test_the_share_of_nothing_is_none() -> None:
    assert count("She left.", "", []) == Exact(kept=0, aligned=0, pronouns=1)
    assert Exact(0, 0, 1).share is None
    assert count("", "She left.", []).share is None
