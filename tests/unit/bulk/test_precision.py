from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pronmetric.bulk.worker import Model, Scoring, _load
from pronmetric.metric import PronounMetric
from pronmetric.scoring import replicas
from pronmetric.text.context import GIVEN


def test_workers_compute_in_the_precision_of_the_plan(
    tiny_checkpoint: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan is made where there may be no GPU; a worker with one would choose another precision by itself."""
    folder = str(tiny_checkpoint())
    signed = PronounMetric.from_pretrained(folder, gpus=0).signature(context=GIVEN)
    monkeypatch.setattr(replicas, "default_precision", lambda device: "bf16")
    task = Scoring(Model(folder, None, 0, False, None, None), GIVEN, None, str(signed))
    assert _load(task).precision == signed["precision"] == "32"
