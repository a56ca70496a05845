"""What decides between two texts by default: the score, the errors or the preference, chosen on development pairs.

Once the head is calibrated, each of them that the scorer gives judges the development pairs of both kinds, reference
against system output (R vs S) and against noisy reference (R vs R'). The one with the highest mean of the two
accuracies is chosen, of equal ones the first of `DECISIONS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.data import arrow
from pronmetric.eval.decision import DECISIONS, SCORE
from pronmetric.nn.scorer import PronounScorer
from pronmetric.training import tie_threshold
from pronmetric.training.datamodule import Labeller
from pronmetric.training.module import accuracies, score_pairs
from pronmetric.training.tie_threshold import TieThreshold

LABEL = "development pairs"  # of the progress
KINDS = ("noisy", "system")
MOST = 2000  # pairs of a kind, drawn by seed 0


class Choice(NamedTuple):
    """What decides (`by`), and for each of `DECISIONS` the accuracy by kind of pair and the tie threshold."""

    by: str
    accuracy: dict[str, dict[str, float]]
    ties: dict[str, TieThreshold]


def choose(
    scorer: PronounScorer, labeller: Labeller, folder: Path, *, context: str, progress: bool = False
) -> Choice | None:
    """The choice on the development pairs of the prepared `folder`, `MOST` of a kind; None where it has none.

    The scorer is on the CPU and its head calibrated. Tie thresholds are those of `pronmetric.training.tie_threshold`.
    progress: show it on stderr.
    """
    rows = arrow.read_pairs(folder, "development", kinds=("pronoun",))
    if not len(rows):
        return None
    rng, known = np.random.default_rng(0), np.array(rows["kind"])
    drawn = [rng.permutation(np.flatnonzero(known == kind))[:MOST] for kind in KINDS]
    rows = rows.select(np.sort(np.concatenate(drawn)))
    columns, numbers = score_pairs(scorer.eval(), labeller, rows, context=context, label=LABEL if progress else None)
    kinds = np.array(rows["kind"])[numbers]
    there = [kind for kind in KINDS if (kinds == kind).any()]
    accuracy = {by: {kind: accuracies(found[:, kinds == kind])[""] for kind in there} for by, found in columns.items()}
    noisy = {by: tie_threshold.of_columns(found[:, kinds == "noisy"]) for by, found in columns.items()}
    ties = {by: tie for by, tie in noisy.items() if tie is not None}
    given = [by for by in DECISIONS if by in accuracy]
    return Choice(max(given, key=lambda by: float(np.mean(list(accuracy[by].values())))), accuracy, ties)


def add_to_config(config: Mapping[str, Any], choice: Choice | None) -> dict[str, Any]:
    """A checkpoint's config with what decides, how each of `DECISIONS` did, and the tie thresholds but the score's."""
    own = (checkpoint_config.DECISION, checkpoint_config.TIES)
    rest = {key: value for key, value in config.items() if key not in own}
    if choice is None:
        return rest
    ties = {by: tie.threshold for by, tie in choice.ties.items() if by != SCORE}
    training = {**config["training"], "decision": choice.accuracy}
    return {**rest, checkpoint_config.DECISION: choice.by, checkpoint_config.TIES: ties, "training": training}
