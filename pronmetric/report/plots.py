"""Plots with matplotlib, as the bytes of a PNG or SVG file."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from itertools import cycle, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pronmetric.errors import InputError, MissingExtra
from pronmetric.eval.decision import SYSTEM_UNITS
from pronmetric.report.content import NO_WORD, OTHER_WORD, Content, confusion, display_form
from pronmetric.report.embed import colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOTS = ("systems", "pairs", "confusion")
FORMS = 16  # forms shown in a confusion matrix, the most frequent ones; the number of others is given

LINES = (colour("link"), colour("bad", dark=True), colour("heat", dark=True), colour("faint"))
POINT = colour("edge", dark=True)
_BLUE = LINES[0]
_WIDTH, _HEIGHT = 5.2, 3.4  # inches of a panel


class Panel(NamedTuple):
    """Lines of (recall, precision), ascending in recall, and points (recall, precision), by name; all in [0, 1]."""

    lines: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    points: Mapping[str, tuple[float, float]]


def draw(make: Callable[[Figure], None], *, kind: str) -> bytes:
    """What `make` draws as the bytes of a "png" or "svg" file; the same drawing gives the same bytes.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtra("matplotlib", "plots", f"a plot ({kind})") from None
    with matplotlib.rc_context({"svg.hashsalt": "pronmetric", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(layout="constrained")
        make(figure)
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return stream.getvalue()


def plot(name: str, content: Content, *, kind: str) -> bytes:
    """One of `PLOTS` as the bytes of a "png" or "svg" file; the same content gives the same bytes.

    Raises:
        MissingExtra: matplotlib is not installed.
        InputError: there is nothing to plot.
    """
    if name == "confusion":
        return draw(lambda figure: _confusion(figure, content), kind=kind)
    return draw(lambda figure: _intervals(figure, content, pairs=name == "pairs"), kind=kind)


def precision_recall(panels: Mapping[str, Panel], *, kind: str) -> bytes:
    """Precision against recall, in percent, a panel below the other, as the bytes of a "png" or "svg" file.

    Raises:
        MissingExtra: matplotlib is not installed.
    """

    def make(figure: Figure) -> None:
        figure.set_size_inches(_WIDTH, _HEIGHT * len(panels))
        for axes, (title, panel) in zip(np.ravel(figure.subplots(len(panels))), panels.items(), strict=True):
            for (name, (recall, precision)), shade in zip(panel.lines.items(), cycle(LINES)):
                axes.plot(100 * recall, 100 * precision, color=shade, linewidth=1, label=_plain(name))
            for number, (name, (x, y)) in enumerate(panel.points.items()):
                label = None if number else "a rater against the others"
                axes.plot([100 * x], [100 * y], "o", color=POINT, markersize=4, label=label)
                axes.annotate(_plain(name), (100 * x, 100 * y), (4, 2), textcoords="offset points", fontsize=7)
            axes.set_xlim(0, 100)
            axes.set_ylim(0, 100)
            axes.set_xlabel("recall, %")
            axes.set_ylabel("precision, %")
            axes.set_title(_plain(title), fontsize=9)
            axes.legend(frameon=False, fontsize=7)
            _bare(axes)

    return draw(make, kind=kind)


def _intervals(figure: Figure, content: Content, *, pairs: bool) -> None:
    """Scores of systems, or differences of pairs, with 95 % intervals, one per row."""
    result = content.result
    if pairs:
        label = f"difference ({SYSTEM_UNITS[result.by]}), 95 % interval"
        rows = [(f"{result.names[p.a]} - {result.names[p.b]}", p.difference, p.interval) for p in result.pairs]
    else:
        label = "pronoun score, 95 % interval (higher is better)"
        rows = [(s.name, s.score, s.interval) for s in result.systems]
    known = [(name, value, ends) for name, value, ends in rows if value is not None]
    if not known:
        raise InputError("nothing to plot: no pairs of systems" if pairs else "nothing to plot: no system has a score")
    figure.set_size_inches(6.4, 1.1 + 0.36 * len(known))
    axes = figure.add_subplot()
    for y, (_, value, ends) in enumerate(known):
        if ends is not None:
            axes.plot(ends, [y, y], color=_BLUE, marker="|")
        axes.plot([value], [y], color=_BLUE, marker="o")
    if pairs:
        axes.axvline(0, color="0.6", linewidth=0.8)
    axes.set_yticks(range(len(known)), [_plain(name) for name, _, _ in known])
    axes.set_ylim(len(known) - 0.4, -0.6)
    axes.set_xlabel(label)
    _bare(axes)


def _confusion(figure: Figure, content: Content) -> None:
    """The confusion matrix of each system, side by side, without pronouns equal to the reference's."""
    if content.links is None:
        raise InputError("nothing to plot: the result has no reference to compare with")
    counts = [confusion(content.links, system) for system in range(len(content.result.systems))]
    totals: dict[str, int] = {}
    for count in counts:
        for (row, column), n in count.items():
            if row != column:
                totals[row] = totals.get(row, 0) + n
                totals[column] = totals.get(column, 0) + n
    order = sorted(totals, key=lambda form: (form in (NO_WORD, OTHER_WORD), -totals[form], form))
    special = [form for form in order if form in (NO_WORD, OTHER_WORD)]
    forms = [form for form in order if form not in special][: FORMS - len(special)] + special
    if not forms:
        raise InputError("nothing to plot: every pronoun is the reference's")
    size = 1.8 + 0.34 * len(forms)
    figure.set_size_inches(size * len(counts), size)
    top = max(count[row, column] for count in counts for row in forms for column in forms if row != column)
    for k, (name, count) in enumerate(zip(content.result.names, counts, strict=True)):
        axes = figure.add_subplot(1, len(counts), k + 1)
        cells = [[0 if r == c else count[r, c] for c in forms] for r in forms]
        axes.imshow([[math.sqrt(n) for n in row] for row in cells], cmap="Oranges", vmin=0, vmax=math.sqrt(top) or 1)
        for (y, r), (x, c) in product(enumerate(forms), repeat=2):
            if cells[y][x]:
                axes.text(x, y, str(count[r, c]), ha="center", va="center", fontsize=7)
        labels = list(map(display_form, forms))
        axes.set_xticks(range(len(forms)), labels, rotation=90)
        axes.set_yticks(range(len(forms)), labels)
        left = len(order) - len(forms)
        axes.set_title(_plain(name) + (f" ({left} rarer forms left out)" if left else ""), fontsize=9)
        axes.set_xlabel("system")
        axes.set_ylabel("reference")
        _bare(axes)


def _plain(name: str) -> str:
    """A name with escaped dollar signs, which would start a formula."""
    return name.replace("$", r"\$")


def _bare(axes: Axes) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)
