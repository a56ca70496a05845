"""How `compare` prints its result: a line for each segment and pair, then a summary of each pair."""

from __future__ import annotations

from textwrap import indent

from pronmetric.eval.decision import ERRORS, PREFERENCE, SCORE, SEGMENT_UNITS, SYSTEM_UNITS
from pronmetric.eval.resampling import MINIMUM
from pronmetric.output.display import visible
from pronmetric.report.text import table
from pronmetric.results import FEW
from pronmetric.results.comparisons import list_pronouns
from pronmetric.scoring.comparison import Outcome, PairDecision, PairResult
from pronmetric.scoring.score import SystemScore


def segment_line(number: int, pair: PairDecision, *, by: str = SCORE) -> str:
    """One segment of a pair of systems; its difference is in the unit of what decides."""
    names, decision = (visible(pair.names[0]), visible(pair.names[1])), pair.decision
    better = {"a": names[0], "b": names[1], None: "null"}.get(decision.better, decision.better)
    difference = "null" if decision.difference is None else f"{decision.difference:.4f} {SEGMENT_UNITS[by]}"
    cells = [*names, f"Segment {number}", f"better: {better}", f"difference: {difference}"]
    for name, pronouns in zip(names, (decision.a_decided, decision.b_decided), strict=True):
        if pronouns:
            cells.append(f"{name}: {list_pronouns(pronouns)}")
    return "\t".join(cells)


def summary(pair: PairResult, *, tie: float, by: str = SCORE) -> str:
    """The outcome of a pair of systems, as several lines."""
    names, outcome = (visible(pair.names[0]), visible(pair.names[1])), pair.outcome
    systems = table(
        ("", ""), [(pair.names[0], _system(outcome.a, by)), (pair.names[1], _system(outcome.b, by))], left=(0, 1)
    )
    lines = [f"{names[0]} against {names[1]}", indent(systems, "  ")]
    if outcome.difference is not None:
        rough = "; few: interval and p are rough" if outcome.interval is not None and outcome.units <= FEW else ""
        units = f"({outcome.units} {outcome.resampled}{rough})"
        lines.append(f"  difference {_difference(outcome, by)} {units}")
    for reference, part in pair.by_reference.items():
        if part.a.score is not None and part.b.score is not None:
            scores = f"{part.a.score:.2f} and {part.b.score:.2f}"
            lines.append(f"    with {visible(reference)}: {scores}, difference {_difference(part, by)}")
    lines.append(
        f"  segments: {outcome.wins} better in {names[0]}, {outcome.losses} in {names[1]}, {outcome.ties} ties "
        f"(within {tie:g}); {outcome.one_sided} with pronouns in one only, {outcome.unscored} in neither"
    )
    if outcome.p_randomisation is None:
        lines.append(f"  no interval, no p: fewer than {MINIMUM} {outcome.resampled} with a pronoun")
    else:
        p = _p(outcome.p_randomisation, pair.p_randomisation_holm)
        lines.append(f"  approximate randomisation p = {p}")
    if outcome.p_t is not None:
        p = _p(outcome.p_t, pair.p_t_holm)
        lines.append(f"  t test, as the interval: p = {p}")
    return "\n".join(lines)


def _difference(outcome: Outcome, by: str) -> str:
    """The difference in the unit of what decides, its interval, and beside it the difference of the scores."""
    beside = "" if by == SCORE else f"; of the scores {outcome.score_difference:+.2f} {SYSTEM_UNITS[SCORE]}"
    return f"{outcome.difference:+.2f} {SYSTEM_UNITS[by]}{_interval(outcome.interval)}{beside}"


def _interval(ends: tuple[float, float] | None) -> str:
    return "" if ends is None else f", 95 % {ends[0]:+.2f} to {ends[1]:+.2f}"


def _p(p: float, adjusted: float | None) -> str:
    return f"{p:.4f}" + ("" if adjusted is None or adjusted == p else f" (Holm {adjusted:.4f})")


def _system(score: SystemScore, by: str) -> str:
    number = "null" if score.score is None else f"{score.score:.2f}"
    more = f"; {score.errors.value:.2f} errors in 100 pronouns" if by == ERRORS and score.errors is not None else ""
    more += f"; preference {score.preference.value:+.2f}" if by == PREFERENCE and score.preference is not None else ""
    return f"{number}  ({score.pronouns} pronouns in {score.with_pronoun} of {score.segments} segments{more})"
