"""The systems' scores with their intervals, as an SVG that stands inside a page and takes its colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from pronmetric.report.result import System

_ROW, _TOP, _BOTTOM = 46, 6, 26  # pixels
_LEFT, _WIDTH = 1.5, 96.0  # per cent of the width that the axis takes


def chart(systems: Sequence[System]) -> str:
    """One row a system: its name, a dot at its score, a bar over its interval; the axis below.

    Positions are in per cent of the width, so that letters keep their size on a narrow screen.
    """
    ends = [end for s in systems for end in (s.interval or ()) + ((s.score,) if s.score is not None else ())]
    low, high, step = axis(ends)
    height = _TOP + _ROW * len(systems) + _BOTTOM

    def x(value: float) -> str:
        return f"{_LEFT + _WIDTH * (value - low) / (high - low):.3f}%"

    parts = []
    floor = height - _BOTTOM
    for k in range(round((high - low) / step) + 1):
        tick = low + k * step
        parts.append(f'<line class="grid" x1="{x(tick)}" x2="{x(tick)}" y1="{_TOP}" y2="{floor}"/>')
        parts.append(f'<text class="tick" x="{x(tick)}" y="{floor + 18}" text-anchor="middle">{tick:g}</text>')
    for k, system in enumerate(systems):
        y = _TOP + _ROW * k + 32
        parts.append(f'<text class="name" x="0" y="{y - 14}">{escape(system.name)}</text>')
        if system.interval is not None:
            left, right = map(x, system.interval)
            parts.append(f'<line class="interval" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
            parts += [f'<line class="interval" x1="{e}" x2="{e}" y1="{y - 5}" y2="{y + 5}"/>' for e in (left, right)]
        if system.score is not None:
            parts.append(f'<circle class="score" cx="{x(system.score)}" cy="{y}" r="6"/>')
    told = "; ".join(map(said, systems))
    return (
        f'<svg class="chart" role="img" aria-label="{escape(told)}" width="100%" height="{height}" '
        f'xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )


def said(system: System) -> str:
    """A system's score in words."""
    if system.score is None:
        return f"{system.name}: no pronoun"
    interval = "" if system.interval is None else f", 95 % {system.interval[0]:.2f} to {system.interval[1]:.2f}"
    return f"{system.name}: {system.score:.2f}{interval}"


def axis(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower end, upper end and step of an axis that holds `values`, in round numbers, four to ten steps.

    >>> axis([81.2, 93.9]), axis([50.0]), axis([])
    ((80.0, 94.0, 2.0), (49.0, 51.0, 0.2), (0.0, 100.0, 20.0))
    """
    if not values:
        return 0.0, 100.0, 20.0
    low, high = min(values), max(values)
    if high - low < 1e-9 * max(1.0, abs(high)):
        low, high = low - 1, high + 1
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= rough * 0.75)
    return round(math.floor(low / step) * step, 9), round(math.ceil(high / step) * step, 9), round(step, 9)
