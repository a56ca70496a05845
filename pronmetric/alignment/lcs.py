"""Longest common subsequence of two sequences, bit-parallel (Hyyro 2004)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from pronmetric.alignment.links import Link


def common_subsequence(a: Sequence[Any], b: Sequence[Any]) -> list[Link]:
    """Index pairs of a longest common subsequence; swapping the sides only swaps the indices.

    One row of the dynamic-programming table is one integer, in which a zero bit marks a step up.

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
