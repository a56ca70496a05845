"""Detection of wrong pronouns by their low scores.

Wrong pronouns are the positive class. A pronoun is flagged if its score is below the threshold. A pronoun without a
score is never flagged and is ranked as the least suspicious.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pronmetric.errors import PronmetricError
from pronmetric.eval.estimates import Estimate, bootstrap

THRESHOLD = 0.5
"""Scores below are called wrong: a pronoun with this probability is as likely right as wrong."""
DRAWS = 1000
"""Resamples of a bootstrap; fewer than elsewhere, as areas are computed anew in each."""
Figure = Callable[[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]], float | None]


@dataclass(frozen=True, slots=True)
class Detection:
    """Precision, recall and F1 at the threshold, average precision and ROC AUC; all in [0, 1], higher is better.

    precision is None if nothing is flagged, recall if nothing is wrong, F1 if either is None or both are 0.
    average_precision is None without a wrong pronoun (chance level: the share of wrong pronouns), roc_auc also without
    a right one (chance level: 0.5). Intervals resample clusters; None with fewer than `MINIMUM`.
    """

    pronouns: int
    wrong: int
    flagged: int
    unscored: int
    precision: Estimate | None
    recall: Estimate | None
    f1: Estimate | None
    average_precision: Estimate | None
    roc_auc: Estimate | None


def detect(
    wrong: Sequence[bool],
    scores: Sequence[float | None],
    clusters: Sequence[Hashable] | None = None,
    *,
    threshold: float = THRESHOLD,
    draws: int = DRAWS,
    seed: int = 0,
) -> Detection:
    """Evaluate the scores of pronouns (higher is better) as detectors of wrong ones; intervals need `clusters`.

    >>> found = detect([True, False, True, False], [0.1, 0.9, 0.6, 0.3])
    >>> found.precision.value, found.recall.value, found.roc_auc.value
    (0.5, 0.5, 0.75)
    """
    if not len(wrong) == len(scores) or not len(wrong):
        raise PronmetricError(f"each pronoun needs one label and one score: got {len(wrong)} and {len(scores)}")
    if not all(score is None or math.isfinite(score) for score in (*scores, threshold)):
        raise PronmetricError("expected finite scores, None where there is none, and a finite threshold")
    labels = np.array(wrong, dtype=bool)
    known = np.array([-np.inf if score is None else -score for score in scores])
    flagged = known > -threshold
    lowest = known[np.isfinite(known)].min(initial=0.0) - 1
    suspicion = np.where(np.isfinite(known), known, lowest)

    def figure(of: Figure, values: NDArray[np.float64]) -> Estimate | None:
        units = range(len(labels)) if clusters is None else clusters
        return bootstrap(partial(of, labels, values), units, draws=0 if clusters is None else draws, seed=seed)

    return Detection(
        pronouns=len(labels),
        wrong=int(labels.sum()),
        flagged=int(flagged.sum()),
        unscored=sum(score is None for score in scores),
        precision=figure(_precision, flagged.astype(float)),
        recall=figure(_recall, flagged.astype(float)),
        f1=figure(_f1, flagged.astype(float)),
        average_precision=figure(average_precision, suspicion),
        roc_auc=figure(roc_auc, suspicion),
    )


def detect_by(
    groups: Sequence[str], wrong: Sequence[bool], scores: Sequence[float | None], *, threshold: float = THRESHOLD
) -> dict[str, Detection]:
    """Detection in each group (pronoun, system ...), in alphabetical order, without intervals."""
    parts = {group: [i for i, name in enumerate(groups) if name == group] for group in sorted(set(groups))}
    return {
        group: detect([wrong[i] for i in part], [scores[i] for i in part], threshold=threshold)
        for group, part in parts.items()
    }


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _precision(wrong: NDArray[np.bool_], flagged: NDArray[np.float64], weights: NDArray[np.float64]) -> float | None:
    return _ratio(float(weights @ (wrong * flagged)), float(weights @ flagged))


def _recall(wrong: NDArray[np.bool_], flagged: NDArray[np.float64], weights: NDArray[np.float64]) -> float | None:
    return _ratio(float(weights @ (wrong * flagged)), float(weights @ wrong))


def _f1(wrong: NDArray[np.bool_], flagged: NDArray[np.float64], weights: NDArray[np.float64]) -> float | None:
    precision, recall = _precision(wrong, flagged, weights), _recall(wrong, flagged, weights)
    if precision is None or recall is None:
        return None
    return _ratio(2 * precision * recall, precision + recall)


def average_precision(
    wrong: NDArray[np.bool_], suspicion: NDArray[np.float64], weights: NDArray[np.float64]
) -> float | None:
    """Average precision of the suspicion of wrong items, each of a weight; None without a wrong one."""
    found, false = _by_suspicion(wrong, suspicion, weights)
    if not found.sum():
        return None
    flagged = (found + false).cumsum()
    precision = np.divide(found.cumsum(), flagged, out=np.zeros(len(found)), where=flagged > 0)
    return float(found @ precision / found.sum())


def roc_auc(wrong: NDArray[np.bool_], suspicion: NDArray[np.float64], weights: NDArray[np.float64]) -> float | None:
    """Area under the ROC curve, each item of a weight; None without a wrong or a right one."""
    found, false = _by_suspicion(wrong, suspicion, weights)
    if not found.sum() or not false.sum():
        return None
    return float(false @ (found.cumsum() - found / 2) / (found.sum() * false.sum()))


def _by_suspicion(
    wrong: NDArray[np.bool_], suspicion: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weight of the wrong and of the right items of each distinct suspicion, the highest first."""
    values, group = np.unique(-suspicion, return_inverse=True)
    found, false = (np.bincount(group, weights * chosen, len(values)).astype(np.float64) for chosen in (wrong, ~wrong))
    return found, false
