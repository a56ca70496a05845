"""Encoders: piece ids to piece states, and piece states to word states."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.nn.dropout import QuickDropout

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NO_LIMIT = sys.maxsize  # `max_pieces` of an encoder without absolute positions


@runtime_checkable
class Encoder(Protocol):
    """The interface of encoders.

    width: of a state. max_pieces: greatest number in a row. config: the architecture, as in a checkpoint's config.
    """

    width: int
    max_pieces: int

    @property
    def config(self) -> dict[str, Any]:  # noqa: D102
        ...

    def layers(self) -> list[list[nn.Parameter]]:
        """Parameters from the embeddings upwards, one list per layer, for layer-wise learning rates and freezing."""
        ...

    def __call__(
        self, ids: Int[Tensor, "batch pieces *characters"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states; the states of padded pieces are undefined."""
        ...


class HuggingFaceEncoder(nn.Module):
    """Any Hugging Face encoder; states are those of its last layer. Code in a checkpoint is never run."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model
        self.width: int = model.config.hidden_size
        self.max_pieces: int = _positions(model)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> HuggingFaceEncoder:
        """An fp32 encoder of the architecture in `config` (a Hugging Face dict), with random weights."""
        from transformers import AutoConfig, AutoModel

        config = {key: value for key, value in config.items() if key not in ("kind", "pieces", "dtype", "torch_dtype")}
        hf = AutoConfig.for_model(config.pop("model_type"), **config)
        return cls(_bare(AutoModel.from_config(hf, attn_implementation="eager")))

    @classmethod
    def from_pretrained(cls, name: str, *, local_files_only: bool) -> HuggingFaceEncoder:
        """The encoder in the folder `name`, or with that name on the hub if the network is allowed."""
        from transformers import AutoModel

        model = AutoModel.from_pretrained(
            name, local_files_only=local_files_only, attn_implementation="eager", use_safetensors=True
        )
        return cls(_bare(model.float()))

    @property
    def config(self) -> dict[str, Any]:
        """The architecture as a Hugging Face dict, for `from_config`."""
        config = self.model.config
        found = config.to_diff_dict() | {"model_type": config.model_type}
        found.pop("_name_or_path", None)  # its path on the training machine
        return found

    def fuse_attention(self) -> None:
        """Attend by PyTorch's fused operator from now on, if the architecture has it: less time and memory on a GPU.

        The states stay the same up to the order of sums.
        """
        if getattr(self.model, "_supports_sdpa", False):
            self.model.set_attn_implementation("sdpa")

    def forward(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states."""
        if self.training and ids.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
            return self._encode_low_precision(ids, mask, torch.get_autocast_dtype("cpu"))
        given = mask.long() if ids.device.type == "cpu" else self.whole_mask(mask)
        return self.model(input_ids=ids, attention_mask=given).last_hidden_state

    def whole_mask(
        self, mask: Bool[Tensor, "batch pieces"]
    ) -> Int[Tensor, "batch pieces"] | Bool[Tensor, "batch 1 pieces pieces"] | Float[Tensor, "batch 1 pieces pieces"]:
        """The mask as attention reads it, for which a GPU need not tell the host whether there is any padding.

        For an architecture that makes its masks in another way than BERT: the mask of pieces.
        """
        known = vars(sys.modules[type(self.model).__module__])
        if "create_bidirectional_mask" not in known or "create_bidirectional_sliding_window_mask" in known:
            return mask.long()
        whole = mask[:, None, None, :].expand(-1, 1, mask.shape[1], -1)
        if self.model.config._attn_implementation == "sdpa":
            return whole
        added = torch.zeros(whole.shape, dtype=self.model.dtype, device=mask.device)
        return added.masked_fill(~whole, torch.finfo(added.dtype).min)

    def _encode_low_precision(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"], dtype: torch.dtype
    ) -> Float[Tensor, "batch pieces width"]:
        """Piece states for a training step, computed in `dtype` (embeddings, weights and gradients in fp32).

        Unlike autocast, which keeps layer norms and residual sums in fp32: on a CPU its casts take longer than the
        products. Embeddings stay in fp32, because the gradient of a frequent piece is a sum of hundreds.
        """
        table = self.model.get_input_embeddings()
        kept = {id(parameter) for parameter in table.parameters()}
        lowered = {name: p.to(dtype) for name, p in self.model.named_parameters() if id(p) not in kept}
        given = {"inputs_embeds": table(ids).to(dtype), "attention_mask": mask.long()}
        with torch.autocast("cpu", enabled=False), QuickDropout():
            states = torch.func.functional_call(self.model, lowered, kwargs=given).last_hidden_state
        return states.float()

    def layers(self) -> list[list[nn.Parameter]]:
        """Parameters from the embeddings upwards, one list per layer."""
        stack = next(m for m in self.model.modules() if isinstance(m, nn.ModuleList))
        inside = [list(layer.parameters()) for layer in stack]
        known = {id(p) for layer in inside for p in layer}
        return [[p for p in self.model.parameters() if id(p) not in known], *inside]


def _positions(model: PreTrainedModel) -> int:
    """The greatest number of pieces in a row: the number of positions; no limit with relative positions (DeBERTa).

    Positions of RoBERTa and similar models start after the padding index; the earlier ones are unused.
    """
    config = model.config
    if getattr(config, "relative_attention", False) and not getattr(config, "position_biased_input", True):
        return NO_LIMIT
    tables = (m for name, m in model.named_modules() if name.endswith("position_embeddings"))
    unused = next((m.padding_idx + 1 for m in tables if getattr(m, "padding_idx", None) is not None), 0)
    return getattr(config, "max_position_embeddings", 512) - unused


def _bare(model: PreTrainedModel) -> PreTrainedModel:
    """`model` without its unused pooler."""
    if getattr(model, "pooler", None) is not None:
        setattr(model, "pooler", None)  # noqa: B010 (a module attribute may be None; its type says otherwise)
    return model


def word_states(
    pieces: Float[Tensor, "batch pieces width"],
    word: Int[Tensor, "batch pieces"],
    words: int | torch.SymInt,
    *,
    how: str,
) -> Float[Tensor, "batch words width"]:
    """Word states from piece states: their "mean" or the "first"; a word without pieces gets zeros.

    Args:
        pieces: states of the pieces.
        word: each piece's word, -1 for none.
        words: number of word slots, symbolic while a model is exported.
        how: "mean" or "first".
    """
    batch, _, width = pieces.shape
    none: Any = words  # a further slot collects the pieces that belong to no word
    slots = none + 1
    target = torch.where(word >= 0, word, none)
    if how == "first":
        before = torch.cat([torch.full_like(word[:, :1], -2), word[:, :-1]], dim=1)
        target = torch.where(word != before, target, none)
    elif how != "mean":
        raise ValueError(f'expected how="mean" or "first", got {how!r}')
    flat = (target + slots * torch.arange(batch, device=word.device)[:, None]).reshape(-1)
    total = pieces.new_zeros(batch * slots, width).index_add(0, flat, pieces.reshape(-1, width))
    ones = torch.ones_like(flat, dtype=torch.float32)  # unlike `bincount`, this can be exported
    count = torch.zeros_like(total[:, 0], dtype=torch.float32).index_add(0, flat, ones).clamp(min=1).to(pieces.dtype)
    return (total / count[:, None]).view(batch, slots, width)[:, :words]
