"""The initial encoder of a run, for each kind in `conf/encoder`.

A Hugging Face encoder is read from a folder, an installed package or the hub, ELMo from its two files. Word vectors are
read from a text file or initialised at random, for the words of the training data.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging

from pronmetric.checkpoint.files import Checkpoint, encoder_kind
from pronmetric.data.pieces import Characters, Pieces, Subwords, Vocabulary
from pronmetric.errors import InputError, PronmetricError
from pronmetric.nn.bilstm import BiLSTM
from pronmetric.nn.elmo import Elmo
from pronmetric.nn.encoder import Encoder, HuggingFaceEncoder
from pronmetric.pretrained import elmo as elmo_files
from pronmetric.pretrained import glove
from pronmetric.training import vocabulary
from pronmetric.training.settings import Elmo as ElmoOptions
from pronmetric.training.settings import Glove, HuggingFace


class Start(NamedTuple):
    """An encoder, its tokenizer, and its origin for a checkpoint's config."""

    encoder: Encoder
    pieces: Pieces
    origin: dict[str, Any]


def make(options: HuggingFace | Glove | ElmoOptions, *, data: Path) -> Start:
    """The encoder of a run without an initial checkpoint.

    Args:
        options: the group `encoder` of `conf/train.yaml`.
        data: the prepared folder, whose words form the vocabulary.

    Raises:
        PronmetricError: an encoder's file is missing or broken.
    """
    if options.kind == "glove":
        start = _glove(options, data)
    elif options.kind == "elmo":
        start = _elmo(options)
    else:
        encoder, tokenizer = load_pretrained(
            options.name, package=options.package, dropout=options.dropout, allow_network=options.allow_network
        )
        start = Start(encoder, Subwords(tokenizer), {})
    _configure(start.encoder, options)
    return start


def of_checkpoint(loaded: Checkpoint, options: HuggingFace | Glove | ElmoOptions) -> Start:
    """The encoder of a run that starts from a checkpoint; `options` must be of its kind of encoder.

    Raises:
        InputError: options of another kind.
    """
    kind = encoder_kind(loaded.config)
    if options.kind != kind:
        raise InputError(f"encoder.kind: expected {kind}, the kind of the checkpoint init=, got {options.kind}")
    _configure(loaded.model.encoder, options)
    return Start(loaded.model.encoder, loaded.pieces, {})


def _configure(encoder: Encoder, options: HuggingFace | Glove | ElmoOptions) -> None:
    """Set the dropout of `encoder`, and which parts are trained."""
    assert isinstance(encoder, nn.Module)
    set_dropout(encoder, options.dropout)
    if isinstance(encoder, BiLSTM) and options.kind == "glove":
        encoder.vectors.requires_grad_(options.trainable)
    elif isinstance(encoder, Elmo) and options.kind == "elmo":
        encoder.bilm.requires_grad_(options.trainable)


def _glove(options: Glove, data: Path) -> Start:
    counts = vocabulary.count_words(data, lower=options.lower)
    sizes = {"vector": options.width, "hidden": options.hidden, "layers": options.layers}
    if options.vectors is None:
        words = vocabulary.choose(counts, most=options.max_words, least=options.min_count)
        encoder = BiLSTM(words=len(words), **sizes)
        origin: dict[str, Any] = {"vectors": None}
    else:
        found = glove.read(options.vectors, counts, width=options.width)
        words = vocabulary.choose(counts, most=options.max_words, least=1, among=found.vectors)
        encoder = BiLSTM(words=len(words), **sizes)
        with torch.no_grad():
            encoder.vectors.weight.copy_(torch.from_numpy(np.stack([found.vectors[word] for word in words])))
        origin = {"vectors": Path(options.vectors).name, "repeated": found.repeated}
    coverage = sum(counts[word] for word in words) / counts.total()
    pieces = Vocabulary(words, lower=options.lower)
    return Start(encoder, pieces, {**origin, "words": len(words), "coverage": round(coverage, 4)})


def _elmo(options: ElmoOptions) -> Start:
    assert options.options is not None and options.weights is not None  # checked by the settings
    elmo = elmo_files.read(options.options, options.weights)
    return Start(elmo, Characters(), {"options": _name(options.options), "weights": _name(options.weights)})


def _name(address: str) -> str:
    """The last part of a path or an address."""
    return address.rstrip("/").rpartition("/")[2]


def load_pretrained(
    name: str, *, package: str | None, dropout: float, allow_network: bool
) -> tuple[HuggingFaceEncoder, PreTrainedTokenizerBase]:
    """The encoder and its tokenizer.

    Args:
        name: a folder or a hub name.
        package: an installed package with the model, which takes precedence over `name`.
        dropout: of the encoder's layers.
        allow_network: whether the hub may be used.

    Raises:
        PronmetricError: neither the package nor the folder exists, and the network is not allowed or fails; or the
            files are not a complete encoder.
    """
    found = _in_package(package) if package else None
    source = str(found or name)
    local = not allow_network or Path(source).is_dir()
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=local, trust_remote_code=False)
        with _no_bar():
            encoder = HuggingFaceEncoder.from_pretrained(source, local_files_only=local)
    except Exception as error:  # transformers and tokenizers raise many kinds of errors
        cure = 'pip install "pronmetric[train]"' if package else "give encoder.name=FOLDER"
        raise PronmetricError(
            f"no encoder at {source} ({_first_line(error)}): {cure}, or allow the hub by encoder.allow_network=true"
        ) from error
    if encoder.model.config.is_encoder_decoder:
        raise PronmetricError(
            f"expected an encoder at {source}, got a {encoder.model.config.model_type} with a decoder"
        )
    set_dropout(encoder, dropout)
    return encoder, tokenizer


def set_dropout(encoder: nn.Module, dropout: float) -> None:
    """Give every dropout layer of the encoder this rate."""
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = dropout


def _first_line(error: Exception) -> str:
    return repr(error) if isinstance(error, KeyError) else str(error).split("\n")[0]


@contextmanager
def _no_bar() -> Iterator[None]:
    """Hide the progress bar that transformers shows while reading weights."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _in_package(package: str) -> Path | None:
    """The folder inside an installed package that holds a model."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return next(_model_folders(Path(spec.submodule_search_locations[0])), None)


def _model_folders(root: Path) -> Iterator[Path]:
    for file in sorted(root.rglob("model.safetensors")):
        if (file.parent / "config.json").is_file():
            yield file.parent
