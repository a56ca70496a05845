"""A scorer as a function of tensors alone, for runtimes other than PyTorch."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pronmetric.data.collate import Batch
from pronmetric.nn.scorer import PronounScorer

INPUTS = {
    "ids": ("batch", "pieces"),
    "piece_mask": ("batch", "pieces"),
    "word": ("batch", "pieces"),
    "word_mask": ("batch", "words"),
    "pronoun_word": ("batch", "pronouns"),
    "pronoun_mask": ("batch", "pronouns"),
}
"""The inputs and their axes, all of variable size: the fields of `Batch`."""


class ExportedScorer(nn.Module):
    """Scores of a batch: of pronouns, of segments, and preferences if there is a pair head (`outputs`)."""

    def __init__(self, model: PronounScorer) -> None:
        super().__init__()
        self.model = model
        self.outputs = ("scores", "segment") if model.pair_head is None else ("scores", "segment", "preferences")

    def forward(
        self,
        ids: Int[Tensor, "batch pieces"],
        piece_mask: Bool[Tensor, "batch pieces"],
        word: Int[Tensor, "batch pieces"],
        word_mask: Bool[Tensor, "batch words"],
        pronoun_word: Int[Tensor, "batch pronouns"],
        pronoun_mask: Bool[Tensor, "batch pronouns"],
    ) -> tuple[Float[Tensor, "batch ..."], ...]:
        """Pronoun scores (batch, pronouns), probabilities or unbounded; segments (batch,); preferences as scores.

        Padded pronouns have score 0, and a row without pronouns has segment NaN.
        """
        out = self.model(Batch(ids, piece_mask, word, word_mask, pronoun_word, pronoun_mask))
        scores = torch.where(pronoun_mask, out.scores.sigmoid(), 0.0) if self.model.probability else out.scores
        return (scores, out.segment) if out.preferences is None else (scores, out.segment, out.preferences)


def example_batch() -> tuple[Tensor, ...]:
    """Inputs with sizes of their own on each axis; all rows are real."""
    batch, pieces, words, pronouns = 2, 9, 7, 3
    word = torch.arange(pieces).clamp(max=words - 1).repeat(batch, 1)
    return (
        torch.ones(batch, pieces, dtype=torch.int64),
        torch.ones(batch, pieces, dtype=torch.bool),
        word,
        torch.ones(batch, words, dtype=torch.bool),
        torch.arange(pronouns).repeat(batch, 1),
        torch.ones(batch, pronouns, dtype=torch.bool),
    )
