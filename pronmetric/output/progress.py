"""Progress of long work on stderr: a bar on a terminal, otherwise occasional plain lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

SECONDS = 30.0  # from one plain line to the next
DELAY = 2.0  # before work that is mostly short shows progress
_LINE = "{desc}: {n_fmt}/{total_fmt} {unit} ({percentage:.0f} %), {elapsed} elapsed, {remaining} left{postfix}"
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} {unit} [{elapsed}, {remaining} left{postfix}]"
_LINE_WITHOUT_TOTAL = "{desc}: {n_fmt} {unit}, {elapsed} elapsed{postfix}"


class _Lines(tqdm):
    """Lines instead of a bar; the last one gives the final count. With `gui`, tqdm itself writes nothing."""

    def display(self, *_: Any, **__: Any) -> None:
        """Write a line."""
        self.fp.write(f"{self}\n")
        self.fp.flush()

    def close(self) -> None:
        """Write the last line, unless already written."""
        if not self.disable and self.n != self.last_print_n and time.time() >= self.start_t + self.delay:
            self.display()
        super().close()


def progress(
    items: Iterable[Any] | None = None,
    *,
    label: str,
    total: int | None,
    unit: str,
    done: int = 0,
    short: bool = False,
) -> tqdm:
    """A `tqdm` over `items`, or one to `update`; plain lines replace the bar if stderr is not a terminal.

    Args:
        items: the items to iterate over; None if progress is reported by `update`.
        label: of the work.
        total: number of items; None if unknown.
        unit: of the count, in the plural.
        done: number of items finished before; the time left is estimated from the recent rate.
        short: the work is mostly short; nothing is shown in the first seconds.
    """
    common: dict[str, Any] = {"desc": label, "total": total, "unit": unit, "initial": done, "smoothing": 0.1}
    common["delay"] = DELAY if short else 0.0
    if sys.stderr.isatty():
        return tqdm(items, **common, bar_format=None if total is None else _BAR, dynamic_ncols=True, file=sys.stderr)
    line = _LINE_WITHOUT_TOTAL if total is None else _LINE
    times = {"mininterval": SECONDS, "maxinterval": SECONDS, "miniters": 1}
    return _Lines(items, **common, **times, bar_format=line, gui=True, file=sys.stderr)
