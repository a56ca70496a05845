"""System-level correlation of metrics with human scores: the systems that count, the figures, and their JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tqdm import tqdm

from pronmetric.errors import InputError
from pronmetric.eval import permutation
from pronmetric.eval.correlation import (
    RESAMPLES,
    Correlation,
    Correlations,
    correlate,
    correlate_segments,
    kendall,
    pairwise,
    pearson,
    spearman,
)
from pronmetric.eval.decision import SCORE
from pronmetric.eval.permutation import Matrix
from pronmetric.eval.significance import Totals, totals
from pronmetric.lab.human import metric_scores, wmt_scores
from pronmetric.lab.human.metric_scores import Metric
from pronmetric.output.progress import progress
from pronmetric.results import Result

STATISTICS = {"pearson": pearson, "spearman": spearman, "kendall": kendall, "pairwise": pairwise}
_KEYS = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall", "pairwise": "pairwise_accuracy"}
HumanScores = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The systems that are left out, by reason."""

    metric_only: tuple[str, ...]
    human_only: tuple[str, ...]
    unscored: tuple[str, ...]
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OneMetric:
    """A metric on the systems that have both scores; `also` holds the figures of other scores in its result."""

    path: str
    metric: Metric
    human: HumanScores
    correlations: Correlations
    also: Mapping[str, Correlations]
    left_out: LeftOut

    def content(self, human: str, *, seed: int) -> dict[str, Any]:
        """All figures and the systems' scores for JSON; `human` is the file of the human scores."""
        return {
            "metric": self.path,
            "human": human,
            **_figures(self.correlations),
            "also": {name: _figures(other) for name, other in self.also.items()},
            "resampled": self.correlations.resampled,
            "units": self.correlations.units,
            "resamples": RESAMPLES,
            "seed": seed,
            "systems": [
                {"system": name, "metric": self.metric.systems[name], "human": self.human[name]}
                for name in self.correlations.systems
            ],
            "left_out": dataclasses.asdict(self.left_out),
        }


@dataclass(frozen=True, slots=True)
class SeveralMetrics:
    """Several metrics, by label, on the systems that all of them and humans scored; p: of the tests between them.

    systems: those. left_out: systems without one of the scores. references: human translations, left out.
    """

    paths: Sequence[str]
    metrics: Mapping[str, Metric]
    human: HumanScores
    correlations: Mapping[str, Correlations]
    figure: str
    p: Matrix
    systems: Sequence[str]
    left_out: Sequence[str]
    references: Sequence[str]

    def content(self, human: str, *, seed: int) -> dict[str, Any]:
        """All figures and the systems' scores for JSON; `human` is the file of the human scores."""
        return {
            "level": "system",
            "human": human,
            "metrics": [
                {"metric": path, **_figures(one)}
                for path, one in zip(self.paths, self.correlations.values(), strict=True)
            ],
            "resampled": "systems",
            "units": len(self.systems),
            "resamples": RESAMPLES,
            "seed": seed,
            "significance": significance(self.p, self.figure),
            "systems": [
                {
                    "system": s,
                    "metrics": [metric.systems[s] for metric in self.metrics.values()],
                    "human": self.human[s],
                }
                for s in self.systems
            ],
            "left_out": {"not_scored_by_all": self.left_out, "references": self.references},
        }


def correlate_one(
    metric: Metric, people: HumanScores, *, files: tuple[str, str], keep_references: bool, segments: bool, seed: int
) -> OneMetric:
    """Correlate one metric with human scores of systems.

    Args:
        metric: the scores; with a result, its --also scores are correlated too.
        people: the human scores.
        files: of the metric and of the human scores.
        keep_references: include human translations as systems.
        segments: draw segments, or documents if known, for the intervals; needs a result.
        seed: of the draws.

    Raises:
        InputError: fewer than two systems have both scores.
    """
    path, human = files
    left = _left_out(metric.systems, people, keep=keep_references)
    counted = [s for s in metric.systems if s in people and s not in (*left.unscored, *left.references)]
    if len(counted) < 2:
        raise InputError(
            f"expected two or more systems with a score here and in {human}, found {len(counted)}: here are "
            f"{join_names(metric.systems)}; there are {join_names(people)}; name them alike"
            + (f" (human references are left out: {join_names(left.references)})" if left.references else ""),
            file=path,
        )
    x, y = ({system: scores[system] for system in counted} for scores in (metric.systems, people))
    correlations = correlate(x, y, seed=seed)
    also = _also(metric, y, seed=seed)
    if segments and metric.result is not None:
        unit, parts = _totals(metric.result, list(metric.systems))
        correlations = replace(correlate_segments({s: parts[s] for s in counted}, y, seed=seed), resampled=unit)
        also = {name: _estimates(other) for name, other in also.items()}
    return OneMetric(path, metric, y, correlations, also, left)


def correlate_several(
    paths: Sequence[str],
    people: HumanScores,
    *,
    human: str,
    figure: str,
    keep_references: bool,
    seed: int,
    by: str = SCORE,
) -> SeveralMetrics:
    """Correlate the metrics in `paths` with human scores of systems (file `human`), and test each two in `figure`.

    Raises:
        InputError: fewer than two systems have all scores.
    """
    found_in = [metric_scores.read(path, people, by=by) for path in paths]
    metrics = dict(zip(metric_scores.labels(paths), found_in, strict=True))
    names = list(dict.fromkeys([s for metric in metrics.values() for s in metric.systems] + list(people)))
    references = [] if keep_references else [s for s in names if wmt_scores.is_human(s)]
    sides = [metric.systems for metric in metrics.values()] + [people]
    counted = [s for s in names if s not in references and all(side.get(s) is not None for side in sides)]
    if len(counted) < 2:
        there = "; ".join(f"{label} has {join_names(metric.systems)}" for label, metric in metrics.items())
        message = f"expected two or more systems with a score here and in all SCORES, found {len(counted)}"
        raise InputError(f"{message}: here are {join_names(people)}; {there}; name them alike", file=human)
    y = {s: people[s] for s in sorted(counted)}
    correlations = {}
    with steps(len(metrics)) as bar:
        for label, metric in metrics.items():
            correlations[label] = correlate({s: metric.systems[s] for s in counted}, y, seed=seed)
            bar.update()
        p = _test(metrics, y, figure, seed=seed, advance=bar.update)
    return SeveralMetrics(
        paths=paths,
        metrics=metrics,
        human=y,
        correlations=correlations,
        figure=figure,
        p=p,
        systems=counted,
        left_out=[s for s in names if s not in counted and s not in references],
        references=references,
    )


def steps(metrics: int) -> tqdm:
    """Progress of work on all metrics and all pairs of them."""
    return progress(label="correlate", total=metrics * (metrics + 1) // 2, unit="steps", short=True)


def significance(p: Matrix, figure: str) -> dict[str, Any]:
    """The p values for JSON."""
    return {"figure": figure, "resamples": permutation.RESAMPLES, "metrics": list(p.metrics), "p": p.p}


def join_names(names: Iterable[str]) -> str:
    """The names in a message; "none" without any."""
    return ", ".join(names) or "none"


def _test(
    metrics: Mapping[str, Metric], people: HumanScores, figure: str, *, seed: int, advance: Callable[[], object]
) -> Matrix:
    vectors = {label: np.array([m.systems[s] for s in people], dtype=float) for label, m in metrics.items()}
    human = np.array(list(people.values()), dtype=float)
    statistic = STATISTICS[figure]
    return permutation.matrix(
        list(metrics),
        lambda a, b: permutation.swap_scores(
            vectors[a], vectors[b], human, lambda x, z: float(statistic(x, z)), seed=seed
        ),
        advance,
    )


def _left_out(metric: HumanScores, people: HumanScores, *, keep: bool) -> LeftOut:
    references = [] if keep else [s for s in dict.fromkeys((*metric, *people)) if wmt_scores.is_human(s)]
    return LeftOut(
        metric_only=tuple(s for s in metric if s not in people and s not in references),
        human_only=tuple(s for s in people if s not in metric and s not in references),
        unscored=tuple(s for s in metric if s in people and s not in references and None in (metric[s], people[s])),
        references=tuple(references),
    )


def _also(metric: Metric, y: HumanScores, *, seed: int) -> dict[str, Correlations]:
    """Correlation of each --also score that two or more of the systems have."""
    if metric.result is None:
        return {}
    own = dict(zip(metric.systems, metric.result.systems, strict=True))
    names = dict.fromkeys(name for system in own.values() for name in system.also)
    scores = {name: {s: own[s].also.get(name) for s in y} for name in names}
    enough = {name: its for name, its in scores.items() if sum(score is not None for score in its.values()) > 1}
    return {name: correlate(its, y, seed=seed) for name, its in enough.items()}


def _estimates(one: Correlations) -> Correlations:
    """The same without intervals: results contain no segment parts of --also scores to resample."""
    return replace(one, **{name: replace(getattr(one, name), low=None, high=None) for name in STATISTICS})


def _totals(result: Result, names: Sequence[str]) -> tuple[str, dict[str, Totals]]:
    """Sums and numbers of the pronouns' scores of each system, by document where two or more are known."""
    docs = [segment.doc for segment in result.segments]
    known = None not in docs and len(set(docs)) > 1
    parts = {}
    for place, name in enumerate(names):
        pronouns = [segment.outputs[place].pronouns for segment in result.segments]
        sums, counts = [sum(p.score for p in some) for some in pronouns], [len(some) for some in pronouns]
        parts[name] = totals(sums, counts, docs if known else None)
    return "documents" if known else "segments", parts


def _figures(correlations: Correlations) -> dict[str, dict[str, float | None]]:
    figures: dict[str, Correlation] = {key: getattr(correlations, name) for name, key in _KEYS.items()}
    return {key: {"estimate": one.value, "ci_low": one.low, "ci_high": one.high} for key, one in figures.items()}
