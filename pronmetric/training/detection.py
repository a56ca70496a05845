"""Training of a checkpoint on pairs of texts and on passages some of whose pronouns are replaced."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import files
from pronmetric.checkpoint.model_config import KEYS, Model
from pronmetric.data.collate import Collator
from pronmetric.errors import InputError
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.languages import Language
from pronmetric.training.after import decision
from pronmetric.training.after.calibrate import Fit, natural_rate, on_references, to_training
from pronmetric.training.after.decision import Choice
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.card import checkpoint as card
from pronmetric.training.encoders.start import InitialEncoder
from pronmetric.training.examples.datamodule import PronounData
from pronmetric.training.examples.prepared import Folder, check_language
from pronmetric.training.fit import EXPORT, FitResult, Goal, batches_of_step, training_device
from pronmetric.training.groups import Trainer
from pronmetric.training.module import Length, ScorerModule
from pronmetric.training.paper.encoder_cache import cached_encoder, fill
from pronmetric.training.settings import Train
from pronmetric.training.start import (
    DTYPE,
    InitialModel,
    Result,
    describe,
    initial_model,
    load_teacher,
    training_record,
)
from pronmetric.version import __version__

FIRST_BATCHES = 20  # batches of passages for calibration before further training of a calibrated checkpoint


class DetectionTraining:
    """A run that trains a checkpoint on pairs and passages; see `pronmetric.training.run.Kind`."""

    goal = Goal("development/accuracy", "max")

    def __init__(self, settings: Train, *, required_sources: Collection[str], overrides: Sequence[str] | None) -> None:
        self.settings, self.overrides, self.required_sources = settings, overrides, required_sources
        self.folder = Folder.of(Path(settings.data.folder))
        self.rate = natural_rate(self.folder.manifest)
        check_language(settings, self.folder.prepared.language)
        self._first: Fit | None = None
        self._mix: dict[str, dict[str, float]] = {}

    @cached_property
    def model(self) -> InitialModel:
        """The model that the run begins with."""
        return initial_model(self.settings)

    def open(self) -> PronounData:
        """See `Kind`."""
        settings, prepared = self.settings, self.folder.prepared
        collator = _collator(settings, self.model.start, prepared.language)
        self.described = describe(settings, self.model.start, collator, prepared)
        if settings.optim.frozen_head:
            _refuse_other_scores(self.model, self.described, settings)
        self.teacher = load_teacher(settings, prepared)
        self.data = PronounData(
            settings,
            collator,
            prepared=prepared,
            required_sources=self.required_sources,
            teacher=None if self.teacher is None else self.teacher.collator,
        )
        if settings.encoder_cache is not None:
            _cache_states(self.model.scorer, self.data, Path(settings.encoder_cache), settings.trainer)
        calibrated = self.model.calibration is not None and not settings.optim.frozen_head
        if calibrated and self.teacher is None:  # a teacher's labels are calibrated
            passages = self.data.passages(FIRST_BATCHES)
            self.model.scorer.to(training_device(settings.trainer))
            self._first = to_training(self.model.scorer, passages, dtype=DTYPE[settings.trainer.precision])
        return self.data

    def module(self, length: Length, note: Callable[[str], None]) -> ScorerModule:
        """See `Kind`."""
        settings = self.settings
        self._mix = self.data.mix(length.steps * batches_of_step(settings.trainer))
        for source, part in self._mix.items():
            note(
                f"passages of {source}: {part['pieces']:,} pieces ({100 * part['share']:.0f} %), "
                f"each seen at most {part['turns']:,} times"
            )
        return ScorerModule(
            self.model.scorer,
            loss=settings.loss,
            objective=settings.objective,
            optim=settings.scaled_optim(),
            length=length,
            seed=settings.seed,
            teacher=self.teacher,
        )

    def export(self, best: FitResult) -> Result:
        """See `Kind`."""
        settings, folder, out = self.settings, self.folder, Path(self.settings.out) / EXPORT
        calibration, choice = _calibrate(self.model.scorer.to(best.device), self.data, rate=self.rate)
        if settings.optim.frozen_head:
            calibration = self.model.calibration
        self.model.scorer.encoder = self.model.start.encoder
        record: dict[str, Any] = {
            "version": __version__,
            "data": folder.record,
            **training_record(
                settings,
                self.model,
                best,
                overrides=self.overrides,
                first=self._first,
                annotated=self.data.annotated,
                teacher=self.teacher,
            ),
            **({"mix": self._mix} if self._mix else {}),
            "figures": best.figures,
            "calibration": None if calibration is None else calibration.to_record(),
        }
        config = {**self.described.to_config(), "training": record}
        config = decision.record(config, choice, folder.path, folder.prepared.language)
        digest = files.save(out, self.model.scorer, self.model.start.pieces, config, half=settings.half)
        card.write(out, data=folder.path)
        return Result(out, digest, best.figures, calibration)


def _collator(settings: Train, start: InitialEncoder, language: Language) -> Collator:
    max_pieces = min(settings.encoder.max_pieces, start.encoder.max_pieces)
    separator = start.pieces.separator is not None
    return Collator(start.pieces, max_pieces=max_pieces, separator=separator, split=language.words)


def _calibrate(scorer: PronounScorer, data: PronounData, *, rate: float) -> tuple[Fit | None, Choice | None]:
    """Calibrate a head with probabilities on development references, unless it is frozen; choose what decides.

    Both in the precision of the training, on the scorer's device.
    """
    settings, folder, context = data.settings, data.folder, data.settings.context.name
    dtype, progress = DTYPE[settings.trainer.precision], settings.trainer.progress
    calibration = None
    if scorer.probability and not settings.optim.frozen_head:
        calibration = on_references(
            scorer,
            data.collator,
            folder,
            context=context,
            forms=data.labeller.forms,
            language=data.labeller.language,
            rate=rate,
            seed=settings.seed,
            most=settings.data.calibrate,
            dtype=dtype,
            progress=progress,
        )
    pairs = PairScorer(scorer, data.labeller, dtype=dtype)
    choice = decision.choose(pairs, folder, context=context, most=settings.data.choose, progress=progress)
    return calibration, choice


def _refuse_other_scores(model: InitialModel, described: Model, settings: Train) -> None:
    """Refuse a run with a frozen head whose settings would change the scores of `init`."""
    if model.config is None:
        raise InputError(f"optim.frozen_head=true: init={settings.init} has no head=logit that could be kept")
    config = described.to_config()
    for key in KEYS:
        mine, theirs = config.get(key), model.config.get(key)
        if key not in ("encoder", "head") and mine != theirs:
            raise InputError(
                f"optim.frozen_head=true: expected {key}={theirs!r}, as in init={settings.init}, whose scores are "
                f"kept, got {mine!r}"
            )


def _cache_states(scorer: PronounScorer, data: PronounData, root: Path, trainer: Trainer) -> None:
    """Compute the encoder's states of all texts, and make the scorer read them from the cache."""
    encoder, states = cached_encoder(scorer.encoder, root)
    encoder.encoder.to(training_device(trainer))
    fill(states, encoder.encoder, data.collator, data.texts(), progress=trainer.progress)
    scorer.encoder = encoder
