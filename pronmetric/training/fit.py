"""The engine of a training run: a trainer, the best weights, resuming a stopped run, the state of the process."""

from __future__ import annotations

import importlib.util
import logging
import os
import pickle
import re
import signal
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, EarlyStopping, LearningRateMonitor, ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger, Logger, TensorBoardLogger, WandbLogger
from pytorch_lightning.utilities.exceptions import MisconfigurationException

from pronmetric.errors import InputError, MissingExtra, PronmetricError, Terminated
from pronmetric.training.callbacks import LOG_EVERY, AtomicCheckpointIO, ProgressBar, ResumePoint
from pronmetric.training.card import recipe
from pronmetric.training.groups import LoggerName, Trainer
from pronmetric.training.module import NOT_FINITE_CURE, Length
from pronmetric.training.settings import CHECKPOINT

LAST, BEST, EXPORT = "last", "best", CHECKPOINT  # names of files and of the exported folder
PRECISION = {"32": "32-true", "bf16": "bf16-mixed", "16": "16-mixed"}
# oneDNN compiles kernels for the shapes of each batch, which hardly ever recur: its defaults, 1,024 kernels in each of
# two caches, hold gigabytes. The variables are read at the first such operation.
KERNEL_CACHES = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "16", "LRU_CACHE_CAPACITY": "16"}

# Warnings of Lightning and torch that no user can act on.
EXPECTED = (
    r"Checkpoint directory .* exists and is not empty",
    r"You're resuming from a checkpoint that ended before the epoch ended and your dataloader is not resumable",
    r"The number of training batches \(\d+\) is smaller than the logging interval",
    r"The '\w+' does not have many workers",
    r"`isinstance\(treespec, LeafSpec\)` is deprecated",
    r"GPU available but not used",
    r"Found \d+ module\(s\) in eval mode at the start of training",  # of frozen parts, on purpose
    r"This process .* is multi-threaded, use of fork\(\) may lead to deadlocks",
)


class Goal(NamedTuple):
    """The development figure that selects the best weights; mode: whether "max" or "min" is best."""

    figure: str
    mode: Literal["max", "min"]


class FitResult(NamedTuple):
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
) -> FitResult | None:
    """Train `module`, resuming the run in `out` if there is one, and load the weights of its best validation.

    The weights of the last step are saved before they are validated: of a run that stops there only the validation is
    done again. On several devices all processes but the first return None. `settings` are saved for `refuse_other`.
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
    trained = _not_validated(last, length)
    with _stoppable(lightning, last), _raised_by_threads():
        if trained is None:
            lightning.fit(module, data, ckpt_path=str(last) if last.is_file() else None, weights_only=True)
        else:
            _validate(lightning, module, data, trained, best=best, resume=resume)
    if not lightning.is_global_zero:
        return None
    state = torch.load(out / f"{BEST}.ckpt", map_location="cpu", weights_only=True)
    module.load_state_dict(state["state_dict"])
    broken = [name for name, weights in module.state_dict().items() if not weights.isfinite().all()]
    if broken:
        raise PronmetricError(
            f"the best weights, of step {state['global_step']}, are not finite ({broken[0]}): nothing is exported; "
            f"{NOT_FINITE_CURE}"
        )
    step, figures, device = int(state["global_step"]), state["figures"], lightning.strategy.root_device
    steps = int(lightning.global_step) if trained is None else length.steps
    return FitResult(steps, step, round(resume.seconds), figures, device)


def _not_validated(last: Path, length: Length) -> dict[str, Any] | None:
    """The state of a run that made its last step and stopped before it was validated; None for any other."""
    if not last.is_file():
        return None
    state: dict[str, Any] = torch.load(last, map_location="cpu", weights_only=True, mmap=True)
    return state if state["global_step"] == length.steps and not state["over"] else None


def _validate(
    lightning: pl.Trainer,
    module: pl.LightningModule,
    data: pl.LightningDataModule,
    state: dict[str, Any],
    *,
    best: ModelCheckpoint,
    resume: ResumePoint,
) -> None:
    """Validate the last step of a run and save it as Lightning does at the end of a run, which cannot be resumed there.

    state: of the last step.
    """
    module.load_state_dict(state["state_dict"])
    resume.add_seconds(state["seconds"])
    best.load_state_dict(state["callbacks"][best.state_key])
    lightning.validate(module, data, verbose=False)
    if lightning.is_global_zero:
        module.on_save_checkpoint(state)  # adds the figures
        state |= {"over": True, "seconds": resume.seconds}
        assert best.monitor is not None and best.dirpath is not None
        if best.check_monitor_top_k(lightning, lightning.callback_metrics[best.monitor]):
            AtomicCheckpointIO().save_checkpoint(state, Path(best.dirpath) / f"{BEST}.ckpt")
        AtomicCheckpointIO().save_checkpoint(state, resume.path)


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
            log_every_n_steps=LOG_EVERY,
            callbacks=callbacks,
            logger=[make_logger(name, out) for name in dict.fromkeys(options.logger)],
            plugins=[AtomicCheckpointIO()],
            default_root_dir=str(out),
        )
    except (MisconfigurationException, ValueError) as error:
        cure = "" if options.accelerator == "cpu" else " (trainer.accelerator=cpu trains without a GPU)"
        raise PronmetricError(f"trainer: {error}{cure}") from error


def make_logger(name: LoggerName, out: Path) -> Logger:
    """One of Lightning's loggers, which writes below `out`.

    Raises:
        PronmetricError: its package is not installed.
    """
    if name == "CSVLogger":
        return CSVLogger(str(out), name="csv")  # a new version for each start keeps the rows of a resumed run
    if name == "WandbLogger":
        if importlib.util.find_spec("wandb") is None:
            raise PronmetricError("trainer.logger=WandbLogger needs wandb, which is not installed: pip install wandb")
        return WandbLogger(name=out.name, save_dir=str(out))
    if not any(importlib.util.find_spec(package) for package in ("tensorboard", "tensorboardX")):
        raise MissingExtra("tensorboard", "train", "trainer.logger=TensorBoardLogger")
    return TensorBoardLogger(str(out), name="", version="tensorboard")


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
    now, then = dict(recipe.flat(settings)), dict(recipe.flat(before))
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


def default_device() -> torch.device:
    """The first GPU of CUDA, if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def training_device(trainer: Trainer) -> torch.device:
    """The device on which this process trains, known before Lightning's trainer is made."""
    if trainer.accelerator in ("gpu", "cuda", "auto") and torch.cuda.is_available():
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", os.environ.get("SLURM_LOCALID", "0"))))
    if trainer.accelerator in ("gpu", "mps", "auto") and torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


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
