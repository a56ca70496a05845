"""Accuracy on a suite, overall and by group, with intervals over documents; comparison of several systems."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from pronmetric.errors import PronmetricError
from pronmetric.eval.estimates import cluster_share
from pronmetric.eval.resampling import SEED
from pronmetric.eval.significance import difference, holm, randomisation, totals
from pronmetric.lab.suites.contrastive import Verdict

FIRST_SEEN = frozenset({"rule"})
"""Break-downs whose groups keep the order in which they appear; the others are sorted."""


@dataclass(frozen=True, slots=True)
class Share:
    """Share of items that are right, in [0, 1]; low, high: 95 % interval, None with too few documents."""

    accuracy: float
    correct: int
    total: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """Accuracy over all items and by group; `documents`: over how many units the intervals are."""

    overall: Share
    by: Mapping[str, Mapping[str, Share]]
    documents: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Accuracy of system `a` minus that of `b` on the same items.

    low, high: 95 % interval of Student's t; p: of the approximate randomisation; None with too few units. holm: p
    adjusted for all pairs. only_a, only_b: items that one of them alone gets right.
    """

    a: str
    b: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    holm: float | None
    only_a: int
    only_b: int


def figures(verdicts: Sequence[Verdict]) -> Figures:
    """The accuracy of a system, overall and by each break-down.

    Raises:
        PronmetricError: there is no item.
    """
    if not verdicts:
        raise PronmetricError("no item is left to judge; widen the filter")
    members: dict[str, dict[str, list[Verdict]]] = {}
    for verdict in verdicts:
        for name, group in verdict.groups.items():
            members.setdefault(name, {}).setdefault(group, []).append(verdict)
    by = {name: {group: share(groups[group]) for group in _ordered(name, groups)} for name, groups in members.items()}
    return Figures(share(verdicts), by, len({verdict.document for verdict in verdicts}))


def share(verdicts: Sequence[Verdict]) -> Share:
    """The share of right verdicts, with its interval over documents."""
    right = [verdict.right for verdict in verdicts]
    found = cluster_share(right, [verdict.document for verdict in verdicts])
    return Share(found.value, sum(right), len(right), found.low, found.high)


def compare(systems: Mapping[str, Sequence[Verdict]], *, by_document: bool, seed: int = SEED) -> list[Difference]:
    """Each pair of systems on the same items: tested over items (or documents), p adjusted by Holm.

    seed: of the randomisation.

    Raises:
        PronmetricError: two systems were judged on different items.
    """
    names = list(systems)
    for name in names[1:]:
        _check_items(names[0], name, systems)
    found = []
    for a, b in combinations(names, 2):
        units = [v.document if by_document else v.id for v in systems[a]]
        ones = [1.0] * len(units)
        sides = [totals([float(v.right) for v in systems[name]], ones, units) for name in (a, b)]
        _, low, high, _ = difference(*sides)
        p = randomisation(*sides, seed=seed)
        pairs = list(zip(systems[a], systems[b], strict=True))
        only_a, only_b = (sum(x.right > y.right for x, y in order) for order in (pairs, [(y, x) for x, y in pairs]))
        found.append(Difference(a, b, (only_a - only_b) / len(pairs), low, high, p, None, only_a, only_b))
    return _adjusted(found)


def _adjusted(found: Sequence[Difference]) -> list[Difference]:
    adjusted = iter(holm([one.p for one in found if one.p is not None]))
    return [one if one.p is None else replace(one, holm=next(adjusted)) for one in found]


def _check_items(a: str, b: str, systems: Mapping[str, Sequence[Verdict]]) -> None:
    first, second = ([verdict.id for verdict in systems[name]] for name in (a, b))
    if first != second:
        place = next((k for k, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), None)
        where = f"{len(first)} and {len(second)} items" if place is None else f"item {place + 1} differs"
        raise PronmetricError(f"{a} and {b} were judged on different items ({where}); judge both on the same set")


def _ordered(name: str, groups: Collection[str]) -> list[str]:
    return list(groups) if name in FIRST_SEEN else sorted(groups)
