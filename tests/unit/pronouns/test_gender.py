"""The genders of pronouns and nouns: by the tables, and by the lexicons where they are installed."""

# ruff: noqa: RUF001  (Cyrillic)

from __future__ import annotations

import importlib.util

import pytest

from pronmetric.errors import MissingExtra
from pronmetric.pronouns import noun_gender
from pronmetric.pronouns.gender import genders_of
from pronmetric.pronouns.languages import language
from pronmetric.pronouns.tables import names, rows


def nouns(code: str, text: str) -> dict[str, str]:
    """The genders of the nouns of a text, where one is known."""
    target = language(code)
    genders, words = genders_of(target), [word.text for word in target.words(text)]
    assert genders is not None
    found = {word: genders.of_noun(words, place) for place, word in enumerate(words)}
    return {word: gender for word, gender in found.items() if gender is not None}


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("de", {"er": "masculine", "ihm": "masculine or neuter", "sie": "feminine or plural", "es": "neuter"}),
        ("de", {"ich": None, "ihnen": None, "sich": None, "man": None, "wer": None, "Lampe": None}),
        ("es", {"ella": "feminine", "ellos": "masculine", "su": None}),
        ("fr", {"elles": "feminine", "lui": None, "leur": None, "y": None, "on": None}),
    ],
)
def test_the_gender_of_a_pronoun_is_that_of_its_table(code: str, told: dict[str, str | None]) -> None:
    genders = genders_of(language(code))
    assert genders is not None
    assert {form: genders.of_pronoun(form) for form in told} == told


@pytest.mark.parametrize(
    ("code", "text", "told"),
    [
        ("de", "Ich sah eine alte Uhr und den Tisch.", {"Uhr": "feminine", "Tisch": "masculine or plural"}),
        ("de", "Der Tisch steht im Haus.", {"Tisch": "masculine", "Haus": "masculine or neuter"}),
        ("de", "Er sah die Lampe. Eine Lampe fiel.", {"Lampe": "feminine"}),  # what both places have in common
        (
            "de",
            "Der Hund der Frau, die Peter kennt, bellt.",
            {"Hund": "masculine"},
        ),  # der and die tell too little there
        ("de", "Das sind die Sie suchen.", {}),  # no noun
        ("de", "Das Diagnose-Programm liegt über Berlin.", {}),
        ("es", "La vio en la mesa. El agua está en un vaso.", {"mesa": "feminine", "vaso": "masculine"}),
        ("es", "El que la compra dice algo de una de ellas.", {}),
        ("fr", "La lampe est sur la table. Il la regarde.", {"lampe": "feminine", "table": "feminine"}),
        ("fr", "Mon amie a un livre.", {"livre": "masculine"}),
    ],
)
def test_determiners_tell_the_gender_of_their_noun(code: str, text: str, told: dict[str, str]) -> None:
    assert nouns(code, text) == told


def test_places_of_a_word_that_contradict_each_other_tell_nothing() -> None:
    assert nouns("fr", "Un livre pour cette livre.") == {}


@pytest.mark.parametrize(
    ("code", "text", "told"),
    [
        (
            "ru",
            "Лампа стоит у стола. Стекло стало грязным, ножницы лежат.",
            {"Лампа": "feminine", "стола": "masculine", "Стекло": "neuter"},
        ),
        ("ru", "Иванова встретила Анна.", {"Иванова": "masculine or feminine", "Анна": "feminine"}),
        ("ru", "Они мой глокая.", {}),  # a pronoun, a verb or a determiner, a word that is not listed
        ("uk", "Нові лампи і столи. Стара мала три.", {"лампи": "feminine", "столи": "masculine"}),
        ("uk", "Вона бачить вікно.", {"вікно": "neuter"}),
    ],
)
def test_a_lexicon_tells_the_gender_of_nouns(code: str, text: str, told: dict[str, str]) -> None:
    pytest.importorskip("pymorphy3_dicts_uk")
    assert nouns(code, text) == told


@pytest.mark.parametrize("code", ["en", "cs", "zh"])
def test_other_languages_have_none(code: str) -> None:
    assert genders_of(language(code)) is None


def test_a_lexicon_that_is_not_installed_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(noun_gender, "find_spec", lambda name: None if name == "pymorphy3_dicts_uk" else found(name))
    with pytest.raises(MissingExtra, match=r"gender of nouns \(uk\) needs pymorphy3-dicts-uk, .*\[morphology\]"):
        genders_of(language("uk"))


def test_the_tables_of_determiners_are_sound() -> None:
    tables = [name for name in names() if name.startswith("determiners.")]
    assert len(tables) == 3
    for name in tables:
        lines = rows(name)
        assert len({row["form"] for row in lines}) == len(lines), name
        for row in lines:
            genders = set(row["genders"].split())
            assert genders == {"-"} or (genders <= {*noun_gender.GENDERS, noun_gender.PLURAL} and len(genders) < 3), row
