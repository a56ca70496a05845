"""Comparison with the output of irrCAC 0.4.4: `raw.CAC` on single ratings, `table.CAC` on tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pronmetric.eval.agreement import Agreement, confusion_ratings, gwet_ac1, gwet_ac1_table
from pronmetric.eval.kappa import cohen_kappa, fleiss_kappa, krippendorff_alpha
from pronmetric.eval.ratings import Ratings

GOLDEN = json.loads((Path(__file__).parent / "irrcac.json").read_text(encoding="utf-8"))
DIGITS = 2e-9


def same(found: Agreement, expected: dict[str, float]) -> None:
    """Equal but for the interval: irrCAC bounds it above alone, and gives one of no width."""
    expected, wide = dict(expected), expected["low"] < expected["high"]
    if not wide:
        assert found.low is None and found.high is None
    elif found.low != pytest.approx(expected["low"], abs=DIGITS):
        assert expected["low"] < found.low <= found.ac1 and -1 <= found.low <= 0
    bounds = {"low": found.low, "high": expected["high"] if wide else None}
    expected |= bounds  # type: ignore[arg-type]
    got = {
        "estimate": found.ac1,
        "se": found.error,
        "low": found.low,
        "high": found.high,
        "pa": found.observed,
        "pe": found.chance,
    }
    assert got == pytest.approx(expected, abs=DIGITS)


def counts(rows: Sequence[Sequence[int | None]], categories: int) -> list[list[int]]:
    return [[row.count(category) for category in range(1, categories + 1)] for row in rows]


def test_there_are_enough() -> None:
    assert len(GOLDEN["ratings"]) >= 15


@pytest.mark.parametrize("case", GOLDEN["ratings"], ids=lambda case: case["name"])
def test_single_ratings(case: dict[str, Any]) -> None:
    found = counts(case["ratings"], case["categories"])
    same(gwet_ac1(found), case["ac1"])
    assert fleiss_kappa(found).estimate == pytest.approx(case["fleiss"], abs=DIGITS)
    assert krippendorff_alpha(found).estimate == pytest.approx(case["krippendorff"], abs=DIGITS)
    if "cohen" in case:
        columns = zip(*case["ratings"], strict=True)
        ratings = Ratings.of({f"r{number}": dict(enumerate(column)) for number, column in enumerate(columns)})
        assert cohen_kappa(ratings.table(0, 1)).estimate == pytest.approx(case["cohen"], abs=DIGITS)


@pytest.mark.parametrize("case", GOLDEN["tables"], ids=lambda case: case["name"])
def test_tables_of_two_raters(case: dict[str, Any]) -> None:
    same(gwet_ac1_table(case["table"]), case["ac1"])
    found = confusion_ratings(case["table"])
    assert cohen_kappa(case["table"]).estimate == pytest.approx(case["cohen"], abs=DIGITS)
    assert fleiss_kappa(found).estimate == pytest.approx(case["fleiss"], abs=DIGITS)  # with two raters Scott's pi
    assert krippendorff_alpha(found).estimate == pytest.approx(case["krippendorff"], abs=DIGITS)
