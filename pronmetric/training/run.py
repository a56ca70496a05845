"""A training run from start to exported checkpoint; a run that was stopped is resumed from its folder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from pronmetric.checkpoint import files
from pronmetric.checkpoint.model_config import FORMAT, KEYS, SEGMENT, Encoder, GapHead, Model
from pronmetric.data import arrow
from pronmetric.data.collate import Collator
from pronmetric.errors import InputError
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.languages import Language
from pronmetric.training import encoders
from pronmetric.training import teacher as teachers
from pronmetric.training.after import decision
from pronmetric.training.after.calibrate import Fit, natural_rate, on_references, recorded, to_training
from pronmetric.training.after.decision import Choice
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.card import checkpoint as card
from pronmetric.training.card import recipe
from pronmetric.training.encoders import Start
from pronmetric.training.examples.datamodule import PronounData
from pronmetric.training.examples.prepared import Folder, Prepared, check_language
from pronmetric.training.fit import (
    EXPORT,
    PRECISION,
    Fitted,
    Goal,
    batches_of_step,
    fit,
    prepare_process,
    refuse_other,
    run_length,
    training_device,
)
from pronmetric.training.module import DTYPES, ScorerModule
from pronmetric.training.paper.encoder_cache import cached_encoder, fill
from pronmetric.training.settings import WORD_STATE, Train, Trainer
from pronmetric.training.teacher import Teacher
from pronmetric.version import __version__

DTYPE = {name: DTYPES.get(lightning, torch.float32) for name, lightning in PRECISION.items()}  # of inference
FIRST_BATCHES = 20  # batches of passages for calibration before further training of a calibrated checkpoint
LOG = logging.getLogger(__name__)
ACCURACY = Goal("development/accuracy", "max")


@dataclass(frozen=True, slots=True)
class Result:
    """The exported checkpoint: its folder, weight hash and development figures; its calibration, if any."""

    folder: Path
    hash: str
    figures: dict[str, float]
    calibration: Fit | None


def train(
    settings: Train,
    *,
    required_sources: Collection[str] = (),
    overrides: Sequence[str] | None = None,
    note: Callable[[str], None] = LOG.info,
) -> Result | None:
    """Train, and export the weights with the best development pair accuracy to `out`/checkpoint.

    A killed run is resumed from `out`/last.ckpt and reaches the same weights. On several devices only the first process
    exports; the others return None.

    Args:
        settings: of the run; `init` and `teacher`, if any, are folders.
        required_sources: names in `objective.source_share` that the data must have, and "coreference" and "fidelity" if
            it must have these; others may be absent.
        overrides: of the command line, which the checkpoint's config and its card record; None: not known.
        note: takes a line on each source of passages, if `trainer.progress` is true.

    Raises:
        PronmetricError: a setting, the prepared folder or the teacher is wrong, or `out` holds a run of other settings.
    """
    out, folder = Path(settings.out), Folder.of(Path(settings.data.folder))
    rate, prepared = natural_rate(folder.manifest), folder.prepared
    check_language(settings, prepared.language)
    kept = checked_run(settings)
    with prepare_process(settings.trainer, seed=settings.seed):
        model = initial_model(settings)
        collator = _collator(settings, model.start, prepared.language)
        described = describe(settings, model.start, collator, prepared)
        if settings.optim.frozen_head:
            _refuse_other_scores(model, described, settings)
        teacher = load_teacher(settings, prepared)
        data = PronounData(
            settings,
            collator,
            prepared=prepared,
            required_sources=required_sources,
            teacher=None if teacher is None else teacher.collator,
        )
        if settings.encoder_cache is not None:
            _cache_states(model.scorer, data, Path(settings.encoder_cache), settings.trainer)
        kept_head = settings.optim.frozen_head
        first = None
        if model.calibration is not None and not kept_head and teacher is None:  # a teacher's labels are calibrated
            passages = data.passages(FIRST_BATCHES)
            model.scorer.to(training_device(settings.trainer))
            first = to_training(model.scorer, passages, dtype=DTYPE[settings.trainer.precision])
        length = run_length(len(data.steps()), settings.trainer)
        mix = data.mix(length.steps * batches_of_step(settings.trainer))
        if settings.trainer.progress:
            for source, part in mix.items():
                note(
                    f"passages of {source}: {part['pieces']:,} pieces ({100 * part['share']:.0f} %), "
                    f"each seen at most {part['turns']:,} times"
                )
        module = ScorerModule(
            model.scorer,
            loss=settings.loss,
            objective=settings.objective,
            optim=settings.scaled_optim(),
            length=length,
            seed=settings.seed,
            teacher=teacher,
        )
        best = fit(module, data, out, trainer=settings.trainer, goal=ACCURACY, settings=kept, length=length)
        if best is None:
            return None
        calibration, choice = _calibrate(model.scorer.to(best.device), data, rate=rate)
        if kept_head:
            calibration = model.calibration
        model.scorer.encoder = model.start.encoder
    record = {
        "version": __version__,
        "data": folder.record,
        **training_record(
            settings, model, best, overrides=overrides, first=first, annotated=data.annotated, teacher=teacher
        ),
        **({"mix": mix} if mix else {}),
        "figures": best.figures,
        "calibration": None if calibration is None else calibration.to_record(),
    }
    config = {**described.to_config(), "training": record}
    config = decision.record(config, choice, folder.path, prepared.language)
    digest = files.save(out / EXPORT, model.scorer, model.start.pieces, config, half=settings.half)
    card.write(out / EXPORT, data=folder.path)
    return Result(out / EXPORT, digest, best.figures, calibration)


def checked_run(settings: Train) -> dict[str, Any]:
    """The settings that affect the run, with hashes for its folders; another run in `out` is refused."""
    kept, hashes = settings.results(), [files.hash_file(Path(each) / arrow.MANIFEST) for each in settings.data.folders]
    kept["data"]["dir"] = hashes[0] if len(hashes) == 1 else hashes
    if settings.source is not None and settings.source.model is not None:
        kept["source"]["model"] = files.hash_weights(Path(settings.source.model))
    if settings.teacher is not None:
        kept["teacher"] = files.hash_weights(Path(settings.teacher))
    if settings.init is not None:
        kept["init"] = files.hash_weights(Path(settings.init))
    refuse_other(Path(settings.out), kept, results=(EXPORT,))
    return kept


def load_teacher(settings: Train, prepared: Prepared) -> Teacher | None:
    """The teacher of the run, if it has one, checked against the student."""
    if settings.teacher is None:
        return None
    teacher = teachers.load(settings.teacher, forms=prepared.forms, language=prepared.language)
    objective = settings.objective
    wanted = settings.pair_head is not None and objective.pair_share > 0 and objective.soft_preference > 0
    if wanted and not teacher.has_preferences:
        raise InputError(
            "teacher: expected a checkpoint with a pair head, whose preferences are learned; "
            "objective.soft_preference=0 learns its probabilities alone",
            file=settings.teacher,
        )
    return teacher


def _collator(settings: Train, start: Start, language: Language) -> Collator:
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


def describe(
    settings: Train, start: Start, collator: Collator, prepared: Prepared, gaps: GapHead | None = None
) -> Model:
    """The model of a run, as its checkpoint describes it."""
    head = settings.pronoun_head
    return Model(
        format=FORMAT,
        encoder=Encoder.model_validate(start.encoder.config | start.pieces.config),
        head=head,
        word_state=WORD_STATE,
        segment=SEGMENT[head.kind],
        max_pieces=collator.max_pieces,
        separator=collator.separator is not None,
        pronouns=list(prepared.forms),
        context=settings.context.name,
        context_size=prepared.context_size,
        language=prepared.language.to_record(),
        pair_head=settings.pair_head,
        gap_head=gaps,
    )


def training_record(
    settings: Train,
    model: InitialModel,
    best: Fitted,
    *,
    overrides: Sequence[str] | None,
    teacher: Teacher | None,
    first: Fit | None = None,
    annotated: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """The record of the run in the checkpoint's config: command, seeds, steps, time, initial weights, and teacher."""
    record: dict[str, Any] = {
        **({} if overrides is None else {"overrides": recipe.recorded(overrides)}),
        "seed": settings.seed,
        "head_seed": settings.head_seed if model.new_head else None,
        "steps": best.steps,
        "best_step": best.best_step,
        "seconds": best.seconds,
        "init": None if settings.init is None else files.hash_weights(Path(settings.init)),
    }
    if first is not None:
        record["init_calibration"] = first.to_record()
    if model.start.origin:
        record["encoder"] = model.start.origin
    if annotated:
        record["coreference"] = {**annotated, "weight": settings.objective.antecedent}
    if teacher is not None:
        record["teacher"] = teacher.hash
    return record


class InitialModel(NamedTuple):
    """The initial model of a run.

    start: its encoder and its origin. new_head: whether one of its heads is newly initialised. config: of the
    checkpoint whose head it has, if any.
    """

    scorer: PronounScorer
    start: Start
    new_head: bool
    config: Mapping[str, Any] | None

    @property
    def calibration(self) -> Fit | None:
        """The calibration of that head, None if it has none."""
        return recorded(self.config or {})


def initial_model(settings: Train, gaps: GapHead | None = None) -> InitialModel:
    """The initial model.

    With `init`: that checkpoint's encoder, and its heads if they are of the same kind. A head of another kind, and a
    pair or gap head that the checkpoint lacks, are newly initialised. gaps: the gap head, if it has one.
    """
    init = settings.init
    loaded = None if init is None else files.load(init)
    if loaded is None:
        start = encoders.make(settings.encoder, data=Path(settings.data.folder))
    else:
        start = encoders.of_checkpoint(loaded, settings.encoder)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(settings.head_seed)
        head, pair_head, gap_head = files.make_heads(
            start.encoder.width, settings.pronoun_head, settings.pair_head, gaps
        )
    new_head, config = True, None
    if loaded is not None and Model.read(loaded.config).head.form == settings.pronoun_head.form:
        head.load_state_dict(loaded.model.head.state_dict())
        new_head, config = False, loaded.config
    elif loaded is not None:
        LOG.warning("init=%s has another head than this run: its encoder is used, with a new head", init)
    if pair_head is not None:
        before = None if loaded is None else loaded.model.pair_head
        if before is not None and before.heads == pair_head.heads:
            pair_head.load_state_dict(before.state_dict())
        else:
            new_head = True
            if loaded is not None:
                LOG.warning("init=%s has no such pair head: it is trained from initial weights", init)
    if gap_head is not None:
        before_gaps = None if loaded is None else loaded.model.gap_head
        if before_gaps is not None and loaded is not None and Model.read(loaded.config).gap_head == gaps:
            gap_head.load_state_dict(before_gaps.state_dict())
        else:
            new_head = True
    scorer = PronounScorer(start.encoder, head, word_state=WORD_STATE, pair_head=pair_head, gap_head=gap_head).train()
    return InitialModel(scorer, start, new_head, config)


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
