"""Heads: from word states to one score a pronoun, and one a segment."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.nn.attention import attend


class HeadOutput(NamedTuple):
    """What a head says of each pronoun.

    scores: a logit (`LogitHead`) or an unbounded score; padded slots hold 0. segment: one number a row, in
    the head's own unit; NaN for a row without pronouns. weights: attention over the words; None where
    the head has none.
    """

    scores: Float[Tensor, "batch pronouns"]
    segment: Float[Tensor, " batch"]
    weights: Float[Tensor, "batch pronouns words"] | None


def gather(
    states: Float[Tensor, "batch words width"], at: Int[Tensor, "batch pronouns"]
) -> Float[Tensor, "batch pronouns width"]:
    """Rows `at` of each batch element."""
    return states.gather(1, at[:, :, None].expand(-1, -1, states.shape[-1]))


def mean(values: Float[Tensor, "batch pronouns"], mask: Bool[Tensor, "batch pronouns"]) -> Float[Tensor, " batch"]:
    """Mean over the real slots of a row; NaN where there is none."""
    count = mask.sum(1)
    total = values.masked_fill(~mask, 0.0).sum(1)
    return torch.where(count > 0, total / count.clamp(min=1), torch.nan)


class LogitHead(nn.Module):
    """Ours: the logit that a pronoun is right here in this context, from [P; attended].

    Relative to the paper: queries and keys of the attention are projected, a two-layer network takes the
    place of z and w, each pronoun has a probability of its own, and the segment's score is their mean.
    """

    probability = True

    def __init__(self, width: int, *, dropout: float) -> None:
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.norm = nn.LayerNorm(2 * width)
        self.hidden = nn.Linear(2 * width, width)
        self.logit = nn.Linear(width, 1)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        states: Float[Tensor, "batch words width"],
        mask: Bool[Tensor, "batch words"],
        at: Int[Tensor, "batch pronouns"],
        real: Bool[Tensor, "batch pronouns"],
    ) -> HeadOutput:
        """Logits; the segment's score is the mean probability, in [0, 1], higher is better."""
        pronouns = gather(states, at)  # (batch, pronouns, width)
        attended, weights = attend(self.query(pronouns), self.key(states), states, mask)
        hidden = self.norm(torch.cat([pronouns, attended], dim=-1))  # (batch, pronouns, 2 width)
        hidden = self.dropout(nn.functional.gelu(self.hidden(hidden)))  # (batch, pronouns, width)
        logits = self.logit(hidden).squeeze(-1).float().masked_fill(~real, 0.0)  # (batch, pronouns)
        return HeadOutput(logits, self.segment(logits, real), weights)

    def segment(
        self, scores: Float[Tensor, "batch pronouns"], real: Bool[Tensor, "batch pronouns"]
    ) -> Float[Tensor, " batch"]:
        """A segment's score from its pronouns' logits: their mean probability; NaN where there is none."""
        return mean(scores.sigmoid(), real)


class PaperHead(nn.Module):
    """Jwalapuram et al. 2019, section 4: B = LayerNorm(P + A K), u = B z, y = u . w, with one weight of w for a slot.

    Relative to the paper, and to its published code: an empty slot gives u = 0 after the layer norm, never attends and
    is no key, where the code scores padding as if it were pronouns; padded words are no keys, where the code has no
    mask; there is no signal of position on the keys; only pronouns of the sentence have slots, where the code takes the
    context's if the sentence has none. A sentence with more pronouns than `slots` keeps the scores u of the surplus,
    which w leaves out (`Counts.surplus` tells how many such there are).
    """

    probability = False

    def __init__(self, width: int, *, slots: int) -> None:
        super().__init__()
        self.slots = slots
        self.norm = nn.LayerNorm(width)
        self.z = nn.Linear(width, 1, bias=False)
        self.w = nn.Parameter(torch.full((slots,), 1.0 / slots))

    def forward(
        self,
        states: Float[Tensor, "batch words width"],
        mask: Bool[Tensor, "batch words"],
        at: Int[Tensor, "batch pronouns"],
        real: Bool[Tensor, "batch pronouns"],
    ) -> HeadOutput:
        """Unbounded scores, higher is better."""
        pronouns = gather(states, at)  # eq. 1: P, rows of K (batch, pronouns, width)
        attended, weights = attend(pronouns, states, states, mask)  # eq. 2 (batch, pronouns, width)
        u = self.z(self.norm(pronouns + attended)).squeeze(-1).float().masked_fill(~real, 0.0)  # eq. 3, 4
        return HeadOutput(u, self.segment(u, real), weights)

    def segment(
        self, scores: Float[Tensor, "batch pronouns"], real: Bool[Tensor, "batch pronouns"]
    ) -> Float[Tensor, " batch"]:
        """A segment's score y = u . w from its pronouns' scores u (eq. 5); NaN where there is none."""
        slots = min(scores.shape[1], self.slots)
        y = scores[:, :slots].masked_fill(~real[:, :slots], 0.0) @ self.w[:slots].to(scores.dtype)
        return torch.where(real.any(1), y, torch.nan)


class AverageHead(nn.Module):
    """The paper's baseline: the mean of the pronoun states, scored by one linear map; no attention."""

    probability = False

    def __init__(self, width: int) -> None:
        super().__init__()
        self.z = nn.Linear(width, 1)

    def forward(
        self,
        states: Float[Tensor, "batch words width"],
        mask: Bool[Tensor, "batch words"],
        at: Int[Tensor, "batch pronouns"],
        real: Bool[Tensor, "batch pronouns"],
    ) -> HeadOutput:
        """Unbounded scores, higher is better."""
        u = self.z(gather(states, at)).squeeze(-1).float().masked_fill(~real, 0.0)  # (batch, pronouns)
        return HeadOutput(u, self.segment(u, real), None)

    def segment(
        self, scores: Float[Tensor, "batch pronouns"], real: Bool[Tensor, "batch pronouns"]
    ) -> Float[Tensor, " batch"]:
        """A segment's score, the mean of its pronouns'; NaN where there is none."""
        return mean(scores, real)
