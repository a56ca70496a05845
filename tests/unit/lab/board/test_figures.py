"""The figures of the board: by hand, and those of `score` and `compare`."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

from pronmetric.eval.decision import DECISIONS
from pronmetric.eval.resampling import SEED
from pronmetric.lab.board import figures
from pronmetric.lab.board.figures import ALL
from pronmetric.lab.board.scored import BoardScores, BoardSet, Pronouns
from pronmetric.scoring.comparison import TIE_THRESHOLD, PairwiseComparison
from pronmetric.scoring.score import PronounScore, SegmentScore, tally_segments

HE, IT = 0, 1
TESTSET = BoardSet("tiny.de-en", "tiny", 2022, "de-en", "common", "ref")


def pronouns(*rows: tuple[int, int, float]) -> Pronouns:
    """A system's pronouns from their segments, classes and probabilities."""
    segment, kind, probability = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    start = np.arange(len(rows))
    kinds, probabilities = np.array(kind, int), np.array(probability, float)
    return Pronouns(np.array(segment, int), start, start + 1, kinds, probabilities, np.zeros_like(start))


def scored(*, docs: tuple[str, ...] | None = None, segments: int = 3, **systems: Pronouns) -> BoardScores:
    return BoardScores(
        testset=TESTSET,
        segments=segments,
        docs=docs,
        classes=("he", "it", "they"),
        systems=systems,
        signature="model:tiny",
        texts="",
    )


A = pronouns((0, HE, 0.9), (0, IT, 0.5), (1, IT, 0.7))
B = pronouns((0, HE, 0.6), (2, IT, 0.2))


def test_missing_pronouns_are_errors_of_all_pronouns_together() -> None:
    known = {"a": np.array([0.5, 0.0, 1.0]), "b": np.array([0.0, 0.25, 0.25])}
    found = figures.compute(dataclasses.replace(scored(a=A, b=B), missing=known), seed=1, by="errors")
    a, b = found.groups[ALL].systems
    assert (a.wrong, a.errors) == (pytest.approx(30), pytest.approx(80))  # 0.9 wrong and 1.5 missing for 3
    assert (b.wrong, b.errors) == (pytest.approx(60), pytest.approx(85))
    assert found.groups["it"].systems[0].missing is None
    assert found.verdicts[0, 1].difference == pytest.approx(100 * (1.7 - 2.4) / 3)  # fewer errors in 100 segments
    values = figures.segment_values(dataclasses.replace(scored(a=A), missing={"a": known["a"]}), "a", "errors")
    assert values.tolist() == pytest.approx([-1.1, -0.3, -1.0])  # the last has no pronoun


def test_scores_errors_and_segments_by_hand() -> None:
    found = figures.compute(scored(a=A, b=B), seed=1)
    assert list(found.groups) == [ALL, "he", "it"]  # no "they"
    a, b = found.groups[ALL].systems
    assert (a.pronouns, a.score, a.errors) == (3, pytest.approx(70), pytest.approx(30))  # (90 + 50 + 70) / 3
    assert (b.pronouns, b.score) == (2, pytest.approx(40))
    assert found.groups["it"].systems[0].score == pytest.approx(60)
    pair = found.groups[ALL].pairs[0, 1]
    assert pair.difference == pytest.approx(30)
    assert (pair.wins, pair.ties, pair.losses) == (1, 0, 0)  # 0.7 against 0.6; only one side has the other segments
    assert pair.p is None and pair.interval is None  # three units are too few
    assert found.resampled == "segments"


def test_a_class_that_one_system_lacks() -> None:
    found = figures.compute(scored(a=pronouns((0, HE, 0.9), (1, HE, 0.8)), b=pronouns((0, IT, 0.3))), seed=1)
    he = found.groups["he"]
    assert he.systems[1] == (0, None, None, None, None, None) and he.systems[1].errors is None
    assert he.pairs[0, 1] == (None, None, None, 0, 0, 0)


def test_documents_are_resampled_where_they_are_known() -> None:
    assert figures.compute(scored(a=A, b=B, docs=("x", "x", "y")), seed=1).resampled == "documents"
    assert figures.compute(scored(a=A, b=B, docs=("x", "x", "x")), seed=1).resampled == "segments"


def drawn(seed: int, segments: int) -> Pronouns:
    rng = np.random.default_rng(seed)
    where = np.sort(rng.integers(segments, size=2 * segments))
    return pronouns(
        *zip(where.tolist(), rng.integers(2, size=len(where)).tolist(), rng.random(len(where)), strict=True)
    )


@pytest.mark.parametrize("by", DECISIONS)
@pytest.mark.parametrize("documents", [False, True])
def test_the_figures_are_those_of_score_and_compare(documents: bool, by: str) -> None:
    segments = 40
    systems = {"a": drawn(1, segments), "b": drawn(2, segments)}
    docs = tuple(str(number // 4) for number in range(segments)) if documents else None
    empty = [np.bincount(found.segment, minlength=segments) == 0 for found in systems.values()]
    rng = np.random.default_rng(3)
    preferences = [np.where(none, np.nan, rng.normal(size=segments)) for none in empty]
    whole = dataclasses.replace(
        scored(segments=segments, docs=docs, **systems), preferences=dict(zip(systems, preferences, strict=True))
    )
    computed = figures.compute(whole, seed=SEED, by=by)
    board = computed.groups[ALL]

    def texts(found: Pronouns, preference: NDArray[np.float64]) -> list[SegmentScore]:
        rows = [[p for s, p in zip(found.segment, found.probability, strict=True) if s == k] for k in range(segments)]
        return [
            SegmentScore(
                float(np.mean(row)) if row else None,
                tuple(PronounScore("it", 0, 2, p, p) for p in row),
                float(number) if row else None,
            )
            for row, number in zip(rows, preference, strict=True)
        ]

    sides = [texts(*each) for each in zip(systems.values(), preferences, strict=True)]
    for own, side in zip(board.systems, sides, strict=True):
        tally = tally_segments(side, docs).score()
        assert own.score == pytest.approx(tally.score)
        assert own.interval == pytest.approx(tally.interval)
        assert tally.errors is not None
        assert (own.errors, own.errors_interval) == (
            pytest.approx(tally.errors.value),
            pytest.approx(tally.errors.interval),
        )
    compared = PairwiseComparison(tie=TIE_THRESHOLD, by=by)
    for number, (a, b) in enumerate(zip(*sides, strict=True)):
        compared.add(a, b, docs[number] if docs else None)
    outcome, pair = compared.outcome(seed=SEED), computed.verdicts[0, 1]
    assert board.pairs[0, 1].difference == pytest.approx(outcome.score_difference)
    assert pair.difference == pytest.approx(outcome.difference)
    assert pair.interval == pytest.approx(outcome.interval)
    assert pair.p == outcome.p_randomisation
    assert (pair.wins, pair.ties, pair.losses) == (outcome.wins, outcome.ties, outcome.losses)


def test_progress_counts_the_pairs_of_each_group() -> None:
    told: list[int] = []
    figures.compute(scored(a=A, b=B, c=A), seed=1, advance=told.append)
    assert sum(told) == 3 * 3  # three pairs; all, he, it
    figures.compute(scored(a=A, b=B, c=A), seed=1, by="errors", advance=told.append)
    assert sum(told) == 3 * 3 + 3 * 4  # and the verdicts
