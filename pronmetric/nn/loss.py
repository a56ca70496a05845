"""Losses on pairs of segments, labels of pronouns, and the pronouns' attention.

Masked items are ignored. If all are masked the loss is 0, but still a function of its input, so that `backward` works.
"""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

_TINY = 1e-9  # added to the attention, which may underflow to 0, before the logarithm


def margin(better: Float[Tensor, " pairs"], worse: Float[Tensor, " pairs"], *, margin: float) -> Float[Tensor, ""]:
    """Mean of max(0, margin - better + worse) (Jwalapuram et al. 2019, section 4, eq. 6); NaN pairs are left out."""
    gap = better - worse
    gap = gap[~gap.isnan()]
    return (margin - gap).clamp(min=0).mean() if len(gap) else gap.sum()


def logistic(better: Float[Tensor, " pairs"], worse: Float[Tensor, " pairs"]) -> Float[Tensor, ""]:
    """Mean of log(1 + exp(worse - better)), for scores on a logit scale; NaN pairs are left out."""
    gap = better - worse
    gap = gap[~gap.isnan()]
    return functional.softplus(-gap).mean() if len(gap) else gap.sum()


def detection(
    logits: Float[Tensor, "batch pronouns"],
    right: Float[Tensor, "batch pronouns"],
    mask: Bool[Tensor, "batch pronouns"],
) -> Float[Tensor, ""]:
    """Mean cross-entropy of replaced-pronoun detection; `right` goes from 1 (as written) to 0 (replaced)."""
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
