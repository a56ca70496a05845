"""The groups of settings of a training, one record an option; conf/ has their values and documentation."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pronmetric.checkpoint.model_config import Context
from pronmetric.errors import InputError
from pronmetric.settings import (
    DIGITS,
    Count,
    CountOrNone,
    Fraction,
    Record,
    Seed,
    Share,
    SizeOrNone,
    Text,
    Weight,
)

# The trainer's keys that a resumed run may change.
MACHINE = {"accelerator", "threads", "workers", "save_every", "progress", "logger"}


LoggerName = Literal["CSVLogger", "TensorBoardLogger", "WandbLogger"]  # of Lightning


class LogitHead(Record):
    """Group head: our head."""

    kind: Literal["logit"]
    dropout: Fraction
    pair: bool


class PaperHead(Record):
    """Group head: the paper's head."""

    kind: Literal["paper"]


class AverageHead(Record):
    """Group head: the paper's baseline."""

    kind: Literal["average"]


class Logistic(Record):
    """Group loss: logistic, log(1 + exp(-difference))."""

    kind: Literal["logistic"]


class Margin(Record):
    """Group loss: the paper's margin loss."""

    kind: Literal["margin"]


class Optim(Record):
    """Settings of all optimizers."""

    lr: Weight
    head_lr: Weight
    layer_decay: Annotated[float, Field(gt=0, le=1)]
    weight_decay: Weight
    warmup: Share
    decay_steps: Count | None
    halve_from: Count | None
    frozen: bool
    frozen_layers: CountOrNone
    frozen_head: bool

    @model_validator(mode="after")
    def _one_schedule(self) -> Self:
        if self.halve_from is not None and self.warmup:
            raise InputError(
                f"optim.warmup={self.warmup:g} with optim.halve_from={self.halve_from}: the rate of each epoch is set "
                "by halve_from alone, add optim.warmup=0"
            )
        return self


class Adamw(Optim):
    """Group optim: AdamW."""

    kind: Literal["adamw"]


class Sgd(Optim):
    """Group optim: plain SGD."""

    kind: Literal["sgd"]


class Adam(Record):
    """Group optim of pretrain and of `nmt train`."""

    lr: Weight
    weight_decay: Weight
    beta2: Fraction
    warmup: Share


class Trainer(Record):
    """Group trainer, of all verbs that train."""

    accelerator: Literal["cpu", "gpu", "cuda", "mps", "auto"]
    devices: Annotated[int, Field(ge=1)] | Literal[-1]
    num_nodes: Count
    strategy: Literal["auto", "ddp", "ddp_find_unused_parameters_true"]
    precision: Annotated[Literal["32", "bf16", "16"], DIGITS]
    threads: Count | None
    workers: CountOrNone
    scale: Count
    max_epochs: Count
    max_steps: Annotated[int, Field(ge=1)] | Literal[-1]
    accumulate: Count
    clip: Weight
    validate_every: Annotated[int, Field(ge=1)] | Annotated[float, Field(gt=0)]
    save_every: Count
    patience: CountOrNone
    progress: bool
    logger: Annotated[list[LoggerName], Field(min_length=1)]

    def without_effect(self) -> set[str]:
        """The keys without effect on the weights: those of the machine, and `scale` where it is 1."""
        return MACHINE if self.scale > 1 else {*MACHINE, "scale"}

    @model_validator(mode="after")
    def _devices_of_a_cpu(self) -> Self:
        if self.accelerator == "cpu" and self.devices == -1:
            raise InputError("trainer.devices=-1 takes all GPUs: expected trainer=gpu, or a whole number of at least 1")
        return self


class Data(Record):
    """Group data of train."""

    dir: Text | Annotated[list[Text], Field(min_length=1)]
    pieces: Count
    micro_batch: Count
    batch: Count | None
    development: CountOrNone
    choose: CountOrNone
    calibrate: CountOrNone
    kinds: Annotated[list[Literal["system", "noisy", "tie"]], Field(min_length=1)] | None
    testsets: Annotated[list[Text], Field(min_length=1)] | None

    @property
    def folders(self) -> list[str]:
        """The prepared folders; more than one only where a scorer of several languages is trained."""
        return [self.dir] if isinstance(self.dir, str) else list(self.dir)

    @property
    def folder(self) -> str:
        """The first of them."""
        return self.folders[0]


class ContextGroup(Record):
    """Group context."""

    name: Context


class Sample(Record):
    """Number of pairs of each kind in each split of Table 4; null: all."""

    train: Count | None
    development: Count | None
    test: Count | None


class Setup(Record):
    """An encoder set-up of Table 4: an encoder and how it is trained; `needs`, `rows` and `seeds` are optional."""

    name: Text
    needs: Text | None = None
    rows: list[str] | None = None
    seeds: list[Seed] | None = None
    epochs: Count


class Table(Record):
    """The sweep of Table 4."""

    setup: Text
    elmo: Text | None
    store: bool
    keep: bool
    rows: list[str]
    losses: dict[str, Annotated[Logistic | Margin, Field(discriminator="kind")]]
    setups: dict[str, Setup]
    sample: Sample
    epochs: Count
    tuned_epochs: Count


class SourceTraining(Record):
    """Group source: the training of a reader of sources (experiment=source), or of a scorer that reads them itself."""

    model: Text | None
    english: Fraction
    dropped: Share
    alone: Share
    joined: Share
    hard: Weight
    people: Fraction
    deleted: Fraction
    without: list[Text] | None
    context: SizeOrNone
    before: SizeOrNone
    pieces: Count | None
    bits: Literal[6, 7, 8] | None
