"""A scorer for inference between and after training steps, computed as fast as scoring computes it."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.nn.encoders.huggingface import packed
from pronmetric.nn.scorer import PronounScorer


class _Autocast(nn.Module):
    """An encoder whose products are computed in `dtype`; its states come in fp32."""

    def __init__(self, encoder: Any, dtype: torch.dtype) -> None:
        super().__init__()
        self.width: int = encoder.width
        self.max_pieces: int = encoder.max_pieces
        self._encoder = encoder
        self._dtype = dtype

    def forward(
        self, ids: Int[Tensor, "batch pieces *characters"], mask: Bool[Tensor, "batch pieces"]
    ) -> Float[Tensor, "batch pieces width"]:
        with torch.autocast(ids.device.type, self._dtype):
            return self._encoder(ids, mask).float()


def for_inference(scorer: PronounScorer, dtype: torch.dtype) -> PronounScorer:
    """`scorer` with an encoder that computes in `dtype`; the heads are shared and stay in fp32.

    On a CPU the encoder is packed (`pronmetric.nn.encoders.huggingface.packed`) where it can be; otherwise its products
    are computed under autocast. A CPU without bf16 computes in fp32. The weights must not change while the result is
    used, and it has no gradients.
    """
    encoder: Any = scorer.encoder
    ready: Any = None
    if next(scorer.parameters()).device.type == "cpu":
        dtype = torch.bfloat16 if dtype != torch.float32 and cpu_has_bf16() else torch.float32
        with torch.no_grad():
            ready = packed.pack(encoder, dtype)
    if ready is None and dtype != torch.float32:
        ready = _Autocast(encoder, dtype)
    if ready is None:
        return scorer
    scorer_for_inference: Any = PronounScorer(
        encoder, scorer.head, word_state=scorer.word_state, pair_head=scorer.pair_head, gap_head=scorer.gap_head
    )
    scorer_for_inference.encoder = ready
    return scorer_for_inference.train(scorer.training)


def cpu_has_bf16() -> bool:
    """Whether this CPU computes products in bf16 in hardware."""
    known = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
    return torch.backends.mkldnn.is_available() and known is not None and known()
