"""The scorer: encoder, word states and head in one module."""

from __future__ import annotations

from torch import nn

from pronmetric.data.collate import Batch
from pronmetric.errors import InputError
from pronmetric.nn.encoder import Encoder, word_states
from pronmetric.nn.head import AverageHead, GapHead, HeadOutput, LogitHead, PairHead, PaperHead
from pronmetric.schema import WORD_STATES


class PronounScorer(nn.Module):
    """Scores the pronouns of a batch of texts in context.

    Args:
        encoder: piece ids to piece states.
        head: word states to pronoun and segment scores.
        word_state: a word's state, the "mean" of its pieces or the "first" one.
        pair_head: word states to preferences; None for none.
        gap_head: word states to missing pronouns; None for none.

    Raises:
        InputError: unknown `word_state`.
    """

    def __init__(
        self,
        encoder: Encoder,
        head: nn.Module,
        *,
        word_state: str,
        pair_head: PairHead | None = None,
        gap_head: GapHead | None = None,
    ) -> None:
        super().__init__()
        if word_state not in WORD_STATES:
            raise InputError(f"expected word_state {' or '.join(WORD_STATES)}, got {word_state!r}")
        self.encoder = encoder
        self.head = head
        self.word_state = word_state
        self.pair_head = pair_head
        self.gap_head = gap_head

    @property
    def probability(self) -> bool:
        """Whether pronoun scores are logits of probabilities."""
        return bool(self.head.probability)

    def forward(self, batch: Batch) -> HeadOutput:
        """Scores of each pronoun and row of `batch`."""
        pieces = self.encoder(batch.ids, batch.piece_mask)  # (batch, pieces, width)
        states = word_states(pieces, batch.word, batch.word_mask.shape[1], how=self.word_state)
        states = states.to(next(self.head.parameters()).dtype)  # a bf16 encoder may have an fp32 head
        given = states, batch.word_mask, batch.pronoun_word, batch.pronoun_mask
        out: HeadOutput = self.head(*given)
        if self.pair_head is not None:
            out = out._replace(preferences=self.pair_head(*given, out.scores))
        return out if self.gap_head is None else out._replace(gaps=self.gap_head(states))


def make_head(kind: str, width: int, *, dropout: float, slots: int) -> nn.Module:
    """The head named "logit", "paper" or "average"; any other name raises InputError."""
    if kind == "logit":
        return LogitHead(width, dropout=dropout)
    if kind == "paper":
        return PaperHead(width, slots=slots)
    if kind == "average":
        return AverageHead(width)
    raise InputError(f"expected head logit, paper or average, got {kind!r}")
