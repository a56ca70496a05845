"""Accuracy on a suite, overall and by group, with intervals that resample documents; comparison of several systems."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import SEED, cluster_bootstrap
from pronmetric.eval.significance import holm, paired_bootstrap, totals
from pronmetric.suites.contrastive import Verdict

FIRST_SEEN = frozenset({"rule"})
"""Break-downs whose groups keep the order in which they appear; the others are sorted."""


@dataclass(frozen=True, slots=True)
class Share:
    """Share of items that are right, in [0, 1]; low, high: 95 % interval, None with fewer than two documents."""

    accuracy: float
    correct: int
    total: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """Accuracy over all items and by group; `documents` is how many units the intervals resample."""

    overall: Share
    by: Mapping[str, Mapping[str, Share]]
    documents: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Accuracy of system `a` minus that of `b` on the same items.

    low, high, p: of the paired bootstrap, None with fewer than 5 units; holm: p adjusted for all pairs. only_a, only_b:
    items that one of them alone gets right.
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


def figures(verdicts: Sequence[Verdict], *, seed: int = SEED) -> Figures:
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
    by = {
        name: {group: share(groups[group], seed=seed) for group in _ordered(name, groups)}
        for name, groups in members.items()
    }
    return Figures(share(verdicts, seed=seed), by, len({verdict.document for verdict in verdicts}))


def share(verdicts: Sequence[Verdict], *, seed: int = SEED) -> Share:
    """The share of right verdicts; whole documents are resampled."""
    right = [verdict.right for verdict in verdicts]
    found = cluster_bootstrap(right, [verdict.document for verdict in verdicts], seed=seed)
    return Share(found.value, sum(right), len(right), found.low, found.high)


def compare(systems: Mapping[str, Sequence[Verdict]], *, by_document: bool, seed: int = SEED) -> list[Difference]:
    """Each pair of systems on the same items: paired bootstrap over items (or documents), p adjusted by Holm.

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
        drawn = paired_bootstrap(*sides, seed=seed)
        pairs = list(zip(systems[a], systems[b], strict=True))
        only_a, only_b = (sum(x.right > y.right for x, y in order) for order in (pairs, [(y, x) for x, y in pairs]))
        low, high, p = (drawn.low, drawn.high, drawn.p) if drawn is not None else (None, None, None)
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
