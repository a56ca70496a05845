"""What a scorer of several languages is trained on: texts with their sources from a prepared folder of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np
import pytorch_lightning as pl
from torch.utils.data import DataLoader, Dataset

from pronmetric.training.examples.batches import Labelled
from pronmetric.training.examples.loader import training_loader
from pronmetric.training.examples.planning import Plan, Step
from pronmetric.training.source.data import SourceData, plan_run


class _SeveralSteps(Dataset[tuple[Labelled, ...]]):
    """The steps of several prepared folders by the plan of `SeveralSources`."""

    def __init__(self, parts: Sequence[SourceData], starts: Mapping[str, np.ndarray]) -> None:
        self.parts, self.starts = parts, starts

    def __getitem__(self, step: Step) -> tuple[Labelled, ...]:
        """The micro-batches of one planned step; all its rows are of one folder."""
        starts = self.starts[step.kind]
        part = int(np.searchsorted(starts, step.rows[0], side="right")) - 1
        rows = tuple(row - int(starts[part]) for row in step.rows)
        return self.parts[part].batches(step._replace(rows=rows))


class SeveralSources(pl.LightningDataModule):
    """Passages, then texts with their sources, of several prepared folders, each with its target language.

    A step has one language; the languages alternate at random, each with all its steps in an epoch.

    Args:
        parts: of each folder, with the same settings.
    """

    def __init__(self, parts: Sequence[SourceData]) -> None:
        super().__init__()
        self.parts = parts
        self.settings, self.collator = parts[0].settings, parts[0].collator
        self.annotated: dict[str, int] = {}
        self.first = 0
        self._steps: Plan | None = None

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the sources that are trained on."""
        return tuple(sorted({code for part in self.parts for code in part.languages}))

    @property
    def size(self) -> int:
        """The number of texts with a source that are trained on."""
        return sum(part.size for part in self.parts)

    def source_texts(self) -> Iterator[str]:
        """All texts that are trained on, their sources and what stands before them."""
        return chain.from_iterable(part.source_texts() for part in self.parts)

    @cached_property
    def _starts(self) -> dict[str, np.ndarray]:
        """The number of each folder's first row in the plan, by kind of step."""
        sizes = {"passages": [part.passage_count for part in self.parts], "pairs": [part.size for part in self.parts]}
        return {kind: np.cumsum([0, *counts[:-1]]) for kind, counts in sizes.items()}

    def steps(self) -> Plan:
        """The planned steps of the whole run: passages, then texts with their sources, epoch after epoch."""
        if self._steps is None:
            passages, sources = (partial(self._epoch, of) for of in (SourceData.passage_epoch, SourceData.source_epoch))
            self._steps = plan_run(self.settings, passages=passages, sources=sources)
        return self._steps

    def _epoch(self, of: Callable[[SourceData, int], Plan], number: int) -> Plan:
        """The steps of one epoch of all folders, in random order."""
        moved = (
            of(part, number).moved(**{kind: int(starts[place]) for kind, starts in self._starts.items()})
            for place, part in enumerate(self.parts)
        )
        return Plan.join(moved).shuffled(np.random.default_rng([self.settings.seed, number]))

    def train_dataloader(self) -> DataLoader[Any]:
        """The remaining steps, each a tuple of `trainer.accumulate` batches in micro-batches."""
        steps = self.steps()
        assert self.trainer is not None
        sets = _SeveralSteps(self.parts, self._starts)
        return training_loader(sets, steps, trainer=self.trainer, first=self.first, settings=self.settings)

    def val_dataloader(self) -> list[DataLoader[Any]]:
        """The development references of each target language, with their sources and without."""
        return [
            each
            for part in self.parts
            for each in part.judged(part.development.items, part.development.third, name=part.labeller.language.code)
        ]
