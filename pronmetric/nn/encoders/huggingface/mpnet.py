"""MPNet for scoring: the architecture of Song et al. (NeurIPS 2020), with the names of Hugging Face's `MPNetModel`.

It is BERT with one more thing: a bias of each attention head for each bucket of relative positions (Raffel et al., JMLR
2020, section 2.1), which all layers share. It is computed once for a batch and added to the attention scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.nn.encoders.huggingface.bert import Bert, run_layers

BUCKETS = 32
"""Half for words before and half for words after: `relative_attention_num_buckets` of the published model."""
# The least distances of the buckets from 1 on: one for each distance below 8, then 8 * 2**(k/2) up to 128, rounded up.
# Written as integers, they do not depend on how a device rounds logarithms.
_DISTANCES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91)
_PADDING = 1  # the piece of padding, and its position; positions of other pieces start after it


class MpnetModel(nn.Module):
    """Embeddings, layers and the bias of relative positions, under the names of Hugging Face's `MPNetModel`."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        self.config = SimpleNamespace(**config)
        self.embeddings = Embeddings(config)
        layers = nn.ModuleList(_layer(config) for _ in range(config["num_hidden_layers"]))
        bias = nn.Embedding(BUCKETS, config["num_attention_heads"])
        self.encoder = nn.ModuleDict({"layer": layers, "relative_attention_bias": bias})

    def forward(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states."""
        bias: Any = self.encoder["relative_attention_bias"]
        return run_layers(self, self.embeddings(ids), biased_mask(bias.weight, mask))


class Mpnet(Bert):
    """An MPNet encoder that is not trained: no dropout. Its tensors have the names of `HuggingFaceEncoder`."""

    FIXED: ClassVar[Mapping[str, Any]] = {
        "model_type": "mpnet",
        "hidden_act": "gelu",
        "relative_attention_num_buckets": BUCKETS,
        "pad_token_id": _PADDING,
    }
    DEFAULTS: ClassVar[Mapping[str, Any]] = {"layer_norm_eps": 1e-12, "hidden_act": "gelu"}
    UNUSED: ClassVar[int] = _PADDING + 1
    MODEL: ClassVar[type[nn.Module]] = MpnetModel


class Embeddings(nn.Module):
    """The sum of piece and position embeddings, normalised."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        width = config["hidden_size"]
        self.word_embeddings = nn.Embedding(config["vocab_size"], width, padding_idx=_PADDING)
        self.position_embeddings = nn.Embedding(config["max_position_embeddings"], width, padding_idx=_PADDING)
        self.LayerNorm = nn.LayerNorm(width, eps=config["layer_norm_eps"])

    def forward(self, input_ids: Int[Tensor, "batch pieces"]) -> Float[Tensor, "batch pieces width"]:
        """The embedding of each piece at its position; padding has a position of its own."""
        real = (input_ids != _PADDING).long()
        positions = real.cumsum(1) * real + _PADDING
        return self.LayerNorm(self.word_embeddings(input_ids) + self.position_embeddings(positions))


def biased_mask(
    weight: Float[Tensor, "buckets heads"], mask: Bool[Tensor, "batch pieces"]
) -> Float[Tensor, "batch heads pieces pieces"]:
    """What all layers of an MPNet add to their attention scores: the bias of relative positions, from its `weight`.

    For padded keys it is the least finite number, so a row of padding alone attends to all of it.
    """
    bias = weight[buckets(torch.arange(mask.shape[1], device=weight.device))].permute(
        2, 0, 1
    )  # (heads, pieces, pieces)
    return torch.where(mask[:, None, None, :], bias, torch.finfo(bias.dtype).min)


def buckets(at: Int[Tensor, " pieces"]) -> Int[Tensor, "pieces pieces"]:
    """The bucket of the position of each key (second axis) relative to each query: 0 to 15 from it back, then ahead."""
    ahead = at[None, :] - at[:, None]
    distance = (ahead.abs()[..., None] >= torch.tensor(_DISTANCES, device=at.device)).sum(-1)
    return distance + BUCKETS // 2 * (ahead > 0)


def _layer(config: Mapping[str, Any]) -> nn.ModuleDict:
    width, inner, eps = config["hidden_size"], config["intermediate_size"], config["layer_norm_eps"]
    own = nn.ModuleDict({name: nn.Linear(width, width) for name in ("q", "k", "v", "o")})
    return nn.ModuleDict(
        {
            "attention": nn.ModuleDict({"attn": own, "LayerNorm": nn.LayerNorm(width, eps=eps)}),
            "intermediate": nn.ModuleDict({"dense": nn.Linear(width, inner)}),
            "output": nn.ModuleDict({"dense": nn.Linear(inner, width), "LayerNorm": nn.LayerNorm(width, eps=eps)}),
        }
    )
