"""ELMo: character-based word representations and one language model in each direction.

Peters, Neumann, Iyyer, Gardner, Clark, Lee and Zettlemoyer 2018, Deep contextualized word representations,
https://aclanthology.org/N18-1202. Its parts: character convolutions and highway layers (Kim et al. 2016), LSTMs with
projection (Sak et al. 2014). `pronmetric.checkpoint.elmo` reads the published weights into it.

Relative to the paper's programs: the LSTMs start from zero states in each batch unless `stateful`, so that a text's
score does not depend on what was read before; no layer norm before the mix. Tokens are the words and two markers per
sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from pronmetric.data import characters
from pronmetric.data.pieces import Characters
from pronmetric.errors import InputError
from pronmetric.nn.encoder import NO_LIMIT

PIECES = Characters
ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}
_BLOCK = 512  # tokens whose input projections are computed in one product: a trade-off of speed and memory


def build(config: Mapping[str, Any], *, trainable: bool) -> Elmo:
    """An ELMo of the architecture in `config`, with random weights."""
    return Elmo.from_config(config)


@dataclass(frozen=True, slots=True)
class Shape:
    """The architecture of an ELMo.

    characters: rows of the character embedding, including id 0. character_width: its width. filters: each
    convolution's span in characters, and its channels. highway: number of highway layers. activation: of the
    convolutions, "relu" or "tanh". layers: LSTM layers per direction. cell: width of their memory. projection:
    width of their input and output, half of ELMo's. cell_clip, projection_clip: bounds of the entries of memory and
    output, None for none. residual: each LSTM layer but the first adds its input to its output.
    """

    characters: int
    character_width: int
    filters: Sequence[Sequence[int]]
    highway: int
    activation: str
    layers: int
    cell: int
    projection: int
    cell_clip: float | None
    projection_clip: float | None
    residual: bool


class Highway(nn.Module):
    """A highway layer: share * x + (1 - share) * relu(T x), with share = sigmoid(C x)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.transform = nn.Linear(width, width)
        self.carry = nn.Linear(width, width)
        nn.init.constant_(self.carry.bias, -2.0)  # initial bias of the gate (Kim et al. 2016)

    def forward(self, x: Float[Tensor, "tokens channels"]) -> Float[Tensor, "tokens channels"]:
        """The mixture, of the width of `x`."""
        share = self.carry(x).sigmoid()  # (tokens, channels)
        return share * self.transform(x).relu() + (1 - share) * x


class CharacterWords(nn.Module):
    """Character-based token states: convolutions, maximum over positions, highway layers, projection."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        channels = sum(number for _, number in shape.filters)
        self.embedding = nn.Embedding(shape.characters, shape.character_width, padding_idx=0)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(shape.character_width, number, span) for span, number in shape.filters
        )
        self.activation = ACTIVATIONS[shape.activation]
        self.highway = nn.ModuleList(Highway(channels) for _ in range(shape.highway))
        self.projection = nn.Linear(channels, shape.projection)
        self.widest = max(span for span, _ in shape.filters)

    def forward(self, ids: Int[Tensor, "tokens characters"]) -> Float[Tensor, "tokens projection"]:
        """One state per token; equal tokens are computed once."""
        distinct, which = torch.unique(ids, dim=0, return_inverse=True)
        longest = 1 + int((distinct != characters.PAD).any(0).nonzero().max())
        # Beyond the longest token there is only padding; one window of it per convolution gives its maximum.
        letters = self.embedding(distinct[:, : longest + self.widest]).transpose(1, 2)  # (distinct, width, characters)
        peaks = [convolution(letters).amax(dim=2) for convolution in self.convolutions]  # each (distinct, number)
        x = self.activation(torch.cat(peaks, dim=1))  # (distinct, channels)
        for layer in self.highway:
            x = layer(x)
        return self.projection(x)[which]


class State(NamedTuple):
    """The LSTMs' state in each row: their output (before residual sums) and their memory."""

    hidden: Float[Tensor, "*layers rows projection"]
    memory: Float[Tensor, "*layers rows cell"]


class ProjectedLSTM(nn.Module):
    """One LSTM layer in one direction; its output is a projection of its memory, and both are clipped.

    The order of the gates: input, forget, output, candidate.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.input = nn.Linear(shape.projection, 4 * shape.cell)
        # (projection, gates): for single rows twice as fast on a CPU as the transposed layout
        self.recurrent = nn.Parameter(nn.init.xavier_uniform_(torch.empty(shape.projection, 4 * shape.cell)))
        self.projection = nn.Linear(shape.cell, shape.projection, bias=False)
        self.cell = shape.cell
        self.cell_clip = shape.cell_clip
        self.projection_clip = shape.projection_clip
        nn.init.zeros_(self.input.bias)
        nn.init.ones_(self.input.bias[self.cell : 2 * self.cell])  # initial bias of the forget gate

    def forward(
        self, x: Float[Tensor, "tokens projection"], sizes: Sequence[int], state: State
    ) -> tuple[Float[Tensor, "tokens projection"], State]:
        """Each token's output, and each row's state after its last token.

        Args:
            x: tokens ordered by step, then by row.
            sizes: number of rows that have a token at each step; the longest rows come first.
            state: initial state of each row.
        """
        outputs, ended = [], []
        for inputs in self._inputs(x, sizes):  # (rows of this step, gates)
            rows = len(inputs)
            if rows < len(state.hidden):
                ended.append(State(state.hidden[rows:], state.memory[rows:]))
                state = State(state.hidden[:rows], state.memory[:rows])
            state = self._step(inputs, state)
            outputs.append(state.hidden)
        last = [state, *reversed(ended)]
        state = State(torch.cat([part.hidden for part in last]), torch.cat([part.memory for part in last]))
        return torch.cat(outputs), state

    def _inputs(
        self, x: Float[Tensor, "tokens projection"], sizes: Sequence[int]
    ) -> Iterator[Float[Tensor, "rows gates"]]:
        """The input's contribution to the gates, step by step."""
        steps = max(1, _BLOCK // max(sizes))
        blocks = [list(sizes[at : at + steps]) for at in range(0, len(sizes), steps)]
        for block, of in zip(x.split([sum(of) for of in blocks]), blocks, strict=True):
            yield from self.input(block).split(of)

    def _step(self, inputs: Float[Tensor, "rows gates"], state: State) -> State:
        gates = torch.addmm(inputs, state.hidden, self.recurrent)  # (rows, gates)
        let_in, keep, let_out = gates[:, : 3 * self.cell].sigmoid().chunk(3, dim=1)  # each (rows, cell)
        memory = let_in * gates[:, 3 * self.cell :].tanh() + keep * state.memory  # (rows, cell)
        memory = _clip(memory, self.cell_clip)
        hidden = self.projection(let_out * memory.tanh())  # (rows, projection)
        return State(_clip(hidden, self.projection_clip), memory)


def _clip(x: Float[Tensor, "rows width"], bound: float | None) -> Float[Tensor, "rows width"]:
    return x if bound is None else x.clamp(-bound, bound)


class OneWay(nn.Module):
    """The LSTM layers of one direction."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.layers = nn.ModuleList(ProjectedLSTM(shape) for _ in range(shape.layers))
        self.residual = shape.residual

    def forward(
        self, x: Float[Tensor, "tokens projection"], sizes: Sequence[int], state: State
    ) -> tuple[Float[Tensor, "layers tokens projection"], State]:
        """Each layer's outputs and last states; arguments as for `ProjectedLSTM`, with one state per layer."""
        outputs, after = [], []
        for number, layer in enumerate(self.layers):
            out, ended = layer(x, sizes, State(state.hidden[number], state.memory[number]))
            x = out + x if self.residual and number else out  # (tokens, projection)
            outputs.append(x)
            after.append(ended)
        return torch.stack(outputs), _stack(after)


class Reading(NamedTuple):
    """The tokens of a batch in the order in which the LSTMs read them.

    rows: the batch's rows, the longest first. sizes: number of rows that have a token at each step. places: position of
    each token in the flat batch, when rows are read from their start and from their end.
    """

    rows: Int[Tensor, " batch"]
    sizes: list[int]
    places: tuple[Int[Tensor, " tokens"], Int[Tensor, " tokens"]]


def reading(lengths: Int[Tensor, " batch"], width: int) -> Reading:
    """The reading order of rows of these lengths, padded to `width` tokens."""
    longest_first, rows = lengths.sort(descending=True, stable=True)  # each (batch,)
    real = torch.arange(width, device=lengths.device)[:, None] < longest_first  # (width, batch)
    step, at = real.nonzero(as_tuple=True)  # each (tokens,)
    start = rows[at] * width  # (tokens,)
    sizes = [size for size in real.sum(1).tolist() if size]
    return Reading(rows, sizes, (start + step, start + longest_first[at] - 1 - step))


class BiLM(nn.Module):
    """The language models of both directions, without their softmax.

    stateful: each row continues from the final state of the same row in the previous batch, until `reset`; additional
    rows of a larger batch start from zeros, and rows that a smaller batch lacks keep their state. Gradients do not
    cross batches. dropout: of the LSTMs' input, in language-model training.
    """

    markers: Tensor
    dropout: float = 0.0

    def __init__(self, shape: Shape, *, stateful: bool) -> None:
        super().__init__()
        self.words = CharacterWords(shape)
        self.directions = nn.ModuleList(OneWay(shape) for _ in ("forward", "backward"))
        self.register_buffer("markers", torch.from_numpy(characters.ids(["<S>", "</S>"])), persistent=False)
        self.shape = shape
        self.stateful = stateful
        self._state: State | None = None

    def reset(self) -> None:
        """Clear the states: each row of the next batch starts from zeros."""
        self._state = None

    def forward(
        self, ids: Int[Tensor, "batch words characters"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "layers batch words+2 width"]:
        """Each layer's states of the sentence start, the words and the sentence end, forward and backward concatenated.

        The lowest layer holds the tokens' character-based states, twice. A row without words has only its markers.
        Padded slots are zero.

        Raises:
            ValueError: a row's real words do not come first.
        """
        if bool((mask[:, 1:] & ~mask[:, :-1]).any()):
            raise ValueError("expected each row's real words before its padding")
        tokens = self._add_markers(ids, mask)  # (batch, words + 2, characters)
        batch, width, _ = tokens.shape
        plan = reading(mask.sum(1) + 2, width)
        from_start, _ = plan.places
        by_characters = self.words(tokens.flatten(0, 1)[from_start])  # (tokens, projection)
        flat = _spread(by_characters[None], from_start, batch * width)  # (1, batch * (words + 2), projection)
        known = self._initial_states(batch, by_characters)
        read = functional.dropout(flat[0], self.dropout, self.training)  # (batch * (words + 2), projection)
        layers, after = [], []
        for number, (one_way, places) in enumerate(zip(self.directions, plan.places, strict=True)):
            before = State(known.hidden[number][:, plan.rows], known.memory[number][:, plan.rows])
            states, state = one_way(read[places], plan.sizes, before)  # states: (LSTM layers, tokens, projection)
            layers.append(torch.cat([flat, _spread(states, places, batch * width)]))
            after.append(state)
        if self.stateful:
            new = (part.detach() for part in _stack(after))
            self._state = State(*(old.index_copy(2, plan.rows, x) for old, x in zip(known, new, strict=True)))
        return torch.cat(layers, dim=2).unflatten(1, (batch, width))

    def _add_markers(
        self, ids: Int[Tensor, "batch words characters"], mask: Bool[Tensor, "batch words"]
    ) -> Int[Tensor, "batch words+2 characters"]:
        """The words with the sentence's start and end markers."""
        start, end = self.markers
        tokens = functional.pad(ids, (0, 0, 1, 1))
        tokens[:, 0] = start
        tokens[torch.arange(len(ids), device=ids.device), mask.sum(1) + 1] = end
        return tokens

    def _initial_states(self, rows: int, like: Float[Tensor, "tokens projection"]) -> State:
        """The states of at least `rows` rows, (directions, LSTM layers, rows, ...); zeros for new rows."""
        state = self._state if self.stateful else None
        if state is None:
            size = len(self.directions), self.shape.layers, 0
            state = State(like.new_zeros(*size, self.shape.projection), like.new_zeros(*size, self.shape.cell))
        new = max(0, rows - state.hidden.shape[2])
        return State(*(functional.pad(part.to(like), (0, 0, 0, new)) for part in state))


def _stack(states: Sequence[State]) -> State:
    return State(torch.stack([state.hidden for state in states]), torch.stack([state.memory for state in states]))


def _spread(
    states: Float[Tensor, "layers tokens projection"], places: Int[Tensor, " tokens"], slots: int
) -> Float[Tensor, "layers slots projection"]:
    """States at their positions in the flat batch, zeros elsewhere."""
    layers, _, width = states.shape
    return states.new_zeros(layers, slots, width).index_copy(1, places, states)


class ScalarMix(nn.Module):
    """A learned mixture of layers, scale * sum(softmax(weights) * layer) (Peters et al. 2018, eq. 1)."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, states: Float[Tensor, "layers batch words width"]) -> Float[Tensor, "batch words width"]:
        """One state per word."""
        shares = self.weights.softmax(0).to(states.dtype)  # (layers,)
        return self.scale * torch.tensordot(shares, states, dims=1)


class Elmo(nn.Module):
    """ELMo: the mixture of a bidirectional language model's layers at each word.

    Args:
        shape: the architecture.
        dropout: of the mixture, in training.
        stateful: each row continues from the final state of the same row in the previous batch, as in AllenNLP (see
            `BiLM`); if False, a word's state depends only on its sentence.
        do_layer_norm: AllenNLP's norm of the layers before they are mixed; only False is supported.

    Raises:
        InputError: `do_layer_norm` is True.
    """

    def __init__(
        self, shape: Shape, *, dropout: float = 0.0, stateful: bool = False, do_layer_norm: bool = False
    ) -> None:
        super().__init__()
        if do_layer_norm:
            raise InputError(
                "expected do_layer_norm=false, got true: that norm is taken over the whole batch, so that a text's "
                "score would depend on the other texts in the batch; leave it out, as ELMo's published settings do"
            )
        self.bilm = BiLM(shape, stateful=stateful)
        self.mix = ScalarMix(1 + shape.layers)
        self.dropout = nn.Dropout(dropout)
        self.width: int = 2 * shape.projection
        self.max_pieces: int = NO_LIMIT

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Elmo:
        """An ELMo of the architecture in `config`, with random weights."""
        return cls(Shape(**{field.name: config[field.name] for field in fields(Shape)}))

    @property
    def config(self) -> dict[str, Any]:
        """The architecture, for `from_config`."""
        return {"kind": "elmo", **asdict(self.bilm.shape)}

    def reset(self) -> None:
        """Clear the LSTM states (for `stateful`)."""
        self.bilm.reset()

    def forward(
        self, ids: Int[Tensor, "batch words characters"], mask: Bool[Tensor, "batch words"]
    ) -> Float[Tensor, "batch words width"]:
        """Word states from character ids (`pronmetric.data.characters`); those of padded words are zero.

        Raises:
            ValueError: a row's real words do not come first.
        """
        states = self.bilm(ids, mask)[:, :, 1:-1]  # (layers, batch, words, width)
        return self.dropout(self.mix(states)) * mask[:, :, None]  # the slot after the last word holds the end marker

    def layers(self) -> list[list[nn.Parameter]]:
        """Parameters from the characters upwards: tokens, each LSTM layer of both directions, the mixture."""
        named = [(int(name.split(".")[2]), p) for name, p in self.bilm.directions.named_parameters()]
        lstms = [[p for number, p in named if number == layer] for layer in range(self.bilm.shape.layers)]
        return [list(self.bilm.words.parameters()), *lstms, list(self.mix.parameters())]
