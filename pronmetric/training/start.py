"""What a run of any kind begins with: its settings with the hashes of its folders, its model, teacher and record."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch

from pronmetric.checkpoint import files
from pronmetric.checkpoint.model_config import FORMAT, SEGMENT, Encoder, GapHead, Model
from pronmetric.data import arrow
from pronmetric.data.collate import Collator
from pronmetric.errors import InputError
from pronmetric.nn.scorer import PronounScorer
from pronmetric.training import teacher as teachers
from pronmetric.training.after.calibrate import Fit, recorded
from pronmetric.training.card import recipe
from pronmetric.training.encoders.start import InitialEncoder, make, of_checkpoint
from pronmetric.training.examples.prepared import Prepared
from pronmetric.training.fit import EXPORT, PRECISION, FitResult, refuse_other
from pronmetric.training.module import DTYPES
from pronmetric.training.settings import WORD_STATE, Train
from pronmetric.training.teacher import Teacher

DTYPE = {name: DTYPES.get(lightning, torch.float32) for name, lightning in PRECISION.items()}  # of inference
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Result:
    """The exported checkpoint: its folder, weight hash and development figures; its calibration, if any."""

    folder: Path
    hash: str
    figures: dict[str, float]
    calibration: Fit | None


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


def describe(
    settings: Train, start: InitialEncoder, collator: Collator, prepared: Prepared, gaps: GapHead | None = None
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
    best: FitResult,
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
    start: InitialEncoder
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
        start = make(settings.encoder, data=Path(settings.data.folder))
    else:
        start = of_checkpoint(loaded, settings.encoder)
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
