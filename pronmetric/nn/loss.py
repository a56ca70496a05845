"""Losses: pairs of segments, and labels on pronouns.

Each ignores what is masked; where all is, it is 0 and still hangs on its input, so that `backward` works.
"""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional


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


def correction(
    forms: Float[Tensor, "batch pronouns forms"],
    original: Int[Tensor, "batch pronouns"],
    mask: Bool[Tensor, "batch pronouns"],
) -> Float[Tensor, ""]:
    """Mean cross-entropy of the form that stood there before the corruption; masked slots are left out."""
    if not mask.any():
        return forms[mask].sum()
    return functional.cross_entropy(forms[mask], original[mask])
