"""Progress of scoring: reported batch by batch; the sum is the number of texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.metric import PronounMetric
from pronmetric.scoring import inference as module
from pronmetric.text.context import Text


@pytest.fixture
def metric(tiny_checkpoint: Callable[..., Path]) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), precision="32", gpus=0)


@pytest.fixture
def texts() -> list[Text]:
    lines = [f"She said that number {n} was hers{' and his' * (n % 7)}." for n in range(60)]
    return [Text("Anna came.", line) for line in [*lines, "No pronoun.", *lines[:20]]]


def test_progress_adds_up_and_comes_with_each_batch(metric: PronounMetric, texts: list[Text]) -> None:
    counts: list[int] = []
    scores = metric.stream(texts, batch_size=4, advance=counts.append)
    next(scores)
    assert len(counts) > 5 and max(counts) < len(texts) / 2  # no single jump, and before the first score comes out
    assert len(list(scores)) == len(texts) - 1
    assert sum(counts) == len(texts)


def test_progress_adds_up_over_windows(
    metric: PronounMetric, texts: list[Text], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WINDOW", 7)
    counts: list[int] = []
    list(metric.stream(texts, advance=counts.append))
    assert sum(counts) == len(texts)


def test_progress_of_alternatives_counts_texts(metric: PronounMetric, texts: list[Text]) -> None:
    counts: list[int] = []
    places = metric.alternatives(texts, batch_size=4, advance=counts.append)
    next(places)
    assert sum(counts) == len(list(places)) + 1 == len(texts)


def test_neither_order_nor_cache_changes_a_score(metric: PronounMetric, texts: list[Text]) -> None:
    plain = list(metric.stream(texts))
    for options in ({"length_batching": False}, {"cache": False}):
        for one, other in zip(plain, metric.stream(texts, batch_size=3, **options), strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-5)
