"""Layers of encoders and decoders: their sub-layers attend to one or several texts, and combine what they read.

A layer of a plain Transformer (Vaswani et al. 2017) attends to its own text and, in the decoder, to the source. The
systems with context differ in what else their sub-layers attend to, and in the combination; a `Plan` says both.

Relative to the papers: layer normalisation comes before each sub-layer (pre-norm), which is less sensitive to the
learning rate.
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


States = Float[Tensor, "batch pieces width"]


class Memory(NamedTuple):
    """The states of a text that sub-layers attend to; the mask is True = real, and each row has a real state."""

    states: States
    mask: Bool[Tensor, "batch pieces"]


@dataclass
class Past:
    """The cache of a decoder: what its modules keep of the pieces read so far, so that a search gives it only new ones.

    pieces: their number. grown: tensors of each module with a row for each hypothesis: keys, values and mask of the
    self-attention, the last state of a GRU. fixed: the keys, values and mask of each memory.
    """

    pieces: int = 0
    grown: dict[nn.Module, tuple[Tensor, ...]] = field(default_factory=dict)
    fixed: dict[nn.Module, tuple[Tensor, ...]] = field(default_factory=dict)

    def choose(self, rows: Int[Tensor, " batch"]) -> None:
        """Continue with these rows; a row and the one that it replaces must have the same memories."""
        self.grown = {module: tuple(part[rows] for part in parts) for module, parts in self.grown.items()}


class Reading(NamedTuple):
    """A sub-layer: the texts that it attends to in parallel (`self`: its own), and how these are combined."""

    names: tuple[str, ...]
    combination: str = ADD


Plan = Sequence[Reading]
"""The sub-layers of a layer, in order; the feed-forward one follows."""


class Sizes(NamedTuple):
    """Sizes of a stack of layers. cell: "attention", or "gru" in place of self-attention."""

    width: int
    heads: int
    feedforward: int
    dropout: float
    cell: str


class Combination(nn.Module):
    """How the states of a sub-layer are combined with what it read: `forward(x, read)`, one tensor for each text read.

    Args:
        sizes: of the stack.
        count: the number of texts read.
    """

    def __init__(self, sizes: Sizes, count: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(sizes.dropout)


class Add(Combination):
    """The residual connection: x + read."""

    def forward(self, x: States, read: Sequence[States]) -> States:
        """The new states."""
        return x + self.dropout(read[0])


class Gated(Combination):
    """A combination with an element-wise gate, sigmoid(W [first; second] + b)."""

    def __init__(self, sizes: Sizes, count: int) -> None:
        super().__init__(sizes, count)
        self.gate = nn.Linear(2 * sizes.width, sizes.width)

    def share(self, first: States, second: States) -> States:
        """The gate in (0, 1): the share of `first`."""
        return self.gate(torch.cat([first, second], dim=-1)).sigmoid()


class Gate(Gated):
    """x + g * first + (1 - g) * second (Voita et al. 2018, section 3)."""

    def forward(self, x: States, read: Sequence[States]) -> States:
        """The new states."""
        gate = self.share(read[0], read[1])
        return x + self.dropout(gate * read[0] + (1 - gate) * read[1])


class GatedResidual(Gated):
    """g * x + (1 - g) * read (Zhang et al. 2018)."""

    def forward(self, x: States, read: Sequence[States]) -> States:
        """The new states."""
        gate = self.share(x, read[0])
        return gate * x + (1 - gate) * self.dropout(read[0])


class Hierarchy(Combination):
    """x + an attention over what several attentions read (Libovický and Helcl 2017; Bawden et al. 2018).

    The energy of text k is v . tanh(W x + U_k read_k); the V_k read_k are summed, weighted by the softmax of the
    energies.
    """

    def __init__(self, sizes: Sizes, count: int) -> None:
        super().__init__(sizes, count)
        self.state = nn.Linear(sizes.width, sizes.width)
        self.texts = nn.ModuleList(nn.Linear(sizes.width, sizes.width, bias=False) for _ in range(count))
        self.energy = nn.Linear(sizes.width, 1, bias=False)
        self.values = nn.ModuleList(nn.Linear(sizes.width, sizes.width, bias=False) for _ in range(count))

    def forward(self, x: States, read: Sequence[States]) -> States:
        """The new states."""
        keys = torch.stack([text(each) for text, each in zip(self.texts, read, strict=True)])  # (texts, ..., width)
        shares = self.energy(torch.tanh(self.state(x) + keys)).softmax(0)  # (texts, batch, pieces, 1)
        values = torch.stack([value(each) for value, each in zip(self.values, read, strict=True)])
        return x + self.dropout((shares * values).sum(0))


class DropNet(Combination):
    """x + the mean of two; in training one of the two alone, drawn at each step (Zhu et al. 2020, p_net = 1)."""

    def forward(self, x: States, read: Sequence[States]) -> States:
        """The new states."""
        share = float(torch.rand(()) < 0.5) if self.training else 0.5
        return x + self.dropout(share * read[0] + (1 - share) * read[1])


COMBINATIONS: Mapping[str, type[Combination]] = {
    ADD: Add,
    GATE: Gate,
    GATED_RESIDUAL: GatedResidual,
    HIERARCHY: Hierarchy,
    DROP_NET: DropNet,
}


class Recurrent(nn.Module):
    """A GRU over a text: bidirectional, or from left to right where it is causal."""

    def __init__(self, width: int, *, causal: bool) -> None:
        super().__init__()
        self.gru = nn.GRU(width, width if causal else width // 2, batch_first=True, bidirectional=not causal)

    def forward(self, x: States, own: Memory, past: Past | None = None) -> States:
        """The states, zero where the mask is False; with `past`, those of new pieces, whatever the mask."""
        if past is not None:
            before = past.grown[self][0].transpose(0, 1).contiguous() if self in past.grown else None
            states, last = self.gru(x, before)
            past.grown[self] = (last.transpose(0, 1),)
            return states
        packed = pack_padded_sequence(x, own.mask.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=x.shape[1])[0]


class Attention(nn.Module):
    """Multi-head attention to a memory of the given width; causal: a piece attends to itself and to earlier ones."""

    def __init__(self, sizes: Sizes, *, width: int, causal: bool) -> None:
        super().__init__()
        self.queries = nn.Linear(sizes.width, sizes.width)
        self.keys, self.values = nn.Linear(width, sizes.width), nn.Linear(width, sizes.width)
        self.out = nn.Linear(sizes.width, sizes.width)
        for linear in (self.queries, self.keys, self.values, self.out):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        self.heads, self.dropout, self.causal = sizes.heads, sizes.dropout, causal

    def forward(self, x: States, memory: Memory, past: Past | None = None) -> States:
        """What each piece reads; with `past`, `x` holds the new pieces only, which are added to it."""
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

    def _split(self, states: States) -> Float[Tensor, "batch heads pieces part"]:
        return states.unflatten(2, (self.heads, -1)).transpose(1, 2)


class Sublayer(nn.Module):
    """Attention to one or several texts, and a combination. widths: of the memories that have another width."""

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
        x: States,
        mask: Bool[Tensor, "batch pieces"],
        memories: Mapping[str, Memory],
        past: Past | None,
    ) -> States:
        """The new states."""
        y = self.norm(x)
        own = Memory(y, mask)
        read = [reader(y, own if name == SELF else memories[name], past) for name, reader in self.readers.items()]
        return self.combination(x, read)


class Layer(nn.Module):
    """The sub-layers of a plan, each named by the first text that it attends to, and the feed-forward one."""

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
        x: States,
        mask: Bool[Tensor, "batch pieces"],
        memories: Mapping[str, Memory],
        past: Past | None,
    ) -> States:
        """The new states."""
        for sublayer in self.sublayers.values():
            x = sublayer(x, mask, memories, past)
        return x + self.feedforward(x)


class Stack(nn.Module):
    """A stack of layers, and a final layer normalisation."""

    def __init__(self, layers: Sequence[Layer], width: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(width)

    def forward(
        self,
        x: States,
        mask: Bool[Tensor, "batch pieces"],
        memories: Mapping[str, Memory] | None = None,
        *,
        below: Iterable[nn.Module] = (),
        past: Past | None = None,
    ) -> States:
        """The states of the last layer. below: layers of another stack that come first. past: see `Past`."""
        for layer in (*below, *self.layers):
            x = layer(x, mask, memories or {}, past)
        return self.norm(x)


def positions(start: int, end: int, width: int, device: torch.device) -> Float[Tensor, "count width"]:
    """Sinusoids of the positions from `start` to before `end` (Vaswani et al. 2017, section 3.5)."""
    rates = torch.exp(torch.arange(0, width, 2, device=device) * (-math.log(10_000.0) / width))  # (width / 2)
    angles = torch.arange(start, end, device=device)[:, None] * rates  # (count, width / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
