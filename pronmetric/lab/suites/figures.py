"""Accuracy on a suite, overall and by group, with intervals over documents; comparison of several systems.

As tables of text, as a plot, and as the JSON of `pronmetric suite score`, which is read back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.estimates import cluster_share
from pronmetric.eval.resampling import SEED
from pronmetric.eval.significance import difference, holm, randomisation, totals
from pronmetric.lab.suites.contrastive import SuiteVerdicts, Verdict
from pronmetric.report.embed import colour
from pronmetric.report.plots import draw
from pronmetric.report.text import table
from pronmetric.text import strict_json
from pronmetric.text.entry import Entry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST_SEEN = frozenset({"rule"})
"""Break-downs whose groups keep the order in which they appear; the others are sorted."""
_EXPECTED = "expected a result of `pronmetric suite score --to_json`"
DISTANCE = "distance"


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
    estimate = cluster_share(right, [verdict.document for verdict in verdicts])
    return Share(estimate.value, sum(right), len(right), estimate.low, estimate.high)


def compare(systems: Mapping[str, Sequence[Verdict]], *, by_document: bool, seed: int = SEED) -> list[Difference]:
    """Each pair of systems on the same items: tested over items (or documents), p adjusted by Holm.

    seed: of the randomisation.

    Raises:
        PronmetricError: two systems were judged on different items.
    """
    names = list(systems)
    for name in names[1:]:
        _check_items(names[0], name, systems)
    differences = []
    for a, b in combinations(names, 2):
        units = [v.document if by_document else v.id for v in systems[a]]
        ones = [1.0] * len(units)
        sides = [totals([float(v.right) for v in systems[name]], ones, units) for name in (a, b)]
        _, low, high, _ = difference(*sides)
        p = randomisation(*sides, seed=seed)
        pairs = list(zip(systems[a], systems[b], strict=True))
        only_a, only_b = (sum(x.right > y.right for x, y in order) for order in (pairs, [(y, x) for x, y in pairs]))
        differences.append(Difference(a, b, (only_a - only_b) / len(pairs), low, high, p, None, only_a, only_b))
    return _adjusted(differences)


def _adjusted(differences: Sequence[Difference]) -> list[Difference]:
    adjusted = iter(holm([one.p for one in differences if one.p is not None]))
    return [one if one.p is None else replace(one, holm=next(adjusted)) for one in differences]


def _check_items(a: str, b: str, systems: Mapping[str, Sequence[Verdict]]) -> None:
    first, second = ([verdict.id for verdict in systems[name]] for name in (a, b))
    if first != second:
        place = next((k for k, (x, y) in enumerate(zip(first, second, strict=False)) if x != y), None)
        where = f"{len(first)} and {len(second)} items" if place is None else f"item {place + 1} differs"
        raise PronmetricError(f"{a} and {b} were judged on different items ({where}); judge both on the same set")


def _ordered(name: str, groups: Collection[str]) -> list[str]:
    return list(groups) if name in FIRST_SEEN else sorted(groups)


def format_figures(title: str, judged: SuiteVerdicts, figures: Figures) -> str:
    """The title, the accuracy overall and by group, and the further figures."""
    rows = [("all", "", *_cells(figures.overall))]
    rows += [(name, group, *_cells(one)) for name, groups in figures.by.items() for group, one in groups.items()]
    header = ("break-down", "group", "accuracy, %", "95 % interval", "correct", "total")
    lines = [f"{title}; intervals over {figures.documents} documents or blocks", table(header, rows, left=(0, 1))]
    return "\n".join([*lines, *(_format_further(name, value) for name, value in judged.further.items())])


def _format_further(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        rows = [
            (group, key, number)
            for group, cell in value.items()
            for key, number in (cell.items() if isinstance(cell, Mapping) else (("", cell),))
        ]
        return f"\n{name}\n{table(('group', '', 'value'), rows, left=(0, 1))}"
    if isinstance(value, list):
        return f"{name}: {', '.join(map(str, value))}"
    return f"{name}: {value:.4f}" if isinstance(value, float) else f"{name}: {value}"


def _cells(share: Share) -> tuple[object, ...]:
    ends = "-" if share.low is None or share.high is None else f"{100 * share.low:.1f} to {100 * share.high:.1f}"
    return f"{100 * share.accuracy:.1f}", ends, share.correct, share.total


def format_comparison(shares: Mapping[str, Share], differences: Sequence[Difference]) -> str:
    """The accuracy of each system, and the difference of each pair of systems with its tests."""
    rows = [(name, f"{100 * one.accuracy:.1f}", one.correct, one.total) for name, one in shares.items()]
    header = ("A", "B", "A - B, points", "95 % interval", "p", "p, Holm", "A alone", "B alone")
    systems = table(("system", "accuracy, %", "correct", "total"), rows)
    return f"{systems}\n\n{table(header, [_difference_row(one) for one in differences], left=(0, 1))}"


def _difference_row(one: Difference) -> tuple[object, ...]:
    ends = "-" if one.low is None or one.high is None else f"{100 * one.low:+.1f} to {100 * one.high:+.1f}"
    p, adjusted = ("-" if value is None else f"{value:.4f}" for value in (one.p, one.holm))
    return one.a, one.b, f"{100 * one.difference:+.1f}", ends, p, adjusted, one.only_a, one.only_b


def to_json(suite: str, judged: SuiteVerdicts, figures: Figures, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The result: accuracy as a fraction, with its interval; the break-downs; further figures; each item's verdict."""
    return {
        "suite": suite,
        **settings,
        **_share(figures.overall),
        "documents": figures.documents,
        "by": {name: {group: _share(one) for group, one in groups.items()} for name, groups in figures.by.items()},
        "further": dict(judged.further),
        "items": [
            {"id": one.id, "right": one.right, "document": one.document, "groups": dict(one.groups)}
            for one in judged.verdicts
        ],
    }


def _share(share: Share) -> dict[str, Any]:
    ends = None if share.low is None or share.high is None else [share.low, share.high]
    return {"accuracy": share.accuracy, "correct": share.correct, "total": share.total, "interval": ends}


def read_result(path: str | Path) -> tuple[str, tuple[Verdict, ...]]:
    """The suite's name and the verdicts of a result.

    Raises:
        InputError: it is no such result.
    """
    value = strict_json.read(path, _EXPECTED)
    if not isinstance(value, dict) or "items" not in value:
        raise InputError(_EXPECTED, file=path)
    result = Entry(value, file=path)
    items = result.entries("items")
    if not items:
        raise InputError(f"{_EXPECTED}, got one without items", file=path)
    return result.string("suite"), tuple(
        Verdict(
            id=item.string("id"),
            right=item.one_of("right", (True, False)),
            groups={name: str(group) for name, group in item.entry("groups").record.items()},
            document=item.string("document"),
        )
        for item in items
    )


def plot(figures: Figures, *, title: str, kind: str) -> bytes:
    """Accuracy with its interval by the distance of the antecedent or context, `kind` "png" or "svg".

    Raises:
        MissingExtra: matplotlib is not installed.
        InputError: the suite has no distances.
    """
    groups = figures.by.get(DISTANCE)
    if not groups:
        raise InputError("nothing to plot: these items have no distances")

    def make(figure: Figure) -> None:
        figure.set_size_inches(5.0, 3.0)
        axes = figure.add_subplot()
        for place, share in enumerate(groups.values()):
            if share.low is not None and share.high is not None:
                axes.plot([place, place], [100 * share.low, 100 * share.high], color=colour("link"), marker="_")
        axes.plot(range(len(groups)), [100 * share.accuracy for share in groups.values()], "o", color=colour("link"))
        axes.axhline(100 * figures.overall.accuracy, color="0.6", linewidth=0.8)
        axes.set_xticks(range(len(groups)), [f"{name}\nn = {share.total}" for name, share in groups.items()])
        axes.set_xlim(-0.5, len(groups) - 0.5)
        axes.set_xlabel("distance in sentences")
        axes.set_ylabel("accuracy, %, 95 % interval")
        axes.set_title(f"{title}; line: all items".replace("$", r"\$"), fontsize=9)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)

    return draw(make, kind=kind)
