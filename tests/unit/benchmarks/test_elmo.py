from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.cost import elmo


def test_random_words_are_hardly_ever_equal() -> None:
    words = elmo.random_words(300, np.random.default_rng(0))
    assert len(words) == 300 and len(set(words)) > 250
    assert all(1 <= len(word) <= 9 and word.isascii() and word.islower() for word in words)


def test_figures_of_a_small_size(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(elmo.time, "process_time", lambda: float(next(clock)))  # each run takes one second
    shape = replace(elmo.PUBLISHED, cell=8, projection=4, filters=((1, 4), (2, 4)))
    figures = elmo.measure(shape, batches=[1, 3], words=5, runs=2, precision="32")
    assert figures["size"] == "2x8_4"
    assert figures["words_per_cpu_second"] == {1: 5.0, 3: 15.0}
    assert "ELMo 2x8_4, words per CPU second (32, one thread)\n  batch   1: 5\n  batch   3: 15" in elmo.show(figures)
