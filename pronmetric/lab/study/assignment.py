"""Who answers which items, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pronmetric.lab.study.design import Design
from pronmetric.lab.study.item import Item

_ORDER, _SAMPLE = 1, 0  # independent random streams of a seed


@dataclass(frozen=True, slots=True)
class Task:
    """One question to an annotator.

    swapped: the reference is shown as the second version. repeated: the annotator answered the item before.
    """

    item: str
    swapped: bool
    repeated: bool


Assignments = Mapping[str, Sequence[Task]]
"""The tasks of each annotator, in their order."""


def sample_stream(seed: int, number: int) -> np.random.Generator:
    """The random numbers by which the items of a language are drawn."""
    return np.random.default_rng([seed, _SAMPLE, number])


def assign(items: Sequence[Item], design: Design) -> dict[str, tuple[Task, ...]]:
    """The tasks of each annotator, "1", "2", ...

    The items of a group are every `groups`-th item, so that groups are as balanced as the sample if its cells are
    consecutive. Each annotator gets them in an own random order, half of them swapped. Repeated items are drawn from
    the first half of the order; they come in its second half, with the versions in the other order.
    """
    found = {}
    for annotator in range(design.annotators):
        rng = np.random.default_rng([design.seed, _ORDER, annotator])
        own = items[design.group_of(annotator) :: design.groups]
        found[str(annotator + 1)] = _tasks([own[k].id for k in rng.permutation(len(own))], design.repeated, rng)
    return found


def _tasks(order: Sequence[str], share: float, rng: np.random.Generator) -> tuple[Task, ...]:
    size = len(order)
    swapped = rng.permutation(np.arange(size) % 2 == 0)
    tasks = [Task(item, bool(turned), False) for item, turned in zip(order, swapped, strict=True)]
    first_half, again = tasks[: (size + 1) // 2], round(share * size)
    chosen = [first_half[k] for k in sorted(rng.permutation(len(first_half))[:again])]
    later = [Task(task.item, not task.swapped, True) for task in chosen]
    places = sorted(int(place) for place in rng.integers((size + 1) // 2, size + 1, size=len(later)))
    for place, task in reversed(list(zip(places, later, strict=True))):
        tasks.insert(place, task)
    return tuple(tasks)
