"""Typed settings of training and pretraining; conf/ has their values and documentation. No torch."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from pronmetric.checkpoint import model_config
from pronmetric.checkpoint.model_config import Context, WordState
from pronmetric.errors import InputError
from pronmetric.nn.encoders.kinds import EncoderOptions
from pronmetric.settings import (
    DIGITS,
    Count,
    CountOrNone,
    Fraction,
    Positive,
    Record,
    Seed,
    Settings,
    Share,
    SizeOrNone,
    Text,
    Weight,
)

# The trainer's keys that a resumed run may change.
MACHINE = {"accelerator", "threads", "workers", "save_every", "progress", "logger"}
SOFT = {"soft_detection", "soft_preference"}  # keys of the objective that a teacher needs
LoggerName = Literal["CSVLogger", "TensorBoardLogger", "WandbLogger"]  # of Lightning
SLOTS = 20  # of the paper's head: the first pronouns of a text, which affect its score
LETTERS = 50  # bytes of a word that an ELMo reads
PAIR_HEADS = 4  # of the pair head's attention
WORD_STATE: WordState = "mean"  # of its pieces
CHECKPOINT = "checkpoint"  # the folder of the exported checkpoint in `out`


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


class Fidelity(Record):
    """Pairs in which only the context decides, and their ties."""

    share: Fraction
    ties: Share


class Corruption(Record):
    """Corruption of passages."""

    rate: Share
    power: Weight
    same_slot_share: Share
    joint: Share
    must_agree: Share
    plain: Share
    clean: Share
    context: Share
    gender_swap: Share
    name_swap: Share
    fresh: Share
    tie: Share
    emphasis: dict[str, Weight] | None


class Detection(Record):
    """Group objective: detection on passages, with the pair loss."""

    kind: Literal["detection"]
    detection: Weight
    antecedent: Weight
    pair: Weight
    preference: Weight
    soft_detection: Weight
    soft_preference: Weight
    pair_share: Fraction
    system_share: Annotated[float, Field(gt=0, lt=1)] | None
    people: Fraction
    people_pairs: Fraction
    fidelity: Fidelity
    source_share: dict[str, Annotated[float, Field(gt=0, le=1)]] | None
    source_turns: dict[str, Count] | None
    form_weight: dict[str, Positive] | None
    corruption: Corruption


class PairCorruption(Record):
    """Corruption of pairs; the shares of what is done to passages alone are 0."""

    gender_swap: ClassVar = 0.0
    name_swap: ClassVar = 0.0
    emphasis: ClassVar = None
    plain: Share
    fresh: Share
    tie: Share


class Pairs(Record):
    """Group objective: only pairs; without passages, annotated antecedents and teacher."""

    pair_share: ClassVar = 1.0
    antecedent: ClassVar = 0.0
    soft_detection: ClassVar = 0.0
    soft_preference: ClassVar = 0.0
    people: ClassVar = 0.0
    source_share: ClassVar = None
    source_turns: ClassVar = None
    form_weight: ClassVar = None
    kind: Literal["pairs"]
    detection: Weight
    pair: Weight
    preference: Weight
    system_share: Annotated[float, Field(gt=0, lt=1)] | None
    people_pairs: Fraction
    fidelity: Fidelity
    corruption: PairCorruption


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


class Trainer(Record):
    """Group trainer, of both verbs."""

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


class Train(Settings):
    """The settings of `pronmetric train`, as conf/train.yaml composes them."""

    FREE: ClassVar = (
        "objective.source_share",
        "objective.source_turns",
        "objective.form_weight",
        "objective.corruption.emphasis",
        "stages",
    )
    REFUSED: ClassVar = {
        "encoder.stateful": "ELMo's state is reset for each batch, so that a score does not depend on earlier batches",
        "data.coreference": "`pronmetric prepare` reads annotated documents now: prepare with data.coreference=FOLDER",
        "objective.source_weight": "replaced by objective.source_share, the share of the pieces of each source",
    }

    out: Text
    seed: Seed
    head_seed: Seed
    init: Text | None
    teacher: Text | None
    half: bool
    encoder_cache: Text | None
    data: Data
    encoder: Annotated[EncoderOptions, Field(discriminator="kind")]
    head: Annotated[LogitHead | PaperHead | AverageHead, Field(discriminator="kind")]
    loss: Annotated[Logistic | Margin, Field(discriminator="kind")]
    objective: Annotated[Detection | Pairs, Field(discriminator="kind")]
    context: ContextGroup
    optim: Annotated[Adamw | Sgd, Field(discriminator="kind")]
    trainer: Trainer
    table: Table | None
    source: SourceTraining | None
    stages: Annotated[dict[str, dict[str, Any]], Field(min_length=1)] | None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Refuse settings that would fail or have no effect during training."""
        if self.stages is not None:
            for name in self.stages:
                if not re.fullmatch(r"[a-z0-9_-]+", name) or name == CHECKPOINT:
                    raise InputError(f"stages.{name}: expected the name of a folder: lower-case letters, digits, _, -")
            if (self.trainer.devices, self.trainer.num_nodes) != (1, 1):
                raise InputError("a training in stages runs on one device: add trainer.devices=1, or stages=null")
        scorer = self.source is not None and self.source.model is None
        if len(self.data.folders) > 1 and not scorer:
            raise InputError(
                "data.dir=[DIR, ...]: several prepared folders are for a scorer of several languages "
                "(experiment=targets): expected one"
            )
        if len(self.data.folders) > 1 and self.teacher is not None:
            raise InputError("teacher= scores one language: expected one prepared folder in data.dir=")
        if self.source is not None:
            for fits, cure in (
                (self.encoder.kind == "huggingface", "encoder=e5, or another multilingual encoder of Hugging Face"),
                (self.head.kind == "logit" and self.pair_head is None, "head=logit, which has no pair head"),
                (self.objective.kind == "detection", "objective=detection"),
                (not self.objective.pair_share, "objective.pair_share=0"),
            ):
                if not fits:
                    raise InputError(f"a reader of sources (experiment=source) needs {cure}")
        if self.head.kind != "logit" and self.objective.kind != "pairs":
            raise InputError(
                f"head={self.head.kind} has no probabilities and learns from pairs alone: add objective=pairs"
            )
        shares = self.objective.source_share or {}
        if sum(shares.values()) > 1 + 1e-9:
            raise InputError(
                f"objective.source_share: expected shares that sum to at most 1, got {sum(shares.values()):g}"
            )
        if self.encoder_cache is not None and not self.optim.frozen:
            raise InputError("encoder_cache= caches the states of a frozen encoder: add optim.frozen=true")
        if self.optim.frozen_head:
            for fits, cure in (
                (self.init is not None, "init=CHECKPOINT, whose scores it keeps"),
                (self.optim.frozen, "optim.frozen=true, as a score is that of the encoder too"),
                (self.pair_head is not None, "head=two, whose pair head is trained"),
            ):
                if not fits:
                    raise InputError(f"optim.frozen_head=true: add {cure}")
        if self.teacher is not None and self.objective.kind != "detection":
            raise InputError("teacher= gives labels to passages and pairs: expected objective=detection")
        if self.init is None:
            for key in self.encoder.FILES:
                if getattr(self.encoder, key) is None:
                    raise InputError(
                        f"encoder={self.encoder.kind} needs encoder.{key}=FILE, a local file or an http(s) address"
                    )
        return self

    def unread(self) -> Iterator[tuple[str, str]]:
        """See `pronmetric.settings.Settings`; with stages each of them tells its own."""
        if self.stages is not None:
            return
        if self.init is not None:
            for key in type(self.encoder).model_fields.keys() - {"kind", "dropout", "trainable", "max_pieces"}:
                yield (
                    f"encoder.{key}",
                    "with init=, which brings its own encoder: leave it out, or train from an encoder without init=",
                )
        if self.optim.frozen:
            for key in ("optim.lr", "optim.layer_decay", "optim.frozen_layers", "encoder.trainable"):
                yield key, "with optim.frozen=true, where the head alone is trained: leave one of the two out"
        if self.optim.frozen_head:
            for key in (f"objective.{name}" for name in ("detection", "soft_detection", "antecedent", "pair")):
                yield key, "with optim.frozen_head=true, where the pair head alone is trained: leave it out"
        if self.data.batch is not None:
            yield "trainer.scale", "with data.batch=, which fixes the batch: leave it out"
        if self.encoder_cache is not None and self.encoder.dropout:
            yield "encoder.dropout", "with encoder_cache=, whose states are computed without dropout: leave it out"
        if self.source is not None:
            for key in ("context", "data.kinds", "data.testsets", "table"):
                yield key, "with experiment=source, which trains on texts with their sources: leave it out"
            yield "objective.people", "with experiment=source, of which source.people is that share: leave it out"
            if self.source.model is None:
                yield "data.choose", "with source.model=null, a scorer without a pair head: leave it out"
            if self.init is not None:
                yield "source.pieces", "with init=, a reader with a vocabulary of its own: leave it out"
        if not self.objective.pair_share:
            pairs = (
                "pair",
                "preference",
                "soft_preference",
                "system_share",
                "people_pairs",
                "fidelity.share",
                "fidelity.ties",
                "corruption.fresh",
                "corruption.tie",
            )
            for key in (*(f"objective.{name}" for name in pairs), "loss"):
                yield key, "with objective.pair_share=0, which trains on passages alone: leave it out"
        if not self.objective.fidelity.share:
            yield "objective.fidelity.ties", "with objective.fidelity.share=0: leave it out"
        elif self.context.name == "none":
            for key in ("objective.fidelity.share", "objective.fidelity.ties"):
                yield key, "with context=none, as only the context decides these pairs: leave it out"
        if self.pair_head is None:
            for key in ("objective.preference", "objective.soft_preference"):
                yield key, "without a pair head: leave it out, or add head=two"
        if self.teacher is None:
            for key in (*(f"objective.{name}" for name in SOFT), "source.hard"):
                yield key, "without a teacher: leave it out, or add teacher=CHECKPOINT"

    @property
    def scale(self) -> int:
        """How many times `data.pieces` a batch has."""
        return self.trainer.scale if self.data.batch is None else 1

    @property
    def pieces(self) -> int:
        """Pieces of a training batch."""
        return self.data.pieces * self.scale

    def scaled_optim(self) -> Adamw | Sgd:
        """The optimizer's settings, with the rates of a batch of `pieces`.

        With `scale` times the pieces the variance of the gradient is 1 / `scale`; the rates of SGD grow in
        proportion (Goyal et al. 2017), those of AdamW by the square root (Malladi et al. 2022).
        """
        factor = self.scale if self.optim.kind == "sgd" else math.sqrt(self.scale)
        return self.optim.model_copy(update={key: getattr(self.optim, key) * factor for key in ("lr", "head_lr")})

    @property
    def pronoun_head(self) -> model_config.Head:
        """The head that scores pronouns; what its kind does not have is 0."""
        slots = SLOTS if self.head.kind == "paper" else 0
        return model_config.Head.model_validate(
            {"dropout": 0.0, "slots": slots, **self.head.model_dump(exclude={"pair"})}
        )

    @property
    def pair_head(self) -> model_config.PairHead | None:
        """The head that compares two texts, if there is one."""
        if self.head.kind != "logit" or not self.head.pair:
            return None
        return model_config.PairHead(heads=PAIR_HEADS, dropout=self.head.dropout)

    def results(self) -> dict[str, Any]:
        """The settings that affect the training, as plain values, without paths (but `init`) and machine settings.

        Without a teacher also without what only a teacher uses.
        """
        left_out: dict[str, Any] = dict.fromkeys(("out", "table", "half", "encoder_cache", "stages"), True)
        if self.teacher is None:
            left_out |= {"teacher": True, "objective": SOFT}
        left_out |= {"data": {"dir", "choose", "calibrate"}, "trainer": self.trainer.without_effect()}
        values = self.model_dump(exclude=left_out)
        return {**values, "context": self.context.name}


class Stage(NamedTuple):
    """A stage: its runs, which differ in `seed` and `out` alone, and what it sets, as overrides."""

    name: str
    runs: tuple[Train, ...]
    overrides: tuple[str, ...]


class CharCNN(Record):
    """The character encoder of an ELMo; the keys are those of AllenNLP's options.json."""

    filters: Annotated[list[Annotated[list[Count], Field(min_length=2, max_length=2)]], Field(min_length=1)]
    n_highway: CountOrNone

    @model_validator(mode="after")
    def _spans(self) -> Self:
        for span, _ in self.filters:
            if span > LETTERS:
                raise InputError(
                    f"elmo.char_cnn.filters: expected [SPAN, CHANNELS], a span from 1 to {LETTERS}, got {span}"
                )
        return self


class LSTM(Record):
    """The language model of an ELMo; the keys are those of AllenNLP's options.json."""

    dim: Count
    projection_dim: Count


class Architecture(Record):
    """Group elmo."""

    char_cnn: CharCNN
    lstm: LSTM

    def to_options(self) -> dict[str, dict[str, Any]]:
        """The content of AllenNLP's options.json; the rest is that of all published ELMos."""
        characters = {"embedding": {"dim": 16}, "activation": "relu", "n_characters": 261}
        recurrent = {"n_layers": 2, "cell_clip": 3.0, "proj_clip": 3.0, "use_skip_connections": True}
        return {
            "char_cnn": {**self.char_cnn.model_dump(), **characters, "max_characters_per_token": LETTERS},
            "lstm": {**self.lstm.model_dump(), **recurrent},
        }


class English(Record):
    """Group data of pretrain."""

    english: Text
    development_share: Fraction
    row: Count
    words: Count


class Words(Record):
    """Group vocabulary."""

    max_words: Count
    min_count: Count
    cutoffs: list[Count]

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.cutoffs != sorted(set(self.cutoffs)):
            raise InputError(f"vocabulary.cutoffs={self.cutoffs}: expected ascending whole numbers")
        return self


class Adam(Record):
    """Group optim of pretrain."""

    lr: Weight
    weight_decay: Weight
    beta2: Fraction
    warmup: Share


class Pretrain(Settings):
    """The settings of `pronmetric pretrain`, as conf/pretrain.yaml composes them."""

    out: Text
    seed: Seed
    dropout: Fraction
    elmo: Architecture
    data: English
    vocabulary: Words
    optim: Adam
    trainer: Trainer

    def results(self) -> dict[str, Any]:
        """The settings that affect the weights, as plain values, without paths and machine settings."""
        return self.model_dump(exclude={"out": True, "data": {"english"}, "trainer": self.trainer.without_effect()})

    @property
    def words(self) -> int:
        """Words of a training batch."""
        return self.data.words * self.trainer.scale

    def scaled_optim(self) -> Adam:
        """The optimizer's settings, with the rate of a batch of `words` (see `Train.scaled_optim`)."""
        return self.optim.model_copy(update={"lr": self.optim.lr * math.sqrt(self.trainer.scale)})
