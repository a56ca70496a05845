"""Drawing a study: a balanced sample of each source language, and the tasks of the annotators."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from pronmetric.errors import InputError
from pronmetric.lab.study.folder import Design, Item, Study, Task

Key = TypeVar("Key", bound=Hashable)
_LISTED = 8  # cells that a message names; the rest are counted
_ORDER, _SAMPLE = 1, 0  # independent random streams of a seed


def sample(
    candidates: Sequence[Item], design: Design, *, differences: Mapping[str, float | None] | None = None
) -> Study:
    """A study of these candidates; the same candidates, in any order, and the same design give the same study.

    differences: by the candidate's id, the metric's score of the reference less that of the other version; None for a
    version without a score.

    Raises:
        InputError: a language has too few candidates, or its sample cannot be balanced; a candidate that lacks its
            source or its score.
    """
    if design.source:
        _require("has no source", [item.id for item in candidates if not item.source], "leave out `show_source=True`")
    known = {item: value for item, value in (differences or {}).items() if value is not None}
    if differences is not None:
        missing = [item.id for item in candidates if item.id not in known]
        _require("has no score of both versions", missing, "score all of them, or leave out `scores=`")
    chosen: list[Item] = []
    for number, language in enumerate(sorted({item.language for item in candidates})):
        own = [item for item in candidates if item.language == language]
        ranges = score_ranges({item.id: known[item.id] for item in own}, design.ranges) if known else {}
        total = len(own) if design.items is None else design.items
        strict = design.strict and design.items is not None
        chosen += draw(own, total=total, ranges=ranges, strict=strict, rng=sample_stream(design.seed, number))
    return Study({item.id: item for item in chosen}, design, assign(chosen, design))


def choose(
    candidates: Sequence[Item], *, languages: Collection[str] | None, pairs: Collection[tuple[str, str]] | None
) -> list[Item]:
    """The candidates of these source languages and pronoun pairs (reference, other), None for all.

    Raises:
        InputError: a language or pair that no candidate has.
    """
    chosen = list(candidates)
    for wanted, key, argument in (
        (languages, lambda item: item.language, "languages"),
        (pairs, lambda item: item.pronouns, "pronoun_pairs"),
    ):
        if wanted is None:
            continue
        known = {key(item) for item in chosen}
        if absent := [one for one in wanted if one not in known]:
            name = absent[0] if isinstance(absent[0], str) else ":".join(absent[0])
            raise InputError(f"`{argument}={name}`: no candidate has it; leave it out, or give other data")
        chosen = [item for item in chosen if key(item) in wanted]
    return chosen


def _require(what: str, missing: Sequence[str], cure: str) -> None:
    if missing:
        raise InputError(f'{len(missing)} candidates: each {what}, first "{missing[0]}"; {cure}')


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
            cell = cells[pair][level]
            chosen += [cell[k] for k in sorted(rng.permutation(len(cell))[:number])]
    return chosen


def _shortages(
    quotas: Mapping[tuple[str, str], int],
    sizes: Mapping[tuple[str, str], int],
    available: Mapping[tuple[str, str], Mapping[int, int]],
) -> list[tuple[str, int, int]]:
    """The cells with too few candidates, each with the wanted and the available number."""
    pairs = [_named(pair, "", *rest) for pair, *rest in _short(sum(quotas.values()), sizes)]
    if pairs:
        return pairs
    return [
        _named(pair, f", score range {level + 1}", *rest)
        for pair, quota in quotas.items()
        for level, *rest in _short(quota, available[pair])
    ]


def _short(total: int, available: Mapping[Key, int]) -> list[tuple[Key, int, int]]:
    """The cells that keep `total` from being divided equally, up to one: wanted and available items of each."""
    least, remainder = divmod(total, len(available))
    below = [(cell, least, number) for cell, number in available.items() if number < least]
    lacking = remainder - sum(number > least for number in available.values())
    if below or lacking <= 0:
        return below
    return [(cell, least + 1, number) for cell, number in available.items() if number == least][:lacking]


def _named(pair: tuple[str, str], level: str, wanted: int, available: int) -> tuple[str, int, int]:
    return f"{pair[0]} -> {pair[1]}{level}", wanted, available


def _refuse(language: str, total: int, short: Sequence[tuple[str, int, int]]) -> None:
    if not short:
        return
    listed = "; ".join(f"{cell}: {available} of {wanted}" for cell, wanted, available in sorted(short)[:_LISTED])
    more = f"; and {len(short) - _LISTED} more" if len(short) > _LISTED else ""
    missing = sum(wanted - available for _, wanted, available in short)
    raise InputError(
        f"{language}: {total} items cannot be balanced, {missing} are short: {listed}{more}; give fewer `items=`, name "
        "the `pronoun_pairs=`, or `balance=level`"
    )


def sample_stream(seed: int, number: int) -> np.random.Generator:
    """The random numbers by which the items of a language are drawn."""
    return np.random.default_rng([seed, _SAMPLE, number])


def assign(items: Sequence[Item], design: Design) -> dict[str, tuple[Task, ...]]:
    """The tasks of each annotator, "1", "2", ...

    The items of a group are every `groups`-th item, so that groups are as balanced as the sample if its cells are
    consecutive. Each annotator gets them in an own random order, half of them swapped. Repeated items are drawn from
    the first half of the order; they come in its second half, with the versions in the other order. In two stages there
    is one version, and nothing is swapped.
    """
    tasks = {}
    for annotator in range(design.annotators):
        rng = np.random.default_rng([design.seed, _ORDER, annotator])
        own = items[design.group_of(annotator) :: design.groups]
        drawn = _tasks([own[k].id for k in rng.permutation(len(own))], design.repeated, rng)
        tasks[str(annotator + 1)] = tuple(replace(task, swapped=False) for task in drawn) if design.stages else drawn
    return tasks


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
