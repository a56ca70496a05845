"""How `score` prints scores, with notes on a system; how `compare` prints each segment and the summary of each pair."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

from pronmetric.checkpoint.people import People
from pronmetric.eval.decision import ERRORS, PREFERENCE, SCORE, SEGMENT_UNITS, SYSTEM_UNITS
from pronmetric.eval.resampling import MINIMUM
from pronmetric.output.display import visible
from pronmetric.report import verdict
from pronmetric.report.text import errors_apart, kinds_of_errors, table
from pronmetric.results import FEW
from pronmetric.results.scored import pair_of, system_of
from pronmetric.results.write import list_gaps, list_pronouns
from pronmetric.scoring.comparison import Outcome, PairDecision, PairResult
from pronmetric.scoring.score import Rate, SystemScore


def segment_line(number: int, pair: PairDecision, *, by: str = SCORE) -> str:
    """One segment of a pair of systems; its difference is in the unit of what decides."""
    names, decision = (visible(pair.names[0]), visible(pair.names[1])), pair.decision
    better = {"a": names[0], "b": names[1], None: "null"}.get(decision.better, decision.better)
    difference = "null" if decision.difference is None else f"{decision.difference:.4f} {SEGMENT_UNITS[by]}"
    cells = [*names, f"Segment {number}", f"better: {better}", f"difference: {difference}"]
    sides = (decision.a, decision.a_decided), (decision.b, decision.b_decided)
    for name, (segment, pronouns) in zip(names, sides, strict=True):
        said = [list_pronouns(pronouns)] if pronouns else []
        if by == ERRORS and segment.missing is not None:
            gaps = f" ({list_gaps(segment.gaps)})" if segment.gaps else ""
            said.append(kinds_of_errors(segment.wrong or 0.0, segment.missing, segment.surplus, places=gaps))
        if said:
            cells.append(f"{name}: {'; '.join(said)}")
    return "\t".join(cells)


def summary(pair: PairResult, *, tie: float, by: str = SCORE) -> str:
    """The outcome of a pair of systems, as several lines."""
    names, outcome = (visible(pair.names[0]), visible(pair.names[1])), pair.outcome
    systems = table(
        ("", ""), [(pair.names[0], _system(outcome.a, by)), (pair.names[1], _system(outcome.b, by))], left=(0, 1)
    )
    record = pair_of(outcome, p_randomisation=pair.p_randomisation_holm, p_t=pair.p_t_holm)
    lines = [verdict.of_pair(record, names, by=by), indent(systems, "  ")]
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
    both = apart(score)
    more = "" if both is None else f"; {both}"
    if both is None and by == ERRORS and score.errors is not None:
        more = f"; {score.errors.value:.2f} errors in 100 pronouns"
    more += f"; preference {score.preference.value:+.2f}" if by == PREFERENCE and score.preference is not None else ""
    return f"{number}  ({score.pronouns} pronouns in {score.with_pronoun} of {score.segments} segments{more})"


def note_system(
    name: str,
    score: SystemScore,
    note: Callable[[str], object],
    detail: Callable[[str], object],
    *,
    side: str = "source",
    people: People | None = None,
) -> None:
    """Note what a system's score says, in a sentence, and with `detail` what further figures it has.

    side: what its missing and surplus pronouns are counted by, "source" or "reference". people: of the checkpoint.
    """
    system = system_of(name, score)
    note(verdict.of_system(system))
    if people is not None and score.score is not None:
        detail(verdict.of_people(people, system))
    if score.errors_in_words is not None:
        detail(f"{name}: {_rate(score.errors_in_words)} errors per 1,000 words")
    detail(f"{name}: pronouns in {score.with_pronoun} of {score.segments} segments")
    if score.missing is not None:
        missing = f"{score.missing} {side} pronouns without a counterpart"
        detail(f"{name}: {missing}, {score.surplus} pronouns without one in the {side}")
    if score.interval is not None and score.units <= FEW:
        detail(f"{name}: the interval is based on only {score.units} {score.resampled}")


def apart(score: SystemScore) -> str | None:
    """A system's expected errors, together and apart; None where its missing pronouns are not known."""
    total, wrong, missing, surplus = (
        None if each is None else each.value
        for each in (score.errors, score.wrong_in_pronouns, score.missing_in_pronouns, score.surplus_in_pronouns)
    )
    if total is None or wrong is None or missing is None:
        return None
    return errors_apart(total, wrong, missing, surplus)


def _rate(rate: Rate) -> str:
    return f"{rate.value:.2f}" + ("" if rate.interval is None else " ({:.2f} to {:.2f})".format(*rate.interval))


def format_score(score: float | None) -> str:
    """A score in the format of COMET, `null` if there is none."""
    return "null" if score is None else f"{score:.4f}"
