"""A training run from start to exported checkpoint; a run that was stopped is resumed from its folder.

What is trained is a kind of training: a checkpoint on pairs and passages (`detection`), a reader of sources for a
checkpoint (`source.reader`), or a scorer that reads sources itself, in one language or several (`source.scorer`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from pronmetric.training.detection import DetectionTraining
from pronmetric.training.examples.datamodule import PronounData
from pronmetric.training.fit import FitResult, Goal, fit, prepare_process, run_length
from pronmetric.training.module import Length, ScorerModule
from pronmetric.training.settings import Train
from pronmetric.training.source.reader import ReaderTraining
from pronmetric.training.source.scorer import SourceScorerTraining
from pronmetric.training.source.several_languages import SeveralSources
from pronmetric.training.start import LOG, Result, checked_run


class Kind(Protocol):
    """A kind of training; it checks the settings when it is made, before anything is loaded.

    goal: the figure whose best weights are kept.
    """

    goal: Goal

    def open(self) -> PronounData | SeveralSources:
        """Load the initial model and open the data."""

    def module(self, length: Length, note: Callable[[str], None]) -> ScorerModule:
        """The Lightning module of a run of this length; `note` takes a line on each source of the data."""

    def export(self, best: FitResult) -> Result:
        """Fit what scores need beside the trained weights, and write the checkpoint with its card."""


def train(
    settings: Train,
    *,
    required_sources: Collection[str] = (),
    overrides: Sequence[str] | None = None,
    note: Callable[[str], None] = LOG.info,
) -> Result | None:
    """Train, and export the weights with the best development figure to `out`/checkpoint.

    A killed run is resumed from `out`/last.ckpt and reaches the same weights. On several devices only the first process
    exports; the others return None.

    Args:
        settings: of the run; `init`, `teacher` and `source.model`, if any, are folders.
        required_sources: names in `objective.source_share` that the data must have, and "coreference" and "fidelity" if
            it must have these; others may be absent.
        overrides: of the command line, which the checkpoint's config and its card record; None: not known.
        note: takes a line on each source of the data, if `trainer.progress` is true.

    Raises:
        PronmetricError: a setting, a prepared folder, the teacher or the checkpoint of a reader is wrong, or `out`
            holds a run of other settings.
    """
    kind: Kind = kind_of(settings)(settings, required_sources=required_sources, overrides=overrides)
    recorded = checked_run(settings)
    with prepare_process(settings.trainer, seed=settings.seed):
        data = kind.open()
        length = run_length(len(data.steps()), settings.trainer)
        module = kind.module(length, note if settings.trainer.progress else _silent)
        out = Path(settings.out)
        best = fit(module, data, out, trainer=settings.trainer, goal=kind.goal, settings=recorded, length=length)
        return None if best is None else kind.export(best)


def kind_of(settings: Train) -> type[DetectionTraining | ReaderTraining | SourceScorerTraining]:
    """The kind of training that the settings describe."""
    if settings.source is None:
        return DetectionTraining
    return SourceScorerTraining if settings.source.model is None else ReaderTraining


def _silent(_: str) -> None:
    """Take a line that is not shown."""
