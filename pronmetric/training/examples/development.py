"""Development pairs: which they are, and their fixed batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.data import Dataset

from pronmetric.data import arrow
from pronmetric.pronouns.languages import Language
from pronmetric.training.examples import labelled as examples
from pronmetric.training.examples.batches import Labelled, Labeller
from pronmetric.training.examples.labelled import LabelledExample
from pronmetric.training.examples.planning import plan_epoch


class DevelopmentPairs(Dataset[Labelled]):
    """Fixed batches of development pairs, by name of a set in a context."""

    def __init__(self, rows: Any, labeller: Labeller, *, name: str, context: str, pieces: int) -> None:
        self.rows, self.labeller, self.name, self.context = rows, labeller, name, context
        lengths = pair_lengths(rows, context, labeller.language)
        steps = plan_epoch(
            passages=[],
            pairs=lengths,
            pair_share=1.0,
            pieces=pieces,
            max_pieces=labeller.collator.max_pieces,
            seed=0,
            epoch=0,
        )
        self.steps = [step.rows for step in steps]

    def __len__(self) -> int:
        """The number of batches."""
        return len(self.steps)

    def __getitem__(self, index: int) -> Labelled:
        """One batch; the texts are unchanged."""
        rng = np.random.default_rng(0)
        items: list[LabelledExample] = []
        for row in self.steps[index]:
            items += examples.pair(
                self.rows[row],
                rng,
                context=self.context,
                plain=0.0,
                fresh=0.0,
                table=None,
                language=self.labeller.language,
            )
        return self.labeller.batch(items, pairs=True, name=self.name)


def development_pairs(folder: Path, split: str, kind: str | None = None, *, most: int) -> Any:
    """The pairs of a kind in a development split that have a pronoun mismatch.

    most: of more pairs so many are drawn, by seed 0; 0: all.
    """
    rows = arrow.read_pairs(folder, split, kinds=("pronoun",))
    if kind is not None:
        rows = rows.select(np.flatnonzero(arrow.where(rows, lambda each: each == kind, "kind")))
    if most and len(rows) > most:
        chosen = np.random.default_rng(0).choice(len(rows), most, replace=False)
        rows = rows.select(np.sort(chosen))
    return rows


def pair_lengths(rows: Any, context: str, language: Language) -> np.ndarray:
    """Estimated pieces of each pair, both texts together (pairs,)."""
    letters_per_piece = language.writing.letters_per_piece
    lengths = np.zeros(len(rows), dtype=np.int32)
    at = 0
    for part in arrow.read_columns(rows, "better", "worse", "context"):
        for better, worse, before in zip(part["better"], part["worse"], part["context"], strict=True):
            letters = len(better) + len(worse)
            if context != "none":
                letters += 2 * sum(map(len, before))
            lengths[at] = int(letters / letters_per_piece) + 6
            at += 1
    return lengths
