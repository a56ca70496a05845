"""What a training sets of this kind of encoder; conf/encoder has the values. No torch."""

from __future__ import annotations

from typing import ClassVar, Literal

from pronmetric.settings import Fraction, Record, Size, Text


class Elmo(Record):
    """Group encoder of `conf/train.yaml`: ELMo's published files."""

    FILES: ClassVar[tuple[str, ...]] = (
        "options",
        "weights",
    )  # a new encoder needs them
    kind: Literal["elmo"]
    options: Text | None
    weights: Text | None
    trainable: bool
    dropout: Fraction
    max_pieces: Size
