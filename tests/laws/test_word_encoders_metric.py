"""Scoring with encoders of words: what must not change a score."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pronmetric.metric import PronounMetric
from pronmetric.text.context import in_context

KINDS = ["glove", "elmo"]


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tiny_checkpoint: Callable[..., Path]) -> Path:
    return tiny_checkpoint(encoder=request.param)


@pytest.fixture(scope="module")
def metric(folder: Path) -> PronounMetric:
    return PronounMetric.from_pretrained(folder, precision="32", gpus=0)


@pytest.fixture(scope="module")
def records(sample: Path) -> list[dict[str, Any]]:
    lines, docs = ((sample / name).read_text(encoding="utf-8").splitlines() for name in ("ref.txt", "docids.txt"))
    return list(in_context(lines, reference=lines, docs=docs))


def gap(first: Sequence[float | None], second: Sequence[float | None]) -> float:
    assert [s is None for s in first] == [s is None for s in second]
    return max(abs(a - b) for a, b in zip(first, second, strict=True) if a is not None and b is not None)


def test_batch_size_order_and_company_change_nothing(metric: PronounMetric, records: list[dict[str, Any]]) -> None:
    scores = metric.predict(records).scores
    numbers = [score for score in scores if score is not None]
    assert len(numbers) > 20 and max(numbers) - min(numbers) > 0.05  # else this would say nothing
    for batch_size in (1, 7, 1000):
        assert gap(metric.predict(records, batch_size=batch_size).scores, scores) <= 1e-5
    order = random.Random(0).sample(range(len(records)), len(records))
    shuffled = dict(zip(order, metric.predict([records[i] for i in order]).scores, strict=True))
    assert gap([shuffled[i] for i in range(len(records))], scores) <= 1e-5
    assert gap([metric.predict([record]).scores[0] for record in records[:12]], scores[:12]) <= 1e-5
    assert metric.predict(records).scores == scores  # nothing is carried from one call to the next


def test_a_long_text_is_windowed_and_each_pronoun_scored(metric: PronounMetric) -> None:
    text = "She gave him their book, and it was hers. " * 12
    found = metric.predict([{"text": text, "context": ["They left."]}])
    assert found.counts.windowed == 1 and len(found.segments[0].pronouns) == 5 * 12


def test_texts_with_words_not_read_to_their_ends_are_counted(metric: PronounMetric) -> None:
    records = [{"text": f"She read {'x' * n} to him.", "context": [f"A {'y' * m}."]} for n, m in [(48, 4), (49, 50)]]
    counts = metric.predict(records).counts
    assert (counts.encoded, counts.unread) == (2, 1 if metric.config["encoder"]["kind"] == "elmo" else 0)


def test_low_precision_stays_near(folder: Path, metric: PronounMetric, records: list[dict[str, Any]]) -> None:
    low = PronounMetric.from_pretrained(folder, precision="bf16", gpus=0)
    assert gap(low.predict(records).scores, metric.predict(records).scores) < 0.02


def test_a_copy_scores_alike(metric: PronounMetric, records: list[dict[str, Any]], tmp_path: Path) -> None:
    metric.save_pretrained(tmp_path / "copy")
    again = PronounMetric.from_pretrained(tmp_path / "copy", precision="32", gpus=0)
    assert again.predict(records).scores == metric.predict(records).scores and again.hash == metric.hash
