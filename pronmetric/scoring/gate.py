"""A gate for a release: whether a system's pronouns meet what is asked of them, and its worst segments."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import NamedTuple

from pronmetric.errors import PronmetricError
from pronmetric.eval.decision import ERRORS, SCORE
from pronmetric.eval.significance import RESAMPLES
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.scoring.bulk import score_rows
from pronmetric.scoring.comparison import B, Outcome, PairwiseComparison, average, score_pairs
from pronmetric.scoring.score import Gap, PronounScore, SegmentScore, SystemScore, Tally
from pronmetric.text.context import Text
from pronmetric.text.corpus import Corpus, Place, Row

MIN_SCORE, MAX_ERRORS, NO_WORSE, MAX_REFUSALS = "min_score", "max_errors", "no_worse", "max_refusals"
ALPHA = 0.05
"""Level of the test that a system is no worse than another, by default."""
MARGIN = 1.0  # in points of the score; chosen by hand, not tuned
WIDE = 20.0  # points of the score; a text with so much worse pronouns is worse to every reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is asked: the least score, the most expected errors in the whole text, the margin below a baseline.

    The margin is in the unit of what decides (`SYSTEM_UNITS`); alpha is the level of its test. max_refusals: the most
    segments that are no translation (`SegmentScore.no_translation`).
    """

    min_score: float | None = None
    max_errors: float | None = None
    margin: float = MARGIN
    alpha: float = ALPHA
    by: str = SCORE
    max_refusals: int = 0


def doubts(limits: Limits, system: SystemScore, *, probabilities: bool, baseline: bool) -> Iterator[str]:
    """Why a condition can hardly fail, of this system; `probabilities`: its scores are in [0, 100]."""
    if limits.min_score is not None and probabilities and 0 < limits.min_score <= 1:
        least = limits.min_score
        yield f"`min_score={least:g}` is {least:g} of 100: did you mean {100 * least:g}?"
    if limits.max_errors is not None and limits.max_errors >= system.pronouns:
        most = f"{limits.max_errors:.15g}"
        yield f"`max_errors={most}`: the text has {system.pronouns} pronouns, so that this can hardly fail"
    if baseline and limits.by == SCORE and probabilities and limits.margin >= WIDE:
        worse = f"{limits.margin:g}"
        yield f"`margin={worse}`: a text passes that is up to {worse} points worse; systems differ by some points"


class Condition(NamedTuple):
    """One condition: its kind, its limit, what was found, and whether it is met.

    found: the score, the expected errors, the segments that are no translation (a condition only where there are some)
    or, of `NO_WORSE`, the difference to the baseline, above 0 where the new text is better. p: of `NO_WORSE`,
    one-sided, of "worse by the margin or more"; it is met where p is below alpha.
    """

    kind: str
    limit: float
    found: float
    met: bool
    p: float | None = None


class Finding(NamedTuple):
    """A segment (from 0) that is worse than the baseline's, or, without one, has a doubtful pronoun or lacks one.

    Or one that is no translation, which is the worst; no_translation says why.

    value: its difference to the baseline's, or its lowest probability of being right, of a pronoun or a gap; lower is
    worse. pronouns: those that decided, or the doubtful ones. other, other_pronouns: the baseline's text, and those of
    its pronouns that decided. gaps, other_gaps: where a pronoun is likely missing; with a baseline only if the errors
    decide. place: where the text stands in a file that is no list of lines.
    """

    number: int
    doc: str | None
    context: str
    text: str
    value: float
    pronouns: tuple[PronounScore, ...]
    other: str | None
    other_pronouns: tuple[PronounScore, ...]
    gaps: tuple[Gap, ...] = ()
    other_gaps: tuple[Gap, ...] = ()
    no_translation: str | None = None
    place: Place | None = None

    @property
    def line(self) -> int:
        """The line of the text in its file, from 1."""
        return self.number + 1 if self.place is None else self.place.line


class Verdict(NamedTuple):
    """What the gate says: its conditions, the worst findings, worst first, and how many findings there are.

    units: documents or segments (`resampled`) of the test. compared: with the baseline, None without one.
    """

    conditions: tuple[Condition, ...]
    system: SystemScore
    findings: tuple[Finding, ...]
    found: int
    resampled: str
    units: int
    compared: Outcome | None = None

    @property
    def passed(self) -> bool:
        """Whether all conditions are met."""
        return all(condition.met for condition in self.conditions)


class Gate:
    """Checks one system, or compares it with a second one, the baseline; keeps the texts of its worst segments only."""

    def __init__(self, limits: Limits, *, tie: float, worst: int, baseline: bool) -> None:
        self._limits, self._worst, self._order = limits, worst, count()
        self._tally = Tally()
        self._compared = PairwiseComparison(tie=tie, by=limits.by) if baseline else None
        self._heap: list[tuple[float, int, Finding]] = []  # the least bad of the worst first
        self._found = 0

    def add(self, number: int, row: Row, context: str, new: SegmentScore, old: SegmentScore | None) -> None:
        """Add a segment with its scores; `old` is the baseline's."""
        if self._compared is None or old is None:
            self._tally.add(new, row.doc)
            doubtful = tuple(p for p in new.pronouns if p.probability is not None and p.probability < THRESHOLD)
            gaps, why = _doubtful(new.gaps), new.no_translation
            if doubtful or gaps or why:
                least = min([*(p.score for p in doubtful), *(1 - gap.probability for gap in gaps), 1.0])
                value = -inf if why else least
                found = Finding(number, row.doc, context, row.texts[0], value, doubtful, None, (), gaps, (), why)
                self._keep(found, row)
            return
        decision = self._compared.add(new, old, row.doc)
        if new.no_translation is not None:
            refused = Finding(number, row.doc, context, row.texts[0], -inf, (), row.texts[1], ())
            self._keep(refused._replace(no_translation=new.no_translation), row)
        elif decision.better == B and decision.difference is not None:
            given = number, row.doc, context, row.texts[0], decision.difference
            by_gaps = self._limits.by == ERRORS
            sides = (_doubtful(new.gaps), _doubtful(old.gaps)) if by_gaps else ((), ())
            self._keep(Finding(*given, decision.a_decided, row.texts[1], decision.b_decided, *sides), row)

    def _keep(self, finding: Finding, row: Row) -> None:
        self._found += 1
        finding = finding._replace(place=row.places[0] if row.places else None)
        heapq.heappush(self._heap, (-finding.value, -next(self._order), finding))
        if len(self._heap) > self._worst:
            heapq.heappop(self._heap)

    def verdict(self, *, seed: int, resamples: int = RESAMPLES) -> Verdict:
        """The verdict on all segments; the seed draws the swaps of the test.

        Raises:
            PronmetricError: there is no pronoun, a number that the checkpoint does not give, or too few units for the
                test.
        """
        limits = self._limits
        system = (self._tally if self._compared is None else self._compared.a).score()
        if system.score is None:
            raise PronmetricError("there is no pronoun, so that nothing can be checked; give a longer text")
        conditions = []
        if limits.min_score is not None:
            conditions.append(Condition(MIN_SCORE, limits.min_score, system.score, system.score >= limits.min_score))
        if limits.max_errors is not None:
            if system.errors is None:
                raise PronmetricError("the checkpoint gives no probabilities: leave out `max_errors=`")
            errors = system.errors.value * system.pronouns / 100
            conditions.append(Condition(MAX_ERRORS, limits.max_errors, errors, errors <= limits.max_errors))
        if system.no_translations:
            number = system.no_translations
            conditions.append(Condition(MAX_REFUSALS, limits.max_refusals, number, number <= limits.max_refusals))
        resampled, units, outcome = system.resampled, system.units, None
        if self._compared is not None:
            outcome = self._compared.outcome(seed=seed, resamples=resamples)
            resampled, units = outcome.resampled, outcome.units
            p = self._compared.no_worse(margin=limits.margin, seed=seed, resamples=resamples)
            if p is None or outcome.difference is None or 2.0**-units >= limits.alpha:
                raise PronmetricError(
                    f"{units} {resampled} with a pronoun are too few for a test at `alpha={limits.alpha:g}`: give "
                    "more, or leave out the baseline"
                )
            conditions.append(Condition(NO_WORSE, limits.margin, outcome.difference, p < limits.alpha, p))
        findings = tuple(finding for *_, finding in sorted(self._heap, reverse=True))
        return Verdict(tuple(conditions), system, findings, self._found, resampled, units, outcome)


def _doubtful(gaps: Iterable[Gap]) -> tuple[Gap, ...]:
    """The gaps that are less likely right than a pronoun that is not doubtful."""
    return tuple(gap for gap in gaps if 1 - gap.probability < THRESHOLD)


def score_sides(
    corpus: Corpus, kind: str, *, size: int, stream: Callable[[Iterable[Text]], Iterator[SegmentScore]]
) -> Iterator[tuple[Row, str, SegmentScore, SegmentScore | None]]:
    """Each row with the context of the first system's text, and the scores of the first and of the second system."""
    if len(corpus.systems) == 1:
        for row, contexts, (segment,) in score_rows(corpus, kind, size=size, stream=stream):
            yield row, contexts[0][0], average(*segment), None
        return
    pairs = score_pairs(corpus, kind, size=size, stream=stream)
    for (row, scores), (_, contexts) in zip(pairs, corpus.in_context(kind, size=size), strict=True):
        yield row, contexts[0][0], average(*scores[0, 1]), average(*scores[1, 0])
