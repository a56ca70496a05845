"""The translation model: one Transformer; the plans say what its encoder and decoder attend to besides the sentence.

| system | context | paper |
|---|---|---|
| concat21, concat22, concatN | previous sentences in the same text | Tiedemann and Scherrer 2017; Voita et al. 2019 |
| shared_gate | a context encoder that shares all layers but the last | Voita et al. 2018 |
| thumt | a context encoder, read in each layer of encoder and decoder | Zhang et al. 2018 |
| s-hier, s-t-hier, s-hier-to-2 | context encoders, read in the decoder | Bawden et al. 2018 |
| cadec | all sentences and their drafts, read by a second decoder | Voita et al. 2019 |
| bert_fused | a frozen encoder, read in each layer of encoder and decoder | Zhu et al. 2020 |

Relative to the papers: sentences of CADec have a learned embedding of their distance, not a one-hot vector; the
recurrent systems of Bawden et al. have GRUs (`cell`) as the first sub-layer of each layer and attention in each layer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.data.collate import move, pin
from pronmetric.lab.nmt.layers import (
    DROP_NET,
    GATE,
    GATED_RESIDUAL,
    HIERARCHY,
    SELF,
    Layer,
    Memory,
    Past,
    Plan,
    Reading,
    Sizes,
    Stack,
    positions,
)
from pronmetric.lab.nmt.pieces import PAD
from pronmetric.lab.nmt.settings import BERT_FUSED, CADEC, HIERARCHICAL, Shape
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder

SOURCE, CONTEXT, TARGET_CONTEXT, BERT, DRAFTS = "source", "context", "target_context", "bert", "drafts"
Memories = Mapping[str, Memory]


@dataclass(frozen=True, slots=True)
class Batch:
    """Sentences to translate or to score; 0 pads, and a part that the system does not read has no pieces.

    source: ends with END. context: the previous source sentences, as one text or, for CADec, each and then the
    sentence. target_context: the previous target sentences as one text, or, for CADec, the draft of each and of the
    sentence. bert: what the frozen encoder reads, in its own pieces plus 1. target: from BEGIN to END.
    """

    source: Int[Tensor, "batch pieces"]
    context: Int[Tensor, "batch texts context_pieces"]
    target_context: Int[Tensor, "batch target_texts draft_pieces"]
    bert: Int[Tensor, "batch bert_pieces"]
    target: Int[Tensor, "batch target_pieces"]

    def to(self, device: torch.device | str, **_: Any) -> Batch:
        """The same batch on another device (Lightning calls this)."""
        return move(self, device)

    def pin_memory(self) -> Batch:
        """The same batch in pinned memory (the data loader calls this)."""
        return pin(self)


def encoder_plan(system: str, *, last: bool) -> Plan:
    """The sub-layers of an encoder layer; last: whether it is the last layer."""
    if system == "shared_gate" and last:
        return [Reading((SELF, CONTEXT), GATE)]
    if system == "thumt":
        return [Reading((SELF,)), Reading((CONTEXT,), GATED_RESIDUAL)]
    return [Reading((SELF, BERT), DROP_NET) if system == BERT_FUSED else Reading((SELF,))]


def decoder_plan(system: str) -> Plan:
    """The sub-layers of a decoder layer."""
    source = Reading((SOURCE,))
    if system == "thumt":
        return [Reading((SELF,)), Reading((CONTEXT,), GATED_RESIDUAL), source]
    if system in HIERARCHICAL:
        more = (CONTEXT, TARGET_CONTEXT) if system == "s-t-hier" else (CONTEXT,)
        source = Reading((SOURCE, *more), HIERARCHY)
    if system == BERT_FUSED:
        source = Reading((SOURCE, BERT), DROP_NET)
    return [Reading((SELF,)), source]


class Network(nn.Module):
    """The model of a shape.

    Args:
        shape: its sizes, and its context.
        pieces: the size of the vocabulary.
        bert: the frozen encoder of `bert_fused`.
    """

    def __init__(self, shape: Shape, *, pieces: int, bert: HuggingFaceEncoder | None = None) -> None:
        super().__init__()
        self.shape, self.system = shape, shape.system
        sizes = Sizes(shape.width, shape.heads, shape.feedforward, shape.dropout, shape.cell)
        plan = decoder_plan(self.system)
        further = plan[-1].names[1:] if self.system in HIERARCHICAL else ()  # the contexts with an encoder of their own
        names = ("all",) if shape.tied else (SOURCE, "target", *further)
        tables = {name: nn.Embedding(pieces, shape.width, PAD) for name in names}
        for table in tables.values():
            nn.init.normal_(table.weight, std=shape.width**-0.5)
        self.embeddings = nn.ModuleDict(tables)
        self.dropout = nn.Dropout(shape.dropout)
        widths = {} if bert is None else {BERT: bert.width}
        numbers = range(shape.layers)
        self.encoder = Stack(
            [Layer(encoder_plan(self.system, last=n == shape.layers - 1), sizes, widths=widths) for n in numbers],
            shape.width,
        )
        self.decoder = Stack([Layer(plan, sizes, causal=True, widths=widths) for _ in numbers], shape.width)
        contexts = dict.fromkeys(further, shape.layers)
        if self.system in ("shared_gate", "thumt"):
            contexts = {CONTEXT: 1}
        self.contexts = nn.ModuleDict(
            {
                name: Stack([Layer([Reading((SELF,))], sizes) for _ in range(count)], shape.width)
                for name, count in contexts.items()
            }
        )
        if self.system == CADEC:
            second = [Reading((SELF,)), Reading((SOURCE,)), Reading((DRAFTS,))]
            self.second = Stack([Layer(second, sizes, causal=True) for _ in numbers], shape.width)
            self.draft = nn.Linear(2 * shape.width, shape.width)
            self.distances = nn.Embedding(shape.size + 1, shape.width)
        self.bert = bert
        if bert is not None:
            bert.requires_grad_(False)

    def train(self, mode: bool = True) -> Network:
        """Set the mode; the frozen encoder of `bert_fused` and the base of CADec never have dropout."""
        super().train(mode)
        for part in (self.bert, *((self.encoder, self.decoder) if self.system == CADEC else ())):
            if part is not None:
                part.eval()
        return self

    def forward(self, batch: Batch) -> Float[Tensor, "batch target_pieces_less_one vocabulary"]:
        """Logits of each piece of the target after BEGIN, given those before it."""
        return self.logits(self.states(batch.target[:, :-1], self.encode(batch)))

    def encode(self, batch: Batch) -> Memories:
        """What the decoder reads of a batch."""
        if self.system == CADEC:
            with torch.no_grad():
                source, states, drafted = self._base_states(batch.context, batch.target_context)
            return self._with_distances(source, states, drafted, batch)
        memories: dict[str, Memory] = {}
        if self.bert is not None:
            mask = batch.bert != PAD
            with torch.no_grad():
                memories[BERT] = Memory(self.bert((batch.bert - 1).clamp(min=0), mask), mask)
        for name, stack in self.contexts.items():
            ids = (batch.context if name == CONTEXT else batch.target_context)[:, 0]
            x, mask = self._embed(ids, name)
            below = self.encoder.layers[:-1] if self.system == "shared_gate" else ()
            memories[name] = Memory(stack(x, mask, below=below), mask)
        return {**memories, SOURCE: self.encode_source(batch.source, memories)}

    def encode_source(self, ids: Int[Tensor, "batch pieces"], memories: Memories | None = None) -> Memory:
        """The states of the source."""
        x, mask = self._embed(ids, SOURCE, dropout=self.system != CADEC)
        return Memory(self.encoder(x, mask, memories), mask)

    def states(
        self,
        ids: Int[Tensor, "batch pieces"],
        memories: Memories,
        *,
        base: bool = False,
        past: Past | None = None,
    ) -> Float[Tensor, "batch new_pieces width"]:
        """The decoder's states; that of a piece predicts the next one.

        base: whether CADec's first decoder is meant. past: the cache of the first pieces of these texts; the states are
        those of the other pieces, which are added to it.
        """
        x, mask = self._embed(ids, "target", start=0 if past is None else past.pieces, dropout=not base)
        decoder = self.second if self.system == CADEC and not base else self.decoder
        made = decoder(x, mask, memories, past=past)
        if past is not None:
            past.pieces = ids.shape[1]
        return made

    def logits(self, states: Float[Tensor, "*rows width"]) -> Float[Tensor, "*rows vocabulary"]:
        """The logits of the next pieces; the output matrix is that of the target's embeddings."""
        return states @ self._table("target").weight.T

    def _table(self, side: str) -> nn.Embedding:
        name = "all" if self.shape.tied else side if side in self.embeddings else SOURCE
        table = self.embeddings[name]
        assert isinstance(table, nn.Embedding)
        return table

    def _embed(
        self, ids: Int[Tensor, "batch pieces"], side: str, *, start: int = 0, dropout: bool = True
    ) -> tuple[Float[Tensor, "batch new_pieces width"], Bool[Tensor, "batch new_pieces"]]:
        """The embeddings with positions, and the mask, of the pieces from `start` on."""
        new = ids[:, start:]
        x = self._table(side)(new) * math.sqrt(self.shape.width)  # (batch, new_pieces, width)
        places = positions(start, ids.shape[1], self.shape.width, ids.device)
        x = x + places.to(x.dtype)
        return self.dropout(x) if dropout else x, new != PAD

    def _base_states(
        self, sentences: Int[Tensor, "batch texts pieces"], drafts: Int[Tensor, "batch texts draft_pieces"]
    ) -> tuple[Memory, Tensor, Tensor]:
        """The base's encoder states of the sentences, its decoder states and embeddings of the drafts.

        All have (batch * texts) rows.
        """
        source = self.encode_source(sentences.flatten(0, 1))
        ids = drafts.flatten(0, 1)
        states = self.states(ids[:, :-1], {SOURCE: source}, base=True)
        return source, states, self._table("target")(ids[:, 1:]) * math.sqrt(self.shape.width)

    def _with_distances(self, source: Memory, states: Tensor, drafted: Tensor, batch: Batch) -> Memories:
        """The memories of CADec's second decoder: a row's sentences as one text, with embeddings of their distance."""
        rows, texts = batch.context.shape[:2]
        distance = self.distances(torch.arange(texts - 1, -1, -1, device=states.device))[:, None]  # (texts, 1, width)
        drafts = self.draft(torch.cat([states, drafted], dim=-1))
        mask = batch.target_context[:, :, 1:] != PAD
        return {
            SOURCE: Memory(
                (source.states.unflatten(0, (rows, texts)) + distance).flatten(1, 2),
                source.mask.unflatten(0, (rows, texts)).flatten(1),
            ),
            DRAFTS: Memory((drafts.unflatten(0, (rows, texts)) + distance).flatten(1, 2), mask.flatten(1)),
        }
