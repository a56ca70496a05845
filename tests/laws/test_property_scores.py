"""By Hypothesis: order, batches, duplicates and concatenation change no score."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronmetric import PronounMetric

FEW = settings(max_examples=6)
SUBJECTS = st.sampled_from(["She", "He", "It", "Maria", "They", "The dog that he saw", "\u00c9lise", "Nobody", ""])
ENDS = st.sampled_from(
    ["left.", "saw her.", "knew itself?", "has its bone", "- who? -", "gave them his, hers and ours."]
)
TEXTS = st.builds("{} {}".format, SUBJECTS, ENDS)
RECORDS = st.lists(
    st.builds(lambda text, context: {"text": text, "context": context}, TEXTS, st.lists(TEXTS, max_size=2)),
    min_size=1,
    max_size=6,
)  # fmt: skip


@pytest.fixture(scope="module")
def scores(tiny_checkpoint: Callable[..., Path]) -> Callable[..., list[float | None]]:
    """The scores of records, by a checkpoint with random weights."""
    metric = PronounMetric.from_pretrained(tiny_checkpoint(), precision="32")

    def of(records: list[dict], batch_size: int = 32) -> list[float | None]:
        return [segment.score for segment in metric.predict(records, batch_size=batch_size).segments]

    return of


def alike(found: list[float | None], expected: list[float | None]) -> bool:
    return [score is None for score in found] == [score is None for score in expected] and all(
        a == pytest.approx(b, abs=1e-5) for a, b in zip(found, expected, strict=True) if a is not None
    )


@FEW
@given(RECORDS, st.randoms(use_true_random=False))
def test_order(scores: Callable[..., list[float | None]], records: list[dict], rng: random.Random) -> None:
    order = rng.sample(range(len(records)), len(records))
    expected = scores(records)
    assert alike(scores([records[k] for k in order]), [expected[k] for k in order])


@FEW
@given(RECORDS, st.integers(1, 4))
def test_batches(scores: Callable[..., list[float | None]], records: list[dict], size: int) -> None:
    assert alike(scores(records, size), scores(records))


@FEW
@given(RECORDS, st.integers(2, 3))
def test_duplicates(scores: Callable[..., list[float | None]], records: list[dict], times: int) -> None:
    assert alike(scores(records * times), scores(records) * times)


@FEW
@given(RECORDS, RECORDS)
def test_concatenation(scores: Callable[..., list[float | None]], first: list[dict], second: list[dict]) -> None:
    assert alike(scores(first + second), scores(first) + scores(second))
