"""The chart of the systems as a single SVG file, for papers and slides; no library draws it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pronmetric.output.display import visible
from pronmetric.report.chart import axis, value
from pronmetric.report.names import short
from pronmetric.results import System

_WIDTH, _ROW, _MARGIN = 640, 40, 16  # pixels
_STYLE = (
    "text{font:13px sans-serif;fill:#1a1d21}.tick{font-size:11px;fill:#565d66;text-anchor:middle}"
    ".grid{stroke:#d5d9df}.interval{stroke:#0b57d0;stroke-width:2}.score{fill:#0b57d0}"
)


def svg(systems: Sequence[System]) -> str:
    """One row for each system: its name, its score and interval in words and as marks; the axis below."""
    ends = [end for s in systems for end in (s.interval or ()) + ((s.score,) if s.score is not None else ())]
    low, high, step = axis(ends)
    bottom = _MARGIN + _ROW * len(systems)

    def x(score: float) -> str:
        return f"{_MARGIN + (_WIDTH - 2 * _MARGIN) * (score - low) / (high - low):.1f}"

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
    size = f'width="{_WIDTH}" height="{bottom + 22}" viewBox="0 0 {_WIDTH} {bottom + 22}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_STYLE}</style>{"".join(parts)}</svg>\n'
