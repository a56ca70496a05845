"""Training steps on a GPU, by devices that need none: the host never waits for it, and batches are copied ahead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from pronmetric.checkpoint import files
from pronmetric.data.collate import Collator, Example
from pronmetric.errors import PronmetricError
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.nn.head import PairHead
from pronmetric.training.callbacks import may_wait
from pronmetric.training.examples.batches import Labelled, Labeller
from pronmetric.training.examples.labelled import LabelledExample
from pronmetric.training.examples.loader import step_loader
from pronmetric.training.fit import training_device
from pronmetric.training.module import Length, ScorerModule
from pronmetric.training.settings import Train
from pronmetric.training.teacher import Lesson, TeacherOutput

META = torch.device("meta")  # tensors without numbers: whoever asks for one fails, as the host would wait for it
Checkpoints = Callable[..., Path]
TEXTS = [("She left her there.", "It left her there."), ("They left.", "All left."), ("She saw it.", "He saw it, too.")]


def batch(collator: Collator) -> Labelled:
    """Three pairs with all that a batch may hold; of the second, the worse text has no pronoun."""
    items = []
    for kind, both in zip(("noisy", "noisy", "system"), TEXTS, strict=True):
        for text in both:
            spans = [(a, a + len(w)) for w in ("She", "her", "It", "They", "it", "He") if (a := text.find(w)) >= 0]
            right = tuple(0.0 for _ in spans)
            items.append(
                LabelledExample(Example("Anna left.", text, sorted(spans)), right, kind != "system", kind=kind)
            )
    item = Labeller(collator).batch(items, pairs=True, name="train")
    where = item.batch.pronoun_mask[:, :, None] & item.batch.word_mask[:, None, :]
    return replace(item, antecedent=where, lesson=Lesson(item.batch, torch.zeros_like(item.batch.pronoun_word)))


def on_meta(module: ScorerModule, *, step: int) -> ScorerModule:
    module._trainer = SimpleNamespace(global_step=step)  # type: ignore[assignment]
    return module.to(META)


@pytest.fixture
def make(tiny_checkpoint: Checkpoints, train_settings: Callable[..., Train]) -> Callable[[str], Any]:
    def module(encoder: str) -> tuple[ScorerModule, Labelled]:
        loaded = files.load(tiny_checkpoint(encoder=encoder))
        loaded.model.pair_head = PairHead(loaded.model.encoder.width, heads=2, dropout=0.1)
        settings = train_settings()
        own = {"loss": settings.loss, "objective": settings.objective, "optim": settings.optim}
        made = ScorerModule(loaded.model.train(), **own, length=Length(100, 50.0), seed=1)
        item = batch(loaded.collator)
        answer = torch.zeros(item.right.shape, device=META)
        made.teacher = SimpleNamespace(answer=lambda _: TeacherOutput(answer, answer))  # type: ignore[assignment]
        return made, item

    return module


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("encoder", ["huggingface", "mpnet"])
def test_the_host_never_waits_within_a_step(make: Callable[[str], Any], encoder: str, fused: bool) -> None:
    module, item = make(encoder)
    if fused:
        module.scorer.encoder.fuse_attention()
    on_meta(module, step=4).training_step(((item.to(META),),), 0).backward()
    assert all(p.grad is not None for p in module.scorer.head.parameters())
    parts = module.losses(module.scorer(item.to(META).batch), item.to(META))
    wanted = "detection antecedent pair preference soft_detection soft_preference"
    assert sorted(parts) == sorted(wanted.split())  # nothing was left out
    with pytest.raises(RuntimeError):
        bool(item.to(META).labelled.any())  # what waiting would look like


def test_the_host_waits_where_a_step_is_logged(make: Callable[[str], Any]) -> None:
    module, item = make("huggingface")
    with pytest.raises(RuntimeError):
        on_meta(module, step=9).training_step(((item.to(META),),), 0)
    assert [may_wait(META, step) for step in (9, 10, 11)] == [False, True, False]
    assert may_wait(torch.device("cpu"), 9)


@pytest.mark.parametrize("moment", ["on_validation_epoch_start", "on_save_checkpoint"])
def test_a_loss_that_is_not_finite_is_told_with_its_step(make: Callable[[str], Any], moment: str) -> None:
    module, _ = make("huggingface")
    module._unread = [(3, torch.tensor(1.0)), (4, torch.tensor(torch.inf)), (5, torch.tensor(torch.nan))]
    with pytest.raises(PronmetricError, match="the loss is inf at step 4: training stops, nothing is exported"):
        getattr(module, moment)(*([{}] if moment == "on_save_checkpoint" else []))


def test_the_counts_are_those_of_the_masks(make: Callable[[str], Any]) -> None:
    module, item = make("huggingface")
    real = item.batch.pronoun_mask
    counts = module.counts(item)
    assert counts["detection"] == int((item.labelled & real).sum()) < counts["soft_detection"] == int(real.sum())
    # the second pair has a text without a pronoun; the third is a system output
    assert (counts["preference"], counts["soft_preference"], counts["pair"]) == (2, 2, 1)
    assert item.places.pairs.tolist() == [0, 2] and item.places.natural.tolist() == [0]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("encoder", ["huggingface", "mpnet"])
def test_a_whole_mask_gives_the_same_states(tiny_checkpoint: Checkpoints, encoder: str, fused: bool) -> None:
    model = files.load(tiny_checkpoint(encoder=encoder)).model.encoder.eval()
    assert isinstance(model, HuggingFaceEncoder)
    if fused:
        model.fuse_attention()
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    ids = torch.full((2, 5), 7).masked_fill(~mask, 1)
    with torch.inference_mode():
        whole = model.model(input_ids=ids, attention_mask=model.whole_mask(mask)).last_hidden_state
        assert torch.allclose(whole[mask], model(ids, mask)[mask], atol=1e-6)
    assert model.whole_mask(mask).shape == (2, 1, 5, 5)


def tensors(record: Any) -> int:
    values = [getattr(record, field.name) for field in fields(record)]
    return sum(tensors(v) if is_dataclass(v) else isinstance(v, Tensor) for v in values)


@pytest.mark.parametrize(("device", "ahead"), [("cuda", True), ("mps", False), ("cpu", False)])
def test_each_tensor_of_a_batch_is_moved_by_one_call(
    make: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch, device: str, ahead: bool
) -> None:
    _, item = make("huggingface")
    calls: list[tuple[str, bool]] = []

    def to(self: Tensor, device: str, *, non_blocking: bool = False) -> Tensor:
        calls.append((str(device), non_blocking))
        return self

    monkeypatch.setattr(Tensor, "to", to)
    moved = item.to(device)
    assert calls == [(device, ahead)] * tensors(item) and tensors(item) == 27
    assert moved is not item and moved.name == item.name


def test_a_batch_is_pinned_as_a_whole(make: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    _, item = make("huggingface")
    pinned: list[Tensor] = []
    monkeypatch.setattr(Tensor, "pin_memory", lambda self: pinned.append(self) or self)
    item.pin_memory()
    assert len(pinned) == tensors(item)


@pytest.mark.parametrize("pin", [False, True])
def test_batches_are_made_in_pinned_memory_for_a_gpu(pin: bool) -> None:
    trainer: Any = SimpleNamespace(global_rank=0, world_size=1)
    data: Any = [1, 2]
    loader = step_loader(data, [0, 1], trainer=trainer, first=0, accumulated=1, workers=0, pin=pin)
    assert loader.pin_memory is pin


@pytest.mark.parametrize(
    ("accelerator", "cuda", "mps", "found"),
    [
        ("cpu", True, True, "cpu"),
        ("gpu", True, True, "cuda:1"),
        ("gpu", False, True, "mps"),
        ("auto", False, False, "cpu"),
        ("mps", True, True, "mps"),
    ],
)
def test_the_device_of_a_run(
    train_settings: Callable[..., Train],
    monkeypatch: pytest.MonkeyPatch,
    accelerator: str,
    cuda: bool,
    mps: bool,
    found: str,
) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert training_device(train_settings({"trainer.accelerator": accelerator}).trainer) == torch.device(found)
