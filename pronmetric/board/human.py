"""How well system scores agree with human scores of whole translations: test set by test set, and on average."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pronmetric.board.figures import ALL, Figures
from pronmetric.eval import correlation
from pronmetric.eval.correlation import MINIMUM, Correlation, Correlations
from pronmetric.suites import wmt_rankings
from pronmetric.suites.wmt_scores import is_human, read_human

FIGURES = {
    "pearson": ("Pearson's r", correlation.pearson),
    "spearman": ("Spearman's rho", correlation.spearman),
    "kendall": ("Kendall's tau-b", correlation.kendall),
    "pairwise": ("pairwise accuracy", correlation.pairwise),
}
"""Each figure's label and function."""
_SUFFIX = ".sys.score"
_Draws = Mapping[str, NDArray[np.float64]]

Human = Mapping[str, Mapping[str, float]]
"""By the id of a test set, the human score of each system, higher is better."""


class Named(Protocol):
    """A test set: its id, its year if known, its language pair."""

    @property
    def id(self) -> str:  # noqa: D102
        ...

    @property
    def year(self) -> int | None:  # noqa: D102
        ...

    @property
    def lp(self) -> str:  # noqa: D102
        ...


class Agreement(NamedTuple):
    """The correlations of test sets by their id, and the mean of each of `FIGURES` over the test sets.

    held_out: the same mean over the test sets that the checkpoint was neither trained nor tuned on; empty without one.
    """

    sets: Mapping[str, Correlations]
    mean: Mapping[str, Correlation]
    held_out: Mapping[str, Correlation]


def find(folders: Sequence[Path], testsets: Iterable[Named], *, target: str) -> tuple[Human, list[str]]:
    """The human scores of test sets in folders, and notes on files that are left out.

    They are WMT's rankings by direct assessment (`wmtNN-da/ad-sys-ranking-SL-TL-z-names.csv`, the z scores), or for a
    test set of any name `TESTSET.SL-TL.sys.score`. Human translations are left out.

    Raises:
        InputError: a malformed file.
    """
    rankings: dict[str, Mapping[str, float]] = {}
    files: dict[str, Path] = {}
    notes: list[str] = []
    for folder in folders:
        found, told = wmt_rankings.find(folder, target=target)
        rankings |= {ranking.dataset: ranking.scores for ranking in found}
        notes += told
        files |= {path.name.removesuffix(_SUFFIX): path for path in sorted(folder.rglob(f"*{_SUFFIX}"))}
    scores: dict[str, Mapping[str, float]] = {}
    for testset in testsets:
        if testset.id in files:
            own = read_human(files[testset.id])
            scores[testset.id] = {s: x for s, x in own.items() if x is not None and not is_human(s)}
        elif testset.year is not None:
            scores[testset.id] = rankings.get(f"wmt{testset.year % 100:02d}:{testset.lp}", {})
    return scores, notes


def agree(boards: Iterable[Figures], human: Human, *, held_out: Iterable[str], seed: int) -> Agreement:
    """The correlation of each test set with two or more systems that have both scores, and the means.

    Intervals resample the systems of each test set; those of the means resample them in all test sets. There is none
    with fewer than `MINIMUM` systems in each test set.
    """
    kept = set(held_out)
    sets: dict[str, Correlations] = {}
    draws: dict[str, _Draws] = {}
    for number, board in enumerate(boards):
        people = human.get(board.testset.id, {})
        own = zip(board.systems, board.groups[ALL].systems, strict=True)
        scores = {name: found.score for name, found in own if name in people and found.score is not None}
        if len(scores) < 2:
            continue
        others = {name: people[name] for name in scores}
        sets[board.testset.id] = correlation.correlate(scores, others, seed=seed)
        x, y = list(scores.values()), list(others.values())
        draws[board.testset.id] = {
            name: correlation.draw_figure(x, y, figure, seed=[seed, number]) for name, (_, figure) in FIGURES.items()
        }
    return Agreement(sets, _mean(sets, draws), _mean({name: sets[name] for name in sets if name in kept}, draws))


def _mean(sets: Mapping[str, Correlations], draws: Mapping[str, _Draws]) -> dict[str, Correlation]:
    if not sets:
        return {}
    units = sum(len(found.systems) for found in sets.values())
    means = {
        name: correlation.average_draws([draws[testset][name] for testset in sets], units=units) for name in FIGURES
    }
    if all(len(found.systems) < MINIMUM for found in sets.values()):
        return {name: replace(found, low=None, high=None) for name, found in means.items()}
    return means
