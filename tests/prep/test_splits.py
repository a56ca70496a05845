"""Splits: which test set goes where, what is divided, what counts as a copy."""

from __future__ import annotations

import dataclasses

import pytest

from data_prep.splits import DEVELOPMENT, TEST, TRAIN, Copies, SplitRule, divide, draw, tokens, unit_of
from pronmetric.schema import Document, Segment

RULE = SplitRule(development=("wmt23",), test=("wmt22:de-en", "probe"), development_share=0.25, block=2, seed=3)


@pytest.mark.parametrize(
    ("name", "year", "lp", "split"),
    [
        ("newstest2021", 2021, "de-en", TRAIN),
        ("generaltest2022", 2022, "de-en", TEST),
        ("generaltest2022", 2022, "cs-en", TRAIN),
        ("generaltest2023", 2023, "de-en", DEVELOPMENT),
        ("probe", None, "fr-en", TEST),
        ("other", None, "fr-en", TRAIN),
    ],
)
def test_the_rule_goes_by_name_year_and_pair(name: str, year: int | None, lp: str, split: str) -> None:
    assert RULE.of(name, year, lp) == split


def test_nothing_is_divided_where_both_are_there() -> None:
    assert divide({("a", "x", "1"): TRAIN, ("b", "x", "1"): DEVELOPMENT}, RULE) is None
    assert divide({("a", "x", "1"): TEST}, RULE) is None


@pytest.mark.parametrize("only", [TRAIN, DEVELOPMENT])
def test_documents_are_divided_for_want_of_the_other(only: str) -> None:
    units = {("a", "x", str(i)): only for i in range(8)}
    found = divide(units | {("t", "x", "1"): TEST}, RULE)
    assert found is not None
    assert sorted(found[unit] for unit in units) == [DEVELOPMENT] * 2 + [TRAIN] * 6
    assert found[("t", "x", "1")] == TEST
    again = divide(dict(reversed(units.items())), RULE)
    assert again is not None and all(again[unit] == found[unit] for unit in units), "the order does not matter"
    assert found != divide(units, dataclasses.replace(RULE, seed=4)), "the seed does"


def test_a_share_of_two_leaves_one_on_each_side() -> None:
    assert len(draw([("a",), ("b",)], 0.01, 1)) == 1
    assert len(draw([("a",)], 0.01, 1)) == 0
    assert len(draw([("a",), ("b",)], 0, 1)) == 0


def test_blocks_replace_unknown_documents() -> None:
    segments = tuple(Segment(i, None, {}, {}) for i in range(1, 6))
    known = Document("t", "de-en", "news", segments)
    unknown = dataclasses.replace(known, exact=False)
    assert {unit_of(known, i, 2) for i in range(5)} == {("t", "de-en", "news")}
    assert [unit_of(unknown, i, 2)[2] for i in range(5)] == ["news#1", "news#1", "news#2", "news#2", "news#3"]


KEPT = "The old ferry left the harbour at noon with nine people on board."


@pytest.fixture
def copies() -> Copies:
    copies = Copies()
    copies.add(KEPT)
    copies.add("Thank you!")
    copies.add("渡し船は正午に港を出た。")
    return copies


@pytest.mark.parametrize(
    "text",
    [
        "the old ferry left the harbour at noon - with nine people on board",
        "The old ferry left the harbour at noon with ten people on board.",  # 9 words in a row of 13
        f"It was a quiet day. {KEPT} Nobody waved from the quay.",
        "Thank you.",
        "渡し船は正午に港を出た",
    ],
)
def test_copies_and_near_copies(copies: Copies, text: str) -> None:
    assert copies.near(text)


@pytest.mark.parametrize(
    "text",
    [
        "The old ferry left at noon.",
        "Thank you for the nine people.",
        "",
        "...",
        "The ferry left the harbour with nine on board.",
    ],
)
def test_what_is_no_copy(copies: Copies, text: str) -> None:
    assert not copies.near(text)


def test_signs_of_scripts_without_blanks_are_words() -> None:
    assert tokens("正午に GPT-4!") == ["正", "午", "に", "gpt", "4"]
