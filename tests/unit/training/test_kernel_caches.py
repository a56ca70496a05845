"""A training run limits the compiled kernels that a CPU keeps."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from pronmetric.training.fit import KERNEL_CACHES, prepare_process
from pronmetric.training.settings import Train


def test_a_run_limits_the_caches_but_keeps_a_users_own_limit(
    monkeypatch: pytest.MonkeyPatch, train_settings: Callable[..., Train]
) -> None:
    first, second = KERNEL_CACHES
    monkeypatch.setenv(first, "7")
    monkeypatch.delenv(second, raising=False)
    with prepare_process(train_settings().trainer, seed=1):
        assert (os.environ[first], os.environ[second]) == ("7", KERNEL_CACHES[second])
    assert second not in os.environ
