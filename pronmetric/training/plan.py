"""Which rows make up each training step: a pure function of seed and epoch, so that a run can go on anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

CHUNK = 64  # steps whose rows are sorted by length together


class Step(NamedTuple):
    """The rows of one step. kind: "passages" or "pairs". rows: indices into that kind's data."""

    kind: str
    rows: tuple[int, ...]
    epoch: int


def plan(
    *,
    passages: Sequence[int],
    pairs: Sequence[int],
    pair_share: float,
    pieces: int,
    max_pieces: int,
    seed: int,
    epoch: int,
) -> list[Step]:
    """The steps of one epoch: every passage once, and as many pairs as make `pair_share` of the pieces.

    Args:
        passages: estimated pieces of each passage.
        pairs: estimated pieces of each pair (both rows).
        pair_share: share of the pieces of an epoch that pairs make up, in [0, 1]; at 1 there are only pairs, each once.
        pieces: pieces of a step, padding included.
        max_pieces: a row is no longer than this.
        seed: of the run.
        epoch: counted from 0; pairs go on where the epoch before stopped.
    """
    rng = np.random.default_rng([seed, epoch])
    lengths = np.minimum(np.asarray(passages, dtype=np.int64), max_pieces)
    pair_lengths = np.minimum(np.asarray(pairs, dtype=np.int64), 2 * max_pieces)
    steps: list[Step] = []
    if pair_share < 1:
        steps += _steps("passages", rng.permutation(len(lengths)), lengths, pieces, epoch, rng)
    if len(pair_lengths) and pair_share > 0:
        if pair_share < 1:
            wanted = lengths.sum() * pair_share / (1 - pair_share)
            count = max(1, round(wanted / max(1.0, float(pair_lengths.mean()))))
        else:
            count = len(pair_lengths)
        steps += _steps("pairs", _stretch(len(pair_lengths), count, seed, epoch), pair_lengths, pieces, epoch, rng)
    return [steps[i] for i in rng.permutation(len(steps))]


def _stretch(size: int, count: int, seed: int, epoch: int) -> np.ndarray:
    """Items `epoch * count` to `(epoch + 1) * count` of an endless row of permutations of `size` items."""
    first = epoch * count
    turns = range(first // size, (first + count - 1) // size + 1)
    row = np.concatenate([np.random.default_rng([seed, 7919, turn]).permutation(size) for turn in turns])
    return row[first - turns[0] * size :][:count]


def _steps(
    kind: str, order: np.ndarray, lengths: np.ndarray, pieces: int, epoch: int, rng: np.random.Generator
) -> list[Step]:
    """Cut `order` into steps of about `pieces` padded pieces, of rows of like length."""
    if not len(order):
        return []
    chunk = max(1, int(CHUNK * pieces / max(1.0, float(lengths[order].mean()))))
    steps = []
    for begin in range(0, len(order), chunk):
        part = order[begin : begin + chunk]
        part = part[np.argsort(lengths[part], kind="stable")]
        rows: list[int] = []
        longest = 0
        for row in part.tolist():
            length = int(lengths[row])
            if rows and max(longest, length) * (len(rows) + 1) > pieces:
                steps.append(Step(kind, tuple(rows), epoch))
                rows, longest = [], 0
            rows.append(row)
            longest = max(longest, length)
        steps.append(Step(kind, tuple(rows), epoch))
    return steps
