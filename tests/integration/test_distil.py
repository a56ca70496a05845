"""`pronmetric train teacher=FOLDER`: recorded, resumed with the same weights, refused where it does not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from pronmetric.checkpoint import files
from pronmetric.cli.main import main
from pronmetric.errors import PronmetricError
from pronmetric.training.module import ScorerModule

Arguments = Callable[..., list[str]]


@pytest.fixture(scope="module")
def teacher(tiny_checkpoint: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BiLSTM over words with a pair head."""
    before = files.load(tiny_checkpoint(encoder="glove", max_pieces=128))
    config = {**before.config, "pair_head": {"heads": 4, "dropout": 0.1}}
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = files.build(config)
    model.load_state_dict(before.model.state_dict(), strict=False)
    folder = tmp_path_factory.mktemp("teacher") / "taught-by"
    files.save(folder, model, before.pieces, config, half=False)
    return folder


def soft(teacher: Path) -> list[str]:
    hard = [f"objective.{name}=0" for name in ("detection", "pair", "preference")]
    return [f"teacher={teacher}", *hard, "trainer.max_steps=4", "trainer.save_every=1", "data.micro_batch=128"]


def test_a_stopped_run_ends_with_the_same_weights_and_tells_its_teacher(
    teacher: Path, arguments: Arguments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert main(arguments(one, *soft(teacher))) == 0
    real = ScorerModule.training_step

    def stopped(self: ScorerModule, batches: Any, index: int) -> Any:
        if self.global_step == 2:
            raise PronmetricError("the machine stops")
        return real(self, batches, index)

    with monkeypatch.context() as patch:
        patch.setattr(ScorerModule, "training_step", stopped)
        assert main(arguments(two, *soft(teacher))) == 1
    assert torch.load(two / "last.ckpt", weights_only=True)["global_step"] == 2
    assert main(arguments(two, *soft(teacher))) == 0
    first, second = (torch.load(out / "last.ckpt", weights_only=True) for out in (one, two))
    assert first["global_step"] == second["global_step"] == 4
    for name, value in first["state_dict"].items():
        assert torch.equal(value, second["state_dict"][name]) and name.startswith("scorer.")
    loaded = files.load(two / "checkpoint")
    hash = files.load(teacher).hash
    assert loaded.config["training"]["teacher"] == hash
    card = (two / "checkpoint" / "README.md").read_text(encoding="utf-8")
    assert f"Taught by weights `{hash}`." in card and "teacher=taught-by" in card


def test_a_run_is_not_gone_on_with_by_another_teacher(
    teacher: Path,
    arguments: Arguments,
    tiny_checkpoint: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, other = tmp_path / "out", tiny_checkpoint(max_pieces=128)
    assert main(arguments(out, *soft(teacher))) == 0
    capsys.readouterr()
    assert main(arguments(out, *soft(other), "objective.soft_preference=0")) == 1
    said = capsys.readouterr().err
    assert "the run there has objective.soft_preference=1.0, not objective.soft_preference=0.0" in said
    assert main(arguments(tmp_path / "new", *soft(other))) == 1
    said = capsys.readouterr().err
    assert f"{other}: teacher: expected a checkpoint with a pair head, whose preferences are learned" in said
