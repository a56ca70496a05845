"""Callbacks of a run."""

from __future__ import annotations

import platform
from types import SimpleNamespace
from typing import Any

import pytest

from pronmetric.training.callbacks import HeapTrim, trim_heap


def test_the_heap_is_trimmed_every_few_steps() -> None:
    done: list[tuple[int, int]] = []
    trainer: Any = SimpleNamespace(global_step=0)
    for callback in (HeapTrim(3, lambda kept: done.append((trainer.global_step, kept))), HeapTrim(3, None)):
        for step in range(1, 8):
            trainer.global_step = step
            callback.on_train_batch_end(trainer, None, None, None, step)
    assert done == [(3, 0), (6, 0)]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc_trim is of glibc")
def test_glibc_trims_its_heap() -> None:
    trim = trim_heap()
    assert trim is not None and trim(0) in (0, 1)
