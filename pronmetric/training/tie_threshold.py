"""What a checkpoint's config tells of its development and training pairs: its tie band, the pronoun pairs it met.

The band: scores of two texts that differ by no more than it are a tie (`--tie auto`). It is chosen once the head is
calibrated, on the development pairs of reference and noisy reference (R vs R'), in the context that the checkpoint was
trained with, so that as large a share of them ties as people called ties on pairs of that kind
(`pronmetric.eval.ties.PEOPLES_RATE`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from pronmetric.checkpoint import files
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.eval.ties import CONFIG_KEY, PEOPLES_RATE, tie_band
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.training.datamodule import Labeller
from pronmetric.training.module import score_pairs


class Band(NamedTuple):
    """A tie band, in the unit of segment scores; `pairs` it was chosen on, how many of them tie, people's rate."""

    band: float
    pairs: int
    ties: int
    people: float


def choose(scorer: PronounScorer, labeller: Labeller, folder: Path, *, context: str) -> Band | None:
    """The band on the noisy development pairs of the prepared `folder`; None where it has none.

    The scorer is on the CPU and its head calibrated. Pairs with a text that is read in windows, or that has no score,
    are left out.
    """
    rows = arrow.read_pairs(folder, "development", kinds=("pronoun",))
    rows = rows.select([i for i, kind in enumerate(rows["kind"]) if kind == "noisy"])
    if not len(rows):
        return None
    (better, worse, *_), _ = score_pairs(scorer.eval(), labeller, rows, context=context)
    found = np.abs(better - worse)
    found = found[np.isfinite(found)]
    if not len(found):
        return None
    band = float(f"{tie_band(found, PEOPLES_RATE):.6g}")  # what the signature shows is what is used
    return Band(band, len(found), int((found <= band).sum()), PEOPLES_RATE)


def told(config: Mapping[str, Any], band: Band | None, table: ConfusionTable) -> dict[str, Any]:
    """A checkpoint's config with its band, if any, and the (right, wrong) pronoun counts of its training data."""
    training = {**config["training"], "confusion": table.to_dict()}
    if band is not None:
        training["tie"] = band._asdict()
    rest = {key: value for key, value in config.items() if key not in (CONFIG_KEY, "training")}
    return {**rest, **({} if band is None else {CONFIG_KEY: band.band}), "training": training}


def add(folder: Path, data: Path, *, any_data: bool = False) -> Band | None:
    """Choose the band of a finished checkpoint and write it, with the pronoun pairs, into its config.

    Args:
        folder: of the checkpoint; its weights stay as they are.
        data: the prepared folder that it was trained on.
        any_data: take `data` also where the config names another one.

    Raises:
        InputError: one of the two is none, or the checkpoint was trained on other data.
    """
    for name in ("manifest.json", "confusion.json"):
        if not (data / name).is_file():
            raise InputError(f"no prepared data: expected {name}; give a folder of `pronmetric prepare`", file=data)
    loaded = files.load(folder)
    before = loaded.config.get("training", {}).get("data", {}).get("manifest")
    here = files.hash_file(data / "manifest.json")
    if before != here and not any_data:
        raise InputError(
            f"trained on data with manifest {before}, these have {here}: give the folder that it was trained on, or "
            "--any_data where this one holds the same test sets",
            file=folder,
        )
    labeller = Labeller(loaded.collator, forms=loaded.config["pronouns"])
    band = choose(loaded.model, labeller, data, context=loaded.config["context"])
    config = yaml.safe_load((folder / files.CONFIG).read_text(encoding="utf-8"))
    config.setdefault("training", {})
    files.write_config(folder, told(config, band, ConfusionTable.load(data / "confusion.json")))
    return band
