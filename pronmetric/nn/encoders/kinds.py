"""The kinds of encoders: a new one is a folder beside this file and its name and settings here. No torch.

A folder has `options.py`, the settings of its training, and `encoder.py`, with `PIECES`, the class of its pieces, and
`build(config, *, trainable)`, which makes it. A file of the same name in `pronmetric.training.encoders` reads or
initialises the encoder of a run; conf/encoder has the values of the settings.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

from pronmetric.nn.encoders.elmo.options import Elmo
from pronmetric.nn.encoders.glove.options import Glove
from pronmetric.nn.encoders.huggingface.options import HuggingFace

Kind = Literal["huggingface", "glove", "elmo"]
EncoderOptions = HuggingFace | Glove | Elmo


def module(kind: Kind) -> Any:
    """`encoder.py` of a kind."""
    return import_module(f"pronmetric.nn.encoders.{kind}.encoder")
