"""What `train` says at its end: its development figures beside those of the shipped checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pronmetric.checkpoint import config, locate
from pronmetric.errors import PronmetricError
from pronmetric.eval.decision import PREFERENCE
from pronmetric.report.text import table

SETS = {
    "noisy": "a reference is better than itself with a wrong pronoun",
    "noisy_none": "the same, without context: it should be lower",
    "system": "a reference is better than a system's translation",
    "study_form": "a reference is better than itself with a wrong pronoun, in the study's form",
}
PARTS = {
    "": "",
    "_equal": "  with as many pronouns in both",
    "_unequal": "  with more pronouns in one",
    "_fewer_won": "  won by the one with fewer: 50 is unbiased",
}
_START = "development/"


def development_table(figures: Mapping[str, float], shipped: Mapping[str, float]) -> str:
    """The figures as a table, in percent, and how to read it.

    figures: by name, as `train` prints them. shipped: those of the shipped checkpoint, of its own development set.
    """
    header = ("pairs in which", "score", "preference", "shipped: score", "preference")
    goal = figures.get(f"{_START}accuracy")
    lines = [
        table(header, list(_rows(figures, shipped)), left=(0,)),
        "Accuracy in percent of development pairs: the better text must score strictly higher. 50 is chance.",
        "The shipped checkpoint's figures are of its own data: the same level on data like it is good.",
    ]
    if goal is not None:
        lines.append(f"The step with the best mean of the sets in the run's context was taken: {100 * goal:.1f}.")
    return "\n".join(lines)


def _rows(figures: Mapping[str, float], shipped: Mapping[str, float]) -> Iterator[tuple[str, ...]]:
    for name, what in SETS.items():
        for part, more in PARTS.items():
            names = [f"{_START}{name}{head}{part}" for head in ("", f"_{PREFERENCE}")]
            if any(each in figures for each in names):
                yield more or what, *(_percent(run.get(each)) for run in (figures, shipped) for each in names)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def shipped_figures() -> Mapping[str, float]:
    """The development figures of the shipped checkpoint; none where the installation has no checkpoint."""
    try:
        folder = locate.locate(None).folder
    except PronmetricError:
        return {}
    return config.read(folder / locate.CONFIG)["training"].get("figures", {})
