"""Layers of encoders and decoders: sub-layers that each read one or several texts, and how what they read is combined.

A plain Transformer (Vaswani et al. 2017) reads itself and, in the decoder, the source. The systems with context differ
in what their sub-layers read besides, and in the combination: each is a `Plan`.

Relative to the papers: states are normalised before a sub-layer, not after it, which needs less care with the rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

SELF = "self"
ADD, GATE, GATED_RESIDUAL, HIERARCHY, DROP_NET = "add", "gate", "gated_residual", "hierarchy", "drop_net"


class Memory(NamedTuple):
    """The states of texts that a sub-layer reads; the mask is True = real, and each row has a real state."""

    states: Float[Tensor, "batch pieces width"]
    mask: Bool[Tensor, "batch pieces"]


@dataclass
class Past:
    """What a decoder keeps of the pieces that it has read, so that a search gives it only the next ones.

    pieces: their number. grown: what each module keeps of them, tensors with a row for each text, which grow by piece.
    fixed: the keys, values and mask of each memory.
    """

    pieces: int = 0
    grown: dict[nn.Module, tuple[Tensor, ...]] = field(default_factory=dict)
    fixed: dict[nn.Module, tuple[Tensor, ...]] = field(default_factory=dict)

    def choose(self, rows: Int[Tensor, " batch"]) -> None:
        """Go on with these rows; a row and the one that it replaces read the same memories."""
        self.grown = {module: tuple(part[rows] for part in parts) for module, parts in self.grown.items()}


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

    def forward(
        self, x: Float[Tensor, "batch pieces width"], own: Memory, past: Past | None = None
    ) -> Float[Tensor, "batch pieces width"]:
        """The states; zero where the mask is False, but for a text that goes on from `past`."""
        if past is not None:
            before = past.grown[self][0].transpose(0, 1).contiguous() if self in past.grown else None
            states, last = self.gru(x, before)
            past.grown[self] = (last.transpose(0, 1),)
            return states
        packed = pack_padded_sequence(x, own.mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=x.shape[1])[0]


class Attention(nn.Module):
    """Multi-head attention to a memory; causal: a piece attends to itself and to those before it."""

    def __init__(self, sizes: Sizes, *, width: int, causal: bool) -> None:
        super().__init__()
        self.queries = nn.Linear(sizes.width, sizes.width)
        self.keys, self.values = nn.Linear(width, sizes.width), nn.Linear(width, sizes.width)
        self.out = nn.Linear(sizes.width, sizes.width)
        for linear in (self.queries, self.keys, self.values, self.out):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        self.heads, self.dropout, self.causal = sizes.heads, sizes.dropout, causal

    def forward(
        self, x: Float[Tensor, "batch pieces width"], memory: Memory, past: Past | None = None
    ) -> Float[Tensor, "batch pieces width"]:
        """What is read for each piece; the pieces go on from `past`, which takes them in."""
        keys, values, mask = self._read(memory, past)
        there = mask[:, None, None]  # (batch, 1, 1, read)
        if self.causal and x.shape[1] > 1:
            seen = torch.ones(x.shape[1], mask.shape[1], dtype=torch.bool, device=x.device)
            there = there & seen.tril(mask.shape[1] - x.shape[1])  # (batch, 1, pieces, read)
        dropout = self.dropout if self.training else 0.0
        query, key, value = (self._split(each) for each in (self.queries(x), keys, values))
        read = scaled_dot_product_attention(query, key, value, attn_mask=there, dropout_p=dropout)
        # (batch, heads, pieces, width / heads)
        return self.out(read.transpose(1, 2).flatten(2))

    def _read(self, memory: Memory, past: Past | None) -> tuple[Tensor, ...]:
        """Keys and values (batch, read, width), and the mask (batch, read)."""
        if past is not None and self in past.fixed:
            return past.fixed[self]
        found: tuple[Tensor, ...] = self.keys(memory.states), self.values(memory.states), memory.mask
        if past is not None and not self.causal:
            past.fixed[self] = found
        elif past is not None:
            if self in past.grown:
                found = tuple(torch.cat(pair, dim=1) for pair in zip(past.grown[self], found, strict=True))
            past.grown[self] = found
        return found

    def _split(self, states: Float[Tensor, "batch pieces width"]) -> Float[Tensor, "batch heads pieces part"]:
        return states.unflatten(2, (self.heads, -1)).transpose(1, 2)


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
        past: Past | None,
    ) -> Float[Tensor, "batch pieces width"]:
        """The new states."""
        y = self.norm(x)
        own = Memory(y, mask)
        read = [reader(y, own if name == SELF else memories[name], past) for name, reader in self.readers.items()]
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
        past: Past | None,
    ) -> Float[Tensor, "batch pieces width"]:
        """The new states."""
        for sublayer in self.sublayers.values():
            x = sublayer(x, mask, memories, past)
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
        past: Past | None = None,
    ) -> Float[Tensor, "batch pieces width"]:
        """The states of the top; `below`: layers of another stack under these; `past`: of a text that goes on."""
        for layer in (*below, *self.layers):
            x = layer(x, mask, memories or {}, past)
        return self.norm(x)


def positions(start: int, end: int, width: int, device: torch.device) -> Float[Tensor, "count width"]:
    """Sinusoids of the positions from `start` to before `end` (Vaswani et al. 2017, section 3.5)."""
    rates = torch.exp(torch.arange(0, width, 2, device=device) * (-math.log(10_000.0) / width))  # (width / 2)
    angles = torch.arange(start, end, device=device)[:, None] * rates  # (count, width / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
