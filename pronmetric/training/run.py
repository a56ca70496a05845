"""A training run from start to exported checkpoint; it goes on where it was when its folder holds one."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, EarlyStopping, LearningRateMonitor, ModelCheckpoint, TQDMProgressBar
from pytorch_lightning.loggers import CSVLogger, Logger, TensorBoardLogger

import pronmetric
from pronmetric import checkpoint
from pronmetric.corrupt import ConfusionTable
from pronmetric.data import arrow
from pronmetric.data.collate import Collator
from pronmetric.nn.scorer import PronounScorer, make_head
from pronmetric.pronouns import FORMS
from pronmetric.training.calibrate import Fit, calibrate, natural_rate, noised
from pronmetric.training.datamodule import PronounData
from pronmetric.training.encoders import pretrained
from pronmetric.training.module import ScorerModule

LAST, BEST, EXPORT = "last", "best", "checkpoint"
PRECISION = {"32": "32-true", "bf16": "bf16-mixed", "16": "16-mixed"}


@dataclass(frozen=True, slots=True)
class Result:
    """What a run left: the exported folder, its weight hash, and the best development figures."""

    folder: Path
    hash: str
    figures: dict[str, float]


class Place(Callback):
    """Keeps the place in the epoch in the checkpoint, so that the data module goes on from the next step."""

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Note how many batches of this epoch are done; 0 when the epoch is over."""
        progress = trainer.fit_loop.epoch_loop.batch_progress
        checkpoint["batches_done"] = 0 if progress.is_last_batch else progress.current.ready

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Tell the data module."""
        trainer.datamodule.first = checkpoint["batches_done"]  # type: ignore[attr-defined]


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
    init: str | Path | None,
    half: bool,
    seed: int,
) -> Result:
    """Train, keep the best weights by development pair accuracy, and export them to `out`/checkpoint.

    The arguments are the groups of `conf/train.yaml`, as plain values.
    """
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    logging.getLogger("pytorch_lightning").setLevel(logging.WARNING)
    if trainer["threads"]:
        torch.set_num_threads(trainer["threads"])
    pl.seed_everything(seed, verbose=False)
    scorer, tokenizer, max_pieces = _scorer(encoder, head, word_state=word_state, init=init)
    module_data = PronounData(
        data["dir"],
        Collator(tokenizer, max_pieces=max_pieces),
        inventory=FORMS,
        context=context,
        pieces=data["pieces"],
        pair_share=objective["pair_share"],
        corruption=objective["corruption"],
        development=data["development"],
        agreeing=data["agreeing"],
        workers=trainer["workers"],
        seed=seed,
    )
    world = max(1, _devices(trainer))
    steps = trainer["max_steps"]
    if steps < 0:
        steps = sum(len(module_data.steps(epoch)) // world for epoch in range(trainer["max_epochs"]))
    module = ScorerModule(scorer, loss=loss, objective=objective, optim=optim, steps=steps, seed=seed)
    fit = make_trainer(out, trainer, steps=steps)
    going_on = out / f"{LAST}.ckpt"
    began = time.monotonic()
    fit.fit(module, module_data, ckpt_path=str(going_on) if going_on.is_file() else None, weights_only=True)
    best = fit.checkpoint_callback.best_model_path  # type: ignore[union-attr]
    figures = {k: float(v) for k, v in fit.callback_metrics.items() if k.startswith("development/")}
    if best:
        state = torch.load(best, map_location="cpu", weights_only=True)
        module.load_state_dict(state["state_dict"])
        figures = {**figures, "development/accuracy": float(fit.checkpoint_callback.best_model_score)}  # type: ignore[union-attr]
    calibration = None
    if scorer.probability:
        calibration = _calibrate(scorer, module_data, Path(data["dir"]), context=context, seed=seed)._asdict()
    training = {
        "version": pronmetric.__version__,
        "data": _manifest(Path(data["dir"])),
        "seed": seed,
        "steps": int(fit.global_step),
        "seconds": round(time.monotonic() - began),
        "init": None if init is None else str(init),
        "figures": figures,
        "calibration": calibration,
    }
    config = {
        "format": checkpoint.FORMAT,
        "encoder": scorer.encoder.config,  # type: ignore[attr-defined]
        "head": dict(head),
        "word_state": word_state,
        "segment": "mean",
        "max_pieces": max_pieces,
        "context": context,
        "pronouns": list(FORMS),
        "training": training,
    }
    digest = checkpoint.save(out / EXPORT, scorer, tokenizer, config, half=half)
    return Result(out / EXPORT, digest, figures)


def make_trainer(out: Path, options: Mapping[str, Any], *, steps: int) -> pl.Trainer:
    """The Lightning trainer of one `trainer` group."""
    every = options["validate_every"]
    loggers: list[Logger] = [
        CSVLogger(str(out), name="", version="csv"),
        TensorBoardLogger(str(out), name="", version="tensorboard"),
    ]
    callbacks: list[Callback] = [
        Place(),
        ModelCheckpoint(
            dirpath=out,
            filename=BEST,
            monitor="development/accuracy",
            mode="max",
            save_top_k=1,
            enable_version_counter=False,
        ),
        ModelCheckpoint(
            dirpath=out,
            filename=LAST,
            every_n_train_steps=options["save_every"],
            save_top_k=1,
            enable_version_counter=False,
        ),
        LearningRateMonitor(logging_interval="step"),
    ]
    if options["patience"]:
        callbacks.append(EarlyStopping(monitor="development/accuracy", mode="max", patience=options["patience"]))
    if options["progress"]:
        callbacks.append(TQDMProgressBar(refresh_rate=10))
    return pl.Trainer(
        accelerator=options["accelerator"],
        devices=options["devices"],
        strategy=options["strategy"],
        precision=PRECISION[str(options["precision"])],  # type: ignore[arg-type]
        max_epochs=options["max_epochs"],
        max_steps=steps,
        gradient_clip_val=options["clip"],
        val_check_interval=every,
        check_val_every_n_epoch=1,
        reload_dataloaders_every_n_epochs=1,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
        enable_model_summary=False,
        enable_progress_bar=options["progress"],
        log_every_n_steps=10,
        callbacks=callbacks,
        logger=loggers,
        default_root_dir=str(out),
    )


def _scorer(
    encoder: Mapping[str, Any], head: Mapping[str, Any], *, word_state: str, init: str | Path | None
) -> tuple[PronounScorer, Any, int]:
    if init is not None:
        loaded = checkpoint.load(init)
        return loaded.model.train(), loaded.tokenizer, int(loaded.config["max_pieces"])
    model, tokenizer = pretrained(
        encoder["name"],
        package=encoder["package"],
        dropout=encoder["dropout"],
        allow_network=encoder["allow_network"],
    )
    forms = len(FORMS) if head["correction"] else 0
    made = make_head(head["kind"], model.width, forms=forms, dropout=head["dropout"], slots=head["slots"])
    return (
        PronounScorer(model, made, word_state=word_state).train(),
        tokenizer,
        min(encoder["max_pieces"], model.max_pieces),
    )


def _calibrate(scorer: PronounScorer, data: PronounData, folder: Path, *, context: str, seed: int) -> Fit:
    """Calibrate on the development references, at the error rate that `prepare` counted."""
    rate = natural_rate(json.loads((folder / "manifest.json").read_text(encoding="utf-8")))
    table = ConfusionTable.load(folder / "confusion.json")
    rows = arrow.read_pairs(folder, "development")
    items = list(noised(rows, context=context, table=table, rate=rate, seed=seed))
    return calibrate(scorer, data.collator, items, rate=rate)


def _devices(options: Mapping[str, Any]) -> int:
    if options["devices"] == -1:
        return torch.cuda.device_count()
    return int(options["devices"])


def _manifest(folder: Path) -> dict[str, Any]:
    """What the card tells of the prepared data: its manifest's hash and split sizes."""
    path = folder / "manifest.json"
    return {"manifest": checkpoint.hash_file(path), "splits": json.loads(path.read_text(encoding="utf-8"))["splits"]}
