"""Figures of benchmarks.source_preference from differences made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.source_preference import WEIGHTS, fitted, judge


def test_the_weight_of_a_source_that_decides() -> None:
    preference = np.array([1.0, -1.0, 1.0, -1.0] * 10)  # better minus worse: no better than chance
    found = {"preference": preference, "sum": np.tile([1.0, 1.0, 1.0, -1.0], 10)}
    assert fitted([found], "sum") == pytest.approx(-fitted([{**found, "sum": -found["sum"]}], "sum"))
    assert abs(fitted([found], "sum")) > 1


def test_gain_of_each_weight() -> None:
    found = {
        "preference": np.array([1.0, -0.3, 0.3, 0.0]),
        "sum": np.array([0.0, 1.0, -4.0, 2.0]),
        "mean": np.array([0.0, 0.5, -2.0, 1.0]),
    }
    figures = judge(found, ["a", "b", "c", "d"], {"sum": 0.0, "mean": 1.0})
    assert (figures["pairs"], figures["documents"], figures["source differs"]) == (4, 4, 0.75)
    assert figures["preference"]["value"] == (1 + 0 + 1 + 0.5) / 4
    assert figures["sum alone"]["value"] == (0.5 + 1 + 0 + 1) / 4
    gains = [figures[f"sum, {weight:g}"]["value"] for weight in WEIGHTS]
    assert gains == pytest.approx([0.125, -0.125, -0.125, 0.125, 0.125])  # 0.1 turns the third, 0.4 the second, too
    assert figures["sum, fitted"]["value"] == 0
    assert figures["mean, fitted"]["value"] == pytest.approx((0 + 1 - 1 + 0.5) / 4)
    assert figures["fits"] == {"sum": 0.0, "mean": 1.0}
