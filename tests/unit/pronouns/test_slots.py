"""The slot of a pronoun, the forms that fit there, and agreement."""

from __future__ import annotations

import pytest

from pronmetric.pronouns.slots import agrees, grades, replaces, role, same_slot, slot
from pronmetric.text.words import words


def at(text: str) -> tuple[tuple, int]:
    """The words of a text whose pronoun is in angle brackets, and its index."""
    start = text.index("<")
    plain = text.replace("<", "").replace(">", "")
    split = words(plain)
    return split, next(k for k, word in enumerate(split) if word.start == start)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<He> left.", "subject"),
        ("We saw <them>.", "object"),
        ("<her> book fell", "possessive determiner"),
        ("I like <her> new book.", "possessive determiner"),
        ("We saw <her> yesterday.", "object"),
        ("We spoke to <her>.", "object"),
        ("It gave <her> quite a turn.", "object"),
        ("She wrote it in <her> 30s.", "possessive determiner"),
        ("We laughed at <her> “best” hat.", "possessive determiner"),
        ("They call <her> “Auntie” here.", "object"),
        ("“We were told of <her>” was all.", "object"),
        ("<his> dog barks", "possessive determiner"),
        ("The dog is <his>.", "possessive independent"),
        ("A friend of <his> came.", "possessive independent"),
        ("<his> or her dog", "possessive determiner"),
        ("The hat is <hers>.", "possessive independent"),
        ("He hurt <himself>.", "reflexive"),
        ("<It> is late.", "subject"),
        ("Is <it> late?", "subject"),
        ("I saw <it>.", "object"),
        ("She spoke about <it> often.", "object"),
        ("What does <it> mean?", "subject"),
        ("when <it> came", "subject"),
        ("Thank <you> for that.", "object"),
        ("Do <you> know?", "subject"),
        ("it s what <you> re used to", "subject"),
        ("the man <who> left", "relative"),
        ("<Who> left?", "interrogative"),
        ("I wonder <who> left.", "interrogative"),
        ("the house, <which> fell", "relative"),
        ("the house in <which> they lived", "relative"),
        ("<Which> house fell?", "interrogative determiner"),
        ("<What> time is it?", "interrogative determiner"),
        ("<What> happened?", "interrogative"),
        ("the man <whose> dog barks", "relative determiner"),
        ("<Whose> dog is it?", "interrogative determiner"),
        ("the house <that> fell", "relative"),
        ("<That> is late.", "demonstrative"),
        ("<That> house fell.", "demonstrative determiner"),
        ("<this> house", "demonstrative determiner"),
        ("<This> works.", "demonstrative"),
        ("<These> are late.", "demonstrative"),
        ("one of <those> days", "demonstrative determiner"),
        ("<those> living in the town", "demonstrative"),
    ],
)
def test_slot(text: str, expected: str) -> None:
    assert slot(*at(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<He> left.", ("she", "it", "they")),
        ("We saw <him>.", ("her", "it", "them")),
        ("<Its> roof fell.", ("his", "her", "their")),
        ("The hat is <hers>.", ("his", "theirs")),
        ("She hurt <herself>.", ("himself", "itself", "themselves")),
        ("<I> left.", ("we", "you")),
        ("They saw <us>.", ("me", "you")),
        ("the man <who> left", ("which", "that")),
        ("<This> is late.", ("that",)),
        ("<These> days", ("those",)),
        ("<Who> left?", ("what", "which")),
    ],
)
def test_the_first_grade_is_the_same_slot_and_person(text: str, expected: tuple[str, ...]) -> None:
    assert grades(*at(text))[0] == expected


def test_same_slot_is_all_grades_without_the_form() -> None:
    place = at("<it> is late")
    assert same_slot(*place)[:3] == ("he", "she", "they")
    assert set(same_slot(*place)) == {"he", "she", "they", "that", "this", "these", "those", "i", "we", "you"}
    assert len(same_slot(*place)) == len(set(same_slot(*place)))
    assert same_slot(*at("<this> house")) == ("that", "its", "these", "those", "his", "her", "their")


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("<He> is here.", "she", True),
        ("<He> is here.", "they", False),
        ("<He> was here.", "they", False),
        ("<He> has gone.", "we", False),
        ("<He> had gone.", "they", True),
        ("<He> will go.", "they", True),
        ("<He> went.", "they", True),
        ("<He> goes.", "they", False),
        ("<He> never goes.", "they", False),
        ("<They> go.", "it", False),
        ("<They> put it down.", "it", True),
        ("<They> are here.", "you", True),
        ("<They> are here.", "it", False),
        ("<I> am here.", "he", False),
        ("<He> is here.", "I".lower(), False),
        ("<He> was here.", "i", True),
        ("<I> have one.", "they", True),
        ("<I> have one.", "she", False),
        ("<It>'s late.", "they", False),
        ("<They>\u2019re late.", "he", False),
        ("they say <they> re late", "he", False),
        ("Does <he> know?", "they", False),
        ("Are <they> here?", "it", False),
        ("If <he> were here", "they", True),
        ("We saw <him>.", "them", True),
        ("<his> dog is here", "their", True),
        ("<this> book", "these", False),
        ("<this> book", "that", True),
        ("<these> books", "their", True),
        ("<This> is late.", "these", False),
        ("the man <who> is here", "which", True),
        ("the man <who> is here", "they", False),
    ],
)
def test_agreement(text: str, form: str, expected: bool) -> None:
    assert agrees(*at(text), form) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<She> left.", "he it they i we you"),
        ("<She> is late.", "he it"),
        ("We saw <him>.", "her it them me us you"),
        ("<It> fell.", "he she they that this i we you"),
        ("We saw <them>.", "him her it these those me us you"),
        ("<This> fell.", "that it these those he she"),
        ("We saw <those>.", "these them that this"),
        ("the man <who> left", "which that"),
        ("the man <whom> we saw", "who which that"),
        ("<Who> left?", "what which whatever"),
        ("<Who> did you see?", "what which whatever whom"),
        ("<this> house", "that its his her their"),
        ("<Her> house fell.", "his its their my our your"),
        ("She hurt <herself>.", "himself itself themselves myself ourselves yourself yourselves"),
    ],
)
def test_what_can_be_proposed_instead(text: str, expected: str) -> None:
    place = at(text)
    assert [form for form in same_slot(*place) if replaces(*place, form)] == expected.split()


def test_role() -> None:
    assert role(*at("for <those> who left")) == "object"
    assert role(*at("<this> often comes")) == "subject"
