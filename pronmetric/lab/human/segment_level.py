"""Segment-level correlation of metrics with human scores: the outputs that count, the figures, and their JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pronmetric.errors import InputError
from pronmetric.eval.decision import SCORE
from pronmetric.eval.permutation import Matrix, segment_matrix
from pronmetric.eval.resampling import order_of
from pronmetric.eval.segment_correlation import SegmentFigures, common, segment_figures
from pronmetric.eval.soft_pairwise import SPA, SoftPairwise
from pronmetric.lab.human import human_scores, metric_scores
from pronmetric.lab.human.human_scores import DOCUMENTS, DOMAINS, HumanScores
from pronmetric.lab.human.metric_scores import Metric
from pronmetric.lab.human.system_level import significance, steps
from pronmetric.lab.human.wmt_scores import is_human

SegmentScores = Mapping[str, Sequence[float | None]]
"""Under each system the scores of its segments (documents, domains), in order."""


@dataclass(frozen=True, slots=True)
class SegmentLevel:
    """Metrics, by label, on the outputs that all of them and humans scored.

    p: of the tests between two or more metrics, in `figure`. systems: those that all have. unit: what has a score,
    "segments", "documents" or "domains". segments: how many of these each system has. scores: outputs that
    count, of `human_scores` that humans scored. left_out: systems that some metric lacks. references: human
    translations, left out. soft: soft pairwise accuracies of the systems, over `soft_units`; None if undefined.
    """

    paths: Sequence[str]
    figures: Mapping[str, SegmentFigures]
    average: str
    figure: str
    p: Matrix | None
    systems: Sequence[str]
    unit: str
    segments: int
    scores: int
    human_scores: int
    left_out: Sequence[str]
    references: Sequence[str]
    soft: Mapping[str, float | None]
    soft_units: int

    def content(self, human: str, *, seed: int) -> dict[str, Any]:
        """All figures for JSON; `human` is the file of the human scores."""
        return {
            "level": self.unit.removesuffix("s"),
            "human": human,
            "average": self.average,
            "metrics": [_figures(path, one) for path, one in zip(self.paths, self.figures.values(), strict=True)],
            "systems": self.systems,
            self.unit: self.segments,
            "scores": self.scores,
            "human_scores": self.human_scores,
            "seed": seed,
            "soft_pairwise_accuracy": dict(zip(self.paths, self.soft.values(), strict=True)),
            "soft_pairwise_accuracy_units": self.soft_units,
            "significance": None if self.p is None else significance(self.p, self.figure),
            "left_out": {"not_scored_by_all": self.left_out, "references": self.references},
        }


class MetricFile(NamedTuple):
    """The segment scores of a metric, from a file named `path`, `label` in tables; with its result if it is one."""

    path: str
    label: str
    scores: SegmentScores
    result: Metric | None


def read_metrics(paths: Sequence[str], human: HumanScores, *, by: str = SCORE) -> list[MetricFile]:
    """The metrics in the files, of the units that `human` scores; systems get the names that they have there.

    A result gives scores of documents and domains as the means of its pronouns' scores, or with another number in `by`
    of its segments'.

    Raises:
        InputError: with file and line, for a malformed file, or other domains than those of `human`.
    """
    files = []
    for path, label in zip(paths, metric_scores.labels(paths), strict=True):
        if human.unit == DOMAINS and not metric_scores.is_json(path):
            files.append(MetricFile(path, label, _of_domains(path, human), None))
            continue
        result, scores = metric_scores.read_segments(path, human.names, by=by)
        if result is not None and human.unit in (DOCUMENTS, DOMAINS):
            groups = human_scores.read_groups(human.path, unit="domains" if human.unit == DOMAINS else "documents")
            order = human.domains if human.unit == DOMAINS else tuple(dict.fromkeys(groups))
            scores = result.grouped(groups, order, by=by, file=path)
        files.append(MetricFile(path, label, scores, result))
    return files


def _of_domains(path: str, human: HumanScores) -> dict[str, list[float | None]]:
    scores = human_scores.read_domain_scores(path)
    for system, own in scores.items():
        if set(own) != set(human.domains):
            message = f"{system} has the domains {', '.join(sorted(own))}, but {human.path} {', '.join(human.domains)}"
            raise InputError(f"{message}: expected the same", file=path)
    return {system: [own[domain] for domain in human.domains] for system, own in scores.items()}


def correlate(
    files: Sequence[MetricFile],
    *,
    human: HumanScores,
    average: str,
    figure: str,
    keep_references: bool,
    seed: int,
) -> SegmentLevel:
    """Correlate metrics with the human scores of segments, documents or domains, and test each two in `figure`.

    Args:
        files: the metrics, as `read_metrics` gives them.
        human: the human scores.
        average: how scores are grouped, see `pronmetric.eval.segment_correlation`.
        figure: the statistic of the tests.
        keep_references: include human translations as systems.
        seed: of the resampling.

    Raises:
        InputError: no system, or no output, has all scores, or the metrics have other numbers of segments.
    """
    paths, metrics = [file.path for file in files], {file.label: file.scores for file in files}
    length = _length(paths, list(metrics.values()))
    systems = list(dict.fromkeys(s for segments in metrics.values() for s in segments))
    docs = next(([one.doc for one in f.result.result.segments] for f in files if f.result and f.result.result), None)
    people = human.align(systems=systems, size=length, docs=docs)
    systems = list(dict.fromkeys([*systems, *people]))
    references = [] if keep_references else [s for s in systems if is_human(s)]
    counted = [s for s in systems if s not in references and all(s in side for side in (*metrics.values(), people))]
    if not counted:
        there = "; ".join(f"{label} has {', '.join(segments)}" for label, segments in metrics.items())
        message = f"expected a system that all SCORES have too: here are {', '.join(people)}; {there}"
        raise InputError(f"{message}; name them alike", file=human.path)
    by_human, *sides = _in_order(people, metrics, sorted(counted))
    first, *others = common({str(k): each for k, each in enumerate([by_human, *sides])}).values()
    if not (~np.isnan(first)).any():
        raise InputError(f"no output has a score here and in {', '.join(paths)}", file=human.path)
    matrices = dict(zip(metrics, others, strict=True))
    figures, p, soft = {}, None, SoftPairwise(first, seed=seed)
    with steps(len(matrices)) as bar:
        for label, matrix in matrices.items():
            figures[label] = segment_figures(matrix, first, average=average, seed=seed)
            bar.update()
        if len(matrices) > 1 and figure == SPA:
            p = soft.test(matrices, seed=seed, advance=bar.update)
        elif len(matrices) > 1:
            p = segment_matrix(matrices, first, figure=figure, average=average, seed=seed, advance=bar.update)
    return SegmentLevel(
        paths=paths,
        figures=figures,
        average=average,
        figure=figure,
        p=p,
        systems=counted,
        unit=human.unit,
        segments=length,
        scores=int((~np.isnan(first)).sum()),
        human_scores=int((~np.isnan(by_human)).sum()),
        left_out=[s for s in systems if s not in references and s not in counted],
        references=references,
        soft={label: soft.accuracy(matrix) for label, matrix in matrices.items()},
        soft_units=soft.segments,
    )


def _length(paths: Sequence[str], metrics: Sequence[SegmentScores]) -> int:
    """The number of segments, the same in all metrics."""
    lengths = [len(next(iter(segments.values()))) for segments in metrics]
    for path, length in zip(paths, lengths, strict=True):
        if length != lengths[0]:
            message = f"{length} segments of each system, but {paths[0]} has {lengths[0]}: expected the same text"
            raise InputError(message, file=path)
    return lengths[0]


def _in_order(people: SegmentScores, metrics: Mapping[str, SegmentScores], systems: Sequence[str]) -> list[np.ndarray]:
    """The scores (systems, segments) of people and of each metric; segments in the order of their scores, for draws."""
    sides = [people, *metrics.values()]
    matrices = [np.array([scores[system] for system in systems], dtype=float) for scores in sides]
    by_label = sorted(zip(metrics, matrices[1:], strict=True), key=lambda one: one[0])
    order = order_of(matrices[0], *(matrix for _, matrix in by_label))
    return [matrix[:, order] for matrix in matrices]


def _figures(path: str, one: SegmentFigures) -> dict[str, Any]:
    return {
        "metric": path,
        **{name: dataclasses.asdict(mean) for name, mean in one.figures.items()},
        "threshold": one.threshold,
        "groups": one.groups,
        "groups_of_one": one.small,
        "pairs": one.pairs,
        "pairs_for_threshold": one.sought,
    }
