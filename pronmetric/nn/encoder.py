"""Encoders: piece ids to piece states, and piece states to word states."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedModel

from pronmetric.nn.dropout import QuickDropout

NO_LIMIT = sys.maxsize  # pieces of an encoder that has no table of positions


@runtime_checkable
class Encoder(Protocol):
    """What the scorer and its training ask of an encoder.

    width: of a state. max_pieces: the most of a row. config: the architecture, as a checkpoint's config tells it.
    """

    width: int
    max_pieces: int

    @property
    def config(self) -> dict[str, Any]:  # noqa: D102
        ...

    def layers(self) -> list[list[nn.Parameter]]:
        """Parameters from the embeddings up, one list a layer, for layer-wise learning rates and freezing."""
        ...

    def __call__(
        self, ids: Int[Tensor, "batch pieces *characters"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states; the states of padded pieces mean nothing."""
        ...


class HuggingFaceEncoder(nn.Module):
    """Any Hugging Face encoder; its last layer is the state. Code that a checkpoint brings is never run."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model
        self.width: int = model.config.hidden_size
        self.max_pieces: int = _positions(model)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> HuggingFaceEncoder:
        """An fp32 encoder with random weights, of the architecture that `config` (a Hugging Face dict) describes."""
        config = {key: value for key, value in config.items() if key not in ("kind", "pieces", "dtype", "torch_dtype")}
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
        found = config.to_diff_dict() | {"model_type": config.model_type}
        found.pop("_name_or_path", None)  # where it lay on the machine that trained it
        return found

    def forward(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states."""
        if self.training and ids.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
            return self._lowered(ids, mask, torch.get_autocast_dtype("cpu"))
        return self.model(input_ids=ids, attention_mask=mask.long()).last_hidden_state

    def _lowered(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"], dtype: torch.dtype
    ) -> Float[Tensor, "batch pieces width"]:
        """The states for a training step, all but the word vectors in `dtype`; weights and gradients stay in fp32.

        Autocast keeps layer norms and residual sums in fp32, and on a CPU its casts to and fro take longer than the
        products. The word vectors stay, as the gradient of a frequent piece is a sum of hundreds.
        """
        table = self.model.get_input_embeddings()
        kept = {id(parameter) for parameter in table.parameters()}
        lowered = {name: p.to(dtype) for name, p in self.model.named_parameters() if id(p) not in kept}
        given = {"inputs_embeds": table(ids).to(dtype), "attention_mask": mask.long()}
        with torch.autocast("cpu", enabled=False), QuickDropout():
            states = torch.func.functional_call(self.model, lowered, kwargs=given).last_hidden_state
        return states.float()

    def layers(self) -> list[list[nn.Parameter]]:
        """Parameters from the embeddings up, one list a layer."""
        stack = next(m for m in self.model.modules() if isinstance(m, nn.ModuleList))
        inside = [list(layer.parameters()) for layer in stack]
        known = {id(p) for layer in inside for p in layer}
        return [[p for p in self.model.parameters() if id(p) not in known], *inside]


def _positions(model: PreTrainedModel) -> int:
    """The most pieces of a row: as many as there are positions; no limit where positions are only relative (DeBERTa).

    Those of RoBERTa and its kin start after the padding index: no piece of text can have the ones before.
    """
    config = model.config
    if getattr(config, "relative_attention", False) and not getattr(config, "position_biased_input", True):
        return NO_LIMIT
    tables = (m for name, m in model.named_modules() if name.endswith("position_embeddings"))
    unused = next((m.padding_idx + 1 for m in tables if getattr(m, "padding_idx", None) is not None), 0)
    return getattr(config, "max_position_embeddings", 512) - unused


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
