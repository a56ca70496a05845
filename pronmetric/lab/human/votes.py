"""Agreement of raters and metrics on judged pairs, and how often the better text is preferred."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from pronmetric.errors import PronmetricError
from pronmetric.eval.agreement import clustered_interval
from pronmetric.eval.decision import ANSWERS, TIE, A
from pronmetric.eval.ratings import Agreements, Formula, Ratings, Variant, agreement
from pronmetric.lab.human.judged_pairs import JudgedPair

METRIC = "metric"
GIVEN = "better, as given"
Answers = Mapping[str, Mapping[str, str | None]]
"""The answer of each rater by the id of the pair."""


@dataclass(frozen=True, slots=True)
class TieFigures:
    """Agreement with ties as a third category, and without ties; None where nothing is rated twice.

    Without ties, a rater's tie is a missing answer: the pair stays with the raters who decided; with only two raters,
    it stays if both decided. interval: of AC1, with documents resampled; None where it is undefined.
    """

    with_ties: Agreements | None
    without_ties: Agreements | None
    interval: tuple[float, float] | None
    interval_without_ties: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Preference:
    """The numbers of answers for the preferred text, for the other text and for neither."""

    preferred: int
    other: int
    tied: int

    @property
    def answers(self) -> int:
        """The number of answers."""
        return self.preferred + self.other + self.tied

    @property
    def share(self) -> float | None:
        """The share of all answers for the preferred text."""
        return self.preferred / self.answers if self.answers else None

    @property
    def share_without_ties(self) -> float | None:
        """The share of the answers that are not ties."""
        decided = self.preferred + self.other
        return self.preferred / decided if decided else None


@dataclass(frozen=True, slots=True)
class Preferences:
    """Each rater's answers to a set of pairs, and the unweighted average of the raters' shares."""

    by_rater: Mapping[str, Preference]

    @property
    def average(self) -> float | None:
        """The average of the raters' shares."""
        return _mean([own.share for own in self.by_rater.values()])

    @property
    def average_without_ties(self) -> float | None:
        """The average of the raters' shares without ties."""
        return _mean([own.share_without_ties for own in self.by_rater.values()])


def collect_votes(pairs: Sequence[JudgedPair]) -> dict[str, dict[str, str | None]]:
    """Each rater's answers by the id of the pair; raters in the order of their first vote."""
    answers: dict[str, dict[str, str | None]] = {}
    for pair in pairs:
        for rater, vote in pair.votes.items():
            answers.setdefault(rater, {})[pair.id] = vote
    return answers


def collect_given(pairs: Sequence[JudgedPair]) -> dict[str, dict[str, str | None]]:
    """The given answers (`better`) as those of a rater, under the name of their origin."""
    answers: dict[str, dict[str, str | None]] = {}
    for pair in pairs:
        if pair.better is not None:
            answers.setdefault(pair.judge or GIVEN, {})[pair.id] = pair.better
    return answers


def measure_rater_agreement(
    pairs: Sequence[JudgedPair],
    answers: Answers,
    *,
    variant: Variant = "gwet",
    formula: Formula = "auto",
    seed: int = 0,
) -> TieFigures:
    """Agreement of these raters on these pairs.

    Raises:
        PronmetricError: fewer than two raters.
    """
    if len(answers) < 2:
        raise PronmetricError(f"agreement needs at least two raters, got {len(answers)}")
    order = [pair.id for pair in pairs]
    kept = set(order)
    answers = {rater: {i: vote for i, vote in own.items() if i in kept} for rater, own in answers.items()}
    ratings = Ratings.of(answers, categories=ANSWERS, order=order)
    docs = {pair.id: pair.id if pair.doc is None else ("doc", pair.doc) for pair in pairs}
    rated = {i for own in answers.values() for i, vote in own.items() if vote is not None}
    clusters = [docs[i] for i in order if i in rated]
    decided = ratings.without(TIE)
    if len(answers) == 2:
        decided = decided.where_all_rated()
    return TieFigures(
        _agreement(ratings, variant, formula),
        _agreement(decided, variant, formula),
        _interval(ratings, clusters, variant, seed),
        _interval(decided, clusters, variant, seed),
    )


def measure_metric_agreement(
    pairs: Sequence[JudgedPair],
    decisions: Sequence[str | None],
    raters: Answers,
    *,
    variant: Variant = "gwet",
    formula: Formula = "auto",
    seed: int = 0,
) -> dict[str, TieFigures]:
    """Agreement of a metric with each rater, on the pairs that both answer.

    decisions: the metric's "A", "B" or "tie" for each pair, None where it has no score.
    """
    metric = {pair.id: decision for pair, decision in zip(pairs, decisions, strict=True)}
    by_rater = {}
    for rater, own in raters.items():
        both = {i for i, vote in own.items() if vote is not None and metric.get(i) is not None}
        answers = {METRIC: {i: metric[i] for i in both}, rater: {i: own[i] for i in both}}
        if rater == METRIC:
            raise PronmetricError(f'a rater is named "{METRIC}", the name of the metric; rename the rater')
        by_rater[rater] = measure_rater_agreement(pairs, answers, variant=variant, formula=formula, seed=seed)
    return by_rater


def count_preferences(pairs: Sequence[JudgedPair], answers: Answers) -> Preferences:
    """How often each rater prefers the better text; text A, if some pair has no better text."""
    better = {pair.id: pair.better for pair in pairs} if have_better_texts(pairs) else {pair.id: A for pair in pairs}
    by_rater = {}
    for rater, own in answers.items():
        counts = [0, 0, 0]
        for i, vote in own.items():
            if i in better and vote is not None:
                counts[2 if vote == TIE else int(vote != better[i])] += 1
        if any(counts):
            by_rater[rater] = Preference(*counts)
    return Preferences(by_rater)


def have_better_texts(pairs: Sequence[JudgedPair]) -> bool:
    """Whether each pair has a better text."""
    return all(pair.better in ANSWERS and pair.better != TIE for pair in pairs)


def _agreement(ratings: Ratings, variant: Variant, formula: Formula) -> Agreements | None:
    return agreement(ratings, variant=variant, formula=formula) if ratings.overlap() else None


def _interval(
    ratings: Ratings, clusters: Sequence[Hashable], variant: Variant, seed: int
) -> tuple[float, float] | None:
    if variant != "gwet" or not ratings.overlap():
        return None
    return clustered_interval(ratings.counts(), clusters, seed=seed)


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None
