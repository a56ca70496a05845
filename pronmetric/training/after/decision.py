"""What decides between two texts by default: the score, the errors or the preference, chosen on development pairs.

Once the head is calibrated, each of them that the scorer gives judges some development pairs of both kinds, reference
against system output (R vs S) and against noisy reference (R vs R'). The one with the highest mean of the two
accuracies is chosen, of equal ones the first of `DECISIONS`.

The same pairs give the tie thresholds (`--tie auto`): texts whose scores differ by no more are tied, so that the share
of ties is that of human answers to pairs of this kind (`pronmetric.eval.ties.PEOPLES_RATE`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.data import arrow
from pronmetric.eval.decision import DECISIONS, SCORE
from pronmetric.eval.ties import PEOPLES_RATE, choose_threshold
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.pronouns.languages import Language
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.module import accuracies

LABEL = "development pairs"  # of the progress
KINDS = ("noisy", "system")


class TieThreshold(NamedTuple):
    """A tie threshold for `by`, the numbers of pairs and of ties among them, and the human rate of ties."""

    threshold: float
    pairs: int
    ties: int
    people: float


class Choice(NamedTuple):
    """What decides (`by`), and for each of `DECISIONS` the accuracy by kind of pair and the tie threshold.

    pairs: number of pairs of each kind.
    """

    by: str
    accuracy: dict[str, dict[str, float]]
    ties: dict[str, TieThreshold]
    pairs: dict[str, int]


def choose(scorer: PairScorer, folder: Path, *, context: str, most: int, progress: bool = False) -> Choice | None:
    """The choice on the development pairs of the prepared `folder`; None where it has none.

    Args:
        scorer: of a calibrated head.
        folder: the prepared folder.
        context: of the texts.
        most: pairs of each kind, drawn by seed 0; 0 for all.
        progress: show it on stderr.
    """
    rows = arrow.read_pairs(folder, "development", kinds=("pronoun",))
    rng, known = np.random.default_rng(0), np.array(rows["kind"])
    drawn = [rng.permutation(np.flatnonzero(known == kind))[: most or None] for kind in KINDS]
    rows = rows.select(np.sort(np.concatenate(drawn)))
    columns, numbers = scorer.columns(rows, context=context, label=LABEL if progress else None)
    if not len(numbers):
        return None
    kinds = np.array(rows["kind"])[numbers]
    pairs = {kind: count for kind in KINDS if (count := int((kinds == kind).sum()))}
    accuracy = {by: {kind: accuracies(each[:, kinds == kind])[""] for kind in pairs} for by, each in columns.items()}
    noisy = {by: tie_of(each[:, kinds == "noisy"]) for by, each in columns.items()}
    ties = {by: tie for by, tie in noisy.items() if tie is not None}
    candidates = [by for by in DECISIONS if by in accuracy]
    best = max(candidates, key=lambda by: float(np.mean(list(accuracy[by].values()))))
    return Choice(best, accuracy, ties, pairs)


def record(config: Mapping[str, Any], choice: Choice | None, folder: Path, language: Language) -> dict[str, Any]:
    """A checkpoint's config with the choice, all tie thresholds, and the confusion counts of the prepared `folder`."""
    tie = None if choice is None else choice.ties.get(SCORE)
    table = ConfusionTable.load(folder / "confusion.json", forms=language.forms)
    return add_to_config(add_tie(config, tie, table), choice)


def add_to_config(config: Mapping[str, Any], choice: Choice | None) -> dict[str, Any]:
    """A checkpoint's config with what decides, how each of `DECISIONS` did, and the tie thresholds but the score's."""
    own = (checkpoint_config.DECISION, checkpoint_config.TIES)
    rest = {key: value for key, value in config.items() if key not in own}
    if choice is None:
        return rest
    ties = {by: tie.threshold for by, tie in choice.ties.items() if by != SCORE}
    training = {**config["training"], "decision": choice.accuracy, "decision_pairs": choice.pairs}
    return {**rest, checkpoint_config.DECISION: choice.by, checkpoint_config.TIES: ties, "training": training}


def tie_of(columns: np.ndarray) -> TieThreshold | None:
    """The threshold for the numbers of the better and the worse texts, the first two of the columns (4, pairs)."""
    gaps = np.abs(columns[0] - columns[1])
    gaps = gaps[np.isfinite(gaps)]
    if not len(gaps):
        return None
    threshold = float(f"{choose_threshold(gaps, PEOPLES_RATE):.6g}")  # rounded as in the signature
    return TieThreshold(threshold, len(gaps), int((gaps <= threshold).sum()), PEOPLES_RATE)


def add_tie(config: Mapping[str, Any], tie: TieThreshold | None, table: ConfusionTable) -> dict[str, Any]:
    """A checkpoint's config with its tie threshold, if any, and the confusion counts of its training data."""
    training = {**config["training"], "confusion": table.to_dict()}
    if tie is not None:
        training["tie"] = tie._asdict()
    rest = {key: value for key, value in config.items() if key not in (checkpoint_config.TIE, "training")}
    return {**rest, **({} if tie is None else {checkpoint_config.TIE: tie.threshold}), "training": training}
