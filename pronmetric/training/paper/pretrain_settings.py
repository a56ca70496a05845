"""The settings of `pronmetric pretrain`; conf/ has their values and documentation. No torch."""

from __future__ import annotations

import math
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from pronmetric.errors import InputError
from pronmetric.settings import Count, CountOrNone, Fraction, Record, Seed, Settings, Text
from pronmetric.training.groups import Adam, Trainer

LETTERS = 50  # bytes of a word that an ELMo reads


class CharCNN(Record):
    """The character encoder of an ELMo; the keys are those of AllenNLP's options.json."""

    filters: Annotated[list[Annotated[list[Count], Field(min_length=2, max_length=2)]], Field(min_length=1)]
    n_highway: CountOrNone

    @model_validator(mode="after")
    def _spans(self) -> Self:
        for span, _ in self.filters:
            if span > LETTERS:
                raise InputError(
                    f"elmo.char_cnn.filters: expected [SPAN, CHANNELS], a span from 1 to {LETTERS}, got {span}"
                )
        return self


class LSTM(Record):
    """The language model of an ELMo; the keys are those of AllenNLP's options.json."""

    dim: Count
    projection_dim: Count


class Architecture(Record):
    """Group elmo."""

    char_cnn: CharCNN
    lstm: LSTM

    def to_options(self) -> dict[str, dict[str, Any]]:
        """The content of AllenNLP's options.json; the rest is that of all published ELMos."""
        characters = {"embedding": {"dim": 16}, "activation": "relu", "n_characters": 261}
        recurrent = {"n_layers": 2, "cell_clip": 3.0, "proj_clip": 3.0, "use_skip_connections": True}
        return {
            "char_cnn": {**self.char_cnn.model_dump(), **characters, "max_characters_per_token": LETTERS},
            "lstm": {**self.lstm.model_dump(), **recurrent},
        }


class English(Record):
    """Group data of pretrain."""

    english: Text
    development_share: Fraction
    row: Count
    words: Count


class Words(Record):
    """Group vocabulary."""

    max_words: Count
    min_count: Count
    cutoffs: list[Count]

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.cutoffs != sorted(set(self.cutoffs)):
            raise InputError(f"vocabulary.cutoffs={self.cutoffs}: expected ascending whole numbers")
        return self


class Pretrain(Settings):
    """The settings of `pronmetric pretrain`, as conf/pretrain.yaml composes them."""

    out: Text
    seed: Seed
    dropout: Fraction
    elmo: Architecture
    data: English
    vocabulary: Words
    optim: Adam
    trainer: Trainer

    def results(self) -> dict[str, Any]:
        """The settings that affect the weights, as plain values, without paths and machine settings."""
        return self.model_dump(exclude={"out": True, "data": {"english"}, "trainer": self.trainer.without_effect()})

    @property
    def words(self) -> int:
        """Words of a training batch."""
        return self.data.words * self.trainer.scale

    def scaled_optim(self) -> Adam:
        """The optimizer's settings, with the rate of a batch of `words` (see `Train.scaled_optim`)."""
        return self.optim.model_copy(update={"lr": self.optim.lr * math.sqrt(self.trainer.scale)})
