"""BERT and MPNet for scoring on the CPU: matrix products in fp32 or bf16 with prepacked weights, the rest in fp32.

It is faster than the original model: PyTorch otherwise repacks the weights in every call; the three projections of the
attention are one product; GELU is fused with the product before it. In fp32 its states equal those of the model up to
the order of sums. In bf16 they are closer to fp32 than those of the model cast to bf16 as a whole, because residual
sums, layer norms, GELU, attention scores and their softmax are not rounded. The linear operators are those that
PyTorch's own compiler emits for frozen models; if the PyTorch build, the CPU or the architecture does not support them,
`pack` returns None.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.nn.encoder import Encoder
from pronmetric.nn.encoders.huggingface.bert import Bert
from pronmetric.nn.encoders.huggingface.layer import Layer
from pronmetric.nn.encoders.huggingface.mpnet import Mpnet, biased_mask

_ROWS = 1024  # batch size in pieces for which the weight layout is optimised; others work as well


class PackedLinear:
    """A linear map in `dtype`, without gradients; `gelu`: followed by the activation."""

    def __init__(
        self,
        weight: Float[Tensor, "out width"],
        bias: Float[Tensor, " out"],
        *,
        dtype: torch.dtype,
        gelu: bool = False,
    ) -> None:
        self._dtype = dtype
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.to(dtype).contiguous(), _ROWS)
        self._bias = bias.to(dtype)
        self._after: tuple[str, list[float], str] = ("gelu", [], "none") if gelu else ("none", [], "")

    def __call__(self, x: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch out"]:
        """The map of `x`, in `dtype`."""
        return torch.ops.mkldnn._linear_pointwise(x.to(self._dtype), self._weight, self._bias, *self._after)


class PackedLayer:
    """A `Layer` in `dtype`."""

    def __init__(self, layer: Layer, *, heads: int, dtype: torch.dtype) -> None:
        query, key, value = layer.query, layer.key, layer.value
        scale = 1 / math.sqrt(query.weight.shape[1] // heads)
        self.heads = heads
        self.maps = PackedLinear(
            torch.cat([scale * query.weight, key.weight, value.weight]),
            torch.cat([scale * query.bias, key.bias, value.bias]),
            dtype=dtype,
        )
        self.out = PackedLinear(layer.out.weight, layer.out.bias, dtype=dtype)
        self.inner = PackedLinear(layer.inner.weight, layer.inner.bias, dtype=dtype, gelu=True)
        self.outer = PackedLinear(layer.outer.weight, layer.outer.bias, dtype=dtype)
        self.norms = layer.attention_norm, layer.norm

    def __call__(
        self,
        x: Float[Tensor, "batch pieces width"],
        mask: Bool[Tensor, "batch 1 1 pieces"] | Float[Tensor, "batch heads pieces pieces"],
    ) -> Float[Tensor, "batch pieces width"]:
        """The next states, in fp32; `mask` has what is attended to, or is added to the attention scores."""
        batch, pieces, width = x.shape
        maps = self.maps(x).view(batch, pieces, 3, self.heads, -1)
        query, key, value = maps.permute(2, 0, 3, 1, 4)  # each (batch, heads, pieces, width / heads)
        attended = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)
        attended = attended.transpose(1, 2).reshape(batch, pieces, width)
        x = self.norms[0](x + self.out(attended))
        return self.norms[1](x + self.outer(self.inner(x)))


class PackedEncoder(nn.Module):
    """An encoder for scoring only: its weights cannot be trained or saved."""

    def __init__(self, model: Any, *, max_pieces: int, dtype: torch.dtype) -> None:
        super().__init__()
        self.width: int = model.config.hidden_size
        self.max_pieces = max_pieces
        self.embeddings = model.embeddings
        self.position_bias: nn.Embedding | None = getattr(model.encoder, "relative_attention_bias", None)
        heads = model.config.num_attention_heads
        self._layers = [PackedLayer(Layer.of(layer), heads=heads, dtype=dtype) for layer in model.encoder.layer]

    def forward(
        self, ids: Int[Tensor, "batch pieces"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        """Contextual piece states, in fp32."""
        x = self.embeddings(input_ids=ids)
        bias = self.position_bias
        attended = mask[:, None, None, :] if bias is None else biased_mask(bias.weight, mask)
        for layer in self._layers:
            x = layer(x, attended)
        return x


def pack(encoder: Encoder, dtype: torch.dtype) -> PackedEncoder | None:
    """The fp32 `encoder` packed for scoring in `dtype` on this CPU; None if that is not possible."""
    model: Any = getattr(encoder, "model", None)
    config: Any = getattr(model, "config", None)
    fixed = [kind.FIXED.items() for kind in (Bert, Mpnet)]
    if config is None or not any(all(getattr(config, key, value) == value for key, value in each) for each in fixed):
        return None
    return PackedEncoder(model, max_pieces=encoder.max_pieces, dtype=dtype) if _can_pack(dtype) else None


def _can_pack(dtype: torch.dtype) -> bool:
    """Whether this PyTorch and this CPU support the linear operators, and `dtype` in hardware."""
    ops = torch.ops.mkldnn
    if not all(hasattr(ops, name) for name in ("_reorder_linear_weight", "_linear_pointwise")):
        return False
    if not torch.backends.mkldnn.is_available():
        return False
    return dtype == torch.float32 or (dtype == torch.bfloat16 and ops._is_mkldnn_bf16_supported())
