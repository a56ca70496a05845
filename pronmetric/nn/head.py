"""Heads: from word states to one score per pronoun and one per segment."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.errors import InputError
from pronmetric.nn.attention import attend

RARE = -4.0  # the logit of a missing pronoun of a new gap head, a probability of 0.02; chosen by hand, not tuned


class HeadOutput(NamedTuple):
    """A head's output: scores of pronouns and segments.

    scores: a logit (`LogitHead`) or an unbounded score; padded slots hold 0. segment: one number per row, in
    the head's own unit; NaN for a row without pronouns. weights: attention over the words; None if
    the head has no attention. preferences: the scores of `PairHead`; None without one. gaps: those of `GapHead`; None
    without one.
    """

    scores: Float[Tensor, "batch pronouns"]
    segment: Float[Tensor, " batch"]
    weights: Float[Tensor, "batch pronouns words"] | None
    preferences: Float[Tensor, "batch pronouns"] | None = None
    gaps: Float[Tensor, "batch words outputs"] | None = None


def gather(
    states: Float[Tensor, "batch words width"], at: Int[Tensor, "batch pronouns"]
) -> Float[Tensor, "batch pronouns width"]:
    """The states at positions `at` of each batch element."""
    return states.gather(1, at[:, :, None].expand(-1, -1, states.shape[-1]))


def mean(values: Float[Tensor, "batch pronouns"], mask: Bool[Tensor, "batch pronouns"]) -> Float[Tensor, " batch"]:
    """Mean over the real slots of a row; NaN if there is none."""
    count = mask.sum(1)
    total = values.masked_fill(~mask, 0.0).sum(1)
    return torch.where(count > 0, total / count.clamp(min=1), torch.nan)


class LogitHead(nn.Module):
    """Our head: the logit that a pronoun is correct in its context, from [P; attended].

    Relative to the paper: the attention projects its queries and keys, a two-layer network replaces z and w, each
    pronoun has its own probability, and the segment's score is the mean of these.
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
        """A segment's score from its pronouns' logits: their mean probability; NaN if there is none."""
        return mean(scores.sigmoid(), real)

    @torch.no_grad()
    def calibrate(self, *, scale: float, bias: float) -> None:
        """Fold a calibration into the weights: the logits become scale * logit + bias."""
        self.logit.weight.mul_(scale)
        self.logit.bias.mul_(scale).add_(bias)


class PaperHead(nn.Module):
    """Jwalapuram et al. 2019, section 4: B = LayerNorm(P + A K), u = B z, y = u . w, with one weight in w per slot.

    Relative to the paper's published code: an empty slot gives u = 0 after the layer norm and takes no part in the
    attention (there padding is scored like a pronoun); padded words are masked as keys (there is no mask there); keys
    carry no position signal; only pronouns of the sentence have slots (there the context's pronouns are used if the
    sentence has none). If a sentence has more pronouns than `slots`, the surplus pronouns keep their scores u, but do
    not enter the segment's score (`Counts.surplus` counts such texts).
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
        """A segment's score y = u . w from its pronouns' scores u (eq. 5); NaN if there is none."""
        slots = min(scores.shape[1], self.slots)
        y = scores[:, :slots].masked_fill(~real[:, :slots], 0.0) @ self.w[:slots].to(scores.dtype)
        return torch.where(real.any(1), y, torch.nan)


class AverageHead(nn.Module):
    """The paper's baseline: a linear map of the mean pronoun state, without attention."""

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
        """A segment's score, the mean of its pronouns' scores; NaN if there is none."""
        return mean(scores, real)


class PairHead(nn.Module):
    """Which of two texts has the better pronouns: an unbounded score u of each pronoun, whose mean compares texts.

    B = LayerNorm(P + attention(P, K)), u = a s + z(GELU(hidden(B))), where s is the pronoun head's score. A new head
    has a = 1.5 and z = 0: it orders texts as the pronoun head's mean score does, and learns a correction. A pronoun
    attends to all words of its context and sentence, so that u also depends on how the sentence reads around it.
    Relative to the paper's eq. 2 to 5: u adds s, the attention has several heads with projections, a hidden layer comes
    before z, and y is the mean of u over the pronouns, where the paper has a sum weighted by slot: a text gains nothing
    by fewer pronouns or by its length.
    """

    def __init__(self, width: int, *, heads: int, dropout: float) -> None:
        super().__init__()
        if width % heads:
            raise InputError(f"head.pair.heads={heads}: expected a divisor of the encoder's width {width}")
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.hidden = nn.Linear(width, width)
        self.z = nn.Linear(width, 1, bias=False)
        nn.init.zeros_(self.z.weight)
        self.a = nn.Parameter(torch.full((1,), 1.5))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        states: Float[Tensor, "batch words width"],
        mask: Bool[Tensor, "batch words"],
        at: Int[Tensor, "batch pronouns"],
        real: Bool[Tensor, "batch pronouns"],
        scores: Float[Tensor, "batch pronouns"],
    ) -> Float[Tensor, "batch pronouns"]:
        """Unbounded scores u, higher is better; padded slots hold 0.

        `scores` are the pronoun head's; the pair loss has no gradient with respect to them.
        """
        pronouns = gather(states, at)  # (batch, pronouns, width)
        maps = (self.query(pronouns), self.key(states), self.value(states))
        query, key, value = (self._split(each) for each in maps)  # (batch * heads, pronouns or words, width / heads)
        attended, _ = attend(query, key, value, mask.repeat_interleave(self.heads, 0))
        attended = attended.unflatten(0, (-1, self.heads)).transpose(1, 2).flatten(2)  # (batch, pronouns, width)
        b = self.norm(pronouns + self.out(attended))
        hidden = self.dropout(nn.functional.gelu(self.hidden(b)))
        u = self.a * scores.detach() + self.z(hidden).squeeze(-1).float()
        return u.masked_fill(~real, 0.0)

    def _split(self, states: Float[Tensor, "batch n width"]) -> Float[Tensor, "batch_heads n part"]:
        """Each head's part of the states, as a row of its own."""
        return states.unflatten(2, (self.heads, -1)).transpose(1, 2).flatten(0, 1)

    def segment(
        self, scores: Float[Tensor, "batch pronouns"], real: Bool[Tensor, "batch pronouns"]
    ) -> Float[Tensor, " batch"]:
        """A segment's preference, the mean of its pronouns'; NaN where there is none."""
        return mean(scores, real)


class GapHead(nn.Module):
    """Whether a pronoun is missing before a word, and which one, from the states of the words on both sides.

    The gap tags of word-level quality estimation (WMT 2018, Specia et al.), for pronouns alone. The states have
    attended to all that the encoder reads, the source included.
    """

    def __init__(self, width: int, *, forms: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(2 * width)
        self.hidden = nn.Linear(2 * width, width)
        self.out = nn.Linear(width, 1 + forms)
        nn.init.constant_(self.out.bias[:1], RARE)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Float[Tensor, "batch words width"]) -> Float[Tensor, "batch words outputs"]:
        """For the gap before each word the logit that a pronoun is missing there, then the logits of its forms.

        Padded words have numbers without a meaning.
        """
        before = nn.functional.pad(states[:, :-1], (0, 0, 1, 0))  # (batch, words, width)
        both = self.norm(torch.cat([before, states], dim=-1))  # (batch, words, 2 width)
        return self.out(self.dropout(nn.functional.gelu(self.hidden(both)))).float()
