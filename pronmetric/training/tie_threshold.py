"""The tie threshold of a checkpoint (`--tie auto`): texts whose scores differ by no more are tied.

It is chosen after calibration, on development pairs of reference and noisy reference (R vs R'), in the context of
training, so that the share of ties is that of human answers to pairs of this kind
(`pronmetric.eval.ties.PEOPLES_RATE`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.data import arrow
from pronmetric.eval.decision import SCORE
from pronmetric.eval.ties import PEOPLES_RATE, choose_threshold
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.training.pair_scorer import PairScorer


class TieThreshold(NamedTuple):
    """A tie threshold for `by`, the numbers of pairs and of ties among them, and the human rate of ties."""

    threshold: float
    pairs: int
    ties: int
    people: float


def choose(scorer: PairScorer, folder: Path, *, context: str) -> TieThreshold | None:
    """The threshold of scores from all noisy development pairs of the prepared `folder`; None without such pairs.

    The scorer's head is calibrated. Pairs with a text that is split into windows, or has no score, are left out.
    """
    rows = arrow.read_pairs(folder, "development", kinds=("pronoun",))
    rows = rows.select([i for i, kind in enumerate(rows["kind"]) if kind == "noisy"])
    columns, numbers = scorer.columns(rows, context=context)
    return of_columns(columns[SCORE]) if len(numbers) else None


def of_columns(columns: np.ndarray) -> TieThreshold | None:
    """The threshold for the numbers of the better and the worse texts, the first two of the columns (4, pairs)."""
    found = np.abs(columns[0] - columns[1])
    found = found[np.isfinite(found)]
    if not len(found):
        return None
    threshold = float(f"{choose_threshold(found, PEOPLES_RATE):.6g}")  # rounded as in the signature
    return TieThreshold(threshold, len(found), int((found <= threshold).sum()), PEOPLES_RATE)


def add_to_config(config: Mapping[str, Any], tie: TieThreshold | None, table: ConfusionTable) -> dict[str, Any]:
    """A checkpoint's config with its tie threshold, if any, and the confusion counts of its training data."""
    training = {**config["training"], "confusion": table.to_dict()}
    if tie is not None:
        training["tie"] = tie._asdict()
    rest = {key: value for key, value in config.items() if key not in (checkpoint_config.TIE, "training")}
    return {**rest, **({} if tie is None else {checkpoint_config.TIE: tie.threshold}), "training": training}
