"""What a training sets of this kind of encoder; conf/encoder has the values. No torch."""

from __future__ import annotations

from typing import ClassVar, Literal

from pronmetric.settings import Count, Fraction, Record, Size, Text


class Glove(Record):
    """Group encoder of `conf/train.yaml`: word vectors and a BiLSTM."""

    FILES: ClassVar[tuple[str, ...]] = ()  # a new encoder needs them
    kind: Literal["glove"]
    vectors: Text | None
    width: Count
    trainable: bool
    hidden: Count
    dropout: Fraction
    max_pieces: Size
