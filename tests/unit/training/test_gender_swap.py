from __future__ import annotations

import numpy as np
import pytest

from pronmetric.training.examples.swaps import Names, swap_frequency, swap_genders


@pytest.mark.parametrize(
    ("text", "flipped"),
    [
        ("He gave her his book.", "She gave him her book."),
        ("She saw her brother; the hat was hers.", "He saw his sister; the hat was his."),
        ("The hat was his, and HE knew it himself.", "The hat was hers, and SHE knew it herself."),
        ("Mr. Hall and Miss Dove miss the ladies.", "Mrs. Hall and Mr Dove miss the lords."),
        ("She'd told him: \u201cHer Majesty the Queen!\u201d", "He'd told her: \u201cHis Majesty the King!\u201d"),
        ("They say it is theirs.", "They say it is theirs."),
        ("", ""),
    ],
)
def test_genders_are_exchanged(text: str, flipped: str) -> None:
    assert swap_genders(text) == flipped


def test_names_are_exchanged_too() -> None:
    names = Names([["Anna", "Eva"]], [["Karl", "Olaf"]])
    found = {
        names.swap("Anna met Karl. Anna left.", np.random.default_rng(seed), other_gender=True) for seed in range(40)
    }
    assert found == {f"{male} met {female}. {male} left." for male in ("Karl", "Olaf") for female in ("Anna", "Eva")}


def test_frequencies_of_flipped_texts() -> None:
    counts = {
        "subject": {"he": 30.0, "she": 10.0, "it": 7.0},
        "object": {"him": 20.0, "her": 10.0},
        "possessive determiner": {"his": 60.0, "her": 30.0},
        "reflexive": {"himself": 4.0},
    }
    assert swap_frequency(counts, 0.0) == counts
    assert swap_frequency(counts, 0.5) == {
        "subject": {"he": 20.0, "she": 20.0, "it": 7.0},
        "object": {"him": 15.0, "her": 15.0},
        "possessive determiner": {"his": 45.0, "her": 45.0},
        "reflexive": {"himself": 2.0, "herself": 2.0},
    }
    assert swap_frequency({"object": {"him": 8.0}}, 0.25) == {"object": {"him": 6.0, "her": 2.0}}
    assert swap_frequency({"object": {"him": 8.0, "it": 1.0}}, 1.0) == {"object": {"her": 8.0, "it": 1.0}}
