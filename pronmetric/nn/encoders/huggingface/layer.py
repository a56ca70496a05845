"""A transformer layer of the form of BERT's, which MPNet's has as well under other names."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor, nn


class Layer(NamedTuple):
    """The modules of a layer by their role: attention, then feed-forward, each with a residual sum and a layer norm."""

    query: nn.Linear
    key: nn.Linear
    value: nn.Linear
    out: nn.Linear
    attention_norm: nn.LayerNorm
    inner: nn.Linear
    outer: nn.Linear
    norm: nn.LayerNorm

    @classmethod
    def of(cls, layer: Any) -> Layer:
        """The parts of a layer of BERT or MPNet, of this package or Hugging Face's."""
        attention, feed_forward = (
            layer.attention,
            (layer.intermediate.dense, layer.output.dense, layer.output.LayerNorm),
        )
        if hasattr(attention, "attn"):
            own = attention.attn
            return cls(own.q, own.k, own.v, own.o, attention.LayerNorm, *feed_forward)
        own, out = attention.self, attention.output
        return cls(own.query, own.key, own.value, out.dense, out.LayerNorm, *feed_forward)

    def next(
        self,
        x: Float[Tensor, "batch pieces width"],
        mask: Bool[Tensor, "batch 1 1 pieces"] | Float[Tensor, "batch heads pieces pieces"],
        *,
        heads: int,
    ) -> Float[Tensor, "batch pieces width"]:
        """The states after the layer; `mask` has what is attended to, or is added to the attention scores."""
        query, key, value = (
            linear(x).unflatten(2, (heads, -1)).transpose(1, 2)  # (batch, heads, pieces, width / heads)
            for linear in (self.query, self.key, self.value)
        )
        attended = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.attention_norm(x + self.out(attended.transpose(1, 2).flatten(2)))
        return self.norm(x + self.outer(nn.functional.gelu(self.inner(x))))
