"""A pronoun in a quoted title is not in use; one in speech is."""

from __future__ import annotations

import pytest

from pronmetric.pronouns.finder import explain, find


def found(text: str) -> str:
    return " ".join(occurrence.text for occurrence in find(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('She sang "Me and My Kettle" in Leeds.', "She"),
        ("He played in \u201cThe Years We Lost,\u201d a comedy.", "He"),
        ("The film 'You Smell Like Rain' opened in Lille.", ""),
        ("The film \u2018It Was Her Turn\u2019 opened in Lille.", ""),
        ("Her novel \u00abWhat He Left Behind\u00bb sold well.", "Her"),
        ("Her novel \u201eSongs for My Sister\u201c sold well.", "Her"),
        ("Her novel \u300aSongs for My Sister\u300b sold well.", "Her"),
        ("The film ``Let Me Stay'' was shown.", ""),
        ('The album ( "How We Got Here" ) came out .', ""),
        ('The series " Those Days We Shared " begins today .', ""),
        ('He wrote "Who Owns This Lake?" last year.', "He"),
        ('He wrote "Ponds: Where They Are and How They Die", a guide.', "He"),
        ('His first book, "I Can\'t Swim", is about a boy who drowns.', "His who"),
        ('The ballad "My Brother Olaf" closes the evening.', ""),
        ('The ballad "My Old Winter Coat." closes the evening.', ""),
        ('The play "Miserable Me" was a flop.', ""),
        ('"It Stops Again" is a song that everyone knows.', "that"),
        ('The programme "We Cook" follows "Poor Me".', ""),
        ('"She left," he said of "A House of Her Own".', "She he"),
        ("The film <i>&quot;Let Me Stay&quot;</i> was shown.", ""),
    ],
)
def test_titles_hold_no_pronoun(text: str, expected: str) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # sentences and fragments of speech
        ('"I will go," she said.', "I she"),
        ('"He left," she said.', "He she"),
        ('"You," said the nurse.', "You"),
        ('"It\'s Miss Lee," said the nurse.', "It"),
        ('"I\'m Will Brown," said the nurse.', "I"),
        ("'That's the Till,' said the nurse.", "That"),
        ('"Am I Olaf?" said the nurse.', "I"),
        ('"This Mars and Venus," said the nurse.', "This"),
        ('"I like Like," said the nurse.', "I"),
        ('"It Rains Again" is a song with a verb that no table has.', "It that"),
        ('"Why, of HIM!" said the nurse.', "HIM"),
        ('"What about Rose?" asked the nurse.', "What"),
        ('"My God!" said the nurse.', "My"),
        ('"My Aunt Clara," said the nurse.', "My"),
        ('"To His Majesty King Olaf," said the nurse.', "His"),
        ('"Thank You" stood on the door.', "You"),
        ('"Me Too" stood on the door.', "Me"),
        ('"Keep It" stood on the door.', "It"),
        ('"We Italians," said the nurse.', "We"),
        ('"We" is a novel without names.', "We"),
        # outside the quotation marks
        ('"The Lake" We Saw Was "The Pond" of last year.', "We"),
        ('He said "Good Morning" to Her and "Good Night" to nobody.', "He Her"),
        ("The boys' film It Was Her Turn, the girls' film and others", "It Her"),
        # no quotation marks, or one that is left open
        ("We watched Let Me Stay on Monday.", "We Me"),
        ('We watched "Let Me Stay on Monday.', "We Me"),
        # capitals tell nothing where all words have them
        ('Mayor: "He Let Us Down Again" Over Lost Bridge', "He Us"),
        ('"Let Me Stay"', "Me"),
        ('"LET ME STAY" was on all posters.', "ME"),
        # small letters inside
        ('The film "Let me Stay" was shown.', "me"),
        ('They said "We Are sorry" again.', "They We"),
    ],
)
def test_in_doubt_a_quotation_is_speech(text: str, expected: str) -> None:
    assert found(text) == expected


def test_the_reason_is_told() -> None:
    (verdict,) = explain('The film "Let Me Stay" was shown.')
    assert (verdict.in_use, verdict.reason) == (False, "part of a quoted title")
