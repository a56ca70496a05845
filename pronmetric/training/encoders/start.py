"""How a run begins: with an encoder of the kind in its settings, or with that of a checkpoint."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from pronmetric.checkpoint.files import Checkpoint, encoder_kind
from pronmetric.data.pieces import Pieces
from pronmetric.errors import InputError
from pronmetric.nn.encoder import Encoder
from pronmetric.nn.encoders.kinds import EncoderOptions, Kind


class InitialEncoder(NamedTuple):
    """An encoder, its tokenizer, and its origin for a checkpoint's config."""

    encoder: Encoder
    pieces: Pieces
    origin: dict[str, Any]


def make(options: EncoderOptions, *, data: Path) -> InitialEncoder:
    """The encoder of a run without an initial checkpoint.

    Args:
        options: the group `encoder` of `conf/train.yaml`.
        data: the prepared folder, whose words form the vocabulary.

    Raises:
        PronmetricError: an encoder's file is missing or broken.
    """
    start = InitialEncoder(*_reader(options.kind).read(options, data=data))
    _configure(start.encoder, options)
    return start


def of_checkpoint(loaded: Checkpoint, options: EncoderOptions) -> InitialEncoder:
    """The encoder of a run that starts from a checkpoint; `options` must be of its kind of encoder.

    Raises:
        InputError: options of another kind.
    """
    kind = encoder_kind(loaded.config)
    if options.kind != kind:
        raise InputError(f"encoder.kind: expected {kind}, the kind of the checkpoint init=, got {options.kind}")
    _configure(loaded.model.encoder, options)
    return InitialEncoder(loaded.model.encoder, loaded.pieces, {})


def _reader(kind: Kind) -> Any:
    """The file of this folder for a kind of encoder."""
    return import_module(f"pronmetric.training.encoders.{kind}")


def _configure(encoder: Encoder, options: EncoderOptions) -> None:
    """Set the dropout of `encoder`, and which parts are trained."""
    assert isinstance(encoder, nn.Module)
    set_dropout(encoder, options.dropout)
    _reader(options.kind).choose_trained(encoder, options)


def set_dropout(encoder: nn.Module, dropout: float) -> None:
    """Give every dropout layer of the encoder this rate."""
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = dropout
