"""Any Hugging Face encoder, and which module of this package computes the same without transformers."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.data.pieces import Subwords
from pronmetric.nn.dropout import QuickDropout
from pronmetric.nn.encoder import NO_LIMIT, Encoder
from pronmetric.nn.encoders.huggingface.bert import Bert
from pronmetric.nn.encoders.huggingface.mpnet import Mpnet

if TYPE_CHECKING:
    from transformers import PreTrainedModel

PIECES = Subwords


def build(config: Mapping[str, Any], *, trainable: bool) -> Encoder:
    """An encoder of the architecture in `config`; one that is not trained needs no transformers where it can."""
    own = [] if trainable else [each for each in (Bert, Mpnet) if each.fits(config)]
    return own[0](config) if own else HuggingFaceEncoder.from_config(config)


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
