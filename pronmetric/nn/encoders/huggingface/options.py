"""What a training sets of this kind of encoder; conf/encoder has the values. No torch."""

from __future__ import annotations

from typing import ClassVar, Literal

from pronmetric.settings import Fraction, Record, Size, Text


class HuggingFace(Record):
    """Group encoder of `conf/train.yaml`: any Hugging Face encoder."""

    FILES: ClassVar[tuple[str, ...]] = ()  # a new encoder needs them
    kind: Literal["huggingface"]
    name: Text
    package: Text | None
    dropout: Fraction
    max_pieces: Size
    allow_network: bool
