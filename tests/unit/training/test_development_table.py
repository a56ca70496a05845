"""The table of development figures at the end of `train`."""

from __future__ import annotations

import pytest

from pronmetric.checkpoint import locate
from pronmetric.training.development_table import development_table, shipped_figures


def test_the_figures_stand_beside_those_of_the_shipped_checkpoint() -> None:
    figures = {
        "development/accuracy": 0.7,
        "development/noisy": 0.8,
        "development/noisy_preference": 0.81,
        "development/noisy_none": 0.75,
        "development/system": 0.6,
        "development/system_fewer_won": 0.25,
    }
    text = development_table(figures, {"development/noisy": 0.795, "development/noisy_preference": 0.791})
    rows = [[cell for cell in line.split("  ") if cell] for line in text.splitlines()]
    assert [[cell.strip() for cell in row] for row in rows[1:5]] == [
        ["a reference is better than itself with a wrong pronoun", "80.0", "81.0", "79.5", "79.1"],
        ["the same, without context: it should be lower", "75.0", "-", "-", "-"],
        ["a reference is better than a system's translation", "60.0", "-", "-", "-"],
        ["won by the one with fewer: 50 is unbiased", "25.0", "-", "-", "-"],
    ]
    assert "50 is chance" in text and text.endswith("was taken: 70.0.")


def test_the_shipped_checkpoint_has_figures() -> None:
    assert 0.5 < shipped_figures()["development/noisy"] < 1


def test_an_installation_without_checkpoints_has_no_shipped_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locate, "_shipped", dict)
    assert shipped_figures() == {}
    text = development_table({"development/noisy": 0.5}, shipped_figures())
    assert any(line.split()[-4:] == ["50.0", "-", "-", "-"] for line in text.splitlines())
