"""A scorer for inference gives what the scorer gives, and leaves it as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from pronmetric.checkpoint import files
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.data.collate import Batch, Example
from pronmetric.nn import inference
from pronmetric.nn.encoders.huggingface import packed
from pronmetric.nn.inference import for_inference


@pytest.fixture
def loaded(tiny_checkpoint: Callable[..., Path]) -> Checkpoint:
    return files.load(tiny_checkpoint())


@pytest.fixture
def batch(loaded: Checkpoint) -> Batch:
    examples = [Example("It rained.", "She left.", [(0, 3)]), Example("", "They saw him and me.", [(0, 4), (9, 12)])]
    return loaded.collator.pad(loaded.collator.encode(examples))


def logits(scorer: torch.nn.Module, batch: Batch) -> torch.Tensor:
    with torch.inference_mode():
        return scorer(batch).scores


def test_in_fp32_the_logits_are_the_scorers(loaded: Checkpoint, batch: Batch) -> None:
    found = for_inference(loaded.model, torch.float32)
    torch.testing.assert_close(logits(found, batch), logits(loaded.model, batch), rtol=1e-4, atol=1e-4)
    assert found.head is loaded.model.head


@pytest.mark.parametrize("can_pack", [True, False])
def test_in_bf16_they_are_near(
    loaded: Checkpoint, batch: Batch, monkeypatch: pytest.MonkeyPatch, can_pack: bool
) -> None:
    """Packed or under autocast, also inside the autocast of a training."""
    if not can_pack:
        monkeypatch.setattr(packed, "pack", lambda *_: None)
        monkeypatch.setattr(inference, "cpu_has_bf16", lambda: True)
    exact = logits(loaded.model, batch)
    found = logits(for_inference(loaded.model, torch.bfloat16), batch)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, exact, rtol=0.1, atol=0.1)
    if not can_pack:
        assert not torch.equal(found, exact)


def test_a_cpu_without_bf16_computes_in_fp32(loaded: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "cpu_has_bf16", lambda: False)
    asked: list[torch.dtype] = []
    monkeypatch.setattr(packed, "pack", lambda _, dtype: asked.append(dtype))
    assert for_inference(loaded.model, torch.bfloat16) is loaded.model and asked == [torch.float32]


def test_the_weights_of_a_scorer_in_training_stay_trainable(loaded: Checkpoint, batch: Batch) -> None:
    scorer = loaded.model.train()
    names = [name for name, _ in scorer.named_parameters()]
    for_inference(scorer, torch.bfloat16)
    assert [name for name, _ in scorer.named_parameters()] == names and scorer.training
    scorer(batch).scores.sum().backward()
    assert all(p.grad is not None for p in scorer.head.parameters())
