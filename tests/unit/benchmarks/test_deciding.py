"""What decides beside the score, by set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from benchmarks.checkpoint import deciding
from benchmarks.checkpoint.deciding import Item
from benchmarks.checkpoint.scoring import Contrast, Record, Result
from pronmetric.pronouns.finder import find


def test_two_names_have_one_gendered_pronoun() -> None:
    found = deciding.two_names(seed=1)
    assert len(found) == 24 * 2 * deciding.DRAWN
    assert set(Counter(each.unit for each in found).values()) == {2 * deciding.DRAWN}
    for each in found:
        (better,), (worse,) = (find(text) for text in (each.contrast.better, each.contrast.worse))
        assert better.form != worse.form
    told = [each.contrast for each in found if str(each.unit) == "{Y} told {X} not to blame {r}."]
    for contrast in told:  # the names are of two genders, and the pronoun is the second one's
        (
            first,
            *_,
        ) = contrast.better.split()
        assert any(
            contrast.better == f"{first} told {name} not to blame {form}." and first in others
            for own, others, form in ((HE, SHE, "himself"), (SHE, HE, "herself"))
            for name in own
        )


HE = ("Gregory", "Bruno", "Patrick", "Mateo", "Harold", "Nikolai")
SHE = ("Martha", "Ines", "Veronica", "Amira", "Joan", "Sigrid")


def score(records: Sequence[Record]) -> list[Result]:
    """The score is right on texts with a 1, the preference on those with a 2."""
    found = []
    for record in records:
        text, sign = record["text"], 1.0 if "right" in record["text"] else -1.0
        values = {"score": sign if "1" in text else -sign, "preference": sign if "2" in text else -sign}
        found.append(Result(score=values["score"], pronouns=[], values=values))
    return found


def test_a_set_where_what_decides_is_worse_is_named() -> None:
    items = [
        Item(name, Contrast(f"right {which} {n}x", f"wrong {which} {n}x"), (), n)
        for name, which in (("a", "1"), ("b", "2"), ("c", "12"))
        for n in "xyz"
    ]
    found = deciding.measure(score, items, "preference")
    assert [found[name]["difference"].value for name in "abc"] == [-1.0, 1.0, 0.0]
    assert found["c"]["score"].accuracy == found["b"]["decides"].accuracy == 1.0 and found["a"]["pairs"] == 3
    assert deciding.below(found) == ["a"]
    content = {"figures": {"by": "preference"}, "weights": "w", "date": "d", "signature": "s", "command": "c"}
    page = deciding.page(found, content)
    assert "Below the score by more than a point: a." in page and "| b | 3 | 3 | 0.0" in page
    with pytest.raises(KeyError):
        deciding.measure(score, items, "errors")
