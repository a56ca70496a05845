"""Attention from pronouns over the words of context and sentence."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def attend(
    queries: Float[Tensor, "batch pronouns width"],
    keys: Float[Tensor, "batch words width"],
    values: Float[Tensor, "batch words width"],
    mask: Bool[Tensor, "batch words"],
) -> tuple[Float[Tensor, "batch pronouns width"], Float[Tensor, "batch pronouns words"]]:
    """Scaled dot-product attention, softmax(Q K^T / sqrt(width)) V.

    In the paper Q is P, and K serves as both K and V (Jwalapuram et al. 2019, section 4, eq. 2). Returns the
    attended states and the weights. Masked words get weight 0; a row without any real word gets all-zero
    weights and states.
    """
    scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.shape[-1])  # (batch, pronouns, words)
    scores = scores.float().masked_fill(~mask[:, None, :], -torch.inf)
    weights = scores.softmax(dim=-1).nan_to_num(0.0).to(values.dtype)  # (batch, pronouns, words)
    return weights @ values, weights
