"""Encoders: piece ids to piece states, and piece states to word states."""

from __future__ import annotations

import sys
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

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
