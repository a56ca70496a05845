"""The batches of planned steps; corruption is drawn again in each epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch.utils.data import Dataset

from pronmetric.data import arrow
from pronmetric.training.examples import labelled as examples
from pronmetric.training.examples import people_text
from pronmetric.training.examples.batches import Labelled, Labeller
from pronmetric.training.examples.labelled import LabelledExample
from pronmetric.training.examples.planning import Step
from pronmetric.training.objective import Corruption, MixedCorruption, PairCorruption
from pronmetric.training.settings import Train

RELEASED_AFTER = 16  # steps, whose pages of the prepared folder are then given back


class TrainingSteps(Dataset[tuple[Labelled, ...]]):
    """A dataset of batches by step; corruption is drawn again in each epoch.

    On a CPU a batch is divided into micro-batches of at most `data.micro_batch` pieces, which bounds the memory of a
    step; else it is one micro-batch.

    people: rows of texts that people judged, numbered after the passages. mended: those with a corrected text, numbered
    after the pairs.
    """

    people: Any = ()
    mended: Any = ()

    def __init__(
        self,
        passages: Any,
        pairs: Any,
        labeller: Labeller,
        corrupter: examples.Corrupter,
        *,
        settings: Train,
    ) -> None:
        self.passages, self.pairs, self.labeller, self.corrupter = passages, pairs, labeller, corrupter
        self.settings = settings
        self.micro_batch = settings.data.micro_batch if settings.trainer.accelerator == "cpu" else None
        self._read = 0

    def __getitem__(self, step: Step) -> tuple[Labelled, ...]:
        """The micro-batches of one planned step."""
        return self.batches(self.items(step), pairs=step.kind == "pairs", name="train")

    def batches(self, items: Sequence[LabelledExample], *, pairs: bool, name: str) -> tuple[Labelled, ...]:
        """The micro-batches of some examples."""
        self._read += 1
        if self._read % RELEASED_AFTER == 0:
            arrow.release(self.passages, self.pairs)
        if self.micro_batch is None:
            return (self.labeller.batch(items, pairs=pairs, name=name),)
        return self.labeller.micro_batches(items, pairs=pairs, name=name, pieces=self.micro_batch)

    def items(self, step: Step) -> list[LabelledExample]:
        """The examples of one planned step."""
        corruption, table = self.settings.objective.corruption, self.corrupter.table
        items: list[LabelledExample] = []
        for index, turn in zip(step.rows, step.turns, strict=True):
            rng = np.random.default_rng([self.settings.seed, turn, index, len(step.kind)])
            rows = self.passages if step.kind == "passages" else self.pairs
            if index >= len(rows):
                items += self._judged(step.kind, index - len(rows), rng)
            elif step.kind == "passages":
                assert isinstance(corruption, Corruption)
                items.append(examples.passage(self.passages[index], rng, self.corrupter, corruption))
            else:
                assert isinstance(corruption, MixedCorruption | PairCorruption)
                items += examples.pair(
                    self.pairs[index],
                    rng,
                    context=self.settings.context.name,
                    plain=corruption.plain,
                    fresh=corruption.fresh,
                    table=table,
                    tie=corruption.tie,
                    language=self.labeller.language,
                )
        return items

    def _judged(self, kind: str, index: int, rng: np.random.Generator) -> Sequence[LabelledExample]:
        """A text that people judged, or for `kind` "pairs" the corrected text and the text."""
        language, context = self.labeller.language, self.settings.context.name
        plain = self.settings.objective.corruption.plain
        if kind == "passages":
            return [people_text.target_text(self.people[index], rng, language, context=context, plain=plain)]
        return people_text.mended_pair(self.mended[index], rng, language, context=context, plain=plain)
