"""How well system scores agree with human scores of whole translations: test set by test set, and on average."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from pronmetric.eval import correlation
from pronmetric.eval.correlation import MINIMUM, Correlation, Correlations
from pronmetric.lab.board.figures import ALL, Figures
from pronmetric.lab.human import esa, human_scores, wmt_scores
from pronmetric.lab.human.wmt_scores import is_human, read_human

FIGURES = {
    "pearson": ("Pearson's r", correlation.pearson),
    "spearman": ("Spearman's rho", correlation.spearman),
    "kendall": ("Kendall's tau-b", correlation.kendall),
    "pairwise": ("pairwise accuracy", correlation.pairwise),
}
"""Each figure's label and function."""
PREFERRED = ("mqm", "esa", "da-sqm", "wmt-z", "wmt", "wmt-appraise-z", "wmt-appraise")
"""Names of human scores in mt-metrics-eval's test sets, the preferred first."""
_SUFFIX = ".sys.score"
_ESA_ENDINGS = (".csv", ".jsonl", ".csv.gz", ".jsonl.gz")
_ESA_NAME = re.compile(r"(?<![a-z])esa(?![a-z])|humeval(?!_control)", re.IGNORECASE)
_YEAR = re.compile(r"(?:wmt-?|20)(\d\d)(?!\d)", re.IGNORECASE)
_Draws = Mapping[str, NDArray[np.float64]]

Human = Mapping[str, Mapping[str, float]]
"""By the id of a test set, the human score of each system, higher is better."""


class NamedTestSet(Protocol):
    """A test set: its id and name, its year if known, its language pair."""

    @property
    def id(self) -> str:  # noqa: D102
        ...

    @property
    def name(self) -> str:  # noqa: D102
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


def find(folders: Sequence[Path], testsets: Iterable[NamedTestSet], *, target: str) -> tuple[Human, list[str]]:
    """The human scores of test sets in folders, and notes on files that are left out.

    They are, the first that there is: for a test set of any name `TESTSET.SL-TL.sys.score`; mt-metrics-eval's
    `TESTSET/human-scores/SL-TL.NAME.sys.score` (of several the first of `PREFERRED`); WMT's rankings by direct
    assessment (`wmtNN-da/ad-sys-ranking-SL-TL-z-names.csv`, the z scores); error span annotation (ESA) of the year of
    the test set, a file with "esa" or "humeval" in its name (the mean of each system). Human translations are left out.

    Raises:
        InputError: a malformed file.
    """
    rankings: dict[str, Mapping[str, float]] = {}
    files: dict[str, Path] = {}
    notes: list[str] = []
    for folder in folders:
        ranked, told = wmt_scores.find_rankings(folder, target=target)
        rankings |= {ranking.dataset: ranking.scores for ranking in ranked}
        notes += told
        files |= {path.name.removesuffix(_SUFFIX): path for path in sorted(folder.rglob(f"*{_SUFFIX}"))}
    spans = _spans(folders)
    scores: dict[str, Mapping[str, float]] = {}
    for testset in testsets:
        short = None if testset.year is None else f"wmt{testset.year % 100:02d}:{testset.lp}"
        if testset.id in files:
            scores[testset.id] = _of_systems(read_human(files[testset.id]))
        elif of_layout := _of_evalset(testset, files.values()):
            path, others = of_layout
            scores[testset.id] = _of_systems(read_human(path))
            unused = f" ({', '.join(others)} unused)" if others else ""
            notes.append(f"{testset.id}: human scores of {path.name}{unused}")
        elif short in rankings:
            scores[testset.id] = rankings[short]
        elif short in spans:
            (path, pair), *more = spans[short]
            scores[testset.id] = _of_systems(human_scores.read(path, pair=pair).means(()))
            names = ", ".join(other.name for other, _ in more)
            unused = f"; unused: {names} (join files of CSV into one)" if more else ""
            notes.append(f"{testset.id}: human scores are the means of ESA in {path.name}{unused}")
    return scores, notes


def _of_systems(scores: Mapping[str, float | None]) -> dict[str, float]:
    """The scores without human translations and missing ones."""
    return {name: score for name, score in scores.items() if score is not None and not is_human(name)}


def _of_evalset(testset: NamedTestSet, files: Iterable[Path]) -> tuple[Path, list[str]] | None:
    """The scores of a test set in mt-metrics-eval's layout, and the names of those that are not used."""
    files_of: dict[str, Path] = {}
    for path in files:
        lp, _, name = path.name.removesuffix(_SUFFIX).partition(".")
        place = path.resolve().parent.parent
        root = place.parent.name if place.name == "txt" else place.name
        if path.parent.name == "human-scores" and name and (root, lp) == (testset.name, testset.lp):
            files_of[name] = path
    order = sorted(files_of, key=lambda name: (PREFERRED.index(name) if name in PREFERRED else len(PREFERRED), name))
    return (files_of[order[0]], order[1:]) if order else None


def _spans(folders: Sequence[Path]) -> dict[str, list[tuple[Path, str]]]:
    """The files of ESA in folders by the year and language pair of their test sets, with the pair as in the file."""
    spans: dict[str, list[tuple[Path, str]]] = {}
    for folder in folders:
        for path in sorted(path for ending in _ESA_ENDINGS for path in folder.rglob(f"*{ending}")):
            year = _YEAR.search(path.name) or _YEAR.search(path.parent.as_posix())
            if year and _ESA_NAME.search(path.name) and esa.holds(path):
                for pair in esa.pairs(path):
                    spans.setdefault(f"wmt{year[1]}:{esa.bare(pair)}", []).append((path, pair))
    return spans


def agree(boards: Iterable[Figures], human: Human, *, held_out: Iterable[str], seed: int) -> Agreement:
    """The correlation of each test set with two or more systems that have both scores, and the means.

    Intervals resample the systems of each test set; those of the means resample them in all test sets. There is none
    with fewer than `MINIMUM` systems in each test set.
    """
    kept = set(held_out)
    sets: dict[str, Correlations] = {}
    draws: dict[str, _Draws] = {}
    for board in boards:
        people = human.get(board.testset.id, {})
        own = sorted(zip(board.systems, board.groups[ALL].systems, strict=True))
        scores = {name: figures.score for name, figures in own if name in people and figures.score is not None}
        if len(scores) < 2:
            continue
        others = {name: people[name] for name in scores}
        sets[board.testset.id] = correlation.correlate(scores, others, seed=seed)
        x, y = list(scores.values()), list(others.values())
        own_seed = [seed, crc32(board.testset.id.encode())]  # each test set draws for itself, in any order of them
        draws[board.testset.id] = {
            name: correlation.draw_figure(x, y, figure, seed=own_seed) for name, (_, figure) in FIGURES.items()
        }
    return Agreement(sets, _mean(sets, draws), _mean({name: sets[name] for name in sets if name in kept}, draws))


def _mean(sets: Mapping[str, Correlations], draws: Mapping[str, _Draws]) -> dict[str, Correlation]:
    if not sets:
        return {}
    units = sum(len(own.systems) for own in sets.values())
    means = {
        name: correlation.average_draws([draws[testset][name] for testset in sets], units=units) for name in FIGURES
    }
    if all(len(own.systems) < MINIMUM for own in sets.values()):
        return {name: replace(own, low=None, high=None) for name, own in means.items()}
    return means
