"""Candidate links of a batch of line pairs, as flat arrays.

The pairs of a batch are concatenated on one axis of rows (words of a) and one of columns (words of b), with a boundary
before, between and after them. A batch is a flat list of cells (row, column), never a matrix.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.links import Link

CodedPair = tuple[list[int], list[int]]
Array = npt.NDArray[Any]

BATCH_CELLS = 150_000  # cells of a batch; fits into a processor's cache
LONGEST_LCS = 4 * 10**8  # words times words; a longer pair takes the diagonal (one bit each: 50 MB)
MOST_REPEATS = 64  # identical words beyond the window are cells, unless there are more of them than this in a pair
BOUNDARY = -1
"""On an axis, what stands between two pairs; word ids are from 0."""
KEY_BASE = 2**31
"""first * this + second is one number for two words, in an int64; larger than any number of words."""


@dataclass(slots=True)
class Cells:
    """The candidate links of a batch of pairs.

    a, b: word ids on the two axes, BOUNDARY between pairs. a_starts, b_starts: index of the first word of each pair.
    row, col: indices of a cell on the two axes. distance: words between a cell and its expected position. bonus:
    pseudo-count from spelling. kind: index of its word pair in the lexical table, -1 for none.
    """

    a: Array
    b: Array
    a_starts: Array
    b_starts: Array
    row: Array
    col: Array
    distance: Array
    bonus: Array
    kind: Array

    def keep(self, which: Array) -> None:
        """Drop all other cells."""
        for name in ("row", "col", "distance", "bonus", "kind"):
            setattr(self, name, getattr(self, name)[which])

    def keys(self) -> Array:
        """One number for the two words of each cell."""
        return (self.a.astype(np.int64) * KEY_BASE)[self.row] + self.b[self.col]

    def split_by_pair(self, which: Array) -> list[list[Link]]:
        """The chosen cells of each pair, as word indices of its two sides."""
        pair = np.searchsorted(self.a_starts, self.row[which], "right") - 1
        rows, cols = self.row[which] - self.a_starts[pair], self.col[which] - self.b_starts[pair]
        links: list[list[Link]] = [[] for _ in self.a_starts]
        for number, i, j in zip(pair.tolist(), rows.tolist(), cols.tolist(), strict=True):
            links[number].append((i, j))
        return links


def batches(pairs: Iterable[TokenPair], window: int) -> Iterator[list[TokenPair]]:
    """The pairs in batches of about BATCH_CELLS cells."""
    batch: list[TokenPair] = []
    cells = 0
    for pair in pairs:
        batch.append(pair)
        cells += 1 + len(pair[0]) * min(len(pair[1]), 2 * window + 1)
        if cells >= BATCH_CELLS:
            yield batch
            batch, cells = [], 0
    if batch:
        yield batch


def make_cells(pairs: Sequence[CodedPair], stems: Array, *, window: int, identical: float, prefix: float) -> Cells:
    """The cells of a batch: those in the window around the expected position, and identical words beyond it.

    The expected position is interpolated between the words of a longest common subsequence.

    Args:
        pairs: word ids of both sides.
        stems: number of the first four letters of each word id; the last entry is that of BOUNDARY.
        window: the greatest distance from the expected position.
        identical: bonus of identical words.
        prefix: bonus of words with the same stem.
    """
    a, a_starts, a_sizes = _lay_out([pair[0] for pair in pairs])
    b, b_starts, b_sizes = _lay_out([pair[1] for pair in pairs])
    anchors = _anchors(pairs, a_starts, b_starts)
    expected_col = np.interp(np.arange(len(a)), anchors[:, 0], anchors[:, 1])
    expected_row = np.interp(np.arange(len(b)), anchors[:, 1], anchors[:, 0])

    pair_of_a = np.repeat(np.arange(len(pairs)), a_sizes)
    pair_of_b = np.repeat(np.arange(len(pairs)), b_sizes)
    rows, cols = np.flatnonzero(a != BOUNDARY), np.flatnonzero(b != BOUNDARY)
    lowest, highest = b_starts[pair_of_a], (b_starts + b_sizes)[pair_of_a]
    first = np.maximum(np.ceil(expected_col[rows] - window).astype(np.int64), lowest)
    end = np.minimum(np.floor(expected_col[rows] + window).astype(np.int64) + 1, highest)
    which, near_col = _ranges(first, end)
    near_row = rows[which]
    near = np.abs(near_row - expected_row[near_col]) <= window
    which, other = _equal_pairs(pair_of_a * KEY_BASE + a[rows], pair_of_b * KEY_BASE + b[cols])
    far_row, far_col = rows[which], cols[other]
    far = np.abs(far_col - expected_col[far_row]) > window
    far |= np.abs(far_row - expected_row[far_col]) > window
    row, col = np.concatenate([near_row[near], far_row[far]]), np.concatenate([near_col[near], far_col[far]])

    distance = (np.abs(col - expected_col[row]) + np.abs(row - expected_row[col])) / 2
    alike = stems[a][row] == stems[b][col]
    bonus = np.where(a[row] == b[col], identical, np.where(alike, prefix, 0))
    return Cells(
        a=a,
        b=b,
        a_starts=a_starts,
        b_starts=b_starts,
        row=row.astype(np.int32),
        col=col.astype(np.int32),
        distance=distance.astype(np.float32),
        bonus=bonus.astype(np.float32),
        kind=np.full(len(row), -1, np.int32),
    )


def _lay_out(sides: Sequence[Sequence[int]]) -> tuple[Array, Array, Array]:
    """Sides end to end with a BOUNDARY before, between and after them; the start and the length of each."""
    sizes = np.array([len(side) for side in sides], np.int64)
    starts = np.cumsum(sizes + 1) - sizes
    axis = np.full(int(sizes.sum()) + len(sides) + 1, BOUNDARY, np.int32)
    _, places = _ranges(starts, starts + sizes)
    axis[places] = np.fromiter(chain.from_iterable(sides), np.int32, len(places))
    return axis, starts, sizes


def _anchors(pairs: Sequence[CodedPair], a_starts: Array, b_starts: Array) -> Array:
    """Boundaries and words of common subsequences as rows and columns, in order (anchors, 2)."""
    anchors: list[Link] = [(0, 0)]
    for row, col, (left, right) in zip(a_starts.tolist(), b_starts.tolist(), pairs, strict=True):
        if len(left) * len(right) <= LONGEST_LCS:
            anchors += [(row + i, col + j) for i, j in common_subsequence(left, right)]
        anchors.append((row + len(left), col + len(right)))
    return np.array(anchors, np.float64)


def _ranges(first: Array, end: Array) -> tuple[Array, Array]:
    """All numbers of the ranges [first, end), one range after the other, each with the index of its range."""
    sizes = np.maximum(end - first, 0)
    which = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return which, np.arange(len(which)) - (before - first)[which]


def _equal_pairs(a: Array, b: Array) -> tuple[Array, Array]:
    """The index pairs of equal numbers in a and b; numbers that give more than MOST_REPEATS pairs are left out."""
    order = np.argsort(b, kind="stable")
    in_order = b[order]
    first, end = np.searchsorted(in_order, a, "left"), np.searchsorted(in_order, a, "right")
    _, group, sizes = np.unique(a, return_inverse=True, return_counts=True)
    end = np.where((end - first) * sizes[group] <= MOST_REPEATS, end, first)
    which, places = _ranges(first, end)
    return which, order[places]


def distance_from_links(cells: Cells, sure: Array) -> Array:
    """The distance of each cell from the diagonals through the nearest links before and after it.

    `sure`: indices of the cells that are links; of several in one row or column the last counts.
    """
    a_edges, b_edges = np.flatnonzero(cells.a == BOUNDARY), np.flatnonzero(cells.b == BOUNDARY)
    on_rows = _offsets(len(cells.a), np.append(a_edges, cells.row[sure]), np.append(b_edges, cells.col[sure]))
    on_cols = _offsets(len(cells.b), np.append(b_edges, cells.col[sure]), np.append(a_edges, cells.row[sure]))
    shift = cells.col - cells.row
    by_row = np.minimum(*(np.abs(shift - offset[cells.row]) for offset in on_rows))
    by_col = np.minimum(*(np.abs(shift + offset[cells.col]) for offset in on_cols))
    return np.minimum(by_row, by_col).astype(np.float32)


def _offsets(size: int, places: Array, linked: Array) -> tuple[Array, Array]:
    """The offset from the diagonal of the nearest link strictly before, and strictly after, each index of an axis."""
    offset = np.zeros(size, np.int64)
    offset[places] = linked - places  # of several links the last one stays
    has = np.zeros(size, bool)
    has[places] = True
    here = np.arange(size)
    before = np.maximum.accumulate(np.where(has, here, 0))
    after = np.minimum.accumulate(np.where(has, here, size - 1)[::-1])[::-1]
    return offset[np.append(0, before[:-1])], offset[np.append(after[1:], size - 1)]


def select_mutual(cells: Cells, product: Array, threshold: float) -> Array:
    """The cells that are the best of their row and of their column; ties go to the nearest to the diagonal."""
    good = np.flatnonzero(product >= threshold)
    row, col = cells.row[good], cells.col[good]
    order = np.lexsort((row + col, cells.distance[good], -np.round(product[good], 6)))
    row, col = row[order], col[order]
    best_of_row, best_of_col = np.unique(row, return_index=True)[1], np.unique(col, return_index=True)[1]
    return good[order[np.intersect1d(best_of_row, best_of_col, assume_unique=True)]]


def select_best(axis: Array, posterior: Array, cells: Cells) -> Array:
    """The most probable cell of each index of an axis that is more probable than "linked to nothing"."""
    order = np.lexsort((cells.row + cells.col, cells.distance, -np.round(posterior, 6)))
    best = order[np.unique(axis[order], return_index=True)[1]]
    total = np.bincount(axis, posterior)
    return best[posterior[best] > 1 - total[axis[best]]]


def common_subsequence(a: Sequence[Any], b: Sequence[Any]) -> list[Link]:
    """Index pairs of a longest common subsequence; swapping the sides only swaps the indices.

    Bit-parallel (Hyyro 2004): a row of the dynamic-programming table is an integer, where a zero bit marks a step up.

    >>> common_subsequence([7, 8, 9], [8, 5, 9])
    [(1, 0), (2, 2)]
    """
    if (len(a), a) > (len(b), b):
        return [(i, j) for j, i in common_subsequence(b, a)]
    same = 0
    while same < len(a) and a[same] == b[same]:
        same += 1
    rest = _trace_back(_table_rows(a[same:], b[same:]), len(b) - same)
    return [(k, k) for k in range(same)] + [(same + i, same + j) for i, j in rest]


def _table_rows(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[int]:
    """The rows of the table, from the row before the first item of `a`."""
    bits: dict[Hashable, int] = {}
    for j, item in enumerate(b):
        bits[item] = bits.get(item, 0) | 1 << j
    full = (1 << len(b)) - 1
    row = full
    rows = [row]
    for item in a:
        step = row & bits.get(item, 0)
        row = ((row + step) | (row - step)) & full
        rows.append(row)
    return rows


def _trace_back(rows: Sequence[int], columns: int) -> list[Link]:
    links = []
    i, j = len(rows) - 1, columns
    while i and j:
        if rows[i] >> (j - 1) & 1:
            j -= 1
        elif not rows[i - 1] >> (j - 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            links.append((i, j))
    return links[::-1]
