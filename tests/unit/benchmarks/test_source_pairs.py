"""Pairs apart from those that the source contradicts: groups, accuracies with and without sources, the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.checkpoint.source_pairs import WITH, WITHOUT, Scored, draw, figures, show
from data_prep.filters import ALIKE, CONTRADICTS
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.schema import Mismatch, Pair
from pronmetric.scoring.score import Evidence, PronounScore, SegmentScore


def segment(score: float, log_odds: float | None) -> SegmentScore:
    evidence = None if log_odds is None else Evidence(log_odds, "er", 0, 2)
    return SegmentScore(score, (PronounScore("It", 0, 2, score, score, evidence),), preference=-score)


def noisy(seg: int) -> Pair:
    mismatch = Mismatch("pronoun", "it", "he", 0, 2, 0, 2)
    return Pair("id", "noisy", "t2022", "de-en", "d", seg, "refA", "s", "It fell.", "He fell.", (), (), (mismatch,))


def scored(seg: int, *, alone: tuple[float, float], read: tuple[float, float], odds: tuple[float, float]) -> Scored:
    """A pair by the scores of its better and its worse text, without and with its source, and the source's evidence."""
    ways = {WITHOUT: (segment(alone[0], None), segment(alone[1], None))}
    return Scored(noisy(seg), {**ways, WITH: (segment(read[0], odds[0]), segment(read[1], odds[1]))})


def test_pairs_by_what_the_source_says() -> None:
    pairs = [
        scored(1, alone=(0.4, 0.6), read=(0.9, 0.1), odds=(2.0, -2.0)),  # the source is for R
        scored(2, alone=(0.6, 0.4), read=(0.7, 0.3), odds=(0.1, 0.2)),  # it says little
        scored(3, alone=(0.6, 0.4), read=(0.2, 0.8), odds=(-1.0, 2.0)),  # it is against R
        scored(4, alone=(0.6, 0.4), read=(0.8, 0.8), odds=(2.0, 1.5)),  # it is for both
    ]
    found = figures(pairs)
    counts = {name: ways[WITH]["score"].pairs for name, ways in found.items()}
    assert counts == {"clean": 2, ALIKE: 1, CONTRADICTS: 1, "all": 4}
    right = {name: (ways[WITHOUT]["score"].right, ways[WITH]["score"].right) for name, ways in found.items()}
    assert right == {"clean": (1, 2), ALIKE: (1, 0), CONTRADICTS: (1, 0), "all": (3, 2)}
    assert found["clean"][WITHOUT]["preference"].right == 1  # of each segment the negative of its score
    assert found[ALIKE][WITH]["score"].equal == 1
    shown = show({"wmt22:de-en": found})
    (row,) = [line for line in shown.splitlines() if line.startswith("wmt22:de-en, clean")]
    assert [row.split()[k] for k in (2, 3, -1)] == ["2", "50.0", "100.0"]


def test_the_noisy_pairs_of_a_test_set_are_drawn(tmp_path: Path) -> None:
    pairs = [noisy(1), noisy(2), noisy(3), replace(noisy(4), kind="system"), replace(noisy(5), lp="zh-en")]
    arrow.write(tmp_path / "data", pairs={"test": pairs}, passages={})
    assert draw(tmp_path / "data", "test", "wmt22:de-en", None) == pairs[:3]
    some = draw(tmp_path / "data", "test", "wmt22:de-en", 2)
    assert len(some) == 2 and [pair.seg for pair in some] == sorted(pair.seg for pair in some)
    with pytest.raises(InputError, match="no pair R vs R' of wmt22:ru-en in split test"):
        draw(tmp_path / "data", "test", "wmt22:ru-en", None)
