"""A training run of a classifier of pronoun slots; one that was stopped is resumed from its folder."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytorch_lightning as pl
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from pronmetric.data.pieces import Subwords
from pronmetric.errors import InputError
from pronmetric.lab.clpp import classifier as clpp
from pronmetric.lab.clpp.classifier import Classifier, Options, Reader
from pronmetric.lab.clpp.data import Line, Task
from pronmetric.lab.clpp.score import Score
from pronmetric.lab.clpp.slots import balanced_weights, class_loss
from pronmetric.lab.clpp.windows import Window, windows
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.training.examples.loader import StepSampler
from pronmetric.training.fit import FitResult, Goal, fit, prepare_process, refuse_other, run_length
from pronmetric.training.groups import Trainer
from pronmetric.training.module import Length, refuse_not_finite

RECALL, ACCURACY = "development/macro_recall", "development/accuracy"
GOAL = Goal(RECALL, "max")
SAVE_EVERY = 100  # steps
CLIP = 1.0
"""Greatest norm of a gradient; larger ones are scaled down to it."""
_TURN = 512  # slots that are sorted by length before they are cut into batches

Rows = tuple[int, ...]


class Slots(NamedTuple):
    """A batch: the arguments of the model, and the class of each slot (slots,)."""

    inputs: tuple[Tensor, ...]
    labels: Tensor


class SlotRows(Dataset[Slots]):
    """Slots with a label."""

    def __init__(self, found: Sequence[Window], task: Task, reader: Reader) -> None:
        self.windows = [window for window in found if window.label is not None]
        self.labels = [task.classes.index(str(window.label)) for window in self.windows]
        self._reader = reader

    def __getitem__(self, rows: Rows) -> Slots:
        """One batch."""
        return Slots(
            self._reader([self.windows[row] for row in rows]), torch.tensor([self.labels[row] for row in rows])
        )


class SlotData(pl.LightningDataModule):
    """Training and development batches of slots; for Lightning the whole run is one epoch, as with `PronounData`."""

    def __init__(self, classifier: Classifier, train: Sequence[Line], development: Sequence[Line]) -> None:
        super().__init__()
        options = classifier.options
        self.train, self.development = (
            SlotRows(list(windows(lines, size=options.window)), classifier.task, classifier.reader)
            for lines in (train, development)
        )
        shuffled = random.Random(options.seed)
        self.steps = [
            step for _ in range(options.epochs) for step in _batches(self.train.windows, options.batch, shuffled)
        ]
        rows = range(len(self.development.windows))
        self.development_steps = [tuple(rows[k : k + options.batch]) for k in range(0, len(rows), options.batch)]
        self.first = 0  # number of steps that are done

    def train_dataloader(self) -> DataLoader[Slots]:
        """The remaining batches."""
        return DataLoader(
            self.train, sampler=StepSampler(self.steps, first=self.first, rank=0, world=1), batch_size=None
        )

    def val_dataloader(self) -> DataLoader[Slots]:
        """Batches of all development slots."""
        sampler = StepSampler(self.development_steps, first=0, rank=0, world=1)
        return DataLoader(self.development, sampler=sampler, batch_size=None)


def _batches(found: Sequence[Window], size: int, shuffled: random.Random) -> Iterator[Rows]:
    """Batches of slots with windows of similar length, in random order."""
    order = list(range(len(found)))
    shuffled.shuffle(order)
    batches: list[Rows] = []
    for start in range(0, len(order), _TURN):
        turn = sorted(order[start : start + _TURN], key=lambda row: found[row].length)
        batches += [tuple(turn[k : k + size]) for k in range(0, len(turn), size)]
    shuffled.shuffle(batches)
    return iter(batches)


class SlotModule(pl.LightningModule):
    """Trains a classifier; `figures` are those of the last validation, in percent.

    Args:
        classifier: its model is trained.
        weights: of the classes in the loss (classes,).
        length: of the run, for the logs.
    """

    weights: Tensor

    def __init__(self, classifier: Classifier, *, weights: Tensor, length: Length) -> None:
        super().__init__()
        self.model = classifier.model
        self.task, self.options, self.length = classifier.task, classifier.options, length
        self.register_buffer("weights", weights, persistent=False)
        self.figures: dict[str, float] = {}
        self._found: Counter[tuple[str, str]] = Counter()

    def training_step(self, item: Slots, index: int) -> Tensor:
        """The weighted cross entropy of one batch."""
        torch.manual_seed(self.options.seed * 1_000_003 + self.global_step)  # a resumed run draws the same dropout
        loss = class_loss(self.model(*item.inputs), item.labels, self.weights)
        refuse_not_finite(loss, step=self.global_step + 1)
        self.log("epoch", self.global_step / self.length.epoch)
        self.log("train/loss", loss.detach(), prog_bar=True, batch_size=len(item.labels))
        return loss

    def validation_step(self, item: Slots, index: int) -> None:
        """Count the predicted classes."""
        predicted = self.model(*item.inputs).argmax(1)
        classes = self.task.classes
        self._found.update(
            (classes[gold], classes[guess])
            for gold, guess in zip(item.labels.tolist(), predicted.tolist(), strict=True)
        )

    def on_validation_epoch_end(self) -> None:
        """Macro-averaged recall and accuracy."""
        score = Score(self.task, dict(self._found))
        self._found.clear()
        self.figures = {RECALL: score.macro.recall, ACCURACY: score.accuracy}
        self.log_dict({**self.figures, "epoch": self.global_step / self.length.epoch})

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Save the figures of the last validation with the weights."""
        checkpoint["figures"] = self.figures

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """AdamW with a constant rate."""
        return torch.optim.AdamW(self.model.parameters(), lr=self.options.rate)


def train(
    task: Task,
    options: Options,
    lines: Sequence[Line],
    development: Sequence[Line],
    out: Path,
    *,
    encoder: tuple[HuggingFaceEncoder, Subwords] | None,
    inputs: dict[str, str],
    progress: bool,
) -> FitResult:
    """Train, and write the classifier with the best macro-averaged recall on development data to `out`.

    A killed run is resumed from `out`/last.ckpt and gives the same files. `inputs`: hashes of what it reads; a run is
    resumed only with the same ones.

    Raises:
        PronmetricError: no slot with a label to train on or to validate with; `out` holds a run of other settings.
    """
    settings = {"pair": task.pair, **{name: getattr(options, name) for name in Options.__slots__}, "inputs": inputs}
    refuse_other(out, settings, results=(clpp.CONFIG, clpp.WEIGHTS))
    trainer = _trainer(options, progress=progress)
    with prepare_process(trainer, seed=options.seed):
        classifier = clpp.make(task, options, lines, encoder=encoder)
        data = SlotData(classifier, lines, development)
        for rows, name in ((data.train, "to train on"), (data.development, "in the development data")):
            if not rows.windows:
                raise InputError(f"no slot with a label {name}")
        counts = Counter(data.train.labels)
        weights = [counts[k] if options.balanced else 1 for k in range(len(task.classes))]
        length = run_length(len(data.steps), trainer)
        module = SlotModule(classifier, weights=balanced_weights(weights), length=length)
        best = fit(module, data, out, trainer=trainer, goal=GOAL, settings=settings, length=length)
    assert best is not None  # there is one process
    clpp.save(classifier, out)
    return best


def _trainer(options: Options, *, progress: bool) -> Trainer:
    return Trainer(
        accelerator="auto",
        devices=1,
        num_nodes=1,
        strategy="auto",
        precision="32",
        threads=None,
        workers=0,
        scale=1,
        max_epochs=options.epochs,
        max_steps=-1,
        accumulate=1,
        clip=CLIP,
        validate_every=1.0,
        save_every=SAVE_EVERY,
        patience=0,
        progress=progress,
        logger=["CSVLogger", "TensorBoardLogger"],
    )
