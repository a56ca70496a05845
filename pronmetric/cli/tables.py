"""How figures are written: tables of text, shares in percent with their intervals, dataclasses as JSON takes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from pronmetric.eval.accuracy import Accuracy, Estimate
from pronmetric.output.display import visible


def plain(value: Any) -> Any:
    """Dataclasses, tuples and mappings as JSON takes them."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def percent(value: Accuracy | Estimate | None, *, signed: bool = False) -> str:
    """In percent with the interval, or in points with their sign: "86.4 [83.1, 89.2]"."""
    if value is None:
        return "-"
    sign = "+" if signed else ""
    share = value.value if isinstance(value, Estimate) else value.accuracy
    if value.low is None or value.high is None:
        return f"{100 * share:{sign}.1f}"
    return f"{100 * share:{sign}.1f} [{100 * value.low:{sign}.1f}, {100 * value.high:{sign}.1f}]"


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns padded to their widest cell, the first to the left and the others to the right."""
    cells = [[visible(str(cell)) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in cells
    )
