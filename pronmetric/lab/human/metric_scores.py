"""A metric's scores of systems and of their segments, read from .sys.score, .seg.score or a result in JSON."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pronmetric import results
from pronmetric.errors import InputError
from pronmetric.eval.decision import ERRORS, SCORE
from pronmetric.lab.human import wmt_scores
from pronmetric.results import Result
from pronmetric.text.lines import iter_lines

_OUTPUT = re.compile(r"(?:.+\.)?hyp\.(?P<system>.+)\.[a-z]{2,3}(?:\.gz)?")
_GZIP = ".gz"


class Metric(NamedTuple):
    """A metric's scores of systems; `result` also has those of the segments."""

    systems: dict[str, float | None]
    result: Result | None

    def segments(self) -> dict[str, list[float | None]]:
        """The scores of each system's segments; empty without a result."""
        if self.result is None:
            return {}
        return {
            name: [segment.outputs[place].score for segment in self.result.segments]
            for place, name in enumerate(self.systems)
        }

    def grouped(
        self, groups: Sequence[str], order: Sequence[str], *, by: str, file: str
    ) -> dict[str, list[float | None]]:
        """The scores of each system in groups of segments: `groups` has that of each segment, `order` all of them.

        A score is the mean over the group's pronouns; of another number than the score, over its segments.

        Raises:
            InputError: another number of segments, or a group that is not in `order`.
        """
        found = self.result.segments if self.result is not None else ()
        if len(found) != len(groups):
            message = f"{len(found)} segments, but the test set of the human scores has {len(groups)}"
            raise InputError(f"{message}: expected the same text", file=file)
        if unknown := set(groups) - set(order):
            raise InputError(f"no human scores of {', '.join(sorted(unknown))}, which the text has", file=file)
        scores: dict[str, list[float | None]] = {}
        for place, name in enumerate(self.systems):
            values: dict[str, list[float]] = {group: [] for group in order}
            for segment, group in zip(found, groups, strict=True):
                output = segment.outputs[place]
                if by == SCORE:
                    values[group] += [pronoun.score for pronoun in output.pronouns]
                elif output.score is not None:
                    values[group].append(output.score)
            scores[name] = [sum(own) / len(own) if own else None for own in values.values()]
        return scores


def read(path: str, people: Collection[str], *, by: str = SCORE) -> Metric:
    """The metric's scores of systems, by the names `people`, those of the human scores.

    by: one of `DECISIONS`; the scores of a result are then those numbers, higher is better (see `_by`).
    """
    if not is_json(path):
        _refuse_other(by, path)
        return Metric(wmt_scores.read_system_scores(path), None)
    found = _by(results.read(path), by, path)
    systems: dict[str, float | None] = {}
    for system in found.systems:
        name = _match_name(system.name, people)
        if name in systems:
            raise InputError(f"duplicate system {name} (of {system.name}); expected each system once", file=path)
        systems[name] = system.score
    return Metric(systems, found)


def read_segments(
    path: str, people: Collection[str], *, by: str = SCORE
) -> tuple[Metric | None, dict[str, list[float | None]]]:
    """The metric's scores of segments, by the names `people`; a result is returned as well. by: as for `read`."""
    if not is_json(path):
        _refuse_other(by, path)
        return None, wmt_scores.read_segment_scores(path)
    metric = read(path, people, by=by)
    return metric, metric.segments()


def labels(paths: Sequence[str]) -> list[str]:
    """The names of the files; their paths, if two names are equal.

    Raises:
        InputError: a file is given twice.
    """
    for path in paths:
        if paths.count(path) > 1:
            raise InputError("is given twice: expected different SCORES", file=path)
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _by(found: Result, by: str, path: str) -> Result:
    """The result with other numbers as scores, higher is better.

    "errors": expected pronoun errors, negative, of a system those in 1,000 words; "preference": a system's is the mean.
    """
    if by == SCORE:
        return found
    rate = "errors_per_1000_words" if by == ERRORS else "preference"
    sign = -1 if by == ERRORS else 1
    systems = []
    for system in found.systems:
        value = system.rates.get(rate)
        if value is None:
            raise InputError(f"{system.name} has no {rate}, which `by={by}` needs: score the texts again", file=path)
        systems.append(system._replace(score=sign * value[0]))
    segments = (
        segment._replace(outputs=tuple(output._replace(score=output.value(by)) for output in segment.outputs))
        for segment in found.segments
    )
    return replace(found, systems=tuple(systems), segments=tuple(segments))


def _refuse_other(by: str, path: str) -> None:
    if by != SCORE:
        raise InputError(f"holds scores alone: `by={by}` needs what `pronmetric score --to_json` wrote", file=path)


def is_json(path: str) -> bool:
    """Whether a file holds JSON, by its first character."""
    return next((line.lstrip()[:1] for line in iter_lines(path, kept=False)), "") in ("{", "[")


def _match_name(name: str, people: Collection[str]) -> str:
    """The system with this name, or whose output file has this name; else the name itself."""
    file = Path(name).name.removesuffix(_GZIP)
    output = _OUTPUT.fullmatch(file)
    names = (name, file, output["system"] if output else file, Path(file).stem)
    return next((one for one in names if one in people), name)
