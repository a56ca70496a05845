"""A training run from start to exported checkpoint; a run that was stopped is resumed from its folder."""

from __future__ import annotations

import importlib.util
import logging
import os
import pickle
import re
import signal
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, EarlyStopping, LearningRateMonitor, ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger, Logger, TensorBoardLogger
from pytorch_lightning.utilities.exceptions import MisconfigurationException

import pronmetric
from pronmetric.checkpoint import files
from pronmetric.checkpoint.model_config import FORMAT, KEYS, SEGMENT, Encoder, Model
from pronmetric.data import arrow
from pronmetric.data.collate import Collator
from pronmetric.errors import InputError, MissingExtra, PronmetricError, Terminated
from pronmetric.eval.decision import SCORE
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.pronouns.languages import Language
from pronmetric.training import card, decision, encoders, recipe, target_language, tie_threshold
from pronmetric.training import teacher as teachers
from pronmetric.training.calibrate import Fit, natural_rate, on_references, recorded, to_training
from pronmetric.training.callbacks import AtomicCheckpointIO, ProgressBar, ResumePoint
from pronmetric.training.datamodule import PronounData
from pronmetric.training.decision import Choice
from pronmetric.training.encoder_cache import cached_encoder, fill
from pronmetric.training.encoders import Start
from pronmetric.training.module import DTYPES, NOT_FINITE_CURE, Length, ScorerModule
from pronmetric.training.pair_scorer import PairScorer
from pronmetric.training.prepared import Prepared
from pronmetric.training.settings import Train, Trainer
from pronmetric.training.teacher import Teacher

LAST, BEST, EXPORT = "last", "best", "checkpoint"
PRECISION = {"32": "32-true", "bf16": "bf16-mixed", "16": "16-mixed"}
DTYPE = {name: DTYPES.get(lightning, torch.float32) for name, lightning in PRECISION.items()}  # of inference
FIRST_BATCHES = 20  # batches of passages for calibration before further training of a calibrated checkpoint
# oneDNN compiles kernels for the shapes of each batch, which hardly ever recur: its defaults, 1,024 kernels in each of
# two caches, hold gigabytes. The variables are read at the first such operation.
KERNEL_CACHES = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "16", "LRU_CACHE_CAPACITY": "16"}
LOG = logging.getLogger(__name__)
RENAMED = {  # keys in the last.ckpt of older versions
    "objective.corruption.flip": "objective.corruption.gender_swap",
    "objective.corruption.swap": "objective.corruption.name_swap",
}

# Warnings of Lightning and torch that no user can act on.
EXPECTED = (
    r"Checkpoint directory .* exists and is not empty",
    r"You're resuming from a checkpoint that ended before the epoch ended and your dataloader is not resumable",
    r"The number of training batches \(\d+\) is smaller than the logging interval",
    r"The '\w+' does not have many workers",
    r"`isinstance\(treespec, LeafSpec\)` is deprecated",
    r"GPU available but not used",
    r"This process .* is multi-threaded, use of fork\(\) may lead to deadlocks",
)


class Goal(NamedTuple):
    """The development figure that selects the best weights; mode: whether "max" or "min" is best."""

    figure: str
    mode: Literal["max", "min"]


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
    out, folder = Path(settings.out), Path(settings.data.dir)
    kept = settings.results()
    kept["data"]["dir"] = files.hash_file(folder / arrow.MANIFEST)
    if settings.teacher is not None:
        kept["teacher"] = files.hash_weights(Path(settings.teacher))
    manifest = arrow.read_manifest(folder)
    rate, prepared = natural_rate(manifest), Prepared.of(manifest)
    target_language.check(settings, prepared.language)
    refuse_other(out, kept, results=(EXPORT,))
    with prepare_process(settings.trainer, seed=settings.seed):
        model = _initial_model(settings)
        collator = _collator(settings, model.start, prepared.language)
        described = _describe(settings, model.start, collator, prepared)
        if settings.optim.frozen_head:
            _refuse_other_scores(model, described, settings)
        teacher = _teacher(settings, prepared)
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
            first = to_training(model.scorer, passages, dtype=DTYPE[settings.trainer.precision])
        length = run_length(len(data.steps()), settings.trainer)
        mix = data.mix(length.steps * batches_of_step(settings.trainer))
        if settings.trainer.progress:
            for source, found in mix.items():
                note(
                    f"passages of {source}: {found['pieces']:,} pieces ({100 * found['share']:.0f} %), "
                    f"each seen at most {found['turns']:,} times"
                )
        module = ScorerModule(
            model.scorer,
            loss=settings.loss,
            objective=settings.objective,
            optim=settings.optim,
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
        "version": pronmetric.__version__,
        "data": {"manifest": kept["data"]["dir"], "splits": manifest["splits"]},
        **({} if overrides is None else {"overrides": recipe.recorded(overrides)}),
        **_training_record(settings, model, first, best, annotated=data.annotated),
        **({} if teacher is None else {"teacher": teacher.hash}),
        **({"mix": mix} if mix else {}),
        "figures": best.figures,
        "calibration": None if calibration is None else calibration.to_record(),
    }
    config = {**described.to_config(), "training": record}
    tie = None if choice is None else choice.ties.get(SCORE)
    table = ConfusionTable.load(folder / "confusion.json", forms=prepared.language.forms)
    config = tie_threshold.add_to_config(config, tie, table)
    config = decision.add_to_config(config, choice)
    digest = files.save(out / EXPORT, model.scorer, model.start.pieces, config, half=settings.half)
    card.write(out / EXPORT, data=folder)
    return Result(out / EXPORT, digest, best.figures, calibration)


def _teacher(settings: Train, prepared: Prepared) -> Teacher | None:
    """The teacher of the run, if it has one, checked against the student."""
    if settings.teacher is None:
        return None
    found = teachers.load(settings.teacher, forms=prepared.forms, language=prepared.language)
    objective = settings.objective
    assert objective.kind == "detection"
    wanted = settings.pair_head is not None and objective.pair_share > 0 and objective.soft_preference > 0
    if wanted and not found.has_preferences:
        raise InputError(
            "teacher: expected a checkpoint with a pair head, whose preferences are learned; "
            "objective.soft_preference=0 learns its probabilities alone",
            file=settings.teacher,
        )
    return found


def _collator(settings: Train, start: Start, language: Language) -> Collator:
    max_pieces = min(settings.encoder.max_pieces, start.encoder.max_pieces)
    return Collator(start.pieces, max_pieces=max_pieces, separator=settings.separator, split=language.words)


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


def _describe(settings: Train, start: Start, collator: Collator, prepared: Prepared) -> Model:
    """The model of a run, as its checkpoint describes it."""
    head = settings.pronoun_head
    return Model(
        format=FORMAT,
        encoder=Encoder.model_validate(start.encoder.config | start.pieces.config),
        head=head,
        word_state=settings.word_state,
        segment=SEGMENT[head.kind],
        max_pieces=collator.max_pieces,
        separator=settings.separator,
        pronouns=list(prepared.forms),
        context=settings.context.name,
        context_size=prepared.context_size,
        language=prepared.language.to_record(),
        pair_head=settings.pair_head,
    )


def _training_record(
    settings: Train, model: _InitialModel, first: Fit | None, best: Fitted, *, annotated: Mapping[str, int]
) -> dict[str, Any]:
    """The record of the run in the checkpoint's config: seeds, steps, time, and initial weights."""
    record: dict[str, Any] = {
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
        assert settings.objective.kind == "detection"
        record["coreference"] = {**annotated, "weight": settings.objective.antecedent}
    return record


class Fitted(NamedTuple):
    """The outcome of a run: its steps, the best step by the goal, seconds, the figures of the best step, its device."""

    steps: int
    best_step: int
    seconds: int
    figures: dict[str, float]
    device: torch.device


def fit(
    module: pl.LightningModule,
    data: pl.LightningDataModule,
    out: Path,
    *,
    trainer: Trainer,
    goal: Goal,
    settings: Mapping[str, Any],
    length: Length,
) -> Fitted | None:
    """Train `module`, resuming the run in `out` if there is one, and load the weights of its best validation.

    On several devices all processes but the first return None. `settings` are saved for `refuse_other`.
    """
    last = out / f"{LAST}.ckpt"
    best = ModelCheckpoint(
        dirpath=out,
        filename=BEST,
        monitor=goal.figure,
        mode=goal.mode,
        save_on_train_epoch_end=False,
        enable_version_counter=False,
    )
    every = steps_between(trainer.validate_every, length)
    resume = ResumePoint(last, every=trainer.save_every, validations=every, settings=settings)
    lightning = make_trainer(out, trainer, goal, steps=length.steps, validations=every, callbacks=[best, resume])
    with _stoppable(lightning, last), _raised_by_threads():
        lightning.fit(module, data, ckpt_path=str(last) if last.is_file() else None, weights_only=True)
    if not lightning.is_global_zero:
        return None
    state = torch.load(best.best_model_path, map_location="cpu", weights_only=True)
    module.load_state_dict(state["state_dict"])
    broken = [name for name, weights in module.state_dict().items() if not weights.isfinite().all()]
    if broken:
        raise PronmetricError(
            f"the best weights, of step {state['global_step']}, are not finite ({broken[0]}): nothing is exported; "
            f"{NOT_FINITE_CURE}"
        )
    step, figures, device = int(state["global_step"]), state["figures"], lightning.strategy.root_device
    return Fitted(int(lightning.global_step), step, round(resume.seconds), figures, device)


@contextmanager
def _stoppable(trainer: pl.Trainer, last: Path) -> Iterator[None]:
    """Re-raise SIGINT and SIGTERM, and the loss of another process, with the step and how to resume the run."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    except (SystemExit, Terminated) as end:  # Lightning turns a KeyboardInterrupt into exit code 1
        if isinstance(end, SystemExit) and not isinstance(end.__context__, KeyboardInterrupt):
            raise
        message = _place(trainer, last)
        raise (Terminated(end.number, message) if isinstance(end, Terminated) else KeyboardInterrupt(message)) from None
    except RuntimeError as error:
        if trainer.world_size == 1 or not re.search("gloo|nccl", str(error), re.IGNORECASE):
            raise
        message = f"process {trainer.global_rank} of {trainer.world_size} lost the connection to another one"
        raise PronmetricError(f"{message} {_place(trainer, last)}") from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)  # Lightning leaves it ignored


@contextmanager
def _raised_by_threads() -> Iterator[None]:
    """Raise at the end the OSError that ended a logger's thread, as on a full disk; Python prints only a traceback."""
    before, raised = threading.excepthook, list[OSError]()

    def keep(args: threading.ExceptHookArgs) -> None:
        if isinstance(args.exc_value, OSError):
            raised.append(args.exc_value)
        else:
            before(args)

    threading.excepthook = keep
    try:
        yield
    finally:
        threading.excepthook = before
    if raised:
        raise raised[0]


def _place(trainer: pl.Trainer, last: Path) -> str:
    """Where a run stopped, and how to resume it."""
    cure = f"the same command resumes from {last}" if last.is_file() else "nothing was saved yet"
    return f"after step {trainer.global_step} of {trainer.max_steps}; {cure}"


def make_trainer(
    out: Path, options: Trainer, goal: Goal, *, steps: int, validations: int, callbacks: list[Callback]
) -> pl.Trainer:
    """Lightning's trainer for a run of `steps`, with a validation every `validations` steps."""
    if not any(importlib.util.find_spec(name) for name in ("tensorboard", "tensorboardX")):
        raise MissingExtra("tensorboard", "train", "pronmetric train")
    loggers: list[Logger] = [
        CSVLogger(str(out), name="csv"),  # a new version for each start keeps the rows of a resumed run
        TensorBoardLogger(str(out), name="", version="tensorboard"),
    ]
    callbacks = [LearningRateMonitor(logging_interval="step"), *callbacks]
    if options.patience:
        callbacks.append(
            EarlyStopping(
                monitor=goal.figure,
                mode=goal.mode,
                patience=options.patience,
                check_on_train_epoch_end=False,
            )
        )
    if options.progress:
        callbacks.append(ProgressBar(goal.figure))
    try:
        return pl.Trainer(
            accelerator=options.accelerator,
            devices=options.devices,
            num_nodes=options.num_nodes,
            strategy=options.strategy,
            precision=PRECISION[options.precision],  # type: ignore[arg-type]
            max_epochs=1,  # the data module holds all epochs
            max_steps=steps,
            gradient_clip_val=options.clip,
            val_check_interval=validations,
            num_sanity_val_steps=0,
            use_distributed_sampler=False,
            enable_model_summary=False,
            enable_progress_bar=False,  # ProgressBar shows the whole run
            log_every_n_steps=10,
            callbacks=callbacks,
            logger=loggers,
            plugins=[AtomicCheckpointIO()],
            default_root_dir=str(out),
        )
    except (MisconfigurationException, ValueError) as error:
        cure = "" if options.accelerator == "cpu" else " (trainer.accelerator=cpu trains without a GPU)"
        raise PronmetricError(f"trainer: {error}{cure}") from error


def refuse_other(out: Path, settings: Mapping[str, Any], *, results: Sequence[str]) -> None:
    """Refuse to resume a run in `out` with different settings, or to overwrite `results` of something else."""
    path = out / f"{LAST}.ckpt"
    if not path.is_file():
        for name in results:
            if (out / name).exists():
                raise InputError(
                    f"would be overwritten, and there is no {path.name} to resume from: give another out=",
                    file=out / name,
                )
        return
    try:
        before = torch.load(path, map_location="cpu", weights_only=True, mmap=True)["settings"]
    except (RuntimeError, KeyError, EOFError, pickle.UnpicklingError) as error:
        raise InputError("not a run that can be resumed: delete it, or give another out=", file=path) from error
    now, then = dict(recipe.flat(settings)), {RENAMED.get(key, key): value for key, value in recipe.flat(before)}
    for key in sorted(now.keys() | then.keys()):
        if now.get(key) != then.get(key):
            raise InputError(
                f"the run there has {key}={then.get(key)}, not {key}={now.get(key)}: give another out=, or delete it",
                file=path,
            )


@contextmanager
def prepare_process(trainer: Trainer, *, seed: int) -> Iterator[None]:
    """Set threads, seed and the size of the kernel caches; silence warnings that no user can act on."""
    limits = {name: capacity for name, capacity in KERNEL_CACHES.items() if name not in os.environ}
    os.environ.update(limits)
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    threads = torch.get_num_threads()
    torch.set_num_threads(trainer.threads or threads)
    try:
        with warnings.catch_warnings():
            for message in EXPECTED:
                warnings.filterwarnings("ignore", message=message)
            pl.seed_everything(seed, verbose=False)
            yield
    finally:
        torch.set_num_threads(threads)
        for name in limits:
            del os.environ[name]


def run_length(batches: int, trainer: Trainer) -> Length:
    """The length of a run with `batches` batches in all epochs."""
    each = batches_of_step(trainer)
    steps = batches // each
    if not steps:
        raise InputError(
            f"{batches} batches are too few for {_processes(trainer)} devices with {trainer.accumulate} batches of a "
            "step each: give smaller batches"
        )
    return Length(steps if trainer.max_steps < 0 else min(steps, trainer.max_steps), steps / trainer.max_epochs)


def batches_of_step(trainer: Trainer) -> int:
    """The batches of one optimizer step, on all devices."""
    return _processes(trainer) * trainer.accumulate


def _processes(trainer: Trainer) -> int:
    return trainer.num_nodes * max(1, torch.cuda.device_count() if trainer.devices == -1 else trainer.devices)


def steps_between(every: float, length: Length) -> int:
    """Steps from one validation to the next; if `every` is a float, it is a share of an epoch."""
    return min(length.steps, max(1, round(every * length.epoch)) if isinstance(every, float) else every)


class _InitialModel(NamedTuple):
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


def _initial_model(settings: Train) -> _InitialModel:
    """The initial model.

    With `init`: that checkpoint's encoder, and its heads if they are of the same kind. A head of another kind, and a
    pair head that the checkpoint lacks, are newly initialised.
    """
    init = settings.init
    loaded = None if init is None else files.load(init)
    if loaded is None:
        start = encoders.make(settings.encoder, data=Path(settings.data.dir))
    else:
        start = encoders.of_checkpoint(loaded, settings.encoder)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(settings.head_seed)
        head, pair_head = files.make_heads(start.encoder.width, settings.pronoun_head, settings.pair_head)
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
    scorer = PronounScorer(start.encoder, head, word_state=settings.word_state, pair_head=pair_head).train()
    return _InitialModel(scorer, start, new_head, config)


def _refuse_other_scores(model: _InitialModel, described: Model, settings: Train) -> None:
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
    if trainer.accelerator != "cpu" and torch.cuda.is_available():
        encoder.encoder.to("cuda")
    fill(states, encoder.encoder, data.collator, data.texts(), progress=trainer.progress)
    scorer.encoder = encoder
