"""Scores on a common scale, so that their squares neither overflow nor vanish; numpy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def scaled(values: ArrayLike) -> NDArray[np.float64]:
    """The values of each row (last axis), divided by a power of two that brings the largest into [0.5, 1); NaN stays.

    >>> scaled([[4.0, -2.0], [0.0, 0.0]]).tolist()
    [[0.5, -0.25], [0.0, 0.0]]
    """
    x = np.asarray(values, dtype=float)
    largest = np.fmax.reduce(np.abs(x), axis=-1, keepdims=True, initial=0.0)
    return np.ldexp(x, -np.frexp(largest)[1])
