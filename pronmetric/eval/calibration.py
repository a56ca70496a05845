"""Calibration: do events of probability 0.9 happen nine times in ten?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.errors import PronmetricError


@dataclass(frozen=True, slots=True)
class Platt:
    """Calibrated logit = scale * logit + bias; scale = 1 / temperature."""

    scale: float
    bias: float

    def __call__(self, logits: ArrayLike) -> NDArray[np.float64]:
        """The calibrated probabilities of `logits`."""
        return _sigmoid(self.scale * np.asarray(logits, dtype=float) + self.bias)


def fit_platt(
    logits: ArrayLike, labels: ArrayLike, *, bias: bool = True, ridge: float = 1e-6, steps: int = 100
) -> Platt:
    """Fit scale (and bias) to the labels by maximum likelihood, with Newton's method.

    bias=False fits only a temperature. `ridge` is a small penalty per label towards (1, 0), which only
    matters if the labels are separable and the likelihood has no maximum. Platt 1999; Guo et al., ICML 2017.
    """
    z, y = _check(logits, labels)
    features = np.stack([z, np.ones_like(z)], axis=1)[:, : 2 if bias else 1]
    start = np.array([1.0, 0.0])[: features.shape[1]]
    weights = _fit(features, y, start=start, shares=np.full(len(y), 1 / len(y)), ridge=ridge, steps=steps)
    return Platt(float(weights[0]), float(weights[1]) if bias else 0.0)


def fit_sum(logits: Sequence[ArrayLike], labels: ArrayLike, *, rate: float, ridge: float = 1e-6) -> tuple[float, ...]:
    """Fit a weight of each of several logits, and a bias, to the labels: the logit is their weighted sum.

    The labels count as if a share `rate` of them were 0. `ridge` is a small penalty towards the first logit alone.
    """
    columns = [_check(each, labels)[0] for each in logits]
    y = np.asarray(labels, dtype=float)
    if not 0 < y.mean() < 1:
        raise PronmetricError("expected labels of both kinds")
    shares = np.where(y == 1, (1 - rate) / y.sum(), rate / (len(y) - y.sum()))
    start = np.array([1.0] + [0.0] * len(columns))
    features = np.stack([*columns, np.ones_like(y)], axis=1)
    return tuple(_fit(features, y, start=start, shares=shares, ridge=ridge, steps=100).tolist())


def fit_shares(logits: Sequence[ArrayLike], shares: ArrayLike, *, ridge: float = 1e-6) -> tuple[float, ...]:
    """As `fit_sum`, with labels in [0, 1], such as the share of raters who say so; each counts once.

    Raises:
        PronmetricError: all labels are equal, or not one in [0, 1] for each logit.
    """
    y = np.asarray(shares, dtype=float)
    columns = [np.asarray(each, dtype=float) for each in logits]
    if any(each.shape != y.shape for each in columns) or y.ndim != 1 or not ((y >= 0) & (y <= 1)).all():
        raise PronmetricError("expected for each logit one share of raters in [0, 1]")
    if not len(y) or y.min() == y.max():
        raise PronmetricError("expected different shares of raters")
    start = np.array([1.0] + [0.0] * len(columns))
    features = np.stack([*columns, np.ones_like(y)], axis=1)
    even = np.full(len(y), 1 / len(y))
    return tuple(_fit(features, y, start=start, shares=even, ridge=ridge, steps=100).tolist())


def _fit(
    features: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    start: NDArray[np.float64],
    shares: NDArray[np.float64],
    ridge: float,
    steps: int,
) -> NDArray[np.float64]:
    """The weights of the features by maximum likelihood; shares: of the labels in it, with sum 1."""

    def loss(weights: NDArray[np.float64]) -> float:
        margins = features @ weights
        fit = np.logaddexp(0.0, margins) - y * margins
        return float(shares @ fit + ridge / 2 * np.sum((weights - start) ** 2))

    weights = start.copy()
    for _ in range(steps):
        p = _sigmoid(features @ weights)
        gradient = features.T @ (shares * (p - y)) + ridge * (weights - start)
        hessian = (features * (shares * p * (1 - p))[:, None]).T @ features + ridge * np.eye(len(start))
        step = np.linalg.solve(hessian, gradient)
        size, now = 1.0, loss(weights)
        while size > 1e-10 and loss(weights - size * step) > now:
            size /= 2
        weights = weights - size * step
        if np.abs(size * step).max() < 1e-10:
            break
    return weights


def logit(probabilities: ArrayLike, *, floor: float = 1e-12) -> NDArray[np.float64]:
    """The logits of probabilities, clipped to [`floor`, 1 - `floor`]."""
    p = np.asarray(probabilities, dtype=float)
    if not ((p >= 0) & (p <= 1)).all():
        raise PronmetricError("expected probabilities in [0, 1]")
    p = np.clip(p, floor, 1 - floor)
    return np.log(p) - np.log1p(-p)


def _sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.logaddexp(0.0, -values))


def _check(logits: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    v, y = np.asarray(logits, dtype=float), np.asarray(labels, dtype=float)
    if v.ndim != 1 or v.shape != y.shape or not len(v):
        raise PronmetricError(f"calibration needs one label for each value: got {y.shape} labels for {v.shape} values")
    if not np.isfinite(v).all():
        raise PronmetricError(f"calibration needs finite logits, got values from {v.min()} to {v.max()}")
    if not np.isin(y, (0, 1)).all():
        raise PronmetricError("calibration labels must be 0 or 1")
    return v, y
