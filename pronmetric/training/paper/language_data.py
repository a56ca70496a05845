"""Batches for language models: each word as characters and as an id in the output vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.utils.data import Dataset

from pronmetric.data.collate import move, pin
from pronmetric.data.pieces import Characters, Vocabulary
from pronmetric.training.examples.loader import PlannedData
from pronmetric.training.examples.planning import Plan, Step, plan_epoch


@dataclass(frozen=True, slots=True)
class WordBatch:
    """Rows of words; the mask is True = real, and each row's real words come first."""

    characters: Int[Tensor, "batch words characters"]
    mask: Bool[Tensor, "batch words"]
    words: Int[Tensor, "batch words"]

    def to(self, device: torch.device | str, **_: Any) -> WordBatch:
        """The same batch on another device (Lightning calls this)."""
        return move(self, device)

    def pin_memory(self) -> WordBatch:
        """The same batch in pinned memory (the data loader calls this)."""
        return pin(self)


class Rows(Dataset[WordBatch]):
    """A dataset of batches by step; each row is a text."""

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        self.texts, self.vocabulary, self.characters = texts, vocabulary, Characters()

    def __getitem__(self, step: Step) -> WordBatch:
        """One batch."""
        texts = [self.texts[row] for row in step.rows]
        words = [encoded.ids for encoded in self.vocabulary(texts)]
        longest = max(map(len, words))
        ids = np.full((len(texts), longest), self.vocabulary.pad)
        characters = np.tile(self.characters.pad, (len(texts), longest, 1))
        for row, (known, read) in enumerate(zip(words, self.characters(texts), strict=True)):
            ids[row, : len(known)], characters[row, : len(known)] = known, read.ids
        lengths = np.array([len(known) for known in words])
        return WordBatch(
            characters=torch.from_numpy(characters),
            mask=torch.from_numpy(np.arange(longest) < lengths[:, None]),
            words=torch.from_numpy(ids),
        )


class LanguageData(PlannedData):
    """Training and development batches of texts.

    Args:
        train: the texts, with the number of words of each.
        development: likewise.
        vocabulary: the output vocabulary.
        epochs: passes over the texts.
        words: per batch, padding included.
        workers: processes that make batches; 0 makes them in the training process.
        pin: make them in memory that a GPU reads by itself.
        accumulated: batches of a step on each device.
        seed: of the run.
    """

    def __init__(
        self,
        *,
        train: tuple[Sequence[str], Sequence[int]],
        development: tuple[Sequence[str], Sequence[int]],
        vocabulary: Vocabulary,
        epochs: int,
        words: int,
        workers: int,
        pin: bool,
        accumulated: int,
        seed: int,
    ) -> None:
        super().__init__(
            Rows(train[0], vocabulary),
            Plan.join(plan_texts(train[1], words, seed, epoch) for epoch in range(epochs)),
            Rows(development[0], vocabulary),
            plan_texts(development[1], 2 * words, 0, 0),
            workers=workers,
            pin=pin,
            accumulated=accumulated,
        )


def plan_texts(lengths: Sequence[int], size: int, seed: int, epoch: int) -> Plan:
    """Batches of each text once, grouped by length; `size`: of a batch, padding included."""
    most = max(lengths)
    return plan_epoch(passages=lengths, pairs=[], pair_share=0, pieces=size, max_pieces=most, seed=seed, epoch=epoch)
