"""The files that `correlate` writes."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from pronmetric.lab.human import wmt_scores
from pronmetric.lab.human.metric_scores import Metric
from pronmetric.output import targets
from pronmetric.text import strict_json


def flags(args: argparse.Namespace) -> tuple[tuple[str, bool], ...]:
    """The flags that write one metric's scores, and whether they were used."""
    return ("--to_sys_score", args.to_sys_score is not None), ("--to_seg_score", args.to_seg_score is not None)


def write(args: argparse.Namespace, metric: Metric) -> None:
    """Write the metric's scores as files of mt-metrics-eval, if requested."""
    if args.to_sys_score is not None:
        _write_lines(args.to_sys_score, wmt_scores.system_score_lines(metric.systems))
    if args.to_seg_score is not None and metric.result is not None:
        _write_lines(args.to_seg_score, wmt_scores.segment_score_lines(metric.segments()))


def write_json(path: str | None, content: Mapping[str, Any]) -> None:
    """Write all figures, if requested."""
    if path is not None:
        _write_lines(path, [strict_json.dump(content, indent=1) + "\n"])


def _write_lines(path: str, lines: Iterable[str]) -> None:
    with targets.AtomicFile(path) as file:
        file.writelines(lines)
