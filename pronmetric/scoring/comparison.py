"""Two systems side by side: which segment is better in which, what decided it, and how sure the whole is.

A comparison is antisymmetric: swapping A and B changes the sign of each difference and nothing else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import fsum
from typing import NamedTuple

from pronmetric.eval.significance import RESAMPLES, paired_bootstrap, randomisation
from pronmetric.scoring.score import Counts, PronounScore, SegmentScore, SystemScore, Tally
from pronmetric.signature import Signature

A, B, TIE = "a", "b", "tie"


class Decision(NamedTuple):
    """One segment: better is "a", "b" or "tie"; None where a side has no pronoun, so that nothing is compared.

    difference: score of A minus that of B, above 0 where A is better. a_decided, b_decided: the pronouns of each
    side that decided it, those that differ most in the direction of the decision.
    """

    better: str | None
    difference: float | None
    a: SegmentScore
    b: SegmentScore
    a_decided: tuple[PronounScore, ...]
    b_decided: tuple[PronounScore, ...]


class Outcome(NamedTuple):
    """Two whole systems; numbers are in the unit of `SystemScore`, differences are A minus B.

    wins, ties, losses: segments in which A is better, equal within the tie band, worse. one_sided: segments in which
    one side alone has pronouns; unscored: in which neither has. interval: 95 % of the difference, and p_bootstrap:
    two-sided, from the same resamples, below 0.05 exactly where the interval excludes 0; None with fewer than five
    documents or segments. p_randomisation: two-sided, a second test; None with fewer than two. a_ahead: share of the
    bootstrap's resamples in which A is ahead.
    """

    a: SystemScore
    b: SystemScore
    difference: float | None
    interval: tuple[float, float] | None
    a_ahead: float | None
    p_bootstrap: float | None
    p_randomisation: float | None
    wins: int
    ties: int
    losses: int
    one_sided: int
    unscored: int
    resampled: str
    units: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What `PronounMetric.compare` returns: one decision a segment, in order, and the outcome for the systems."""

    decisions: tuple[Decision, ...]
    outcome: Outcome
    counts: Counts
    signature: Signature


class Duel:
    """Takes the segments of two systems one by one, and tells the outcome; keeps no text."""

    def __init__(self, *, tie: float) -> None:
        self.tie = tie
        self.a, self.b = Tally(), Tally()
        self.seen: dict[str | None, int] = {A: 0, B: 0, TIE: 0, None: 0}
        self.unscored = 0

    def add(self, a: SegmentScore, b: SegmentScore, doc: Hashable = None) -> Decision:
        """Decide one segment and count it."""
        self.a.add(a, doc)
        self.b.add(b, doc)
        decision = decide(a, b, tie=self.tie)
        self.seen[decision.better] += 1
        self.unscored += not a.pronouns and not b.pronouns
        return decision

    def outcome(self, *, seed: int, resamples: int = RESAMPLES) -> Outcome:
        """The systems so far; the seed draws the resamples of their difference."""
        resampled, a_totals = self.a.totals()
        _, b_totals = self.b.totals()
        bootstrap = paired_bootstrap(a_totals, b_totals, resamples=resamples, seed=seed)
        a, b = self.a.score(seed=seed), self.b.score(seed=seed)
        return Outcome(
            a=a,
            b=b,
            difference=None if a.score is None or b.score is None else a.score - b.score,
            interval=None
            if bootstrap is None or bootstrap.low is None or bootstrap.high is None
            else (bootstrap.low, bootstrap.high),
            a_ahead=None if bootstrap is None else bootstrap.a_better,
            p_bootstrap=None if bootstrap is None else bootstrap.p,
            p_randomisation=randomisation(a_totals, b_totals, resamples=resamples, seed=seed),
            wins=self.seen[A],
            ties=self.seen[TIE],
            losses=self.seen[B],
            one_sided=self.seen[None] - self.unscored,
            unscored=self.unscored,
            resampled=resampled,
            units=int(((a_totals.counts > 0) | (b_totals.counts > 0)).sum()),
        )


def decide(a: SegmentScore, b: SegmentScore, *, tie: float) -> Decision:
    """Compare one segment of two systems; scores that differ by no more than `tie` are a tie."""
    if a.score is None or b.score is None:
        return Decision(None, None, a, b, (), ())
    difference = a.score - b.score
    if abs(difference) <= tie:
        return Decision(TIE, difference, a, b, (), ())
    better = A if difference > 0 else B
    return Decision(better, difference, a, b, *_deciding(a, b, sign=1 if difference > 0 else -1))


def average(first: SegmentScore, *others: SegmentScore) -> SegmentScore:
    """The mean of one text's scores in several contexts; its pronouns are the same in all."""
    if first.score is None or not others:
        return first
    scored = [first, *others]
    score = fsum(segment.score or 0.0 for segment in scored) / len(scored)
    columns = zip(*(segment.pronouns for segment in scored), strict=True)
    return SegmentScore(score, tuple(map(_mean, columns)))


def _mean(pronouns: tuple[PronounScore, ...]) -> PronounScore:
    """One pronoun's mean over several contexts."""
    score = fsum(p.score for p in pronouns) / len(pronouns)
    return pronouns[0]._replace(score=score, probability=None if pronouns[0].probability is None else score)


def _deciding(
    a: SegmentScore, b: SegmentScore, *, sign: int
) -> tuple[tuple[PronounScore, ...], tuple[PronounScore, ...]]:
    """Aligned pronouns whose difference goes the way of the decision and is at least half of the largest such."""
    weighed = [(_gap(p, q, a, b) * sign, p, q) for p, q in _matched(a.pronouns, b.pronouns)]
    largest = max((gap for gap, _, _ in weighed), default=0.0)
    chosen = [(p, q) for gap, p, q in weighed if gap > 0 and gap >= largest / 2]
    return tuple(p for p, _ in chosen if p is not None), tuple(q for _, q in chosen if q is not None)


def _gap(p: PronounScore | None, q: PronounScore | None, a: SegmentScore, b: SegmentScore) -> float:
    """Score of A's pronoun minus that of B's; a pronoun without a partner stands against the other's segment."""
    left = a.score if p is None else p.score
    right = b.score if q is None else q.score
    assert left is not None and right is not None
    return left - right


def _matched(
    a: tuple[PronounScore, ...], b: tuple[PronounScore, ...]
) -> Iterator[tuple[PronounScore | None, PronounScore | None]]:
    """Pronouns of two texts side by side, by their forms in order; one without a partner stands beside None."""
    forms, others = [p.text.lower() for p in a], [q.text.lower() for q in b]
    if others < forms:  # the matcher is not symmetric, a comparison is
        yield from ((p, q) for q, p in _matched(b, a))
        return
    matcher = SequenceMatcher(None, forms, others, autojunk=False)
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        for k in range(max(i_end - i, j_end - j)):
            yield a[i + k] if i + k < i_end else None, b[j + k] if j + k < j_end else None
