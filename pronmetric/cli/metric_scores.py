"""The SCORES of `correlate`: a metric's scores of systems and of their segments, from the files that hold them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from pronmetric import results
from pronmetric.errors import InputError
from pronmetric.results import Result
from pronmetric.suites import wmt_scores
from pronmetric.text.lines import iter_lines

_OUTPUT = re.compile(r"(?:.+\.)?hyp\.(?P<system>.+)\.[a-z]{2,3}(?:\.gz)?")
_GZIP = ".gz"


class Metric(NamedTuple):
    """A metric's scores of systems; of a result also those of each segment."""

    systems: dict[str, float | None]
    result: Result | None

    def segments(self) -> dict[str, list[float | None]]:
        """The scores of each system's segments; none where there is no result."""
        if self.result is None:
            return {}
        return {
            name: [segment.outputs[place].score for segment in self.result.segments]
            for place, name in enumerate(self.systems)
        }


def read(path: str, people: Collection[str]) -> Metric:
    """The metric's scores of systems, under people's names."""
    if not _is_json(path):
        return Metric(wmt_scores.read_system_scores(path), None)
    found = results.read(path)
    systems: dict[str, float | None] = {}
    for system in found.systems:
        name = _named(system.name, people)
        if name in systems:
            raise InputError(f"{name} for the second time, of {system.name}: expected each system once", file=path)
        systems[name] = system.score
    return Metric(systems, found)


def read_segments(path: str, people: Collection[str]) -> tuple[Metric | None, dict[str, list[float | None]]]:
    """The metric's scores of segments, under people's names; with what else a result holds."""
    if not _is_json(path):
        return None, wmt_scores.read_segment_scores(path)
    metric = read(path, people)
    return metric, metric.segments()


def labels(paths: Sequence[str]) -> list[str]:
    """The files' names, as far as they are different; else the whole paths.

    Raises:
        InputError: one file is named twice.
    """
    for path in paths:
        if paths.count(path) > 1:
            raise InputError("is named twice: expected different SCORES", file=path)
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _is_json(path: str) -> bool:
    return next((line.lstrip()[:1] for line in iter_lines(path)), "") in ("{", "[")


def _named(name: str, people: Collection[str]) -> str:
    """The system that a name stands for: itself, or the one whose output has this file name."""
    file = Path(name).name.removesuffix(_GZIP)
    output = _OUTPUT.fullmatch(file)
    names = (name, file, output["system"] if output else file, Path(file).stem)
    return next((one for one in names if one in people), name)
