"""Training of a reader of sources for a checkpoint: its figures, and how its logits join those of the checkpoint.

A teacher, if there is one, reads the target language alone: on texts with a source a pronoun weighs the more, the more
the teacher is wrong about it. Its probabilities of passages may be learned too.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

import pronmetric
from pronmetric.checkpoint import files, locate, weights
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.checkpoint.model_config import Mixing, SourceReader
from pronmetric.data.collate import Collator
from pronmetric.data.pieces import Pieces, Subwords
from pronmetric.data.source_rows import SourceCollator
from pronmetric.errors import PronmetricError
from pronmetric.eval.calibration import fit_sum
from pronmetric.eval.detection import detect
from pronmetric.nn.encoder import HuggingFaceEncoder
from pronmetric.nn.head import HeadOutput
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.targets import AtomicFile
from pronmetric.training import run
from pronmetric.training import teacher as teachers
from pronmetric.training.batches import Labelled
from pronmetric.training.calibrate import FEWEST, logits_of, natural_rate
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
from pronmetric.training.run import DTYPE, Result, checked_run, load_teacher
from pronmetric.training.settings import SourceTraining, Train
from pronmetric.training.several_sources import SeveralSources
from pronmetric.training.source_data import WITH_SOURCE, WITHOUT, Development, Judged, SourceData, without_context
from pronmetric.training.teacher import Answer, Teacher

GOAL = Goal(f"development/{WITH_SOURCE}", "max")
_PASSAGES = "passages"  # the name of batches without sources
_AS_BEFORE = Mixing(model=1.0, reader=0.0, bias=0.0)


class ReaderModule(ScorerModule):
    """Trains a reader; `hard` is the weight of how much the teacher is wrong about a pronoun.

    The figures are areas under the ROC curve, of all pronouns and of the third person, with sources and without.
    """

    def __init__(self, *args: Any, hard: float, **more: Any) -> None:
        super().__init__(*args, **more)
        self.hard = hard

    def _weight(self, name: str) -> float:
        return self.hard if name == "hard" else super()._weight(name)

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
            self.figures |= areas(name, logits, right, third.astype(bool))
        if GOAL.figure not in self.figures:
            raise PronmetricError("no development pronoun is right, or none is replaced: prepare with more test sets")
        self.log_dict({**self.figures, "epoch": self.global_step / self.length.epoch}, sync_dist=True)


def areas(name: str, logits: np.ndarray, right: np.ndarray, third: np.ndarray) -> dict[str, float]:
    """The areas under the ROC curve, 1 at best, of all pronouns and of the third person, where there is one."""
    figures: dict[str, float] = {}
    for part, chosen in (("", np.ones(len(right), dtype=bool)), ("_third", third)):
        if chosen.any():
            area = detect((right[chosen] == 0).tolist(), logits[chosen].tolist()).roc_auc
            figures |= {} if area is None else {f"development/{name}{part}": area.value}
    return figures


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

        trained = fit_reader(settings, open_data, kept=kept, teacher=teacher, note=note)
        if trained is None:
            return None
        scorer, data, best = trained.initial.scorer, trained.data, trained.best
        english = files.load(model)
        english.model.to(best.device)
        mixed = mix(
            english,
            scorer,
            data.collator,
            data.development,
            rate=rate,
            dtype=DTYPE[settings.trainer.precision],
            progress=settings.trainer.progress,
        )
    figures = {**best.figures, **mixed.figures}
    described = run.describe(settings, trained.start, data.collator, prepared)
    source = SourceReader(
        context=options.context,
        before=options.before,
        model=english.hash,
        in_context=mixed.in_context,
        alone=mixed.alone,
        preference=options.preference,
        languages=list(data.languages),
    )
    record = {
        "version": pronmetric.__version__,
        "data": folder.record,
        **run.training_record(
            settings, trained.initial, best, overrides=overrides, annotated=data.annotated, teacher=teacher
        ),
        "mix": data.mix(trained.length.steps * batches_of_step(settings.trainer)),
        "figures": figures,
    }
    config = {**described.model_copy(update={"source": source}).to_config(), "training": record}
    files.copy(model, out / EXPORT)
    digest = save(out / EXPORT, scorer.cpu(), trained.start.pieces, config, half=settings.half, bits=options.bits)
    return Result(out / EXPORT, digest, figures, None)


def make_collator(options: SourceTraining, pieces: Pieces, max_pieces: int, prepared: Prepared) -> SourceCollator:
    """The collator of a reader for prepared texts."""
    limits = {"context": options.context, "before": options.before}
    return SourceCollator(pieces, max_pieces=max_pieces, split=prepared.language.words, **limits)


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
) -> Trained[AnyData] | None:
    """Train a reader, inside `prepare_process`; None on all processes but the first.

    open_data: gives the data for an encoder's pieces and most pieces of a row. kept: of `checked_run`.
    """
    options = settings.source
    assert options is not None
    initial = run.initial_model(settings)
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


def with_mixing(config: Mapping[str, Any], mixed: Mixed, *, model: str) -> dict[str, Any]:
    """The config of a reader with other weights of both logits, for the checkpoint with the weights `model`."""
    fitted = {"in_context": mixed.in_context.model_dump(), "alone": mixed.alone.model_dump()}
    return {**config, "source": {**config["source"], **fitted, "model": model}}


def save(
    checkpoint: Path, scorer: PronounScorer, pieces: Pieces, config: Mapping[str, Any], *, half: bool, bits: int | None
) -> str:
    """Write a reader and its card into the folder of its checkpoint, and return its hash."""
    folder = checkpoint / locate.READER
    digest = files.save(folder, scorer, pieces, config, half=half, bits=bits)
    with AtomicFile(folder / locate.CARD) as file:
        file.write(_card(config))
    return digest


def _card(config: Mapping[str, Any]) -> str:
    """The card of a reader: its languages, its figures, how it was made."""
    source, training = SourceReader.model_validate(config["source"]), config["training"]
    figures = training.get("figures", {})
    names = {"model": "the checkpoint alone", "mixed": "with the source", WITH_SOURCE: "the reader alone"}
    names |= {f"mixed_{code}": f"with the source, {code}" for code in source.languages}
    names |= {"model_alone": "the checkpoint alone, no context", "mixed_alone": "with the source, no context"}
    rows = [
        [said, *("-" if area is None else f"{100 * area:.1f}" for area in areas)]
        for name, said in names.items()
        if (areas := [figures.get(f"development/{name}{part}") for part in ("", "_third")])[0] is not None
    ]
    parts = training.get("average", [training])
    lines = [
        shlex.join(["pronmetric", "train", *part.get("overrides", ()), "data.dir=PREPARED", f"out=OUT{number}"])
        for number, part in enumerate(parts, start=1)
    ]
    if len(parts) > 1:
        runs = (f"OUT{number}/checkpoint" for number in range(1, len(parts) + 1))
        lines.append(shlex.join(["pronmetric", "average", *runs, "--data", "PREPARED", "-o", "AVERAGE"]))
    return (
        f"""# Reader of sources

For the weights `{source.model}`, trained on sources in {", ".join(source.languages)}. It also reads sources in other
languages, which no figure here is of.

Development references with a fifth of their pronouns replaced, area under the ROC curve in percent:

| | all pronouns | third person |
|---|---|---|
"""
        + "".join(f"| {' | '.join(row)} |\n" for row in rows)
        + "\n```\n{}\n```\n".format("\n".join(lines))
    )


class Mixed(NamedTuple):
    """How a reader's logits join those of its checkpoint, for texts with a context and without, and what that gives."""

    in_context: Mixing
    alone: Mixing
    figures: dict[str, float]


def mix(
    english: Checkpoint,
    scorer: PronounScorer,
    collator: Collator,
    development: Development,
    *,
    rate: float,
    dtype: torch.dtype,
    progress: bool,
) -> Mixed:
    """Fit the weights on development references as if a share `rate` of their pronouns were replaced.

    Args:
        english: the checkpoint.
        scorer: the reader.
        collator: of its rows.
        development: the references.
        rate: the share.
        dtype: of the products of both encoders.
        progress: show it on stderr.
    """
    right = np.concatenate([item.right for item in development.items])
    third = np.concatenate([np.array(each, dtype=bool) for each in development.third])
    of = np.repeat(development.languages, [len(item.right) for item in development.items])
    label = "weights of the source" if progress else None
    readers = (english.model, english.collator), (scorer, collator)
    mixings, figures = [], dict[str, float]()
    for name, is_alone in (("", False), ("_alone", True)):
        examples = [without_context(item.example) if is_alone else item.example for item in development.items]
        own, read = (
            np.concatenate(logits_of(model, rows, examples, dtype=dtype, label=label)) for model, rows in readers
        )
        mixing = _fit_mixing(own, read, right, rate=rate)
        both = mixing.model * own + mixing.reader * read + mixing.bias
        figures |= areas(f"model{name}", own, right, third) | areas(f"mixed{name}", both, right, third)
        for language in sorted(set(development.languages)):
            here = of == language
            figures |= areas(f"mixed{name}_{language}", both[here], right[here], third[here])
        mixings.append(mixing)
    in_context, alone = mixings
    return Mixed(in_context, alone, figures)


def _fit_mixing(own: np.ndarray, read: np.ndarray, right: np.ndarray, *, rate: float) -> Mixing:
    """The weights; the checkpoint's logits alone if few pronouns are replaced, or if they would count against them."""
    if (right == 0).sum() < FEWEST or (right == 1).sum() < FEWEST:
        return _AS_BEFORE
    model, reader, bias = fit_sum([own, read], right, rate=rate)
    return Mixing(model=model, reader=reader, bias=bias) if model > 0 and reader > 0 else _AS_BEFORE
