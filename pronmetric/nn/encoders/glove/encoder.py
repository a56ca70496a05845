"""A BiLSTM over word vectors: the paper's encoder without a language model ("GloVe-BiLSTM")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from pronmetric.data.pieces import FIRST, Vocabulary
from pronmetric.nn.encoder import NO_LIMIT

PIECES = Vocabulary
_SPREAD = 0.3  # standard deviation of randomly initialised vectors, close to that of GloVe


def build(config: Mapping[str, Any], *, trainable: bool) -> BiLSTM:
    """An encoder of the architecture in `config`, with random weights."""
    return BiLSTM.from_config(config)


class BiLSTM(nn.Module):
    """Word states from word vectors: the concatenated states of both directions.

    Args:
        words: size of the vocabulary; the unknown word and the separator have one more learned vector each
            (ids: `pronmetric.data.pieces.Vocabulary`).
        vector: width of a vector.
        hidden: width of an LSTM's state in each direction.
        layers: number of LSTM layers.
    """

    def __init__(self, *, words: int, vector: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.marks = nn.Embedding(FIRST, vector)
        self.vectors = nn.Embedding(words, vector)
        self.lstm = nn.LSTM(vector, hidden, layers, bidirectional=True, batch_first=True)
        self.dropout = nn.Dropout(0.0)
        self.width: int = 2 * hidden
        self.max_pieces: int = NO_LIMIT
        for table in (self.marks, self.vectors):
            nn.init.normal_(table.weight, std=_SPREAD)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> BiLSTM:
        """An encoder of the architecture in `config`, with random weights."""
        return cls(**{key: config[key] for key in ("words", "vector", "hidden", "layers")})

    @property
    def config(self) -> dict[str, Any]:
        """The architecture, for `from_config`."""
        words, vector = self.vectors.weight.shape
        sizes = {"words": words, "vector": vector, "hidden": self.lstm.hidden_size, "layers": self.lstm.num_layers}
        return {"kind": "glove", **sizes}

    def forward(
        self, ids: Int[Tensor, "batch words"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words width"]:
        """Word states; each row's real words come first; the states of padded words are undefined."""
        x = self.dropout(self._embed(ids))  # (batch, words, vector)
        lengths = mask.sum(1).clamp(min=1).cpu()  # a row without words is read as one padded slot
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=ids.shape[1])
        return self.dropout(states)

    def _embed(self, ids: Int[Tensor, "batch words"]) -> Float[Tensor, "batch words vector"]:
        marks = self.marks(ids.clamp(max=FIRST - 1))  # (batch, words, vector)
        vectors = self.vectors((ids - FIRST).clamp(min=0))  # (batch, words, vector)
        return torch.where((ids < FIRST)[:, :, None], marks, vectors)

    def layers(self) -> list[list[nn.Parameter]]:
        """Parameters from the vectors upwards, one list per layer."""
        named = [(name.removesuffix("_reverse"), p) for name, p in self.lstm.named_parameters()]
        lstms = [[p for name, p in named if name.endswith(f"_l{layer}")] for layer in range(self.lstm.num_layers)]
        return [[*self.marks.parameters(), *self.vectors.parameters()], *lstms]
