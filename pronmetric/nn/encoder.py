"""Encoders: piece ids to piece states, and piece states to word states."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedModel


@runtime_checkable
class Encoder(Protocol):
    """What the scorer asks of an encoder."""

    width: int
    max_pieces: int

    def __call__(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states; the states of padded pieces mean nothing."""
        ...


class HuggingFaceEncoder(nn.Module):
    """Any Hugging Face encoder; its last layer is the state. Code that a checkpoint brings is never run."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model
        config = model.config
        self.width: int = config.hidden_size
        # RoBERTa's positions start after the padding index
        offset = config.pad_token_id + 1 if config.model_type in {"roberta", "xlm-roberta", "camembert"} else 0
        self.max_pieces: int = getattr(config, "max_position_embeddings", 512) - offset

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> HuggingFaceEncoder:
        """An encoder with random weights, of the architecture that `config` (a Hugging Face dict) describes."""
        config = dict(config)
        hf = AutoConfig.for_model(config.pop("model_type"), **config)
        return cls(_bare(AutoModel.from_config(hf, attn_implementation="eager")))

    @classmethod
    def from_pretrained(cls, name: str, *, local_files_only: bool) -> HuggingFaceEncoder:
        """The encoder in folder `name`, or of that hub name where the network is allowed."""
        model = AutoModel.from_pretrained(
            name, local_files_only=local_files_only, attn_implementation="eager", use_safetensors=True
        )
        return cls(_bare(model.float()))

    @property
    def config(self) -> dict[str, Any]:
        """The architecture as a Hugging Face dict, for `from_config`."""
        config = self.model.config
        return config.to_diff_dict() | {"model_type": config.model_type}

    def forward(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states."""
        return self.model(input_ids=ids, attention_mask=mask.long()).last_hidden_state

    def layers(self) -> list[list[nn.Parameter]]:
        """Parameters from the embeddings up, one list a layer, for layer-wise learning rates and freezing."""
        stack = next(m for m in self.model.modules() if isinstance(m, nn.ModuleList))
        inside = [list(layer.parameters()) for layer in stack]
        known = {id(p) for layer in inside for p in layer}
        return [[p for p in self.model.parameters() if id(p) not in known], *inside]


def _bare(model: PreTrainedModel) -> PreTrainedModel:
    """`model` without the pooler, which nothing here reads."""
    if getattr(model, "pooler", None) is not None:
        setattr(model, "pooler", None)  # noqa: B010 (a module attribute may be None; its type says otherwise)
    return model


def word_states(
    pieces: Float[Tensor, "batch pieces width"],
    word: Int[Tensor, "batch pieces"],
    words: int,
    *,
    how: str,
) -> Float[Tensor, "batch words width"]:
    """States of words from those of their pieces: the "mean" or the "first"; a word without pieces gets zeros.

    Args:
        pieces: states of the pieces.
        word: each piece's word, -1 for none.
        words: number of word slots.
        how: "mean" or "first".
    """
    batch, _, width = pieces.shape
    slots = words + 1  # the last one takes the pieces of no word
    target = torch.where(word >= 0, word, words)
    if how == "first":
        before = torch.cat([torch.full_like(word[:, :1], -2), word[:, :-1]], dim=1)
        target = torch.where(word != before, target, words)
    elif how != "mean":
        raise ValueError(f'expected how="mean" or "first", got {how!r}')
    flat = (target + slots * torch.arange(batch, device=word.device)[:, None]).reshape(-1)
    total = pieces.new_zeros(batch * slots, width).index_add(0, flat, pieces.reshape(-1, width))
    count = torch.bincount(flat, minlength=batch * slots).clamp(min=1).to(pieces.dtype)
    return (total / count[:, None]).view(batch, slots, width)[:, :words]
