"""Shuffled contexts: each item has the context of an item of another document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np

from pronmetric.errors import PronmetricError

T = TypeVar("T")


def shuffle_contexts(
    contexts: Sequence[T], *, items: Sequence[Hashable], groups: Sequence[Hashable], seed: int = 0
) -> list[T]:
    """Assign each item the context of an item of another group (document), and each context to one item.

    Contrasts of the same item (sentence) get the same shuffled context. Raises PronmetricError if one
    group holds more than half of the items.
    """
    first = {item: number for number, item in reversed(list(enumerate(items)))}
    sizes = Counter(groups[number] for number in first.values())
    largest = max(sizes.values())
    if 2 * largest > len(first):
        raise PronmetricError(
            f"shuffled context needs documents of which none holds more than half of the sentences, "
            f"got one with {largest} of {len(first)}; measure more data"
        )
    rng = np.random.default_rng(seed)
    rank = dict(zip(sizes, rng.permutation(len(sizes)), strict=True))
    numbers = [list(first.values())[i] for i in rng.permutation(len(first))]
    order = sorted(numbers, key=lambda number: rank[groups[number]])
    donors = order[largest:] + order[:largest]  # a shift by the largest group's size leaves no item in its group
    given = {items[number]: contexts[donor] for number, donor in zip(order, donors, strict=True)}
    return [given[item] for item in items]
