"""The chart of the systems' scores with their intervals: in the page, and as a file of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from pronmetric.output.display import visible
from pronmetric.report import embed
from pronmetric.report.names import short
from pronmetric.results import System

_STRIP, _AXIS = 18, 22  # pixels
_LEFT, _WIDTH = 1.5, 96.0  # per cent of the width that the axis takes
_FILE_WIDTH, _ROW, _MARGIN = 640, 40, 16  # pixels
_FILE_STYLE = (
    f"text{{font:13px sans-serif;fill:{embed.colour('ink')}}}"
    f".tick{{font-size:11px;fill:{embed.colour('faint')};text-anchor:middle}}.grid{{stroke:{embed.colour('line')}}}"
    f".interval{{stroke:{embed.colour('link')};stroke-width:2}}.score{{fill:{embed.colour('link')}}}"
)


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


def svg(systems: Sequence[System]) -> str:
    """The chart as a single SVG file, for papers and slides; no library draws it. Rows and axis as in `chart`."""
    ends = [end for s in systems for end in (s.interval or ()) + ((s.score,) if s.score is not None else ())]
    low, high, step = axis(ends)
    bottom = _MARGIN + _ROW * len(systems)

    def x(score: float) -> str:
        return f"{_MARGIN + (_FILE_WIDTH - 2 * _MARGIN) * (score - low) / (high - low):.1f}"

    parts = []
    for k in range(round((high - low) / step) + 1):
        tick = low + k * step
        parts.append(f'<line class="grid" x1="{x(tick)}" x2="{x(tick)}" y1="{_MARGIN}" y2="{bottom}"/>')
        parts.append(f'<text class="tick" x="{x(tick)}" y="{bottom + 14}">{tick:g}</text>')
    for row, (name, system) in enumerate(zip(short([s.name for s in systems]), systems, strict=True)):
        top = _MARGIN + _ROW * row
        parts.append(f'<text x="{_MARGIN}" y="{top + 12}">{escape(visible(name))}: {escape(value(system))}</text>')
        if system.interval is not None:
            left, right = map(x, system.interval)
            parts.append(
                f'<path class="interval" d="M{left} {top + 27}H{right}M{left} {top + 22}v10M{right} {top + 22}v10"/>'
            )
        if system.score is not None:
            parts.append(f'<circle class="score" cx="{x(system.score)}" cy="{top + 27}" r="5"/>')
    size = f'width="{_FILE_WIDTH}" height="{bottom + 22}" viewBox="0 0 {_FILE_WIDTH} {bottom + 22}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_FILE_STYLE}</style>{"".join(parts)}</svg>\n'


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
