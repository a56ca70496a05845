"""Callbacks of a run: the checkpoint to resume from, written atomically, and the progress bar."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, Checkpoint
from pytorch_lightning.plugins.io import TorchCheckpointIO
from pytorch_lightning.trainer.states import TrainerFn
from tqdm import tqdm

from pronmetric.errors import PronmetricError
from pronmetric.output.progress import progress

LOG_EVERY = 10  # steps


def may_wait(device: torch.device, step: int) -> bool:
    """Whether the host may wait for the device after this step: on a CPU after each, else after logged ones."""
    return device.type == "cpu" or step % LOG_EVERY == 0


class ResumePoint(Checkpoint):
    """Saves the checkpoint to resume from: every few steps and after each validation.

    So a resumed run never misses a validation. The last step is saved before its validation, too.

    Args:
        path: the file to write.
        every: steps between two checkpoints.
        validations: steps between two validations.
        settings: of the run, as plain values; they are saved with the checkpoint.
    """

    def __init__(self, path: Path, *, every: int, validations: int, settings: Mapping[str, Any]) -> None:
        self.path, self.every, self.validations, self.settings = path, every, validations, dict(settings)
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """The duration of the run, without steps lost when it was killed."""
        return time.monotonic() - self._began

    def add_seconds(self, seconds: float) -> None:
        """Count the seconds of the run before it was stopped."""
        self._began -= seconds

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Save, if it is time."""
        step = trainer.global_step
        if step == trainer.max_steps:
            trainer.save_checkpoint(self.path)
            trainer.should_stop = True  # Lightning then validates, whatever the step
        elif step % self.every == 0 and step % self.validations:
            trainer.save_checkpoint(self.path)

    def on_validation_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """Save, after the callbacks that read the development figures."""
        if trainer.state.fn == TrainerFn.FITTING:
            trainer.save_checkpoint(self.path)

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Add the settings, the duration, and whether the run is finished."""
        checkpoint |= {"settings": self.settings, "seconds": self.seconds, "over": trainer.should_stop}

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Resume: set the data module to the next step, and the clock."""
        trainer.datamodule.first = checkpoint["global_step"]  # type: ignore[attr-defined]
        trainer.should_stop = checkpoint["over"]
        self.add_seconds(checkpoint["seconds"])


class AtomicCheckpointIO(TorchCheckpointIO):
    """Writes to a temporary file, then replaces the old one: a killed process leaves a complete file."""

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | os.PathLike[str], storage_options: Any | None = None
    ) -> None:
        """Write `checkpoint` to `path`.

        Raises:
            PronmetricError: it cannot be written, for example on a full disk.
        """
        part = Path(f"{path}.part")
        part.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as file:  # where torch opens the path itself, its error has no reason
                torch.save(checkpoint, file)
            part.replace(path)
        except (OSError, RuntimeError) as error:
            raise PronmetricError(f"{path}: cannot be written: {_reason(error)}") from error
        finally:
            part.unlink(missing_ok=True)


def _reason(error: BaseException) -> str:
    """Why a file was not written: torch raises a RuntimeError after the OSError of the file."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__context__
    return (cause.strerror if cause is not None else None) or str(error).splitlines()[0]


class ProgressBar(Callback):
    """Progress of the whole run in steps, on stderr, with the last loss and the last development figure.

    Args:
        figure: the development figure to show.
    """

    def __init__(self, figure: str) -> None:
        self.figure = figure
        self._bar: tqdm | None = None

    def on_train_start(self, trainer: pl.Trainer, *_: Any) -> None:
        """Start the bar at the step of the run."""
        if trainer.is_global_zero:
            self._bar = progress(label="train", total=trainer.max_steps, unit="steps", done=trainer.global_step)

    def on_train_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        """One more step."""
        if self._bar is not None:
            if may_wait(trainer.strategy.root_device, trainer.global_step):
                self._bar.set_postfix_str(self._figures(trainer), refresh=False)
            self._bar.update(trainer.global_step - self._bar.n)

    def on_validation_start(self, *_: Any) -> None:
        """Label the bar as validation."""
        if self._bar is not None:
            self._bar.set_description_str("validate", refresh=not self._bar.gui)  # no line for each in a log file

    def on_validation_end(self, *_: Any) -> None:
        """Label the bar as training."""
        if self._bar is not None:
            self._bar.set_description_str("train", refresh=False)

    def on_train_end(self, *_: Any) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()

    def on_exception(self, *_: Any) -> None:
        """Close the bar."""
        self.on_train_end()

    def _figures(self, trainer: pl.Trainer) -> str:
        shown = {"loss": "train/loss", self.figure.split("/")[-1]: self.figure}
        figures = {name: trainer.callback_metrics.get(key) for name, key in shown.items()}
        return ", ".join(f"{name} {float(value):.3g}" for name, value in figures.items() if value is not None)
