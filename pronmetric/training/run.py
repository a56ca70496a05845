"""A training run from start to exported checkpoint; it goes on where it was when its folder holds one."""

from __future__ import annotations

import importlib.util
import logging
import pickle
import signal
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
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
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files
from pronmetric.data import arrow
from pronmetric.data.collate import Collator
from pronmetric.errors import InputError, MissingExtra, PronmetricError, Terminated
from pronmetric.nn.scorer import PronounScorer, make_head
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.training import encoders, tie_threshold
from pronmetric.training.calibrate import Fit, natural_rate, on_references, to_training
from pronmetric.training.callbacks import Bar, Place, WholeFiles
from pronmetric.training.datamodule import PronounData
from pronmetric.training.encoder_cache import fill, stored
from pronmetric.training.encoders import Start
from pronmetric.training.module import NOT_FINITE_CURE, ScorerModule
from pronmetric.training.prepared import Prepared

LAST, BEST, EXPORT = "last", "best", "checkpoint"
PRECISION = {"32": "32-true", "bf16": "bf16-mixed", "16": "16-mixed"}
FIRST_BATCHES = 20  # of passages, which a calibrated checkpoint is fitted to before training goes on from it
LOG = logging.getLogger(__name__)
FREE = ("accelerator", "threads", "workers", "save_every", "progress")  # settings that a run may go on with others of

# What Lightning and torch say of this set-up and a user can do nothing about.
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
    """The development figure that tells the best weights; mode: whether "max" or "min" is best."""

    figure: str
    mode: Literal["max", "min"]


ACCURACY = Goal("development/accuracy", "max")


@dataclass(frozen=True, slots=True)
class Result:
    """What a run left: the exported folder, its weight hash, its development figures; calibration where it could be."""

    folder: Path
    hash: str
    figures: dict[str, float]
    calibration: Fit | None


def train(
    out: str | Path,
    *,
    data: Mapping[str, Any],
    encoder: Mapping[str, Any],
    head: Mapping[str, Any],
    loss: Mapping[str, Any],
    objective: Mapping[str, Any],
    context: str,
    optim: Mapping[str, Any],
    trainer: Mapping[str, Any],
    word_state: str,
    separator: bool,
    init: str | Path | None,
    half: bool,
    seed: int,
    head_seed: int,
    states: str | Path | None = None,
) -> Result | None:
    """Train, keep the best weights by development pair accuracy, and export them to `out`/checkpoint.

    The arguments are those of `pronmetric.training.settings.Train.options`. A run that was killed goes on from
    `out`/last.ckpt and ends with the weights it would have had. None in the further processes of a run on several
    devices: the first one exports. `states` is a folder that keeps what a frozen encoder says of the texts, for
    this run and others. `head_seed` is that of a head's first weights: only runs that began with the same ones average.

    Raises:
        PronmetricError: a setting or the prepared folder is wrong, or `out` holds a run of other settings.
    """
    out, folder = Path(out), Path(data["dir"])
    settings: dict[str, Any] = {
        "data": {**data, "dir": files.hash_file(folder / "manifest.json")},
        "encoder": dict(encoder),
        "head": dict(head),
        "loss": dict(loss),
        "objective": dict(objective),
        "context": context,
        "optim": dict(optim),
        "trainer": {key: value for key, value in trainer.items() if key not in FREE},
        "word_state": word_state,
        "separator": separator,
        "init": None if init is None else str(init),
        "seed": seed,
        "head_seed": head_seed,
    }
    head = {"dropout": 0.0, "slots": 0, **head}  # a checkpoint's config has the keys of all kinds
    manifest = arrow.read_manifest(folder)
    rate, prepared = natural_rate(manifest), Prepared.of(manifest)
    refuse_other(out, settings, results=(EXPORT,))
    with begun(trainer, seed=seed):
        model = _model(encoder, head, word_state=word_state, init=init, data=folder, head_seed=head_seed)
        scorer, start = model.scorer, model.start
        max_pieces = min(encoder["max_pieces"], start.encoder.max_pieces)
        module_data = PronounData(
            folder,
            Collator(start.pieces, max_pieces=max_pieces, separator=separator),
            epochs=trainer["max_epochs"],
            inventory=prepared.forms,
            context=context,
            pieces=data["pieces"],
            pair_share=1.0 if objective["kind"] == "pairs" else objective["pair_share"],
            system_share=objective["system_share"],
            source_weight=objective.get("source_weight"),
            form_weight=objective.get("form_weight"),
            corruption=objective["corruption"],
            development=data["development"],
            agreeing=data["agreeing"],
            workers=trainer["workers"],
            seed=seed,
            batch=data["batch"],
            coreference=data["coreference"],
        )
        if states is not None:
            _store(scorer, module_data, Path(states), trainer)
        first = to_training(scorer, module_data.passages(FIRST_BATCHES)) if model.calibrated else None
        steps, epoch = run_length(len(module_data.steps()), trainer)
        module = ScorerModule(scorer, loss=loss, objective=objective, optim=optim, steps=steps, epoch=epoch, seed=seed)
        best = fitted(
            module, module_data, out, trainer=trainer, goal=ACCURACY, settings=settings, steps=steps, epoch=epoch
        )
        if best is None:
            return None
        calibration = None
        if scorer.probability:
            calibration = on_references(
                scorer,
                module_data.collator,
                folder,
                context=context,
                forms=prepared.forms,
                rate=rate,
                seed=seed,
            )
        tie = tie_threshold.choose(scorer, module_data.labeller, folder, context=context)
        scorer.encoder = start.encoder
    annotated = module_data.annotated
    config: dict[str, Any] = {
        "format": files.FORMAT,
        "encoder": start.encoder.config | start.pieces.config,
        "head": dict(head),
        "word_state": word_state,
        "segment": checkpoint_config.SEGMENT[head["kind"]],
        "max_pieces": max_pieces,
        "separator": separator,
        "context": context,
        "context_size": prepared.context_size,
        "pronouns": list(prepared.forms),
        "training": {
            "version": pronmetric.__version__,
            "data": {"manifest": settings["data"]["dir"], "splits": manifest["splits"]},
            "seed": seed,
            "head_seed": head_seed if model.fresh else None,
            "steps": best.steps,
            "best_step": best.best_step,
            "seconds": best.seconds,
            "init": None if init is None else files.hash_file(Path(init) / files.WEIGHTS),
            **({"init_calibration": first._asdict()} if first is not None else {}),
            **({"encoder": start.told} if start.told else {}),
            **({"coreference": {**annotated, "weight": objective["antecedent"]}} if annotated else {}),
            "figures": best.figures,
            "calibration": None if calibration is None else calibration._asdict(),
        },
    }
    config = tie_threshold.told(config, tie, ConfusionTable.load(folder / "confusion.json"))
    digest = files.save(out / EXPORT, scorer, start.pieces, config, half=half)
    return Result(out / EXPORT, digest, best.figures, calibration)


class Fitted(NamedTuple):
    """What a run reached: its steps, the best of them by the goal with its figures, and the time all of it took."""

    steps: int
    best_step: int
    seconds: int
    figures: dict[str, float]


def fitted(
    module: pl.LightningModule,
    data: pl.LightningDataModule,
    out: Path,
    *,
    trainer: Mapping[str, Any],
    goal: Goal,
    settings: Mapping[str, Any],
    steps: int,
    epoch: float,
) -> Fitted | None:
    """Train `module` from where the run in `out` stands, and give it the weights of its best validation.

    None in the further processes of a run on several devices. `settings` are kept for `refuse_other`.
    """
    going_on = out / f"{LAST}.ckpt"
    best = ModelCheckpoint(
        dirpath=out,
        filename=BEST,
        monitor=goal.figure,
        mode=goal.mode,
        save_on_train_epoch_end=False,
        enable_version_counter=False,
    )
    every = steps_between(trainer["validate_every"], steps=steps, epoch=epoch)
    place = Place(going_on, every=trainer["save_every"], validations=every, settings=settings)
    lightning = make_trainer(out, trainer, goal, steps=steps, validations=every, callbacks=[best, place])
    with _stoppable(lightning, going_on):
        lightning.fit(module, data, ckpt_path=str(going_on) if going_on.is_file() else None, weights_only=True)
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
    return Fitted(int(lightning.global_step), int(state["global_step"]), round(place.seconds), state["figures"])


@contextmanager
def _stoppable(trainer: pl.Trainer, going_on: Path) -> Iterator[None]:
    """Pass SIGINT and SIGTERM on with the step that the run had reached, and with what goes on from there."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    except (SystemExit, Terminated) as end:  # Lightning turns a KeyboardInterrupt into exit code 1
        if isinstance(end, SystemExit) and not isinstance(end.__context__, KeyboardInterrupt):
            raise
        cure = f"the same command goes on from {going_on}" if going_on.is_file() else "nothing was kept yet"
        told = f"after step {trainer.global_step} of {trainer.max_steps}; {cure}"
        raise (Terminated(end.number, told) if isinstance(end, Terminated) else KeyboardInterrupt(told)) from None
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)  # Lightning leaves it ignored


def make_trainer(
    out: Path, options: Mapping[str, Any], goal: Goal, *, steps: int, validations: int, callbacks: list[Callback]
) -> pl.Trainer:
    """The Lightning trainer of one `trainer` group, for a run of `steps`, validated every `validations` of them."""
    if not any(importlib.util.find_spec(name) for name in ("tensorboard", "tensorboardX")):
        raise MissingExtra("tensorboard", "train", "pronmetric train")
    loggers: list[Logger] = [
        CSVLogger(str(out), name="csv"),  # a version for each start: the rows of a run that goes on stay
        TensorBoardLogger(str(out), name="", version="tensorboard"),
    ]
    callbacks = [LearningRateMonitor(logging_interval="step"), *callbacks]
    if options["patience"]:
        callbacks.append(
            EarlyStopping(
                monitor=goal.figure,
                mode=goal.mode,
                patience=options["patience"],
                check_on_train_epoch_end=False,
            )
        )
    if options["progress"]:
        callbacks.append(Bar(goal.figure))
    try:
        return pl.Trainer(
            accelerator=options["accelerator"],
            devices=options["devices"],
            strategy=options["strategy"],
            precision=PRECISION[options["precision"]],  # type: ignore[arg-type]
            max_epochs=1,  # all of ours
            max_steps=steps,
            gradient_clip_val=options["clip"],
            val_check_interval=validations,
            num_sanity_val_steps=0,
            use_distributed_sampler=False,
            enable_model_summary=False,
            enable_progress_bar=False,  # Bar shows the whole run
            log_every_n_steps=10,
            callbacks=callbacks,
            logger=loggers,
            plugins=[WholeFiles()],
            default_root_dir=str(out),
        )
    except (MisconfigurationException, ValueError) as error:
        raise PronmetricError(f"trainer: {error}") from error


def refuse_other(out: Path, settings: Mapping[str, Any], *, results: Sequence[str]) -> None:
    """Refuse to go on with a run in `out` whose settings were others, and to overwrite `results` without such a run."""
    path = out / f"{LAST}.ckpt"
    if not path.is_file():
        for name in results:
            if (out / name).exists():
                raise InputError(
                    f"would be overwritten, and no {path.name} of a run to resume is beside it: give another out=",
                    file=out / name,
                )
        return
    try:
        before = torch.load(path, map_location="cpu", weights_only=True, mmap=True)["settings"]
    except (RuntimeError, KeyError, EOFError, pickle.UnpicklingError) as error:
        raise InputError("no run that can go on: delete it, or give another out=", file=path) from error
    now, then = dict(_flat(settings)), dict(_flat(before))
    for key in sorted(now.keys() | then.keys()):
        if now.get(key) != then.get(key):
            raise InputError(
                f"a run with {key}={then.get(key)} stands here, and {key}={now.get(key)} came: give another out=, or "
                "delete it",
                file=path,
            )


def _flat(tree: Mapping[str, Any], parent: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{parent}{key}.")
        else:
            yield f"{parent}{key}", value


@contextmanager
def begun(trainer: Mapping[str, Any], *, seed: int) -> Iterator[None]:
    """Begin a run: its threads and its seed, without what Lightning and torch say that is of no use."""
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    threads = torch.get_num_threads()
    torch.set_num_threads(trainer["threads"] or threads)
    try:
        with warnings.catch_warnings():
            for message in EXPECTED:
                warnings.filterwarnings("ignore", message=message)
            pl.seed_everything(seed, verbose=False)
            yield
    finally:
        torch.set_num_threads(threads)


def run_length(batches: int, trainer: Mapping[str, Any]) -> tuple[int, float]:
    """Optimizer steps of the whole run, and of an epoch, where all epochs together have so many batches."""
    devices = trainer["devices"]
    world = max(1, torch.cuda.device_count() if devices == -1 else devices)
    steps = batches // world
    if not steps:
        raise InputError(f"{batches} batches are too few for {world} devices: give smaller batches")
    epoch = steps / trainer["max_epochs"]
    return (steps if trainer["max_steps"] < 0 else min(steps, trainer["max_steps"])), epoch


def steps_between(every: float, *, steps: int, epoch: float) -> int:
    """Steps from one validation to the next; a float `every` is a share of an epoch."""
    return min(steps, max(1, round(every * epoch)) if isinstance(every, float) else every)


class _Model(NamedTuple):
    """What a run starts from.

    start: where its encoder comes from. fresh: whether its head starts afresh. calibrated: whether its head is that of
    a checkpoint that was calibrated.
    """

    scorer: PronounScorer
    start: Start
    fresh: bool
    calibrated: bool


def _model(
    encoder: Mapping[str, Any],
    head: Mapping[str, Any],
    *,
    word_state: str,
    init: str | Path | None,
    data: Path,
    head_seed: int,
) -> _Model:
    """The model to start from.

    With `init`, that checkpoint's encoder, and its head where it is one of the same kind; a head of another
    kind starts afresh.
    """
    loaded = None if init is None else files.load(init)
    start = encoders.make(encoder, data=data) if loaded is None else encoders.of_checkpoint(loaded, encoder)
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(head_seed)
        made = make_head(head["kind"], start.encoder.width, dropout=head["dropout"], slots=head["slots"])
    fresh, calibrated = True, False
    if loaded is not None and _same_head(loaded.config, head):
        made.load_state_dict(loaded.model.head.state_dict())
        fresh, calibrated = False, loaded.config.get("training", {}).get("calibration") is not None
    elif loaded is not None:
        LOG.warning("init=%s has another head than this run: the encoder is taken, the head starts afresh", init)
    return _Model(PronounScorer(start.encoder, made, word_state=word_state).train(), start, fresh, calibrated)


def _store(scorer: PronounScorer, data: PronounData, root: Path, trainer: Mapping[str, Any]) -> None:
    """Let the scorer look up what its encoder says of the data, all of which is stored first."""
    encoder, states = stored(scorer.encoder, root)
    if trainer["accelerator"] != "cpu" and torch.cuda.is_available():
        encoder.encoder.to("cuda")
    fill(states, encoder.encoder, data.collator, data.texts(), progress=trainer["progress"])
    scorer.encoder = encoder


def _same_head(config: Mapping[str, Any], head: Mapping[str, Any]) -> bool:
    """Whether the head of a checkpoint's config has the weights that `head` describes."""
    kinds = config["head"]["kind"], head["kind"]
    return kinds[0] == kinds[1] and (kinds[0] != "paper" or config["head"]["slots"] == head["slots"])
