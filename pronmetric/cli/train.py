"""`pronmetric train`: prepared data to a metric."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pronmetric.cli import hydra_app
from pronmetric.errors import InputError

if TYPE_CHECKING:
    from omegaconf import DictConfig

DESCRIPTION = """Train the metric on what `pronmetric prepare` wrote (data.dir=DIR).

Writes to out=DIR: checkpoint/ (what `score --model` takes), logs (CSV, TensorBoard), and best.ckpt and last.ckpt. A
run that was stopped goes on from last.ckpt when the same command is given again."""


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return hydra_app.run("train", argv, _job, description=DESCRIPTION)


def _job(cfg: DictConfig) -> None:
    from omegaconf import OmegaConf

    folder = Path(cfg.data.dir)
    if not (folder / "manifest.json").is_file():
        raise InputError("no prepared data: expected a folder that `pronmetric prepare` wrote", file=folder)
    plain = OmegaConf.to_container(cfg, resolve=True)
    assert isinstance(plain, dict)

    from pronmetric import address
    from pronmetric.training.run import train

    options = {str(key): value for key, value in plain.items() if key != "experiment"}
    options["context"] = options["context"]["name"]
    if options["init"] is not None:
        options["init"] = address.locate(options["init"], allow_network=False).folder
    result = train(options.pop("out"), **options)
    if result is None:  # the first process of several says it
        return
    for name, value in sorted(result.figures.items()):
        print(f"{name}\t{value:.4f}")
    if options["head"]["kind"] == "logit" and result.calibration is None:
        print("not calibrated: too few natural errors in the development set, or nothing learned", file=sys.stderr)
    print(f"checkpoint {result.folder} ({result.hash})", file=sys.stderr)
