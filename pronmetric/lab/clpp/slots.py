"""Networks that classify pronoun slots: GRUs over the words around a slot, and a pretrained encoder.

Relative to TurkuNLP's system (Luotolahti et al. 2016): stacked GRUs read the words and tags on each side of the slot,
and the words on each side of the aligned source pronoun, towards it; their last states and the embedding of the source
pronoun are classified. The system's inputs of concatenated words and tags are left out.

Relative to the Kyoto system (Dabre et al. 2016), GRUs with attention: the inputs are those of the GRU classifier, and
the query is the embedding of the source pronoun. A stream ends at the slot and its length varies, so that attention
alone cannot tell the nearest word: the last states are classified too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from pronmetric.nn.encoder import Encoder, word_states

STREAMS = 6
"""Target words, tags and source words, each left and right."""


class SlotGru(nn.Module):
    """Logits of the classes from the six streams of words around a slot.

    Args:
        words, tags, sources: number of ids of target words, tags and source words, padding (0) included.
        classes: number of classes.
        width: of vectors and of GRU states.
        layers: of each GRU.
        dropout: of vectors and of what is classified.
        attention: whether all states of a stream are read by additive attention too, not only the last one.
    """

    def __init__(
        self,
        *,
        words: int,
        tags: int,
        sources: int,
        classes: int,
        width: int,
        layers: int,
        dropout: float,
        attention: bool = False,
    ) -> None:
        super().__init__()
        sizes = (words, words, tags, tags, sources, sources)
        tables = [nn.Embedding(size, width, padding_idx=0) for size in (words, tags, sources)]
        self.tables = nn.ModuleList(tables)
        self.grus = nn.ModuleList(nn.GRU(width, width, layers, batch_first=True) for _ in sizes)
        self.attentions = nn.ModuleList(StateAttention(width) for _ in sizes) if attention else None
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Linear((STREAMS * (2 if attention else 1) + 1) * width, width)
        self.out = nn.Linear(width, classes)

    def forward(
        self,
        streams: Int[Tensor, "batch streams words"],
        mask: Bool[Tensor, "batch streams words"],
        pronoun: Int[Tensor, " batch"],
    ) -> Float[Tensor, "batch classes"]:
        """Logits; real words stand first in a stream, and an empty stream gives zeros."""
        lengths = mask.sum(2)  # (batch, streams)
        asked = self.dropout(self.tables[2](pronoun))  # (batch, width)
        states = [asked]
        for number, gru in enumerate(self.grus):
            x = self.dropout(self.tables[number // 2](streams[:, number]))  # (batch, words, width)
            length = lengths[:, number].clamp(min=1).cpu()
            packed = pack_padded_sequence(x, length, batch_first=True, enforce_sorted=False)
            found, last = gru(packed)
            there = (lengths[:, number] > 0)[:, None]  # (batch, 1)
            states.append(last[-1] * there)  # (batch, width)
            if self.attentions is not None:
                every = pad_packed_sequence(found, batch_first=True, total_length=x.shape[1])[0]
                states.append(self.attentions[number](every, mask[:, number], asked) * there)
        joined = self.dropout(torch.cat(states, dim=1))  # (batch, 7 * width), with attention (batch, 13 * width)
        return self.out(self.dropout(torch.tanh(self.hidden(joined))))


class StateAttention(nn.Module):
    """Additive attention: the energy of a state is v . tanh(W state + U asked) (Bahdanau et al. 2015)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.state, self.asked = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.energy = nn.Linear(width, 1, bias=False)

    def forward(
        self,
        states: Float[Tensor, "batch words width"],
        mask: Bool[Tensor, "batch words"],
        asked: Float[Tensor, "batch width"],
    ) -> Float[Tensor, "batch width"]:
        """The weighted mean of the states; for a row without a real word, their plain mean."""
        energies = self.energy(torch.tanh(self.state(states) + self.asked(asked)[:, None]))[..., 0]  # (batch, words)
        lowest = torch.finfo(energies.dtype).min
        return (energies.masked_fill(~mask, lowest).softmax(1)[..., None] * states).sum(1)


class SlotEncoder(nn.Module):
    """Logits of the classes from the states of two words: the aligned source pronoun and the slot."""

    def __init__(self, encoder: Encoder, *, classes: int, dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(2 * encoder.width, classes)

    def forward(
        self,
        ids: Int[Tensor, "batch pieces"],
        mask: Bool[Tensor, "batch pieces"],
        word: Int[Tensor, "batch pieces"],
        places: Int[Tensor, "batch 2"],
    ) -> Float[Tensor, "batch classes"]:
        """Logits; places: the words of the source pronoun and of the slot."""
        pieces = self.encoder(ids, mask)  # (batch, pieces, width)
        words = word_states(pieces, word, int(word.max()) + 1, how="mean")  # (batch, words, width)
        chosen = torch.take_along_dim(words, places[:, :, None], dim=1)  # (batch, 2, width)
        return self.out(self.dropout(chosen.flatten(1)))


def balanced_weights(counts: Sequence[int]) -> Float[Tensor, " classes"]:
    """Weights of a mean loss that give all classes the same total weight, as in macro-averaged recall.

    A class without an instance has weight 0.

    >>> balanced_weights([1, 3, 0]).tolist()
    [2.0, 0.6666666865348816, 0.0]
    """
    found = torch.tensor(counts, dtype=torch.float32)
    there = found > 0
    return torch.where(there, found.sum() / (there.sum() * found.clamp(min=1)), 0.0)


def class_loss(
    logits: Float[Tensor, "batch classes"], labels: Int[Tensor, " batch"], weights: Float[Tensor, " classes"]
) -> Float[Tensor, ""]:
    """The weighted cross entropy, summed with the weights and divided by the number of slots."""
    each = nn.functional.cross_entropy(logits, labels, weight=weights, reduction="sum")
    return each / len(labels)


def config_of(model: SlotGru) -> dict[str, Any]:
    """The arguments that a GRU classifier is made with."""
    words, tags, sources = (table.num_embeddings for table in model.tables)
    gru = model.grus[0]
    assert isinstance(gru, nn.GRU)
    sizes = {"words": words, "tags": tags, "sources": sources, "classes": model.out.out_features}
    more = {"dropout": model.dropout.p, "attention": model.attentions is not None}
    return {**sizes, "width": gru.hidden_size, "layers": gru.num_layers, **more}
