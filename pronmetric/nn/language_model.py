"""The language models whose states are ELMo's: what comes next and what came before, out of one vocabulary.

Peters et al. 2018, section 3.1, https://aclanthology.org/N18-1202: the tokens by their characters and the softmax are
shared by both directions. The softmax is adaptive (Grave et al. 2017, https://arxiv.org/abs/1609.04309).

Relative to the paper: a row is some sentences between two markers, as the metric reads them, not one sentence; the
softmax is adaptive instead of sampled, so that perplexities are exact; dropout is on what the LSTMs read and on what
the softmax reads, not between the layers.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from pronmetric.data.pieces import SEPARATOR as EDGE  # before a row's first word and after its last
from pronmetric.nn.encoders.elmo.encoder import BiLM

_NARROWER = 2.0  # each cluster of rarer words has states so many times narrower than the one before; chosen by hand


class LanguageModel(nn.Module):
    """Both directions of a `BiLM` with their softmax.

    Args:
        bilm: what is learned, and all that is kept.
        classes: ids of the vocabulary (`pronmetric.data.pieces.Vocabulary`), frequent words first.
        cutoffs: ids at which a cluster of rarer words begins, ascending; those beyond `classes` are left out, and those
            for which nothing would be left of the states' width.
        dropout: of what LSTMs and softmax read, in training.
    """

    def __init__(self, bilm: BiLM, *, classes: int, cutoffs: Sequence[int], dropout: float) -> None:
        super().__init__()
        self.bilm = bilm
        self.bilm.dropout = dropout
        self.dropout = nn.Dropout(dropout)
        width = bilm.shape.projection
        within = [cutoff for n, cutoff in enumerate(cutoffs, start=1) if cutoff < classes and width >= _NARROWER**n]
        within = within or [classes // 2]  # torch asks for one
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(width, classes, within, div_value=_NARROWER)

    def forward(
        self,
        characters: Int[Tensor, "batch words characters"],
        mask: Bool[Tensor, "batch words"],
        words: Int[Tensor, "batch words"],
    ) -> tuple[Float[Tensor, " predictions"], Float[Tensor, " predictions"]]:
        """How much each token surprises, in nats from 0, lower is better: read forward, then read backward.

        Args:
            characters: of each word.
            mask: a row's real words stand first.
            words: their ids in the vocabulary.

        Forward predicts a row's words and its end, backward its words and its start.
        """
        states = self.bilm(characters, mask)[-1]  # (batch, words + 2, 2 * projection)
        forward, backward = self.dropout(states).float().chunk(2, dim=2)
        real = functional.pad(mask, (1, 0), value=True)  # (batch, words + 1)
        after = functional.pad(words, (0, 1))  # (batch, words + 1)
        after[torch.arange(len(words), device=words.device), mask.sum(1)] = EDGE
        before = functional.pad(words, (1, 0), value=EDGE)  # (batch, words + 1)
        with torch.autocast(states.device.type, enabled=False):  # the clusters' parts are gathered in one precision
            return (
                -self.softmax(forward[:, :-1][real], after[real]).output,
                -self.softmax(backward[:, 1:][real], before[real]).output,
            )
