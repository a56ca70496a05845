"""Scores and outcomes as the records of a result, for what shows both."""

from __future__ import annotations

from pronmetric.output.display import visible
from pronmetric.results.records import RATES, Pair, System
from pronmetric.scoring.comparison import Outcome
from pronmetric.scoring.score import SystemScore


def system_of(name: str, score: SystemScore) -> System:
    """A system's score as a record."""
    apart = score.wrong_in_pronouns, score.missing_in_pronouns, score.surplus_in_pronouns
    found = zip(RATES, (score.errors, *apart, score.errors_in_words, score.preference), strict=True)
    rates = {key: (rate.value, rate.interval) for key, rate in found if rate is not None}
    counts = score.pronouns, score.segments, score.with_pronoun
    return System(
        visible(name), score.score, score.interval, *counts, rates=rates, units=score.units, resampled=score.resampled
    )


def pair_of(outcome: Outcome, *, p_randomisation: float | None = None, p_t: float | None = None) -> Pair:
    """The outcome of the systems 0 and 1 as a record; p values: those adjusted for several pairs, if there are."""
    return Pair(
        0,
        1,
        outcome.difference,
        outcome.interval,
        outcome.p_randomisation if p_randomisation is None else p_randomisation,
        outcome.p_t if p_t is None else p_t,
        outcome.wins,
        outcome.ties,
        outcome.losses,
        outcome.units,
        outcome.score_difference,
        outcome.resampled,
    )
