from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.cost import training_memory
from pronmetric.data import arrow
from pronmetric.schema import Pair


def test_a_larger_folder_repeats_the_training_splits(
    make_prepared: Callable[..., Path], sample_pairs: list[Pair], tmp_path: Path
) -> None:
    data = make_prepared(train=sample_pairs, development=sample_pairs[:5], passages=["She left.", "They saw it."])
    larger = tmp_path / "larger"
    training_memory.enlarge(data, larger, 3)
    rows = arrow.read_pairs(larger, "train")
    assert rows["better"][:] == 3 * [pair.better for pair in sample_pairs]
    assert len(set(rows["id"])) == 3 * len(sample_pairs)
    assert arrow.read_pairs(larger, "development")["id"][:] == [pair.id for pair in sample_pairs[:5]]
    before, after = training_memory.size(data), training_memory.size(larger)
    assert (after["pairs"], after["passages"]) == (3 * before["pairs"], 3 * before["passages"])
    assert after["bytes"] > 2 * before["bytes"]
    with pytest.raises(FileExistsError):
        training_memory.enlarge(data, larger, 3)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from Linux's /proc")
def test_memory_and_time_of_a_process() -> None:
    assert training_memory.anonymous(os.getpid()) > 1
    assert training_memory.cpu_seconds(os.getpid()) > 0
