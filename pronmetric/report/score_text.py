"""How `score` prints scores, and its notes on a system."""

from __future__ import annotations

from collections.abc import Callable

from pronmetric.results import FEW
from pronmetric.scoring.score import Rate, SystemScore


def note_system(name: str, score: SystemScore, note: Callable[[str], object], *, side: str = "source") -> None:
    """Note a system's score, its interval and the number of its pronouns, each in a line.

    side: what its missing and surplus pronouns are counted by, "source" or "reference".
    """
    interval = "" if score.interval is None else f" (95 % {score.interval[0]:.2f} to {score.interval[1]:.2f})"
    number = "null" if score.score is None else f"{score.score:.2f}"
    note(f"{name}: {number}{interval}; {score.pronouns} pronouns, in {score.with_pronoun} of {score.segments} segments")
    if score.errors is not None and score.errors_in_words is not None:
        rates = f"{_rate(score.errors)} in 100 pronouns, {_rate(score.errors_in_words)} in 1,000 words"
        note(f"{name}: expected errors {rates}")
    if score.missing is not None:
        missing = f"{score.missing} {side} pronouns without a counterpart"
        note(f"{name}: {missing}, {score.surplus} pronouns without one in the {side}")
    if score.interval is not None and score.units <= FEW:
        note(f"{name}: the interval is based on only {score.units} {score.resampled}")


def _rate(rate: Rate) -> str:
    return f"{rate.value:.2f}" + ("" if rate.interval is None else " ({:.2f} to {:.2f})".format(*rate.interval))


def format_score(score: float | None) -> str:
    """A score in the format of COMET, `null` if there is none."""
    return "null" if score is None else f"{score:.4f}"
