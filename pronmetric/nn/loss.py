"""Losses on pairs of segments, labels of pronouns, and the pronouns' attention.

Masked items are ignored. If all are masked the loss is 0, but still a function of its input, so that `backward` works.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

_TINY = 1e-9  # added to the attention, which may underflow to 0, before the logarithm


def margin(
    better: Float[Tensor, " pairs"],
    worse: Float[Tensor, " pairs"],
    *,
    margin: float,
    tie: Bool[Tensor, " pairs"] | None = None,
) -> Float[Tensor, ""]:
    """Mean of max(0, margin - better + worse) (Jwalapuram et al. 2019, section 4, eq. 6); NaN pairs are left out.

    tie: pairs neither of which is better. Their margin is 0 in both directions: |better - worse|.
    """
    gap, tie = _gaps(better, worse, tie)
    each = torch.where(tie, gap.abs(), (margin - gap).clamp(min=0))
    return each.mean() if len(gap) else gap.sum()


def logistic(
    better: Float[Tensor, " pairs"], worse: Float[Tensor, " pairs"], *, tie: Bool[Tensor, " pairs"] | None = None
) -> Float[Tensor, ""]:
    """Mean of log(1 + exp(worse - better)), for scores on a logit scale; NaN pairs are left out.

    tie: pairs neither of which is better. They have the cross-entropy to a probability of one half.
    """
    gap, tie = _gaps(better, worse, tie)
    each = functional.softplus(-gap)
    each = torch.where(tie, (each + functional.softplus(gap)) / 2, each)
    return each.mean() if len(gap) else gap.sum()


def soft_logistic(
    first: Float[Tensor, " pairs"], second: Float[Tensor, " pairs"], probability: Float[Tensor, " pairs"]
) -> Float[Tensor, ""]:
    """Mean cross-entropy of sigmoid(first - second) to the `probability` that the first is better; NaN is left out.

    With probability 1 it is `logistic`, with one half its loss of a tie.
    """
    gap = first - second
    known = ~(gap.isnan() | probability.isnan())
    if not known.any():
        return gap[known].sum()
    return functional.binary_cross_entropy_with_logits(gap[known], probability[known])


def _gaps(
    better: Float[Tensor, " pairs"], worse: Float[Tensor, " pairs"], tie: Bool[Tensor, " pairs"] | None
) -> tuple[Float[Tensor, " scored"], Bool[Tensor, " scored"]]:
    """The differences of the pairs that have both scores, and which of them are ties."""
    gap = better - worse
    scored = ~gap.isnan()
    return gap[scored], torch.zeros_like(scored)[scored] if tie is None else tie[scored]


def detection(
    logits: Float[Tensor, "batch pronouns"],
    right: Float[Tensor, "batch pronouns"],
    mask: Bool[Tensor, "batch pronouns"],
) -> Float[Tensor, ""]:
    """Mean cross-entropy of replaced-pronoun detection; `right` goes from 1 (as written) to 0 (replaced).

    A value between them is a probability.
    """
    if not mask.any():
        return logits[mask].sum()
    return functional.binary_cross_entropy_with_logits(logits[mask], right[mask])


def antecedent(
    weights: Float[Tensor, "batch pronouns words"], where: Bool[Tensor, "batch pronouns words"]
) -> Float[Tensor, ""]:
    """Mean of -log(total attention to the antecedent's words, given by `where`); pronouns without one are left out.

    weights: attention, which sums to 1 over the words. The loss is 0 if all of it is on the antecedent.
    """
    attended = weights.float().masked_fill(~where, 0.0).sum(-1)[where.any(-1)]  # (pronouns with an antecedent,)
    return -(attended + _TINY).log().mean() if len(attended) else attended.sum()
