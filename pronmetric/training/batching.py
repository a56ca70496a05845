"""Batches of rows of similar length: a pure function of seed and epoch, so that a run resumes at any step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

CHUNK = 64  # steps whose rows are sorted by length together


class Step(NamedTuple):
    """The rows of a step.

    kind: "passages" or "pairs". rows: indices into that kind's data. turns: how often each was drawn earlier.
    """

    kind: str
    rows: tuple[int, ...]
    turns: tuple[int, ...]


def plan_epoch(
    *,
    passages: Sequence[int],
    pairs: Sequence[int],
    pair_share: float,
    pieces: int,
    max_pieces: int,
    seed: int,
    epoch: int,
    passage_weights: Sequence[float] | None = None,
    pair_weights: Sequence[float] | None = None,
    batch: int | None = None,
) -> list[Step]:
    """The steps of one epoch: every passage once, and pairs that make up `pair_share` of the pieces.

    With weights, rows are drawn in proportion to their weights, and the pieces of an epoch stay the same; the numbers
    of draws of two rows with equal weights differ by at most one at the end of every epoch.

    Args:
        passages: estimated pieces of each passage.
        pairs: estimated pieces of each pair (both rows).
        pair_share: share of pairs in the pieces of an epoch, in [0, 1]; 1: only pairs, each once.
        pieces: pieces of a step, padding included.
        max_pieces: the greatest length of a row.
        seed: of the run.
        epoch: counted from 0.
        passage_weights: above 0, one for each passage; by default all are 1.
        pair_weights: the same for the pairs.
        batch: pairs per step, whatever their length; None: as many as fit into `pieces`.
    """
    rng = np.random.default_rng([seed, epoch])
    lengths = np.minimum(np.asarray(passages, dtype=np.int64), max_pieces)
    pair_lengths = np.minimum(np.asarray(pairs, dtype=np.int64), 2 * max_pieces)
    steps: list[Step] = []
    if len(lengths) and pair_share < 1:
        rates = _rates(lengths, passage_weights, lengths.sum())
        steps += _steps("passages", _draw(rates, seed, epoch, rng), lengths, pieces)
    if len(pair_lengths) and pair_share > 0:
        wanted = lengths.sum() * pair_share / (1 - pair_share) if pair_share < 1 else pair_lengths.sum()
        rates = _rates(pair_lengths, pair_weights, wanted)
        steps += _steps("pairs", _draw(rates, seed, epoch, rng), pair_lengths, pieces, batch)
    return [steps[i] for i in rng.permutation(len(steps))]


def _rates(lengths: np.ndarray, weights: Sequence[float] | None, pieces: float) -> np.ndarray:
    """Draws per epoch of each row, proportional to its weight, for about `pieces` pieces in total."""
    shares = np.ones(len(lengths)) if weights is None else np.asarray(weights, dtype=float)
    return shares * (pieces / max(1.0, float((shares * lengths).sum())))


def _draw(rates: np.ndarray, seed: int, epoch: int, rng: np.random.Generator) -> np.ndarray:
    """Row and turn (rows, 2) of an epoch's draws, shuffled; each row is drawn evenly over the epochs, at its rate."""
    start = np.random.default_rng([seed, 7919]).random(len(rates)) + 1e-9  # a rate of 1 means exactly once
    before, after = np.floor(rates * epoch + start), np.floor(rates * (epoch + 1) + start)
    draws = [(row, turn) for row in np.flatnonzero(after > before) for turn in range(int(before[row]), int(after[row]))]
    return rng.permutation(np.array(draws, dtype=np.int64).reshape(-1, 2))


def _steps(kind: str, draws: np.ndarray, lengths: np.ndarray, pieces: int, batch: int | None = None) -> list[Step]:
    """Split `draws` into steps of about `pieces` padded pieces, or of `batch` rows, with rows of similar length."""
    if not len(draws):
        return []
    rows = pieces / max(1.0, float(lengths[draws[:, 0]].mean())) if batch is None else batch
    chunk = max(1, int(CHUNK * rows))
    steps = []
    for begin in range(0, len(draws), chunk):
        part = draws[begin : begin + chunk]
        part = part[np.argsort(lengths[part[:, 0]], kind="stable")]
        first, longest = 0, 0
        for at, row in enumerate(part[:, 0].tolist()):
            longest = max(longest, int(lengths[row]))
            full = longest * (at - first + 1) > pieces if batch is None else at - first == batch
            if at > first and full:
                steps.append(_step(kind, part[first:at]))
                first, longest = at, int(lengths[row])
        steps.append(_step(kind, part[first:]))
    return steps


def _step(kind: str, draws: np.ndarray) -> Step:
    return Step(kind, tuple(draws[:, 0].tolist()), tuple(draws[:, 1].tolist()))
