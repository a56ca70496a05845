"""Two systems side by side: which segment is better in which, what decided it, and how sure the whole is.

A comparison is antisymmetric: swapping A and B changes the sign of each difference and nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain, combinations, islice, permutations
from math import fsum, isqrt
from typing import NamedTuple

from pronmetric.eval import decision
from pronmetric.eval.decision import ANSWERS, SCORE
from pronmetric.eval.significance import RESAMPLES, difference, holm, no_worse, randomisation
from pronmetric.scoring.score import PronounScore, SegmentScore, SystemScore, Tally
from pronmetric.text.context import COMMON, CROSSED, Text
from pronmetric.text.corpus import Corpus, Row
from pronmetric.text.no_translation import kind_of

A, B, TIE = (answer.lower() for answer in ANSWERS)  # as results name them
TIE_THRESHOLD = 0.01  # of segment scores, where no other is given; chosen by hand, checkpoints have a fitted one


class Decision(NamedTuple):
    """One segment: better is "a", "b" or "tie"; None where a side has no pronoun, so that nothing is compared.

    difference: value of A minus that of B (`SegmentScore.value`), above 0 where A is better. a_decided, b_decided: the
    pronouns of each side that decided it, those that differ most in the direction of the decision.
    """

    better: str | None
    difference: float | None
    a: SegmentScore
    b: SegmentScore
    a_decided: tuple[PronounScore, ...]
    b_decided: tuple[PronounScore, ...]


class Outcome(NamedTuple):
    """Two whole systems; differences are A minus B, of what decides in its unit (`SYSTEM_UNITS`).

    wins, ties, losses: segments in which A is better, equal within the tie threshold, worse. one_sided: segments
    that are not compared, as one side alone has pronouns; unscored: as neither has. p_randomisation: two-sided, of
    approximate randomisation, the test to trust. interval: 95 % of the difference, of Student's t; p_t: two-sided, of
    its test, below 0.05 exactly if the interval excludes 0. All None with fewer than four documents or segments.
    """

    a: SystemScore
    b: SystemScore
    difference: float | None
    interval: tuple[float, float] | None
    p_randomisation: float | None
    p_t: float | None
    wins: int
    ties: int
    losses: int
    one_sided: int
    unscored: int
    resampled: str
    units: int

    @property
    def score_difference(self) -> float | None:
        """Score of A minus score of B, whatever decides; None where one has no pronoun."""
        return None if self.a.score is None or self.b.score is None else self.a.score - self.b.score


class PairwiseComparison:
    """Compares two systems segment by segment, and gives the outcome; keeps no text."""

    def __init__(self, *, tie: float, by: str = SCORE) -> None:
        self.tie, self.by = tie, by
        self.a, self.b = Tally(), Tally()
        self.seen: dict[str | None, int] = {A: 0, B: 0, TIE: 0, None: 0}
        self.unscored = 0

    def add(self, a: SegmentScore, b: SegmentScore, doc: Hashable = None) -> Decision:
        """Decide one segment and count it."""
        self.a.add(a, doc)
        self.b.add(b, doc)
        decision = decide(a, b, tie=self.tie, by=self.by)
        self.seen[decision.better] += 1
        self.unscored += decision.better is None and not a.pronouns and not b.pronouns
        return decision

    def outcome(self, *, seed: int, resamples: int = RESAMPLES) -> Outcome:
        """The systems so far; the seed draws the swaps of the randomisation."""
        resampled, a_totals = self.a.totals(self.by)
        _, b_totals = self.b.totals(self.by)
        test = difference(a_totals, b_totals)
        a, b = self.a.score(), self.b.score()
        return Outcome(
            a=a,
            b=b,
            difference=None if a.score is None or b.score is None else test.value,
            interval=None if test.low is None or test.high is None else (test.low, test.high),
            p_randomisation=randomisation(a_totals, b_totals, resamples=resamples, seed=seed),
            p_t=test.p,
            wins=self.seen[A],
            ties=self.seen[TIE],
            losses=self.seen[B],
            one_sided=self.seen[None] - self.unscored,
            unscored=self.unscored,
            resampled=resampled,
            units=int(((a_totals.counts > 0) | (b_totals.counts > 0)).sum()),
        )

    def no_worse(self, *, margin: float, seed: int, resamples: int = RESAMPLES) -> float | None:
        """One-sided p of "A is worse than B by `margin` or more", in the unit of what decides; see `no_worse`."""
        a, b = self.a.totals(self.by)[1], self.b.totals(self.by)[1]
        return no_worse(a, b, margin=margin, resamples=resamples, seed=seed)


class PairDecision(NamedTuple):
    """One segment of a pair of systems `a` and `b`, numbered in the order of the corpus.

    by_reference: the decision in the context of each of several references.
    """

    a: int
    b: int
    names: tuple[str, str]
    decision: Decision
    by_reference: Mapping[str, Decision]


class PairResult(NamedTuple):
    """The outcome of a pair of systems, its p values adjusted by Holm's method, and its outcome with each reference."""

    names: tuple[str, str]
    outcome: Outcome
    p_randomisation_holm: float | None
    p_t_holm: float | None
    by_reference: Mapping[str, Outcome]


class AllPairs:
    """Compares all pairs of several systems, segment by segment; keeps no text."""

    def __init__(self, systems: Sequence[str], references: Sequence[str], *, tie: float, by: str = SCORE) -> None:
        self._systems = systems
        self._pairs = {
            pair: (
                PairwiseComparison(tie=tie, by=by),
                {name: PairwiseComparison(tie=tie, by=by) for name in references},
            )
            for pair in combinations(range(len(systems)), 2)
        }

    def add(self, scores: PairScores, doc: Hashable = None) -> Iterator[PairDecision]:
        """Decide one segment for each pair and count it."""
        for (a, b), (whole, parts) in self._pairs.items():
            decision = whole.add(average(*scores[a, b]), average(*scores[b, a]), doc)
            each = zip(parts.items(), scores[a, b], scores[b, a], strict=False)
            by_reference = {name: part.add(x, y, doc) for (name, part), x, y in each}
            yield PairDecision(a, b, (self._systems[a], self._systems[b]), decision, by_reference)

    def results(self, *, seed: int, resamples: int = RESAMPLES) -> list[PairResult]:
        """The result of each pair so far."""
        outcomes = [whole.outcome(seed=seed, resamples=resamples) for whole, _ in self._pairs.values()]
        adjusted = zip(
            _adjust([outcome.p_randomisation for outcome in outcomes]),
            _adjust([outcome.p_t for outcome in outcomes]),
            strict=True,
        )
        return [
            PairResult(
                (self._systems[a], self._systems[b]),
                outcome,
                *p_values,
                {name: part.outcome(seed=seed, resamples=resamples) for name, part in parts.items()},
            )
            for ((a, b), (_, parts)), outcome, p_values in zip(self._pairs.items(), outcomes, adjusted, strict=True)
        ]


def _adjust(values: Sequence[float | None]) -> list[float | None]:
    """P values after Holm; None where there is no test."""
    tested = iter(holm([value for value in values if value is not None]))
    return [None if value is None else next(tested) for value in values]


PairScores = Mapping[tuple[int, int], tuple[SegmentScore, ...]]
"""Under (x, y), the scores of system x's text where it is compared with y: one for each reference, else one."""


def score_pairs(
    corpus: Corpus, kind: str, *, size: int, stream: Callable[[Iterable[Text]], Iterator[SegmentScore]]
) -> Iterator[tuple[Row, PairScores]]:
    """Score each row's texts in their contexts of `kind`, of `size` previous sentences, for all pairs of systems."""
    systems = len(corpus.systems)
    waiting: deque[Row] = deque()

    def texts() -> Iterator[Text]:
        for row, contexts in corpus.in_context(kind, size=size):
            waiting.append(row)
            if kind == CROSSED:
                each_once = zip(row.texts, contexts, strict=True)
                yield from crossed_texts(
                    [Text(context, text, row.evidence, row.speaker) for text, (context,) in each_once]
                )
            else:
                for text, each in zip(row.texts, contexts, strict=True):
                    yield from (Text(context, text, row.evidence, row.speaker) for context in each)

    scores = stream(texts())
    number = texts_per_row(corpus, kind)
    each = number // systems
    while scored_row := tuple(islice(scores, number)):
        if kind == CROSSED:
            pairs: PairScores = {pair: (score,) for pair, score in crossed_scores(scored_row).items()}
        else:
            pairs = {(x, y): scored_row[x * each : (x + 1) * each] for x, y in permutations(range(systems), 2)}
        row = waiting.popleft()
        yield row, {pair: beside_references(row, pair[0], scored) for pair, scored in pairs.items()}


def score_text_pairs(
    pairs: Sequence[tuple[Text, Text]], stream: Callable[[Iterable[Text]], Iterator[SegmentScore]], *, crossed: bool
) -> Iterator[tuple[SegmentScore, SegmentScore]]:
    """The scores of both texts of each pair, in their own contexts or, crossed, averaged over those of both."""
    scores = stream(chain.from_iterable(map(crossed_texts, pairs) if crossed else pairs))
    for first in scores:
        found = (first, *islice(scores, 3 if crossed else 1))
        a, b = crossed_scores(found).values() if crossed else found
        yield a, b


def texts_per_row(corpus: Corpus, kind: str) -> int:
    """How many texts are scored for a row of a comparison."""
    systems = len(corpus.systems)
    return systems * (systems if kind == CROSSED else len(corpus.references) if kind == COMMON else 1)


def crossed_texts(texts: Sequence[Text]) -> Iterator[Text]:
    """Each system's text in each system's context: the first text in all contexts, then the second, and so on.

    >>> ", ".join(f"{text.context} {text.text}" for text in crossed_texts([Text("A", "a"), Text("B", "b")]))
    'A a, B a, A b, B b'
    """
    return (
        one._replace(context=other.context, speaker=other.speaker, left_out=other.left_out)
        for one in texts
        for other in texts
    )


def crossed_scores(scores: Sequence[SegmentScore]) -> dict[tuple[int, int], SegmentScore]:
    """From the scores of `crossed_texts`: under (x, y), x's text averaged over the contexts of x and of y."""
    size = isqrt(len(scores))
    return {(x, y): average(scores[x * size + x], scores[x * size + y]) for x, y in permutations(range(size), 2)}


def decide(a: SegmentScore, b: SegmentScore, *, tie: float, by: str = SCORE) -> Decision:
    """Compare one segment of two systems by one of `DECISIONS`; values that differ by no more than `tie` are a tie."""
    left, right = a.value(by), b.value(by)
    if left is None or right is None:
        return Decision(None, None, a, b, (), ())
    better = str(decision.decide(left, right, tie=tie)).lower()
    if better == TIE:
        return Decision(better, left - right, a, b, (), ())
    return Decision(better, left - right, a, b, *_deciding(a, b, sign=1 if better == A else -1))


def average(first: SegmentScore, *others: SegmentScore) -> SegmentScore:
    """The mean of one text's scores in several contexts; its pronouns are the same in all."""
    if not others:
        return first
    scored = [first, *others]
    columns = zip(*(segment.pronouns for segment in scored), strict=True)
    return SegmentScore(
        mean([segment.score for segment in scored]),
        tuple(map(_mean_pronoun, columns)),
        mean([segment.preference for segment in scored]),
        first.words,
        first.unmatched,
        missing=mean([segment.missing for segment in scored]),
        gaps=first.gaps,
        no_translation=first.no_translation,
        surplus=mean([segment.surplus for segment in scored]),
    )


def beside_references(row: Row, system: int, scores: tuple[SegmentScore, ...]) -> tuple[SegmentScore, ...]:
    """The scores of a system's text, judged by the references too whether it is a translation."""
    if not row.references:
        return scores
    why = kind_of(row.texts[system], tuple(text for text in (row.source, *row.references) if text))
    return tuple(score._replace(no_translation=why) for score in scores)


def mean(scores: Sequence[float | None]) -> float | None:
    """The mean of one text's scores in several contexts; None if one of them is None."""
    known = [score for score in scores if score is not None]
    return fsum(known) / len(scores) if len(known) == len(scores) else None


def _mean_pronoun(pronouns: tuple[PronounScore, ...]) -> PronounScore:
    """One pronoun's mean over several contexts."""
    score = fsum(p.score for p in pronouns) / len(pronouns)
    probability = None if pronouns[0].probability is None else score
    return pronouns[0]._replace(score=score, probability=probability, surplus=mean([p.surplus for p in pronouns]))


def _deciding(
    a: SegmentScore, b: SegmentScore, *, sign: int
) -> tuple[tuple[PronounScore, ...], tuple[PronounScore, ...]]:
    """Aligned pronouns whose difference goes the way of the decision and is at least half of the largest such."""
    weighed = [(_gap(p, q, a, b) * sign, p, q) for p, q in _match(a.pronouns, b.pronouns)]
    largest = max((gap for gap, _, _ in weighed), default=0.0)
    chosen = [(p, q) for gap, p, q in weighed if gap > 0 and gap >= largest / 2]
    return tuple(p for p, _ in chosen if p is not None), tuple(q for _, q in chosen if q is not None)


def _gap(p: PronounScore | None, q: PronounScore | None, a: SegmentScore, b: SegmentScore) -> float:
    """Score of A's pronoun minus that of B's; a pronoun without a partner stands against the other's segment.

    0 where that has no pronoun: only missing ones can have decided.
    """
    left = a.score if p is None else p.score
    right = b.score if q is None else q.score
    return 0.0 if left is None or right is None else left - right


def _match(
    a: tuple[PronounScore, ...], b: tuple[PronounScore, ...]
) -> Iterator[tuple[PronounScore | None, PronounScore | None]]:
    """Pronouns of two texts side by side, by their forms in order; one without a partner stands beside None."""
    forms, others = [p.text.lower() for p in a], [q.text.lower() for q in b]
    if others < forms:  # the matcher is not symmetric, a comparison is
        yield from ((p, q) for q, p in _match(b, a))
        return
    matcher = SequenceMatcher(None, forms, others, autojunk=False)
    for _, i, i_end, j, j_end in matcher.get_opcodes():
        for k in range(max(i_end - i, j_end - j)):
            yield a[i + k] if i + k < i_end else None, b[j + k] if j + k < j_end else None
