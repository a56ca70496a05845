"""Settings of a translation model and of its training; conf/nmt.yaml and conf/nmt/ have the values. No torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from pronmetric.errors import InputError
from pronmetric.lab.suites.export import Concatenation
from pronmetric.settings import Count, CountOrNone, Fraction, Record, Seed, Settings, Share, Text
from pronmetric.training.groups import Adam, Trainer

CONFIG = "nmt.yaml"  # in the folder of a model
LINE_END = "\n"
"""Separates the sentences of a passage that is given as two texts."""
NONE, CADEC, BERT_FUSED = "none", "cadec", "bert_fused"
HIERARCHICAL = ("s-hier", "s-t-hier", "s-hier-to-2")
SIZED = ("concatN", "shared_gate", "thumt", CADEC, BERT_FUSED)
"""The systems that read `size` previous sentences; the others read none or one."""
SIZES = ("cell", "tied", "vocabulary", "width", "heads", "layers", "feedforward")
"""The keys of a shape that are taken over from the model of `init`."""


def is_model(folder: str | Path) -> bool:
    """Whether a folder holds a model of `pronmetric nmt train`."""
    return (Path(folder) / CONFIG).is_file()


class Reads(NamedTuple):
    """What a system reads before the sentence.

    source, target: the number of previous sentences of each side. joined_source, joined_target: whether they stand
    before the sentence in the text that the encoder reads and the decoder writes.
    """

    source: int = 0
    target: int = 0
    joined_source: bool = False
    joined_target: bool = False

    @property
    def concatenation(self) -> Concatenation:
        """How a passage is given as two texts."""
        return Concatenation(self.source, self.target, LINE_END)


class Shape(Record):
    """Group nmt: what the model is, and its context."""

    context: Literal["none", "concat21", "concat22", "concatN"]
    context_encoder: Literal["none", "shared_gate", "thumt", "s-hier", "s-t-hier", "s-hier-to-2"]
    cadec: bool
    bert_fused: Text | None
    size: Count
    cell: Literal["attention", "gru"]
    tied: bool
    vocabulary: Annotated[int, Field(ge=300)]
    width: Count
    heads: Count
    layers: Count
    feedforward: Count
    dropout: Fraction

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(chosen := self._chosen()) > 1:
            raise InputError(f"nmt: expected one kind of context, got {' and '.join(chosen)}")
        if self.width % self.heads or self.width % 2:
            raise InputError(f"nmt.width={self.width}: expected an even multiple of nmt.heads={self.heads}")
        return self

    def _chosen(self) -> dict[str, str]:
        """The switches that are on, with the system that each names."""
        found = {f"nmt.{key}={value}": value for key in ("context", "context_encoder") if (value := getattr(self, key))}
        found = {key: value for key, value in found.items() if value != NONE}
        found |= {"nmt.cadec=true": CADEC} if self.cadec else {}
        return found | ({f"nmt.bert_fused={self.bert_fused}": BERT_FUSED} if self.bert_fused is not None else {})

    @property
    def system(self) -> str:
        """The name of the system: "none", a concatenation, a context encoder, "cadec" or "bert_fused"."""
        return next(iter(self._chosen().values()), NONE)

    @property
    def reads(self) -> Reads:
        """What the system reads before the sentence."""
        many = self.size
        return {
            NONE: Reads(),
            "concat21": Reads(1, joined_source=True),
            "concat22": Reads(1, 1, joined_source=True, joined_target=True),
            "concatN": Reads(many, many, joined_source=True, joined_target=True),
            "s-hier": Reads(1),
            "s-t-hier": Reads(1, 1),
            "s-hier-to-2": Reads(1, 1, joined_target=True),
            CADEC: Reads(many, many),
        }.get(self.system, Reads(many))


class Data(Record):
    """Group data of `nmt train`."""

    source: Text
    target: Text
    docids: Text | None
    development_share: Annotated[float, Field(gt=0, lt=1)]
    pieces: Count
    max_pieces: Annotated[int, Field(ge=8)]
    suite: Text | None
    set: Text | None
    documents: Text | None


class Draft(Record):
    """The drafts that CADec is trained on."""

    corrupted: Share
    noise: Share


class NmtTrain(Settings):
    """The settings of `pronmetric nmt train`, as conf/nmt.yaml composes them."""

    REFUSED: ClassVar[Mapping[str, str]] = {
        "context": "a key of the model here: nmt.context=none, concat21, concat22 or concatN",
    }

    out: Text
    seed: Seed
    init: Text | None
    frozen: bool
    average: CountOrNone
    smoothing: Fraction
    draft: Draft
    data: Data
    nmt: Shape
    optim: Adam
    trainer: Trainer

    @model_validator(mode="after")
    def _starts(self) -> Self:
        if self.nmt.cadec and not (self.init and self.frozen):
            raise InputError("nmt.cadec=true refines the drafts of a finished model: add init=FOLDER frozen=true")
        if self.frozen and self.init is None:
            raise InputError("frozen=true keeps the weights of init=FOLDER as they are: give init=, or leave it out")
        if self.frozen and self.nmt.system not in (CADEC, "thumt", "shared_gate", *HIERARCHICAL, BERT_FUSED):
            raise InputError(f"frozen=true leaves nothing to train with nmt.context={self.nmt.context}: leave it out")
        if (self.data.suite is None) != (self.data.set is None):
            raise InputError("data.suite= and data.set= go together: the suite's name, and the file of a set")
        return self

    def unread(self) -> Iterator[tuple[str, str]]:
        """See `pronmetric.settings.Settings`."""
        if self.nmt.system not in SIZED:
            yield "nmt.size", f"with {self.nmt.system}, whose number of sentences is fixed: leave it out"
        if not self.nmt.cadec:
            yield "draft", "without nmt.cadec=true: leave it out"
        if self.init is not None:
            for key in SIZES:
                yield f"nmt.{key}", "with init=, whose model has its own: leave it out"
        if self.data.suite is None:
            yield "data.documents", "without data.suite= and data.set=: leave it out"

    def results(self) -> dict[str, Any]:
        """The settings that affect the weights, as plain values, without paths and machine settings."""
        paths = {"source", "target", "docids", "set", "documents"}
        left_out: dict[str, Any] = {"out": True, "init": True, "data": paths}
        return self.model_dump(exclude=left_out | {"trainer": self.trainer.without_effect()})
