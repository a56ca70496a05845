"""Where a run stands: the place to go on from, written whole, and the bar that shows it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Checkpoint, TQDMProgressBar
from pytorch_lightning.callbacks.progress.tqdm_progress import Tqdm
from pytorch_lightning.plugins.io import TorchCheckpointIO


class Place(Checkpoint):
    """Keeps the place to go on from: every few steps, but where a validation is due, only after it.

    So a run that goes on never misses a validation. The last step is followed by one too.

    Args:
        path: the file to keep.
        every: steps from one writing to the next.
        validations: steps from one validation to the next.
        settings: of the run, as plain values; they are kept with the place.
    """

    def __init__(self, path: Path, *, every: int, validations: int, settings: Mapping[str, Any]) -> None:
        self.path, self.every, self.validations, self.settings = path, every, validations, dict(settings)
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long the run has taken, what was lost to kills left out."""
        return time.monotonic() - self._began

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Write the place, if it is time."""
        step = trainer.global_step
        if step == trainer.max_steps:
            trainer.should_stop = True  # Lightning then validates, whatever the step
        elif step % self.every == 0 and step % self.validations:
            trainer.save_checkpoint(self.path)

    def on_validation_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Write the place; the callbacks that judge the validation came before."""
        trainer.save_checkpoint(self.path)

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Add what is ours: the settings, the time taken, and whether the run is over."""
        checkpoint |= {"settings": self.settings, "seconds": self.seconds, "over": trainer.should_stop}

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Go on: the data module from the next step, the clock from what it said."""
        trainer.datamodule.first = checkpoint["global_step"]  # type: ignore[attr-defined]
        trainer.should_stop = checkpoint["over"]
        self._began -= checkpoint["seconds"]


class WholeFiles(TorchCheckpointIO):
    """Writes beside the old file, then takes its place: a process killed at any time leaves a whole one."""

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | os.PathLike[str], storage_options: Any | None = None
    ) -> None:
        """Write `checkpoint` to `path`."""
        part = Path(f"{path}.part")
        part.parent.mkdir(parents=True, exist_ok=True)
        torch.save(checkpoint, part)
        part.replace(path)


class Bar(TQDMProgressBar):
    """Lightning's bar, on stderr."""

    def init_train_tqdm(self) -> Tqdm:
        """The bar of the run."""
        with redirect_stdout(sys.stderr):
            return super().init_train_tqdm()

    def init_validation_tqdm(self) -> Tqdm:
        """The bar of one validation."""
        with redirect_stdout(sys.stderr):
            return super().init_validation_tqdm()
