from __future__ import annotations

import sys

import numpy as np
import pytest

from pronmetric.errors import MissingExtra
from pronmetric.training.examples.swaps import ENGLISH, OTHERS, Names, common_words

FEMALE, MALE = {"Anna", "Eva", "Kim", "Rose", "Virginia"}, {"Karl", "Olaf", "Kim", "Will", "Parker"}


@pytest.fixture
def names() -> Names:
    return Names([FEMALE], [MALE], common={"rose", "will"})


def swapped(names: Names, text: str) -> set[str]:
    return {names.swap(text, np.random.default_rng(seed)) for seed in range(60)}


def test_a_name_gives_way_to_one_of_its_gender_and_language(names: Names) -> None:
    found = {text.split()[0] for text in swapped(names, "Anna left.")}
    assert found == FEMALE - {"Kim"}
    assert {text.split()[0] for text in swapped(names, "Olaf left.")} == MALE - {"Kim"}


def test_the_same_name_gives_way_to_the_same_and_all_else_stays(names: Names) -> None:
    for text in swapped(names, "Karl\u2019s dog, Karl said, \u201cis Anna's.\u201d"):
        first, rest = text.split("\u2019s dog, ")
        assert rest.startswith(f"{first} said, \u201cis ") and rest.endswith("'s.\u201d")


def test_the_same_generator_state_gives_the_same_text(names: Names) -> None:
    text = "Karl met Anna. Olaf met Eva."
    assert len({names.swap(text, np.random.default_rng(3)) for _ in range(3)}) == 1
    assert len(swapped(names, text)) > 10


@pytest.mark.parametrize(
    "text",
    [
        "Kim left.",  # of both genders
        "Will it rain? Rose petals fell.",  # common words
        "She lives in Virginia. Virginia is large.",  # a place
        "Mr. Parker left.",  # a family name
        "karl left",
        "She left in May with the Karl.",
        "",
    ],
)
def test_what_may_be_no_first_name_stays(names: Names, text: str) -> None:
    assert swapped(names, text) == {text}


def test_a_family_name_after_a_first_name_stays(names: Names) -> None:
    for text in swapped(names, "Anna Parker came, and Parker left."):
        assert text.split()[0] in FEMALE and text.endswith(" Parker came, and Parker left.")


def test_common_words_are_those_often_in_small_letters() -> None:
    texts = ["Will they? They will."] + ["Mark mark"] + ["Mark"] * 5 + ["Anna"]
    assert common_words(texts) == {"will", "they"}  # mark: once in small letters, six times as a name


def test_fakers_lists_hold_names_of_both_genders() -> None:
    names = Names.from_faker()
    assert names._gender["Elizabeth"] == "female" and names._gender["Robert"] == "male"
    assert {len(lists) for lists in names._lists.values()} == {2 * len(OTHERS)}
    assert all(name.istitle() and name.isalpha() for lists in names._lists.values() for kept in lists for name in kept)
    assert "en_US" in ENGLISH and not set(ENGLISH) & set(OTHERS)


def test_without_faker_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "faker"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "faker", None)
    with pytest.raises(MissingExtra, match=r"\[train\]"):
        Names.from_faker()
