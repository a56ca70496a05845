"""Losses: pairs of segments, labels on pronouns, and what pronouns attend to.

Each ignores what is masked; where all is, it is 0 and still hangs on its input, so that `backward` works.
"""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

_TINY = 1e-9  # added to the attention, so that one which is 0 in 32 bits has a logarithm


def margin(better: Float[Tensor, " pairs"], worse: Float[Tensor, " pairs"], *, margin: float) -> Float[Tensor, ""]:
    """Mean of max(0, margin - better + worse) (Jwalapuram et al. 2019, section 4, eq. 6); NaN pairs are left out."""
    gap = better - worse
    gap = gap[~gap.isnan()]
    return (margin - gap).clamp(min=0).mean() if len(gap) else gap.sum()


def logistic(better: Float[Tensor, " pairs"], worse: Float[Tensor, " pairs"]) -> Float[Tensor, ""]:
    """Mean of log(1 + exp(worse - better)), of two scores on a logit scale; NaN pairs are left out."""
    gap = better - worse
    gap = gap[~gap.isnan()]
    return functional.softplus(-gap).mean() if len(gap) else gap.sum()


def detection(
    logits: Float[Tensor, "batch pronouns"],
    right: Float[Tensor, "batch pronouns"],
    mask: Bool[Tensor, "batch pronouns"],
) -> Float[Tensor, ""]:
    """Mean cross-entropy of replaced-pronoun detection; `right` is 1 (as written) to 0 (replaced)."""
    if not mask.any():
        return logits[mask].sum()
    return functional.binary_cross_entropy_with_logits(logits[mask], right[mask])


def antecedent(
    weights: Float[Tensor, "batch pronouns words"], where: Bool[Tensor, "batch pronouns words"]
) -> Float[Tensor, ""]:
    """Mean of -log(attention to all words of the antecedent together), `where` they are; pronouns without are left out.

    weights: attention, which sums to 1 over the words. The loss is 0 where all of it lies in the antecedent.
    """
    attended = weights.float().masked_fill(~where, 0.0).sum(-1)[where.any(-1)]  # (pronouns with an antecedent,)
    return -(attended + _TINY).log().mean() if len(attended) else attended.sum()
