"""The Lightning module of what reads sources, and its initial model with its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from pronmetric.checkpoint import weights
from pronmetric.checkpoint.model_config import GapHead
from pronmetric.data.pieces import Pieces, Subwords
from pronmetric.data.source_rows import SourceCollator
from pronmetric.errors import PronmetricError
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.nn.head import HeadOutput
from pronmetric.nn.scorer import PronounScorer
from pronmetric.training.encoders.start import InitialEncoder
from pronmetric.training.examples.batches import Labelled
from pronmetric.training.examples.prepared import Prepared
from pronmetric.training.fit import FitResult, Goal
from pronmetric.training.groups import SourceTraining
from pronmetric.training.module import Length, ScorerModule
from pronmetric.training.settings import Train
from pronmetric.training.source.data import WITH_SOURCE, WITHOUT, DevelopmentBatch, SourceData
from pronmetric.training.source.mixing import areas
from pronmetric.training.source.pruning import prune
from pronmetric.training.source.several_languages import SeveralSources
from pronmetric.training.start import InitialModel, initial_model
from pronmetric.training.teacher import Teacher, TeacherOutput

GOAL = Goal(f"development/{WITH_SOURCE}", "max")
GAPS = 5.0  # the weight of the loss of gaps, of which few lack a pronoun; chosen by hand, not tuned
_PASSAGES = "passages"  # the name of batches without sources


class ReaderModule(ScorerModule):
    """Trains a reader; `hard` is the weight of how much the teacher is wrong about a pronoun.

    The figures are areas under the ROC curve, of all pronouns and of the third person, with sources and without.
    """

    def __init__(self, *args: Any, hard: float, **more: Any) -> None:
        super().__init__(*args, **more)
        self.hard = hard

    def _weight(self, name: str) -> float:
        return {"hard": self.hard, "gaps": GAPS}.get(name) or super()._weight(name)

    def counts(self, item: Labelled) -> Counter[str]:
        """See `ScorerModule`."""
        return super().counts(item) + Counter(hard=len(item.places.labelled))

    def _soft_losses(self, out: HeadOutput, item: Labelled, answer: TeacherOutput) -> dict[str, Float[Tensor, ""]]:
        """The loss to the teacher's probabilities where there is no source, else that of its errors."""
        if item.name == _PASSAGES:
            return super()._soft_losses(out, item, answer)
        places = item.places.labelled
        right, logits = item.right.flatten()[places], out.scores.flatten()[places]
        wrong = (answer.logits.flatten()[places].sigmoid() - right).abs()
        each = functional.binary_cross_entropy_with_logits(logits, right, weight=wrong, reduction="sum")
        return {"hard": each / max(1, len(places))}

    def validation_step(self, item: DevelopmentBatch, index: int, dataloader_idx: int = 0) -> None:  # type: ignore[override]
        """Collect logits, labels and persons."""
        real = item.batch.pronoun_mask
        with torch.autocast(item.batch.ids.device.type, enabled=False):
            logits = self._inference[0](item.batch).scores.float()
        columns = torch.stack([each[real].float() for each in (logits, item.right, item.third)])
        self._columns.setdefault(item.name, []).append(columns.cpu().numpy())

    def on_validation_epoch_end(self) -> None:
        """The figures of each source language and of all."""
        columns = {name: np.concatenate(parts, axis=1) for name, parts in self._columns.items()}
        self._columns.clear()
        self._inference = (self.scorer,)
        sides = {
            side: [columns[name] for name in columns if name.startswith(f"{side}_")] for side in (WITH_SOURCE, WITHOUT)
        }
        columns |= {side: np.concatenate(parts, axis=1) for side, parts in sides.items()}
        self.figures = {}
        for name, (logits, right, third) in sorted(columns.items()):
            self.figures |= areas(name, logits, right, third.astype(bool))
        if GOAL.figure not in self.figures:
            raise PronmetricError("no development pronoun is right, or none is replaced: prepare with more test sets")
        self.log_dict({**self.figures, "epoch": self.global_step / self.length.epoch}, sync_dist=True)


def make_collator(options: SourceTraining, pieces: Pieces, max_pieces: int, prepared: Prepared) -> SourceCollator:
    """The collator of a reader for prepared texts."""
    limits = {"context": options.context, "before": options.before}
    return SourceCollator(pieces, max_pieces=max_pieces, split=prepared.language.words, **limits)


def gap_head(options: SourceTraining, prepared: Sequence[Prepared], *, dropout: float) -> GapHead | None:
    """The gap head of a reader of prepared texts, with the forms of all; None if no pronoun is deleted."""
    forms = dict.fromkeys(form for each in prepared for form in each.language.forms)
    return GapHead(forms=list(forms), dropout=dropout) if options.deleted else None


AnyData = TypeVar("AnyData", SourceData, SeveralSources)


@dataclass(frozen=True)
class TrainingInputs(Generic[AnyData]):
    """The initial model of a run with the pieces of its start, and its data."""

    initial: InitialModel
    start: InitialEncoder
    data: AnyData

    @property
    def scorer(self) -> PronounScorer:
        """The scorer that is trained."""
        return self.initial.scorer

    def module(
        self, settings: Train, length: Length, teacher: Teacher | None, note: Callable[[str], None]
    ) -> ReaderModule:
        """The Lightning module of a run of this length; `note` takes a line on the data."""
        assert settings.source is not None
        note(f"texts with sources in {', '.join(self.data.languages)}: {self.data.size:,}")
        return ReaderModule(
            self.scorer,
            loss=settings.loss,
            objective=settings.objective,
            optim=settings.scaled_optim(),
            length=length,
            seed=settings.seed,
            teacher=teacher,
            hard=settings.source.hard,
        )

    def finish(self, settings: Train, best: FitResult) -> PronounScorer:
        """The trained scorer on the device of the training, its weights rounded if they are stored so."""
        assert settings.source is not None
        scorer = self.scorer.to(best.device)
        if settings.source.bits is not None:
            weights.round_in_place(scorer.state_dict(), bits=settings.source.bits)
        return scorer


def open_initial(
    settings: Train, open_data: Callable[[Pieces, int], AnyData], *, gaps: GapHead | None
) -> TrainingInputs[AnyData]:
    """The initial model and the data, with a vocabulary without the pieces that no text needs (`source.pieces`).

    open_data: gives the data for an encoder's pieces and most pieces of a row. gaps: the gap head, if it has one.
    """
    options = settings.source
    assert options is not None
    initial = initial_model(settings, gaps)
    pieces, most = initial.start.pieces, min(settings.encoder.max_pieces, initial.start.encoder.max_pieces)
    data = open_data(pieces, most)
    if options.pieces is not None and settings.init is None:
        assert isinstance(pieces, Subwords) and isinstance(initial.scorer.encoder, HuggingFaceEncoder)
        pieces = prune(initial.scorer.encoder, pieces, data.source_texts(), most=options.pieces)
        data = open_data(pieces, most)
    return TrainingInputs(initial, initial.start._replace(pieces=pieces), data)
