"""The steps of a run as Lightning takes them: of this process, from the first that is not done."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import pytorch_lightning as pl
from torch.utils.data import DataLoader, Dataset, Sampler

from pronmetric.training.examples.planning import Plan, Step
from pronmetric.training.fit import training_device
from pronmetric.training.settings import Train

LOG = logging.getLogger(__name__)


AnyStep = TypeVar("AnyStep")


class StepSampler(Sampler[AnyStep]):
    """The steps from `first` on for this `rank` of `world` processes; the length counts all its steps."""

    def __init__(self, steps: Sequence[AnyStep], *, first: int, rank: int, world: int) -> None:
        self.steps = steps[rank : len(steps) - len(steps) % world : world]
        self.first = first

    def __iter__(self) -> Iterator[AnyStep]:
        """The remaining steps."""
        return iter(self.steps[self.first :])

    def __len__(self) -> int:
        """The number of steps of this rank, including finished ones."""
        return len(self.steps)


class PlannedData(pl.LightningDataModule):
    """Batches by planned steps; for Lightning the whole run is one epoch.

    Args:
        train: gives the batch of a step.
        steps: of the whole run.
        development: likewise.
        development_steps: of one validation.
        workers: processes that make batches; 0 makes them in the training process.
        pin: make them in memory that a GPU reads by itself.
        accumulated: batches of an optimizer step on each device.
    """

    def __init__(
        self,
        train: Dataset[Any],
        steps: Plan,
        development: Dataset[Any],
        development_steps: Plan,
        *,
        workers: int,
        pin: bool,
        accumulated: int,
    ) -> None:
        super().__init__()
        self.train, self.steps = train, steps
        self.development, self.development_steps = development, development_steps
        self.workers, self.pin, self.accumulated = workers, pin, accumulated
        self.first = 0  # number of steps that are done

    def train_dataloader(self) -> DataLoader[Any]:
        """The remaining steps, each a tuple of `accumulated` batches."""
        trainer = self.trainer
        assert trainer is not None
        return step_loader(
            self.train,
            self.steps[: trainer.max_steps * trainer.world_size * self.accumulated],
            trainer=trainer,
            first=self.first,
            accumulated=self.accumulated,
            workers=self.workers,
            pin=self.pin,
        )

    def val_dataloader(self) -> DataLoader[Any]:
        """The batches of a validation."""
        sampler = StepSampler(self.development_steps, first=0, rank=0, world=1)
        return DataLoader(self.development, sampler=sampler, batch_size=None)


def step_loader(
    batches: Dataset[Any],
    steps: Sequence[Any],
    *,
    trainer: pl.Trainer,
    first: int,
    accumulated: int,
    workers: int,
    pin: bool,
) -> DataLoader[Any]:
    """The optimizer steps of this process from `first` on, each a tuple of `accumulated` batches.

    With `world_size` processes, one optimizer step takes the next world_size x accumulated of `steps` in order, whoever
    computes them. pin: make them in memory that a GPU reads by itself, while the host goes on.
    """
    sampler = StepSampler(steps, first=first * accumulated, rank=trainer.global_rank, world=trainer.world_size)
    return DataLoader(
        batches,
        batch_size=accumulated,
        sampler=sampler,
        drop_last=True,
        collate_fn=tuple,
        num_workers=workers,
        pin_memory=pin,
    )


def training_loader(
    batches: Dataset[Any], steps: Sequence[Step], *, trainer: pl.Trainer, first: int, settings: Train
) -> DataLoader[Any]:
    """The optimizer steps of this process from `first` on (`step_loader`), with a warning of batches left out."""
    world, accumulated = trainer.world_size, settings.trainer.accumulate
    left = len(steps) % (world * accumulated)
    if left and trainer.global_rank == 0 and trainer.max_steps == len(steps) // (world * accumulated):
        LOG.warning(
            "left out: %d of %d batches, so that %s as many each",
            left,
            len(steps),
            f"{world} processes take" if accumulated == 1 else "all steps take",
        )
    return step_loader(
        batches,
        steps[: trainer.max_steps * world * accumulated],
        trainer=trainer,
        first=first,
        accumulated=accumulated,
        workers=settings.trainer.workers,
        pin=training_device(settings.trainer).type == "cuda",
    )
