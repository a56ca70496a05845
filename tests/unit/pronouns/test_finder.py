"""The inventory, and which forms are in use."""

from __future__ import annotations

import doctest
import importlib
import json
from pathlib import Path

import pytest

from pronmetric.pronouns.finder import ENTRIES, FORMS, explain, find

PAPER = (
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he his him himself "
    "she her hers herself it its itself they them their theirs themselves that this these those "
    "what whatever which whichever who whoever whom whose"
)


def found(text: str) -> str:
    return " ".join(occurrence.text for occurrence in find(text))


def test_inventory_is_that_of_the_paper_and_theirs() -> None:
    assert " ".join(FORMS) == PAPER
    assert len(FORMS) == 43


def test_classes() -> None:
    classes = {(e.form, e.type, e.case): (e.person, e.number, e.gender) for e in ENTRIES}
    assert classes["she", "personal", "subject"] == ("3", "singular", "feminine")
    assert classes["her", "possessive", "determiner"] == ("3", "singular", "feminine")
    assert classes["her", "personal", "object"] == ("3", "singular", "feminine")
    assert classes["those", "demonstrative", "pronoun"] == ("3", "plural", "-")
    assert classes["who", "relative", "pronoun"][2] == "person"
    assert classes["which", "relative", "pronoun"][2] == "neuter"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She gave her book to them.", "She her them"),
        ("It's late; they're tired and I'd go.", "It they I"),
        ("it s late they re tired i d go", "it they i"),
        ("'Tis ours, not theirs.", "'T ours theirs"),
        ("What time is it? Which road? Whose hat?", "What it Which Whose"),
        ("This book and those maps", "This those"),
        ("The man who came, whom I know, whose dog barks", "who whom I whose"),
        ("HE TOLD HER", "HE HER"),
        ("his/her dog and (s)he", "his her he"),
        ("Do it yourself, or let us do it ourselves.", "it yourself us it ourselves"),
        ("item, this-worldly, thesis, ithaca", ""),
        ("no pronoun here", ""),
        ("", ""),
    ],
)
def test_plain_cases(text: str, expected: str) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # names in capitals
        ("The US imports steel.", ""),
        ("A US court heard us.", "us"),
        ("He works in the IT department.", "He"),
        ("IT specialists asked us.", "us"),
        ("The WHO warned us.", "us"),
        ("According to WHO figures, he is right.", "he"),
        ("Sino-US trade", ""),
        ("They pay US$5.", "They"),
        # but pronouns where the neighbours shout too
        ("THEY TOLD US WHO DID IT", "THEY US WHO IT"),
        ("We LOVE IT here", "We IT"),
        ("He came and SAID THAT IT WAS LATE", "He IT"),
        ("IT'S GREAT", "IT"),
        # without any capital letter they count
        ("the us court told us", "us us"),
        ("it experts and who experts", "it who"),
        # capital only at the start
        ("It rained. Who cares? Us!", "It Who Us"),
    ],
)
def test_names_in_capitals(text: str, expected: str) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This hat is mine.", "This mine"),
        ("A friend of mine left.", "mine"),
        ("Mine is better.", "Mine"),
        ("She held my hand and he held mine.", "She my he mine"),
        ("They say that mine is better.", "They mine"),
        ("The coal mine closed.", ""),
        ("the coal mine closed", ""),
        ("They own an old copper mine.", "They"),
        ("He worked in a mine.", "He"),
        ("Mine workers went on strike.", ""),
        ("The mine was closed; that mine is new.", "that"),
        ("Their mine clearance goes on.", "Their"),
        ("The Red Hill Mine reopened.", ""),
        ("They want to mine gold.", "They"),
    ],
)
def test_mine(text: str, expected: str) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Can I go?", "I"),
        ("It is I.", "It I"),
        ("He is taller than I. We left.", "He I We"),
        ("I-I don't know", "I I"),
        ("I\u2019m here", "I"),
        ("i think so", "i"),
        ("After World War I the empire fell.", ""),
        ("after world war i the empire fell", ""),
        ("Elizabeth I ruled for long.", ""),
        ("Pope Damasus I died.", ""),
        ("He has type I diabetes.", "He"),
        ("Part I is short.", "I"),
        ("See Part I of the report.", ""),
        ("the part I like", "I"),
        ("Phase I, II and III", ""),
        ("I. Petrov wrote it.", "it"),
        ("A book by I. Petrov", ""),
        ("Dr. A. I. Petrov", ""),
        ("the I-80 highway and the I/O port", ""),
        ("i.e. two", ""),
        ("(i) first", ""),
        ("So do I. It is late.", "I It"),
    ],
)
def test_first_person_and_numerals(text: str, expected: str) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He Dayong called on the public.", ""),
        ("As He Dayong said, he will come.", "he"),
        ("Dayong He, who teaches there, agreed.", "who"),
        ("Mr. He is here.", "He"),  # in doubt
        ("He Said It Was Over", "He It"),
        ("He Who laughs last", "He Who"),
        ("The Song He Dreamt", "He"),
        ("God knows that He Himself came.", "He Himself"),
        ("He Never came back.", "He"),
        ("It was late when he, Tom, left.", "It he"),
        ("Tom left. He, too, was tired.", "He"),
        ("He Is the best of them.", "He them"),
    ],
)
def test_he_is_a_surname_beside_a_given_name(text: str, expected: str) -> None:
    assert " ".join(each.text for each in find(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("a real he-man", ""), ("a she-wolf bit her", "her"), ("he - as ever", "he")]
)
def test_compounds(text: str, expected: str) -> None:
    assert found(text) == expected


def test_occurrence_points_into_text_and_words() -> None:
    text = "\U0001f600 \u201cHe\u2019s\u201d his own."
    first, second = find(text)
    assert (first.text, first.form, text[first.start : first.end]) == ("He", "he", "He")
    assert (second.text, second.form, text[second.start : second.end]) == ("his", "his", "his")
    assert (first.word, second.word) == (2, 5)


def test_clitic_of_tis_is_it() -> None:
    (occurrence,) = find("\u2019tis late")
    assert (occurrence.text, occurrence.form) == ("\u2019t", "it")
    assert find("don\u2019t") == ()


def test_explain_lists_every_candidate_with_the_reason() -> None:
    verdicts = explain("The US said that it is mine.")
    assert [(v.occurrence.form, v.in_use) for v in verdicts] == [
        ("us", False),
        ("that", False),
        ("it", True),
        ("mine", True),
    ]
    assert verdicts[0].reason == "name after the"
    assert verdicts[1].reason == "complementizer: said takes a clause"
    assert all(v.reason for v in verdicts)


def test_long_input_is_no_trouble() -> None:
    assert len(find("and that no, " * 2000)) == 2000
    assert len(find("that " * 3000)) == 3000
    assert len(find("he said that they knew, and that he said that he " * 300)) == 1200


@pytest.mark.shared
@pytest.mark.parametrize("language", ["french", "german"])
def test_the_differing_position_of_the_study_is_found(shared: Path, language: str) -> None:
    missed = {"reference": 0, "noisy": 0}
    lines = (shared / "data" / "study" / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    for sample in map(json.loads, lines):
        for side in missed:
            tokens, position = sample[side], sample["position"]
            start = len(" ".join([*tokens[:position], ""]))
            missed[side] += all(o.start != start for o in find(" ".join(tokens)))
    assert missed["reference"] <= 0.02 * len(lines)
    assert missed["noisy"] <= 0.005 * len(lines)


@pytest.mark.parametrize(
    "module",
    [
        "text.words",
        "pronouns.finder",
        "pronouns.lexicon",
        "pronouns.that",
        "pronouns.slots",
        "pronouns.corrupt",
    ],
)
def test_examples_in_docstrings(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"pronmetric.{module}"))
    assert result.attempted > 0
    assert result.failed == 0
