"""Training of a reader of sources for a checkpoint: its figures, and how its logits join those of the checkpoint.

A teacher, if there is one, reads the target language alone: on texts with a source a pronoun weighs the more, the more
the teacher is wrong about it. Its probabilities of passages may be learned too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from pronmetric.checkpoint import files, locate, weights
from pronmetric.checkpoint.model_config import GapHead, SourceReader
from pronmetric.data.pieces import Pieces, Subwords
from pronmetric.data.source_rows import SourceCollator
from pronmetric.errors import PronmetricError
from pronmetric.nn.encoder import HuggingFaceEncoder
from pronmetric.nn.head import HeadOutput
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.targets import AtomicFile
from pronmetric.training import people_decision, reader_card, recipe, run, source_mixing
from pronmetric.training import teacher as teachers
from pronmetric.training.batches import Labelled
from pronmetric.training.calibrate import natural_rate
from pronmetric.training.encoders import Start
from pronmetric.training.fit import (
    EXPORT,
    Fitted,
    Goal,
    batches_of_step,
    fit,
    prepare_process,
    run_length,
)
from pronmetric.training.module import Length, ScorerModule
from pronmetric.training.prepared import Folder, Prepared, check_language
from pronmetric.training.pruning import prune
from pronmetric.training.reader_card import INITIAL
from pronmetric.training.run import DTYPE, Result, checked_run, load_teacher
from pronmetric.training.settings import SourceTraining, Train
from pronmetric.training.several_sources import SeveralSources
from pronmetric.training.source_data import WITH_SOURCE, WITHOUT, Judged, SourceData
from pronmetric.training.teacher import Answer, Teacher
from pronmetric.version import __version__

GOAL = Goal(f"development/{WITH_SOURCE}", "max")
GAPS = 5.0  # the weight of the loss of gaps, of which few lack a pronoun
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

    def _soft_losses(self, out: HeadOutput, item: Labelled, answer: Answer) -> dict[str, Float[Tensor, ""]]:
        """The loss to the teacher's probabilities where there is no source, else that of its errors."""
        if item.name == _PASSAGES:
            return super()._soft_losses(out, item, answer)
        places = item.places.labelled
        right, logits = item.right.flatten()[places], out.scores.flatten()[places]
        wrong = (answer.logits.flatten()[places].sigmoid() - right).abs()
        each = functional.binary_cross_entropy_with_logits(logits, right, weight=wrong, reduction="sum")
        return {"hard": each / max(1, len(places))}

    def validation_step(self, item: Judged, index: int, dataloader_idx: int = 0) -> None:  # type: ignore[override]
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
            self.figures |= source_mixing.areas(name, logits, right, third.astype(bool))
        if GOAL.figure not in self.figures:
            raise PronmetricError("no development pronoun is right, or none is replaced: prepare with more test sets")
        self.log_dict({**self.figures, "epoch": self.global_step / self.length.epoch}, sync_dist=True)


def train(
    settings: Train,
    *,
    required_sources: Collection[str] = (),
    overrides: Sequence[str] | None = None,
    note: Callable[[str], None] = run.LOG.info,
) -> Result | None:
    """Train a reader of sources for the checkpoint `source.model`; `out`/checkpoint is a copy of it with the reader.

    The copy scores texts without a source exactly as `source.model` does. Arguments, resuming and several devices as
    for `pronmetric.training.run.train`; `source.model` is a folder.

    Raises:
        PronmetricError: a setting, the prepared folder or the checkpoint is wrong, or `out` holds another run.
    """
    options = settings.source
    assert options is not None and options.model is not None
    out, folder, model = Path(settings.out), Folder.of(Path(settings.data.folder)), Path(options.model)
    prepared, rate = folder.prepared, natural_rate(folder.manifest)
    check_language(settings, prepared.language)
    kept = checked_run(settings)
    gaps = gap_head(options, [prepared], dropout=settings.pronoun_head.dropout)
    # a checkpoint that does not fit is refused before the run
    teachers.load(model, forms=prepared.forms, language=prepared.language, name="source.model")
    teacher = load_teacher(settings, prepared)
    with prepare_process(settings.trainer, seed=settings.seed):

        def open_data(pieces: Pieces, max_pieces: int) -> SourceData:
            return SourceData(
                settings,
                make_collator(options, pieces, max_pieces, prepared),
                prepared=prepared,
                required_sources=required_sources,
                teacher=None if teacher is None else teacher.collator,
            )

        trained = fit_reader(settings, open_data, kept=kept, teacher=teacher, note=note, gaps=gaps)
        if trained is None:
            return None
        scorer, data, best = trained.initial.scorer, trained.data, trained.best
        english = files.load(model)
        english.model.to(best.device)
        mixed = source_mixing.mix(
            english,
            scorer,
            data.collator,
            data.development,
            folder.path,
            languages=data.languages,
            rate=rate,
            pairs=settings.data.choose,
            dtype=DTYPE[settings.trainer.precision],
            progress=settings.trainer.progress,
        )
    figures = {**best.figures, **mixed.figures}
    described = run.describe(settings, trained.start, data.collator, prepared, gaps)
    source = SourceReader(
        context=options.context,
        before=options.before,
        model=english.hash,
        in_context=mixed.in_context,
        alone=mixed.alone,
        preference=mixed.preference,
        missing=mixed.missing,
        others=mixed.others,
        languages=list(data.languages),
    )
    record = {
        "version": __version__,
        "data": folder.record,
        **run.training_record(
            settings, trained.initial, best, overrides=overrides, annotated=data.annotated, teacher=teacher
        ),
        **_initial(trained.initial.config),
        "mix": data.mix(trained.length.steps * batches_of_step(settings.trainer)),
        "figures": figures,
    }
    config = {**described.model_copy(update={"source": source}).to_config(), "training": record}
    files.copy(model, out / EXPORT)
    digest = save(
        out / EXPORT,
        scorer.cpu(),
        trained.start.pieces,
        config,
        half=settings.half,
        bits=options.bits,
        data=folder.path,
        show=settings.trainer.progress,
    )
    return Result(out / EXPORT, digest, figures, None)


def _initial(config: Mapping[str, Any] | None) -> dict[str, Any]:
    """The record of how the reader was trained that a run began with, for the config of the run."""
    training = {} if config is None else config.get("training", {})
    keys = ("overrides", "seed", "steps", INITIAL, recipe.STAGES)
    kept = {key: training[key] for key in keys if key in training}
    return {INITIAL: kept} if "overrides" in kept else {}


def make_collator(options: SourceTraining, pieces: Pieces, max_pieces: int, prepared: Prepared) -> SourceCollator:
    """The collator of a reader for prepared texts."""
    limits = {"context": options.context, "before": options.before}
    return SourceCollator(pieces, max_pieces=max_pieces, split=prepared.language.words, **limits)


def gap_head(options: SourceTraining, prepared: Sequence[Prepared], *, dropout: float) -> GapHead | None:
    """The gap head of a reader of prepared texts, with the forms of all; None if no pronoun is deleted."""
    forms = dict.fromkeys(form for each in prepared for form in each.language.forms)
    return GapHead(forms=list(forms), dropout=dropout) if options.deleted else None


AnyData = TypeVar("AnyData", SourceData, SeveralSources)


class Trained(NamedTuple, Generic[AnyData]):
    """A trained reader, its weights rounded if they are stored so: its model, the start with its pieces, its data."""

    initial: run.InitialModel
    start: Start
    data: AnyData
    best: Fitted
    length: Length


def fit_reader(
    settings: Train,
    open_data: Callable[[Pieces, int], AnyData],
    *,
    kept: Mapping[str, Any],
    teacher: Teacher | None,
    note: Callable[[str], None],
    gaps: GapHead | None = None,
) -> Trained[AnyData] | None:
    """Train a reader, inside `prepare_process`; None on all processes but the first.

    open_data: gives the data for an encoder's pieces and most pieces of a row. kept: of `checked_run`.
    gaps: the gap head, if it has one.
    """
    options = settings.source
    assert options is not None
    initial = run.initial_model(settings, gaps)
    pieces, most = initial.start.pieces, min(settings.encoder.max_pieces, initial.start.encoder.max_pieces)
    data = open_data(pieces, most)
    if options.pieces is not None and settings.init is None:
        assert isinstance(pieces, Subwords) and isinstance(initial.scorer.encoder, HuggingFaceEncoder)
        pieces = prune(initial.scorer.encoder, pieces, data.source_texts(), most=options.pieces)
        data = open_data(pieces, most)
    length = run_length(len(data.steps()), settings.trainer)
    if settings.trainer.progress:
        note(f"texts with sources in {', '.join(data.languages)}: {data.size:,}")
    module = ReaderModule(
        initial.scorer,
        loss=settings.loss,
        objective=settings.objective,
        optim=settings.scaled_optim(),
        length=length,
        seed=settings.seed,
        teacher=teacher,
        hard=options.hard,
    )
    best = fit(module, data, Path(settings.out), trainer=settings.trainer, goal=GOAL, settings=kept, length=length)
    if best is None:
        return None
    scorer = initial.scorer.to(best.device)
    if options.bits is not None:
        weights.round_in_place(scorer.state_dict(), bits=options.bits)
    return Trained(initial, initial.start._replace(pieces=pieces), data, best, length)


def with_mixing(config: Mapping[str, Any], mixed: source_mixing.Mixed, *, model: str) -> dict[str, Any]:
    """The config of a reader with other weights of both logits, for the checkpoint with the weights `model`."""
    fitted = {
        "in_context": mixed.in_context.model_dump(),
        "alone": mixed.alone.model_dump(),
        "preference": mixed.preference,
        **({} if mixed.missing is None else {"missing": mixed.missing.model_dump()}),
        **({} if mixed.others is None else {"others": mixed.others.model_dump()}),
    }
    before = {key: value for key, value in config["source"].items() if key not in ("others", "judged")}
    return {**config, "source": {**before, **fitted, "model": model}}


def save(
    checkpoint: Path,
    scorer: PronounScorer,
    pieces: Pieces,
    config: Mapping[str, Any],
    *,
    half: bool,
    bits: int | None,
    data: Path | None,
    show: bool,
) -> str:
    """Write a reader and its card into the folder of its checkpoint, and return its hash.

    data: the prepared folder on whose texts that people judged it is chosen what decides; None: as in `config`. show:
    the progress on stderr.
    """
    folder = checkpoint / locate.READER
    digest = files.save(folder, scorer, pieces, config, half=half, bits=bits)
    choice = None if data is None else people_decision.choose(checkpoint, data, show=show)
    if choice is not None:
        training = {**config["training"], "decision": choice.accuracy, "decision_pairs": choice.pairs}
        fitted = {"decision": choice.by, **({} if choice.judged is None else {"judged": choice.judged.model_dump()})}
        config = {**config, "source": {**config["source"], **fitted}, "training": training}
        files.write_config(folder, config)
    write_card(folder, config)
    return digest


def write_card(folder: Path, config: Mapping[str, Any]) -> None:
    """Write the card of the reader in `folder`."""
    with AtomicFile(folder / locate.CARD) as file:
        file.write(reader_card.card(config, weights=files.hash_weights(folder)))
