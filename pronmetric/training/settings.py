"""Typed settings of training; conf/ has their values and documentation. No torch."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, ClassVar, NamedTuple, Self, get_args

from pydantic import Field, model_validator

from pronmetric.checkpoint import model_config
from pronmetric.checkpoint.model_config import WordState
from pronmetric.errors import InputError
from pronmetric.nn.encoders.kinds import EncoderOptions
from pronmetric.settings import (
    Seed,
    Settings,
    Text,
)
from pronmetric.training.groups import (
    Adamw,
    AverageHead,
    ContextGroup,
    Data,
    Logistic,
    LogitHead,
    Margin,
    PaperHead,
    Sgd,
    SourceTraining,
    Table,
    Trainer,
)
from pronmetric.training.objective import Objective, OnlyPassages

SLOTS = 20  # of the paper's head: the first pronouns of a text, which affect its score
PAIR_HEADS = 4  # of the pair head's attention
WORD_STATE: WordState = "mean"  # of its pieces
CHECKPOINT = "checkpoint"  # the folder of the exported checkpoint in `out`


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
    objective: Objective
    context: ContextGroup
    optim: Annotated[Adamw | Sgd, Field(discriminator="kind")]
    trainer: Trainer
    table: Table | None
    source: SourceTraining | None
    stages: Annotated[dict[str, dict[str, Any]], Field(min_length=1)] | None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Refuse settings that would fail during training."""
        for name in self.stages or ():
            if not re.fullmatch(r"[a-z0-9_-]+", name) or name == CHECKPOINT:
                raise InputError(f"stages.{name}: expected the name of a folder: lower-case letters, digits, _, -")
        for conflict in CONFLICTS:
            if conflict.holds(self):
                raise InputError(conflict.message)
        if self.init is None:
            for key in self.encoder.FILES:
                if getattr(self.encoder, key) is None:
                    raise InputError(
                        f"encoder={self.encoder.kind} needs encoder.{key}=FILE, a local file or an http(s) address"
                    )
        return self

    def unread(self) -> Iterator[tuple[str, str]]:
        """See `pronmetric.settings.Settings`; with stages each of them tells its own."""
        if self.stages is None:
            yield from ((key, case.why) for case in UNREAD if case.holds(self) for key in case.keys)

    @property
    def reads_sources(self) -> bool:
        """Whether a reader of sources is trained, or a scorer that reads them itself."""
        return self.source is not None

    @property
    def is_scorer_of_sources(self) -> bool:
        """Whether a scorer that reads sources itself is trained, in one language or several."""
        return self.source is not None and self.source.model is None

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
        left_out |= {"data": {"dir", "choose", "calibrate"}, "trainer": self.trainer.without_effect()}
        values = {**self.model_dump(exclude=left_out), "context": self.context.name}
        if isinstance(self.objective, OnlyPassages):
            values["objective"] = self.objective.as_recorded()
        if self.teacher is None:
            del values["teacher"]
            values["objective"] = {key: value for key, value in values["objective"].items() if key not in SOFT}
        return values


class Conflict(NamedTuple):
    """Settings that no training can be run with: whether they are so, and the error."""

    holds: Callable[[Train], bool]
    message: str


_NO_READER = "a reader of sources (experiment=source) needs "
_FROZEN_HEAD = "optim.frozen_head=true: add "
CONFLICTS = (
    Conflict(
        lambda run: run.stages is not None and (run.trainer.devices, run.trainer.num_nodes) != (1, 1),
        "a training in stages runs on one device: add trainer.devices=1, or stages=null",
    ),
    Conflict(
        lambda run: len(run.data.folders) > 1 and not run.is_scorer_of_sources,
        "data.dir=[DIR, ...]: several prepared folders are for a scorer of several languages (experiment=targets): "
        "expected one",
    ),
    Conflict(
        lambda run: len(run.data.folders) > 1 and run.teacher is not None,
        "teacher= scores one language: expected one prepared folder in data.dir=",
    ),
    Conflict(
        lambda run: run.reads_sources and run.encoder.kind != "huggingface",
        _NO_READER + "encoder=e5, or another multilingual encoder of Hugging Face",
    ),
    Conflict(
        lambda run: run.reads_sources and (run.head.kind != "logit" or run.pair_head is not None),
        _NO_READER + "head=logit, which has no pair head",
    ),
    Conflict(
        lambda run: run.reads_sources and run.objective.kind != "passages",
        _NO_READER + "objective=passages",
    ),
    Conflict(
        lambda run: run.head.kind != "logit" and run.objective.kind != "pairs",
        "head=paper and head=average have no probabilities, such a head learns from pairs alone: add objective=pairs",
    ),
    Conflict(
        lambda run: run.objective.kind == "detection" and not run.objective.pair_share,
        "objective.pair_share=0: expected a number above 0; for passages alone give objective=passages instead",
    ),
    Conflict(
        lambda run: run.encoder_cache is not None and not run.optim.frozen,
        "encoder_cache= caches the states of a frozen encoder: add optim.frozen=true",
    ),
    Conflict(
        lambda run: run.optim.frozen_head and run.init is None,
        _FROZEN_HEAD + "init=CHECKPOINT, whose scores it keeps",
    ),
    Conflict(
        lambda run: run.optim.frozen_head and not run.optim.frozen,
        _FROZEN_HEAD + "optim.frozen=true, as a score is that of the encoder too",
    ),
    Conflict(
        lambda run: run.optim.frozen_head and run.pair_head is None,
        _FROZEN_HEAD + "head=two, whose pair head is trained",
    ),
    Conflict(
        lambda run: run.teacher is not None and run.objective.kind == "pairs",
        "teacher= gives labels to passages and pairs: expected objective=detection",
    ),
)


class Unread(NamedTuple):
    """Keys of one group that another group leaves without effect: when, and the reason with the cure."""

    keys: tuple[str, ...]
    holds: Callable[[Train], bool]
    why: str


SOFT = ("soft_detection", "soft_preference")  # keys of the objective that a teacher needs
_LEFT = {"kind", "dropout", "trainable", "max_pieces"}  # keys of an encoder that `init` leaves to the run
UNREAD = (
    Unread(
        tuple(f"encoder.{key}" for kind in get_args(EncoderOptions) for key in kind.model_fields if key not in _LEFT),
        lambda run: run.init is not None,
        "with init=, which brings its own encoder: leave it out, or train from an encoder without init=",
    ),
    Unread(
        ("optim.lr", "optim.layer_decay", "optim.frozen_layers", "encoder.trainable"),
        lambda run: run.optim.frozen,
        "with optim.frozen=true, where the head alone is trained: leave one of the two out",
    ),
    Unread(
        ("objective.detection", "objective.soft_detection", "objective.antecedent", "objective.pair"),
        lambda run: run.optim.frozen_head,
        "with optim.frozen_head=true, where the pair head alone is trained: leave it out",
    ),
    Unread(
        ("trainer.scale",),
        lambda run: run.data.batch is not None,
        "with data.batch=, which fixes the batch: leave it out",
    ),
    Unread(
        ("encoder.dropout",),
        lambda run: run.encoder_cache is not None and run.encoder.dropout > 0,
        "with encoder_cache=, whose states are computed without dropout: leave it out",
    ),
    Unread(
        ("context", "data.kinds", "data.testsets", "table"),
        lambda run: run.reads_sources,
        "with experiment=source, which trains on texts with their sources: leave it out",
    ),
    Unread(
        ("data.choose",),
        lambda run: run.is_scorer_of_sources,
        "with source.model=null, a scorer without a pair head: leave it out",
    ),
    Unread(
        ("source.pieces",),
        lambda run: run.init is not None,
        "with init=, a reader with a vocabulary of its own: leave it out",
    ),
    Unread(
        ("loss",),
        lambda run: run.objective.kind == "passages",
        "with objective=passages, which has no pairs: leave it out",
    ),
    Unread(
        ("objective.fidelity.ties",),
        lambda run: run.objective.kind != "passages" and not run.objective.fidelity.share,
        "with objective.fidelity.share=0: leave it out",
    ),
    Unread(
        ("objective.fidelity",),
        lambda run: (
            run.context.name == "none" and run.objective.kind != "passages" and run.objective.fidelity.share > 0
        ),
        "with context=none, as only the context decides these pairs: leave it out",
    ),
    Unread(
        ("objective.preference", "objective.soft_preference"),
        lambda run: run.pair_head is None,
        "without a pair head: leave it out, or add head=two",
    ),
    Unread(
        (*(f"objective.{key}" for key in SOFT), "source.hard"),
        lambda run: run.teacher is None,
        "without a teacher: leave it out, or add teacher=CHECKPOINT",
    ),
)


class Stage(NamedTuple):
    """A stage: its runs, which differ in `seed` and `out` alone, and what it sets, as overrides."""

    name: str
    runs: tuple[Train, ...]
    overrides: tuple[str, ...]
