"""Judges without context: the frequency of words, the accuracy of scores with ties, and chance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from pronmetric.lab.suites.blind import by_frequency, measure
from pronmetric.lab.suites.contrastive import Candidate, Item


def item(texts: Sequence[str], right: int, document: str = "d") -> Item:
    return Item("1", tuple(Candidate("", text) for text in texts), right, document=document)


def test_the_frequency_of_words_leaves_the_right_candidate_out() -> None:
    counts = {"he": 3, "it": 2, "sang": 4, "she": 1}
    he, she, it = by_frequency([item(["He sang", "She sang", "It sang"], 1)], counts)
    # 10 words and 4 forms; "she sang" of the corpus is taken out
    assert he == pytest.approx((math.log(4 / 14) + math.log(4 / 14)) / 2)
    assert she == pytest.approx((math.log(1 / 14) + math.log(4 / 14)) / 2)
    assert it == pytest.approx((math.log(3 / 14) + math.log(4 / 14)) / 2)


def test_equal_scores_are_right_by_their_share() -> None:
    found = measure("x", [item("abc", 0), item("ab", 1, "e"), item("ab", 0, "f")], [1, 1, 0, 0, 2, 0, 2])
    assert found.accuracy == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert found.chance == pytest.approx((1 / 3 + 1 / 2 + 1 / 2) / 3)
    assert (found.items, found.documents) == (3, 3)


def test_a_mirror_image_leaves_a_judge_without_context_at_chance() -> None:
    items = [item("ab", right, f"d{k}") for k in range(20) for right in (0, 1)]
    found = measure("x", items, [2, 1] * 40)
    assert found.accuracy == found.chance == 0.5 and found.above_chance is False


def test_a_set_that_needs_no_context_is_above_chance() -> None:
    found = measure("x", [item("ab", 0, f"d{k}") for k in range(20)], [2, 1] * 20)
    assert found.accuracy == 1 and found.above_chance is True
    one_document = measure("x", [item("ab", 0)] * 20, [2, 1] * 20)  # its items are the units
    assert one_document.above_chance is True and one_document.documents == 1
    assert measure("x", [item("ab", 0)], [2, 1]).above_chance is None
