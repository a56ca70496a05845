"""Plots as files: the same bytes for the same content, in the colours of the pages."""

from __future__ import annotations

import re
from importlib.resources import files

import numpy as np
import pytest

from pronmetric.report import plots
from pronmetric.report.plots import Panel

LINE = np.array([0.2, 1.0]), np.array([0.5, 0.25])
PANELS = {
    "set:zh-en": Panel(
        {"pronmetric": LINE, "frequency $ of forms": LINE}, {"rater1": (0.3, 0.4), "rater2": (0.4, 0.3)}
    ),
    "other:de-en": Panel({"pronmetric": LINE}, {}),
}


def test_precision_against_recall_is_the_same_svg_each_time() -> None:
    pytest.importorskip("matplotlib")
    drawn = plots.precision_recall(PANELS, kind="svg")
    assert drawn == plots.precision_recall(PANELS, kind="svg")
    text = drawn.decode()
    for told in ("set:zh-en", "other:de-en", "rater1", "rater2", "recall, %", "precision, %", "frequency $ of forms"):
        assert f">{told}</text>" in text, told
    assert text.count("a rater against the others") == text.count(">set:zh-en</text>")
    assert plots.precision_recall(PANELS, kind="png").startswith(b"\x89PNG")


def test_the_colours_are_those_of_the_pages() -> None:
    theme = files("pronmetric.report").joinpath("theme.css").read_text(encoding="utf-8")
    assert {*plots.LINES, plots.POINT} <= set(re.findall("#[0-9a-f]{6}", theme))
