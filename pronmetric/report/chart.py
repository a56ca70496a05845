"""The systems' scores with their intervals, as HTML rows with one SVG strip each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from pronmetric.output.display import visible
from pronmetric.report.names import short
from pronmetric.results import System

_STRIP, _AXIS = 18, 22  # pixels
_LEFT, _WIDTH = 1.5, 96.0  # per cent of the width that the axis takes


def chart(systems: Sequence[System]) -> str:
    """One row per system: its name and score in words, a dot at its score, a bar over its interval; the axis below.

    Positions are in per cent of the width, so that the chart adapts to the width of the page.
    """
    ends = [end for s in systems for end in (s.interval or ()) + ((s.score,) if s.score is not None else ())]
    low, high, step = axis(ends)
    ticks = [low + k * step for k in range(round((high - low) / step) + 1)]

    def x(value: float) -> str:
        return f"{_LEFT + _WIDTH * (value - low) / (high - low):.3f}%"

    grid = "".join(f'<line class="grid" x1="{x(t)}" x2="{x(t)}" y1="0" y2="{_STRIP}"/>' for t in ticks)
    rows = []
    for name, system in zip(short([s.name for s in systems]), systems, strict=True):
        y, parts = _STRIP // 2, [grid]
        if system.interval is not None:
            left, right = map(x, system.interval)
            parts.append(f'<line class="interval" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>')
            parts += [f'<line class="interval" x1="{e}" x2="{e}" y1="{y - 5}" y2="{y + 5}"/>' for e in (left, right)]
        if system.score is not None:
            parts.append(f'<circle class="score" cx="{x(system.score)}" cy="{y}" r="6"/>')
        label = f'<bdi title="{escape(visible(system.name))}">{escape(visible(name))}</bdi>'
        rows.append(f"<p>{label} <span>{escape(value(system))}</span></p>{_svg(_STRIP, parts)}")
    labels = [f'<text class="tick" x="{x(t)}" y="16" text-anchor="middle">{t:g}</text>' for t in ticks]
    label = "; ".join(f"{visible(system.name)}: {value(system)}" for system in systems)
    return f'<div class="chart" role="img" aria-label="{escape(label)}">{"".join(rows)}{_svg(_AXIS, labels)}</div>'


def value(system: System) -> str:
    """A system's score and interval in words."""
    if system.score is None:
        return "no pronouns"
    return f"{system.score:.2f}" + ("" if system.interval is None else " ({:.2f} to {:.2f})".format(*system.interval))


def _svg(height: int, parts: Sequence[str]) -> str:
    return f'<svg width="100%" height="{height}" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'


def axis(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower end, upper end and step of an axis for `values`, in round numbers, with four to ten steps.

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
