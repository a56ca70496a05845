"""Layers of encoders and decoders: sub-layers that each read one or several texts, and how what they read is combined.

A plain Transformer (Vaswani et al. 2017) reads itself and, in the decoder, the source. The systems with context differ
in what their sub-layers read besides, and in the combination: each is a `Plan`.

Relative to the papers: states are normalised before a sub-layer, not after it, which needs less care with the rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

SELF = "self"
ADD, GATE, GATED_RESIDUAL, HIERARCHY, DROP_NET = "add", "gate", "gated_residual", "hierarchy", "drop_net"


class Memory(NamedTuple):
    """The states of texts that a sub-layer reads; the mask is True = real, and each row has a real state."""

    states: Float[Tensor, "batch pieces width"]
    mask: Bool[Tensor, "batch pieces"]


class Reading(NamedTuple):
    """A sub-layer: the names of what it reads in parallel (`self`: its own text), and how these are combined."""

    names: tuple[str, ...]
    combination: str = ADD


Plan = Sequence[Reading]
"""The sub-layers of a layer, in order; the feed-forward one follows."""


class Sizes(NamedTuple):
    """Sizes of a stack of layers. cell: what mixes a text's own states, "attention" or "gru"."""

    width: int
    heads: int
    feedforward: int
    dropout: float
    cell: str


class Add(nn.Module):
    """The residual of what was read: x + read."""

    def __init__(self, sizes: Sizes, count: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(
        self, x: Float[Tensor, "batch pieces width"], read: Sequence[Float[Tensor, "batch pieces width"]]
    ) -> Float[Tensor, "batch pieces width"]:
        """The new states."""
        return x + self.dropout(read[0])


class Gate(nn.Module):
    """x + g * first + (1 - g) * second, with a gate for each element (Voita et al. 2018, section 3)."""

    def __init__(self, sizes: Sizes, count: int) -> None:
        super().__init__()
        self.gate = nn.Linear(2 * sizes.width, sizes.width)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(
        self, x: Float[Tensor, "batch pieces width"], read: Sequence[Float[Tensor, "batch pieces width"]]
    ) -> Float[Tensor, "batch pieces width"]:
        """The new states."""
        gate = self.gate(torch.cat(list(read), dim=-1)).sigmoid()  # (batch, pieces, width)
        return x + self.dropout(gate * read[0] + (1 - gate) * read[1])


class GatedResidual(nn.Module):
    """g * x + (1 - g) * read, with a gate for each element (Zhang et al. 2018)."""

    def __init__(self, sizes: Sizes, count: int) -> None:
        super().__init__()
        self.gate = nn.Linear(2 * sizes.width, sizes.width)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(
        self, x: Float[Tensor, "batch pieces width"], read: Sequence[Float[Tensor, "batch pieces width"]]
    ) -> Float[Tensor, "batch pieces width"]:
        """The new states."""
        gate = self.gate(torch.cat([x, read[0]], dim=-1)).sigmoid()  # (batch, pieces, width)
        return gate * x + (1 - gate) * self.dropout(read[0])


class Hierarchy(nn.Module):
    """x + an attention over what several attentions read (Libovický and Helcl 2017; Bawden et al. 2018).

    The energy of text k is v . tanh(W x + U_k read_k); the texts are summed with the softmax of their energies, each
    by a matrix of its own.
    """

    def __init__(self, sizes: Sizes, count: int) -> None:
        super().__init__()
        self.state = nn.Linear(sizes.width, sizes.width)
        self.texts = nn.ModuleList(nn.Linear(sizes.width, sizes.width, bias=False) for _ in range(count))
        self.energy = nn.Linear(sizes.width, 1, bias=False)
        self.values = nn.ModuleList(nn.Linear(sizes.width, sizes.width, bias=False) for _ in range(count))
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(
        self, x: Float[Tensor, "batch pieces width"], read: Sequence[Float[Tensor, "batch pieces width"]]
    ) -> Float[Tensor, "batch pieces width"]:
        """The new states."""
        keys = torch.stack([text(each) for text, each in zip(self.texts, read, strict=True)])  # (texts, ..., width)
        shares = self.energy(torch.tanh(self.state(x) + keys)).softmax(0)  # (texts, batch, pieces, 1)
        values = torch.stack([value(each) for value, each in zip(self.values, read, strict=True)])
        return x + self.dropout((shares * values).sum(0))


class DropNet(nn.Module):
    """x + the mean of two; in half of the training steps one of both alone (drop-net, Zhu et al. 2020)."""

    def __init__(self, sizes: Sizes, count: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(
        self, x: Float[Tensor, "batch pieces width"], read: Sequence[Float[Tensor, "batch pieces width"]]
    ) -> Float[Tensor, "batch pieces width"]:
        """The new states."""
        drawn = float(torch.rand(())) if self.training else 0.5
        share = 1.0 if drawn < 0.25 else 0.0 if drawn > 0.75 else 0.5
        return x + self.dropout(share * read[0] + (1 - share) * read[1])


COMBINATIONS: Mapping[str, type[nn.Module]] = {
    ADD: Add,
    GATE: Gate,
    GATED_RESIDUAL: GatedResidual,
    HIERARCHY: Hierarchy,
    DROP_NET: DropNet,
}


class Recurrent(nn.Module):
    """A GRU over a text: of both directions, or only from the left where it is causal."""

    def __init__(self, width: int, *, causal: bool) -> None:
        super().__init__()
        self.gru = nn.GRU(width, width if causal else width // 2, batch_first=True, bidirectional=not causal)

    def forward(self, x: Float[Tensor, "batch pieces width"], own: Memory) -> Float[Tensor, "batch pieces width"]:
        """The states; zero where the mask is False."""
        packed = pack_padded_sequence(x, own.mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=x.shape[1])[0]


class Attention(nn.Module):
    """Multi-head attention to a memory; causal: a piece attends to itself and to those before it."""

    def __init__(self, sizes: Sizes, *, width: int, causal: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(
            sizes.width, sizes.heads, dropout=sizes.dropout, kdim=width, vdim=width, batch_first=True
        )
        self.causal = causal

    def forward(self, x: Float[Tensor, "batch pieces width"], memory: Memory) -> Float[Tensor, "batch pieces width"]:
        """What is read for each piece."""
        later = None
        if self.causal:
            later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        return self.attention(
            x, memory.states, memory.states, key_padding_mask=~memory.mask, attn_mask=later, need_weights=False
        )[0]


class Sublayer(nn.Module):
    """States that read texts, and the combination of both. widths: of the memories that have another width."""

    def __init__(self, reading: Reading, sizes: Sizes, *, causal: bool, widths: Mapping[str, int]) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(sizes.width)
        self.readers = nn.ModuleDict()
        for name in reading.names:
            if name == SELF and sizes.cell == "gru":
                self.readers[name] = Recurrent(sizes.width, causal=causal)
            else:
                width = widths.get(name, sizes.width)
                self.readers[name] = Attention(sizes, width=width, causal=causal and name == SELF)
        self.combination = COMBINATIONS[reading.combination](sizes, len(reading.names))

    def forward(
        self,
        x: Float[Tensor, "batch pieces width"],
        mask: Bool[Tensor, "batch pieces"],
        memories: Mapping[str, Memory],
    ) -> Float[Tensor, "batch pieces width"]:
        """The new states."""
        y = self.norm(x)
        own = Memory(y, mask)
        read = [reader(y, own if name == SELF else memories[name]) for name, reader in self.readers.items()]
        return self.combination(x, read)


class Layer(nn.Module):
    """The sub-layers of a plan, each named by the first text that it reads, and a feed-forward one."""

    def __init__(self, plan: Plan, sizes: Sizes, *, causal: bool = False, widths: Mapping[str, int] | None = None):
        super().__init__()
        self.sublayers = nn.ModuleDict(
            {reading.names[0]: Sublayer(reading, sizes, causal=causal, widths=widths or {}) for reading in plan}
        )
        self.feedforward = nn.Sequential(
            nn.LayerNorm(sizes.width),
            nn.Linear(sizes.width, sizes.feedforward),
            nn.ReLU(),
            nn.Dropout(sizes.dropout),
            nn.Linear(sizes.feedforward, sizes.width),
            nn.Dropout(sizes.dropout),
        )

    def forward(
        self,
        x: Float[Tensor, "batch pieces width"],
        mask: Bool[Tensor, "batch pieces"],
        memories: Mapping[str, Memory],
    ) -> Float[Tensor, "batch pieces width"]:
        """The new states."""
        for sublayer in self.sublayers.values():
            x = sublayer(x, mask, memories)
        return x + self.feedforward(x)


class Stack(nn.Module):
    """Layers one above the other, and a norm."""

    def __init__(self, layers: Sequence[Layer], width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(width)

    def forward(
        self,
        x: Float[Tensor, "batch pieces width"],
        mask: Bool[Tensor, "batch pieces"],
        memories: Mapping[str, Memory] | None = None,
        *,
        below: Iterable[nn.Module] = (),
    ) -> Float[Tensor, "batch pieces width"]:
        """The states of the top; `below`: layers of another stack under these."""
        for layer in (*below, *self.layers):
            x = layer(x, mask, memories or {})
        return self.norm(x)


def positions(count: int, width: int, device: torch.device) -> Float[Tensor, "count width"]:
    """Sinusoids of each position (Vaswani et al. 2017, section 3.5)."""
    rates = torch.exp(torch.arange(0, width, 2, device=device) * (-math.log(10_000.0) / width))  # (width / 2)
    angles = torch.arange(count, device=device)[:, None] * rates  # (count, width / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
