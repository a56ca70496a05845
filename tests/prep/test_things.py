"""Texts about a thing: the gender of its noun decides between the pronouns, and English says *it*."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

import pytest

from data_prep.fidelity import things
from data_prep.fidelity.things import Tables
from pronmetric.pronouns.languages import language
from pronmetric.schema import Translation

CODES = ("de", "fr", "ru")
OF_GENDER = {
    "de": {"masculine": "er ihn ihm", "feminine": "sie ihr", "neuter": "es ihm"},
    "fr": {"masculine": "il lui", "feminine": "elle"},
    "ru": {"masculine": "он", "feminine": "она её ей неё ней", "neuter": "оно"},
}


def known(code: str) -> Tables:
    tables = things.tables(code)
    assert tables is not None
    return tables


def texts(code: str, number: int, *, use: str = "train", context_size: int = 2) -> list[Translation]:
    return list(things.translations(known(code), number, use=use, context_size=context_size, seed=1))


@pytest.mark.parametrize("code", CODES)
def test_every_frame_is_filled_for_every_gender(code: str) -> None:
    tables = known(code)
    for gender in tables.genders:
        noun = next(one for one in tables.nouns if one.gender == gender)
        for frame in tables.frames:
            sentence, english = tables.fill(frame, noun)
            assert not set("{}") & {*sentence, *english}
            if frame.place in ("next", "within"):
                assert " it" in f" {english.lower()}"


@pytest.mark.parametrize("code", CODES)
def test_training_and_development_have_no_noun_in_common(code: str) -> None:
    tables = known(code)
    by_use = {use: {one.noun for one in tables.nouns if one.use == use} for use in ("train", "development")}
    assert by_use["train"] and by_use["development"]
    assert not by_use["train"] & by_use["development"]
    combinations = {(one.use, one.kind, one.gender) for one in tables.nouns}
    assert len(combinations) == 2 * len(things.KINDS) * len(tables.genders)


def test_a_german_sentence_agrees_with_its_noun() -> None:
    frame = things.Frame("thing", "next", "{Der} {N} und {seine} Farbe: {ihn} nehme ich.", "The {n} and {its} colour.")
    noun = things.Noun("train", "thing", "feminine", "Lampe", "lamp")
    assert known("de").fill(frame, noun) == ("Die Lampe und ihre Farbe: sie nehme ich.", "The lamp and its colour.")


def test_the_english_article_fits_the_noun() -> None:
    frame = things.Frame("thing", "first", "Da ist {ein} {N}.", "A {n} is there.")
    noun = things.Noun("train", "thing", "masculine", "Apfel", "apple")
    assert known("de").fill(frame, noun) == ("Da ist ein Apfel.", "An apple is there.")


@pytest.mark.parametrize("code", CODES)
def test_genders_are_balanced_and_each_text_is_about_one(code: str) -> None:
    tables, own = known(code), language(code)
    count = things.LEVELS * len(tables.genders) * 5
    genders: Counter[str] = Counter()
    for number, text in enumerate(texts(code, count)):
        gender = tables.genders[number // things.LEVELS % len(tables.genders)]
        forms = {found.form for found in own.find(text.text)}
        others = set[str]().union(*(OF_GENDER[code][one].split() for one in tables.genders if one != gender))
        assert not forms & (others - set(OF_GENDER[code][gender].split())), text.text
        genders[gender] += 1
    assert len(set(genders.values())) == 1


def test_the_antecedent_is_as_far_away_as_the_level_says() -> None:
    for number, text in enumerate(texts("de", 40)):
        level = number % things.LEVELS
        assert text.doc == f"level {level}"
        english = " ".join((*text.source_context, text.source)).replace("? ", "?. ").split(". ")
        nouns = {one.english for one in known("de").nouns}
        named = [any(re.search(rf"\b{noun}\b", sentence) for noun in nouns) for sentence in english]
        assert named[::-1].index(True) == level


def test_a_text_is_a_function_of_its_number_and_reaches_its_antecedent() -> None:
    assert texts("de", 30)[:7] == texts("de", 7)
    for text in islice((one for one in texts("de", 100) if one.doc == "level 3"), 10):
        shown = len(text.context) + len(text.text.replace("? ", ". ").split(". "))
        assert shown >= things.LEVELS


def test_a_language_without_tables_has_none() -> None:
    assert things.tables("zh") is None


@pytest.mark.parametrize("code", CODES)
def test_the_wrong_copies_have_pronouns_of_another_gender_that_the_language_has(code: str) -> None:
    tables = known(code)
    copies = [
        list(things.translations(tables, 24, use="train", context_size=2, seed=1, turn=turn))
        for turn in range(len(tables.genders))
    ]
    for right, *wrong in zip(*copies, strict=True):
        assert {text.source for text in wrong} == {right.source}
        assert all(" - " not in f" {text.text} " for text in wrong)
    assert all(any(a.text != b.text for a, b in zip(copies[0], other, strict=True)) for other in copies[1:])
