"""A plot of a suite's accuracy by distance, as the bytes of a PNG or SVG file."""

from __future__ import annotations

import io

from pronmetric.errors import InputError, MissingExtra
from pronmetric.lab.suites.figures import Figures

DISTANCE = "distance"


def plot(figures: Figures, *, title: str, kind: str) -> bytes:
    """Accuracy with its interval by the distance of the antecedent or context, `kind` "png" or "svg".

    Raises:
        MissingExtra: matplotlib is not installed.
        InputError: the suite has no distances.
    """
    groups = figures.by.get(DISTANCE)
    if not groups:
        raise InputError("nothing to plot: these items have no distances")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtra("matplotlib", "plots", f"a plot ({kind})") from None
    with matplotlib.rc_context({"svg.hashsalt": "pronmetric", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(5.0, 3.0), layout="constrained")
        axes = figure.add_subplot()
        for place, share in enumerate(groups.values()):
            if share.low is not None and share.high is not None:
                axes.plot([place, place], [100 * share.low, 100 * share.high], color="#0b57d0", marker="_")
        axes.plot(range(len(groups)), [100 * share.accuracy for share in groups.values()], "o", color="#0b57d0")
        axes.axhline(100 * figures.overall.accuracy, color="0.6", linewidth=0.8)
        axes.set_xticks(range(len(groups)), [f"{name}\nn = {share.total}" for name, share in groups.items()])
        axes.set_xlim(-0.5, len(groups) - 0.5)
        axes.set_xlabel("distance in sentences")
        axes.set_ylabel("accuracy, %, 95 % interval")
        axes.set_title(f"{title}; line: all items".replace("$", r"\$"), fontsize=9)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return stream.getvalue()
