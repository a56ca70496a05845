"""The loggers of a training run, by Lightning's names; W&B is a stand-in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pytorch_lightning.loggers import CSVLogger, TensorBoardLogger

from pronmetric.errors import InputError, MissingExtra, PronmetricError
from pronmetric.training import fit
from pronmetric.training.settings import Train

Settings = Callable[..., Train]


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes packages look as if they were not installed."""
    real = fit.importlib.util.find_spec

    def hide(*names: str) -> None:
        monkeypatch.setattr(fit.importlib.util, "find_spec", lambda name: None if name in names else real(name))

    return hide


def test_csv_and_tensorboard_write_below_out(train_settings: Settings, tmp_path: Path) -> None:
    made = [fit.make_logger(name, tmp_path) for name in train_settings().trainer.logger]
    assert [type(each) for each in made] == [CSVLogger, TensorBoardLogger]
    assert [each.log_dir for each in made] == [str(tmp_path / "csv" / "version_0"), str(tmp_path / "tensorboard")]


def test_a_run_may_be_logged_to_wandb(
    train_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    class StandIn:
        def __init__(self, **options: Any) -> None:
            given.update(options)

    package = ModuleType("wandb")
    package.__spec__ = fit.importlib.util.spec_from_loader("wandb", None)
    monkeypatch.setitem(sys.modules, "wandb", package)
    monkeypatch.setattr(fit, "WandbLogger", StandIn)
    (name,) = train_settings({"trainer.logger": ["WandbLogger"]}).trainer.logger
    assert isinstance(fit.make_logger(name, tmp_path / "model"), StandIn)
    assert given == {"name": "model", "save_dir": str(tmp_path / "model")}


def test_a_missing_package_is_named(absent: Callable[..., None], tmp_path: Path) -> None:
    absent("wandb", "tensorboard", "tensorboardX")
    with pytest.raises(PronmetricError, match=r"trainer.logger=WandbLogger needs wandb, .*: pip install wandb"):
        fit.make_logger("WandbLogger", tmp_path)
    with pytest.raises(MissingExtra, match=r"trainer.logger=TensorBoardLogger needs tensorboard, .*\[train\]"):
        fit.make_logger("TensorBoardLogger", tmp_path)
    assert isinstance(fit.make_logger("CSVLogger", tmp_path), CSVLogger)  # which needs neither


@pytest.mark.parametrize(("value", "said"), [(["wandb"], "WandbLogger"), ([], "expected a list")])
def test_another_logger_is_refused(value: list[str], said: str, train_settings: Settings) -> None:
    with pytest.raises(InputError, match=f"trainer.logger.*{said}"):
        train_settings({"trainer.logger": value})


def test_a_resumed_run_may_have_other_loggers(train_settings: Settings) -> None:
    assert "logger" in train_settings().trainer.without_effect()
