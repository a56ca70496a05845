"""Losses on pairs of segments, labels of pronouns, and the pronouns' attention.

The caller chooses the items, by their places and not by masks: a mask would make the host wait for a GPU. If none are
chosen the loss is 0, but still a function of its input, so that `backward` works.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
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
    """Mean of max(0, margin - better + worse) (Jwalapuram et al. 2019, section 4, eq. 6).

    tie: pairs neither of which is better. Their margin is 0 in both directions: |better - worse|.
    """
    gap = better - worse
    each = (margin - gap).clamp(min=0)
    each = each if tie is None else torch.where(tie, gap.abs(), each)
    return each.mean() if len(gap) else gap.sum()


def logistic(
    better: Float[Tensor, " pairs"], worse: Float[Tensor, " pairs"], *, tie: Bool[Tensor, " pairs"] | None = None
) -> Float[Tensor, ""]:
    """Mean of log(1 + exp(worse - better)), for scores on a logit scale.

    tie: pairs neither of which is better. They have the cross-entropy to a probability of one half.
    """
    gap = better - worse
    each = functional.softplus(-gap)
    each = each if tie is None else torch.where(tie, (each + functional.softplus(gap)) / 2, each)
    return each.mean() if len(gap) else gap.sum()


def soft_logistic(
    first: Float[Tensor, " pairs"], second: Float[Tensor, " pairs"], probability: Float[Tensor, " pairs"]
) -> Float[Tensor, ""]:
    """Mean cross-entropy of sigmoid(first - second) to the `probability` that the first is better.

    With probability 1 it is `logistic`, with one half its loss of a tie.
    """
    gap = first - second
    return functional.binary_cross_entropy_with_logits(gap, probability) if len(gap) else gap.sum()


def detection(
    logits: Float[Tensor, "batch pronouns"],
    right: Float[Tensor, "batch pronouns"],
    at: Int[Tensor, " labelled"],
) -> Float[Tensor, ""]:
    """Mean cross-entropy of replaced-pronoun detection; `right` goes from 1 (as written) to 0 (replaced).

    A value between them is a probability. at: places of the pronouns that count, in the flattened (batch, pronouns).
    """
    chosen = logits.flatten()[at]
    return functional.binary_cross_entropy_with_logits(chosen, right.flatten()[at]) if len(at) else chosen.sum()


def gaps(
    outputs: Float[Tensor, "batch words outputs"], missing: Int[Tensor, "batch words"], at: Int[Tensor, " gaps"]
) -> Float[Tensor, ""]:
    """Mean cross-entropy of gaps in which a pronoun is missing or not, and of the form where one is.

    outputs: of `GapHead`. missing: 0 for none, else 1 + the number of the form. at: places of the gaps that count, in
    the flattened (batch, words).
    """
    chosen, form = outputs.flatten(0, 1)[at], missing.flatten()[at]  # (gaps, outputs), (gaps,)
    if not len(at):
        return chosen.sum()
    there = form > 0
    each = functional.binary_cross_entropy_with_logits(chosen[:, 0], there.float(), reduction="sum")
    which = functional.cross_entropy(chosen[:, 1:], (form - 1).clamp(min=0), reduction="none")
    return (each + (which * there).sum()) / len(at)


def antecedent(
    weights: Float[Tensor, "batch pronouns words"],
    where: Bool[Tensor, "batch pronouns words"],
    at: Int[Tensor, " antecedents"],
) -> Float[Tensor, ""]:
    """Mean of -log(total attention to the antecedent's words, given by `where`).

    weights: attention, which sums to 1 over the words. at: places of the pronouns with an antecedent, in the flattened
    (batch, pronouns). The loss is 0 if all of their attention is on the antecedent.
    """
    attended = weights.float().masked_fill(~where, 0.0).sum(-1).flatten()[at]  # (pronouns with an antecedent,)
    return -(attended + _TINY).log().mean() if len(attended) else attended.sum()
