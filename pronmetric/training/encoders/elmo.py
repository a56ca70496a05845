"""ELMo, from the two files of its publication."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pronmetric.checkpoint import elmo
from pronmetric.data.pieces import Characters
from pronmetric.nn.encoders.elmo import encoder as network
from pronmetric.nn.encoders.elmo.options import Elmo


def read(options: Elmo, *, data: Path) -> tuple[network.Elmo, Characters, dict[str, Any]]:
    """The published ELMo, and the names of its files; it depends on no data."""
    assert options.options is not None and options.weights is not None  # checked by the settings
    encoder = elmo.read(options.options, options.weights)
    return encoder, Characters(), {"options": _name(options.options), "weights": _name(options.weights)}


def choose_trained(encoder: network.Elmo, options: Elmo) -> None:
    """Train the language model, or only the mixture of its layers."""
    encoder.bilm.requires_grad_(options.trainable)


def _name(address: str) -> str:
    """The last part of a path or an address."""
    return address.rstrip("/").rpartition("/")[2]
