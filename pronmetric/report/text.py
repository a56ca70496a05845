"""Figures as text: tables, and shares in percent with their intervals."""

from __future__ import annotations

import io
import sys
from collections.abc import Collection, Sequence

from pronmetric.eval.accuracy import Accuracy, Estimate
from pronmetric.output.display import visible

_UNLIMITED = 1_000_000  # characters a line


def percent(value: Accuracy | Estimate | None, *, signed: bool = False) -> str:
    """In percent with the interval, or in points with their sign: "86.4 [83.1, 89.2]"."""
    if value is None:
        return "-"
    sign = "+" if signed else ""
    share = value.value if isinstance(value, Estimate) else value.accuracy
    if value.low is None or value.high is None:
        return f"{100 * share:{sign}.1f}"
    return f"{100 * share:{sign}.1f} [{100 * value.low:{sign}.1f}, {100 * value.high:{sign}.1f}]"


def errors_apart(total: float, wrong: float, missing: float, surplus: float | None = None) -> str:
    """Expected errors in 100 pronouns, together and apart; arguments as for `kinds_of_errors`.

    >>> errors_apart(4.21, 2.61, 1.6)
    '4.21 pronoun errors per 100 pronouns: 2.61 wrong or surplus, 1.60 missing'
    """
    return f"{total:.2f} pronoun errors per 100 pronouns: {kinds_of_errors(wrong, missing, surplus)}"


def kinds_of_errors(wrong: float, missing: float, surplus: float | None, *, places: str = "") -> str:
    """Expected numbers of errors of each kind.

    surplus: None if wrong has the surplus pronouns too. places: where pronouns are missing, said after their number.

    >>> kinds_of_errors(2.1, 1.5, 0.6)
    '2.10 wrong, 1.50 missing, 0.60 surplus'
    >>> kinds_of_errors(2.7, 1.5, None, places=" (it at 3 0.75)")
    '2.70 wrong or surplus, 1.50 missing (it at 3 0.75)'
    """
    if surplus is None:
        return f"{wrong:.2f} wrong or surplus, {missing:.2f} missing{places}"
    return f"{wrong:.2f} wrong, {missing:.2f} missing{places}, {surplus:.2f} surplus"


def table(header: Sequence[str], rows: Sequence[Sequence[object]], *, left: Collection[int] = (0,)) -> str:
    """A table for stdout, one row per line, without a final line end.

    Columns are right-aligned, those of the numbers in `left` are left-aligned. A header without names is not shown.
    Control characters are shown as escape codes. In a terminal the header is bold, and cells are folded to its width;
    elsewhere the table is plain text with two spaces between the columns, as wide as its content.

    >>> print(table(("system", "score"), [("A", "91.2"), ("B", "8.0")]))
    system  score
    A        91.2
    B         8.0
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = Console(file=sys.stdout)
    folded = terminal.is_terminal and sys.stdout.isatty()  # not a notebook, nor what FORCE_COLOR alone calls a terminal
    drawn = Table(
        box=box.SIMPLE_HEAD if folded else None,
        pad_edge=False,
        padding=(0, 1) if folded else (0, 2, 0, 0),
        show_edge=False,
        show_header=any(header),
    )
    for number, name in enumerate(header):
        drawn.add_column(Text(visible(name)), justify="left" if number in left else "right", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(visible(str(cell))) for cell in row))
    if folded:
        with terminal.capture() as shown:
            terminal.print(drawn)
        text = shown.get()
    else:
        file = io.StringIO()
        Console(file=file, width=_UNLIMITED, force_terminal=False, force_jupyter=False).print(drawn)
        text = file.getvalue()
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))
