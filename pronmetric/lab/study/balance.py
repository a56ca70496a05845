"""A balanced sample: equally many items of each pronoun pair, and of each range of score differences within a pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pronmetric.errors import InputError
from pronmetric.lab.study.item import Item

Key = TypeVar("Key", bound=Hashable)
_LISTED = 8


@dataclass(frozen=True, slots=True)
class Shortage:
    """A cell of the design with too few candidates."""

    cell: str
    wanted: int
    found: int


def share_out(total: int, available: Mapping[Key, int]) -> dict[Key, int]:
    """`total` divided among cells as equally as their numbers of candidates allow.

    The remainder goes to the first cells that have more. The sum is lower than `total` if the candidates are too few.

    >>> share_out(7, {"he": 1, "she": 9, "it": 9})
    {'he': 1, 'she': 3, 'it': 3}
    """
    given = dict.fromkeys(available, 0)
    left = total
    while left and (open_cells := [cell for cell, most in available.items() if given[cell] < most]):
        step = max(1, min(left // len(open_cells), min(available[cell] - given[cell] for cell in open_cells)))
        for cell in open_cells[:left]:
            given[cell] += step
            left -= step
    return given


def score_ranges(differences: Mapping[str, float], ranges: int) -> dict[str, int]:
    """The range of each item: 0 has the smallest differences; all ranges have equally many items (up to one).

    >>> score_ranges({"a": 0.9, "b": -0.2, "c": 0.1, "d": 0.5}, 2)
    {'b': 0, 'c': 0, 'd': 1, 'a': 1}
    """
    order = sorted(differences, key=lambda item: (differences[item], item))
    return {item: rank * ranges // len(order) for rank, item in enumerate(order)}


def draw(
    candidates: Sequence[Item], *, total: int, ranges: Mapping[str, int], strict: bool, rng: np.random.Generator
) -> list[Item]:
    """`total` candidates of one language, drawn at random within each cell (pronoun pair, range of score differences).

    strict: the numbers of items of any two pronoun pairs, and of any two ranges of a pair, differ by at most one.
    Otherwise pairs and ranges with few candidates give all they have.

    Raises:
        InputError: too few candidates, with the number that each cell lacks.
    """
    cells: dict[tuple[str, str], dict[int, list[Item]]] = defaultdict(lambda: defaultdict(list))
    for item in sorted(candidates, key=lambda item: item.id):
        cells[item.pronouns][ranges.get(item.id, 0)].append(item)
    names = sorted(cells)
    order = [names[k] for k in rng.permutation(len(names))]  # decides which pairs get the remainder
    sizes = {pair: sum(map(len, cells[pair].values())) for pair in order}
    quotas = share_out(total, sizes)
    language = candidates[0].language
    if sum(quotas.values()) < total:
        raise InputError(
            f"{language}: {total} items are wanted, but there are {len(candidates)}, {total - len(candidates)} short; "
            "give fewer `items=`, or more data"
        )
    levels = max(ranges.values(), default=0) + 1
    available = {pair: {level: len(cells[pair][level]) for level in range(levels)} for pair in order}
    if strict:
        _refuse(language, total, _shortages(quotas, sizes, available))
    chosen: list[Item] = []
    for pair in order:
        for level, number in share_out(quotas[pair], available[pair]).items():
            found = cells[pair][level]
            chosen += [found[k] for k in sorted(rng.permutation(len(found))[:number])]
    return chosen


def _shortages(
    quotas: Mapping[tuple[str, str], int],
    sizes: Mapping[tuple[str, str], int],
    available: Mapping[tuple[str, str], Mapping[int, int]],
) -> list[Shortage]:
    found = [_named(pair, "", *rest) for pair, *rest in _short(sum(quotas.values()), sizes)]
    if found:
        return found
    return [
        _named(pair, f", score range {level + 1}", *rest)
        for pair, quota in quotas.items()
        for level, *rest in _short(quota, available[pair])
    ]


def _short(total: int, available: Mapping[Key, int]) -> list[tuple[Key, int, int]]:
    """The cells that keep `total` from being divided equally, up to one: wanted and available items of each."""
    least, remainder = divmod(total, len(available))
    below = [(cell, least, found) for cell, found in available.items() if found < least]
    lacking = remainder - sum(found > least for found in available.values())
    if below or lacking <= 0:
        return below
    return [(cell, least + 1, found) for cell, found in available.items() if found == least][:lacking]


def _named(pair: tuple[str, str], level: str, wanted: int, found: int) -> Shortage:
    return Shortage(f"{pair[0]} -> {pair[1]}{level}", wanted, found)


def _refuse(language: str, total: int, short: Sequence[Shortage]) -> None:
    if not short:
        return
    listed = "; ".join(
        f"{one.cell}: {one.found} of {one.wanted}" for one in sorted(short, key=lambda one: one.cell)[:_LISTED]
    )
    more = f"; and {len(short) - _LISTED} more" if len(short) > _LISTED else ""
    missing = sum(one.wanted - one.found for one in short)
    raise InputError(
        f"{language}: {total} items cannot be balanced, {missing} are short: {listed}{more}; give fewer `items=`, name "
        "the `pronoun_pairs=`, or `balance=level`"
    )
