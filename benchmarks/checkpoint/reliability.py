"""Reliability of probabilities: tables of bins, and the expected calibration error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError

BINS = 15


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a reliability table: `count` probabilities from `low` to `high`.

    probability: their mean. frequency: the share of positive labels.
    """

    low: float
    high: float
    count: int
    probability: float
    frequency: float


def reliability(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = BINS) -> list[Bin]:
    """Bins of approximately equal mass, in order of increasing probability.

    Equal probabilities that fall into two bins are given their mean label in each, so that the order of
    the input does not matter. With fewer values than bins, each bin has one value.
    """
    p, y = check(probabilities, labels)
    if bins < 1:
        raise PronmetricError(f"a reliability table needs at least one bin, got {bins}")
    values, inverse, counts = np.unique(p, return_inverse=True, return_counts=True)
    y = (np.bincount(inverse, weights=y, minlength=len(values)) / counts)[inverse]
    order = np.argsort(p, kind="stable")
    return [
        Bin(float(p[part[0]]), float(p[part[-1]]), len(part), float(p[part].mean()), float(y[part].mean()))
        for part in np.array_split(order, min(bins, len(p)))
    ]


def expected_calibration_error(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = BINS) -> float:
    """Mean over equal-mass bins of |frequency - probability|, weighted by count; in [0, 1], lower is better.

    labels: 1 if the event occurred, else 0. Naeini et al., AAAI 2015, with the equal-mass
    bins of Nguyen and O'Connor, EMNLP 2015.

    >>> round(expected_calibration_error([0.1, 0.1, 0.8, 0.8], [0, 0, 1, 1], bins=2), 6)
    0.15
    """
    table = reliability(probabilities, labels, bins=bins)
    total = sum(b.count for b in table)
    return sum(b.count * abs(b.frequency - b.probability) for b in table) / total


def check(probabilities: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both as arrays, if they are as many probabilities and labels 0 or 1."""
    p, y = np.asarray(probabilities, dtype=float), np.asarray(labels, dtype=float)
    if p.ndim != 1 or p.shape != y.shape or not len(p):
        raise PronmetricError(f"expected one label for each probability, got {y.shape} labels for {p.shape}")
    if not np.isfinite(p).all() or ((p < 0) | (p > 1)).any():
        raise PronmetricError(f"expected probabilities in [0, 1], got values from {p.min()} to {p.max()}")
    if not np.isin(y, (0, 1)).all():
        raise PronmetricError("expected labels 0 or 1")
    return p, y
