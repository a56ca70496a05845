"""Pair accuracy of a metric: how often it prefers the text that people prefer for its pronouns.

The human answer to a pair is its `better` if given, else the majority vote of its raters. Pairs without either are left
out. Accuracy is the share of pairs with an answer A or B in which that text gets
the higher score: equal scores and missing ones are wrong. Pairs that people judge a tie are used only in the
comparison with ties (`pronmetric.eval.ties`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.accuracy import (
    Accuracy,
    Confusion,
    Decisions,
    accuracy,
    confusions,
    decide,
)
from pronmetric.eval.decision import TIE, A, B
from pronmetric.eval.estimates import Estimate
from pronmetric.eval.significance import RESAMPLES, randomisation, totals
from pronmetric.eval.significance import difference as difference_of
from pronmetric.eval.ties import ThreeWay, choose_threshold, three_way
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.pronouns.kinds import KINDS, kinds
from pronmetric.pronouns.languages import ENGLISH, Language

Scores = Sequence[tuple[float | None, float | None]]
"""The scores of text A and text B of each pair; None if the text has no score."""
SEEN, UNSEEN = "seen in training", "unseen in training"
OTHER = "other"
EQUAL, UNEQUAL = "equal numbers of pronouns", "unequal numbers of pronouns"
DOC, PAIR = "doc", "pair"
_NOTHING = 'none of {} pairs has a better text; give "better" as A or B, or votes with a majority'


@dataclass(frozen=True, slots=True)
class Labels:
    """The sources of the human answers, and the numbers of pairs without a better text.

    better, votes: pairs whose answer A or B is given, or is the majority vote. ties: pairs that people judge a tie.
    open: pairs without an answer, or without a majority. against_votes: pairs whose given answer differs from the
    majority vote. judges: the origins of the given answers A and B.
    """

    pairs: int
    better: int
    votes: int
    ties: int
    open: int
    against_votes: int
    judges: dict[str, int]


@dataclass(frozen=True, slots=True)
class Figures:
    """All figures of a metric on a set of judged pairs; figures by pronoun use only pairs with known pronouns.

    clusters: what intervals are over (documents or pairs) and its number. by_kind: a pair may count in several kinds.
    by_seen: None if the pairs seen in training are not known. people_ties, matching_threshold: the human share of ties
    and the tie threshold with which the metric ties as often; None without human ties.
    """

    labels: Labels
    clusters: tuple[str, int]
    accuracy: Accuracy
    by_group: dict[str, Accuracy]
    by_seen: dict[str, Accuracy] | None
    by_kind: dict[str, Accuracy]
    by_pronouns: dict[str, Accuracy]
    by_count: dict[str, Accuracy]
    confusions: list[Confusion]
    people_ties: float | None
    matching_threshold: float | None
    ties: ThreeWay | None


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """Two metrics on the same pairs: difference of their accuracies, first minus second, paired and clustered.

    p_randomisation: two-sided, of approximate randomisation, the test to trust. p_t: two-sided, of the t test, below
    0.05 exactly if the difference's interval excludes 0. Both, and the interval, None with too few clusters.
    only_first, only_second: pairs that only one of them gets right.
    """

    first: Accuracy
    second: Accuracy
    difference: Estimate
    p_randomisation: float | None
    p_t: float | None
    only_first: int
    only_second: int


def human_answer(pair: JudgedPair) -> str | None:
    """People's answer: `better`, else what more than half of the raters voted; None without either.

    >>> human_answer(JudgedPair("1", (), "", "", votes={"r1": "A", "r2": "A", "r3": "tie"}))
    'A'
    """
    return pair.better if pair.better is not None else _majority(pair)


def refuse_undecided(pairs: Sequence[JudgedPair], *, file: str | None = None) -> None:
    """Raise InputError where no pair has an answer A or B, so that there is nothing to measure."""
    if not any(human_answer(pair) in (A, B) for pair in pairs):
        raise InputError(_NOTHING.format(len(pairs)), file=file)


def pronouns_of(pair: JudgedPair, language: Language = ENGLISH) -> tuple[str, str] | None:
    """The pronouns in which the two texts differ, lower-cased: those named, else where one word differs and is one.

    >>> pronouns_of(JudgedPair("1", (), "Then she left.", "Then it left."))
    ('she', 'it')
    """
    if pair.pronoun_a is not None and pair.pronoun_b is not None:
        return pair.pronoun_a.lower(), pair.pronoun_b.lower()
    left, right = language.words(pair.text_a), language.words(pair.text_b)
    if len(left) != len(right):
        return None
    changed = [i for i, (a, b) in enumerate(zip(left, right, strict=True)) if a.text.lower() != b.text.lower()]
    if len(changed) != 1:
        return None
    a, b = language.form_of(left, changed[0]), language.form_of(right, changed[0])
    return None if a is None or b is None else (a, b)


def clusters_of(pairs: Sequence[JudgedPair]) -> tuple[str, list[Hashable]]:
    """What an interval is over: the pairs' documents; where some pair has none, each pair alone.

    A group is a label of many pairs (a language, a kind) and no sample of anything.
    """
    if all(pair.doc is not None for pair in pairs):
        return DOC, [pair.doc for pair in pairs]
    return PAIR, [pair.id for pair in pairs]


def evaluate(
    pairs: Sequence[JudgedPair],
    scores: Scores,
    *,
    seen: Collection[tuple[str, str]] | None = None,
    tie_threshold: float | None = None,
    language: Language = ENGLISH,
) -> Figures:
    """All figures of a metric on judged pairs.

    Args:
        pairs: the judged pairs.
        scores: of each pair, higher is better.
        seen: (right form, wrong form) seen in training; None if not known.
        tie_threshold: scores that differ by no more than this are a tie, for the comparison with gold ties.
        language: of the texts.

    Raises:
        PronmetricError: no pair has an answer A or B.
    """
    answers = [human_answer(pair) for pair in pairs]
    judged = _Judged(pairs, answers, scores, language)
    name, clusters = clusters_of(judged.pairs)

    def part(mask: NDArray[np.bool_]) -> Accuracy:
        picked = [cluster for cluster, kept in zip(clusters, mask, strict=True) if kept]
        return accuracy(judged.decisions.where(mask), picked)

    def by(memberships: Sequence[Collection[str]], names: Sequence[str] | None = None) -> dict[str, Accuracy]:
        there = {label for labels in memberships for label in labels}
        chosen = sorted(there) if names is None else [label for label in names if label in there]
        return {label: part(np.array([label in labels for labels in memberships])) for label in chosen}

    pronouns = judged.pronouns
    known = np.array([forms_of is not None for forms_of in pronouns])
    forms = [forms_of for forms_of in pronouns if forms_of is not None]
    labelled = [(pair, said) for pair, said in zip(pairs, answers, strict=True) if said is not None]
    with_answer = [score for score, said in zip(scores, answers, strict=True) if said is not None]
    people_ties, matching = _people_ties([said for _, said in labelled], with_answer)
    return Figures(
        labels=_labels(pairs, answers),
        clusters=(name, len(set(clusters))),
        accuracy=part(np.ones(len(judged.pairs), dtype=bool)),
        by_group=by([() if pair.group is None else (pair.group,) for pair in judged.pairs]),
        by_seen=None
        if seen is None
        else by([() if p is None else (SEEN if p in seen else UNSEEN,) for p in pronouns], (SEEN, UNSEEN)),
        by_kind=by([() if p is None else kinds(*p, language) or (OTHER,) for p in pronouns], (*KINDS, OTHER)),
        by_pronouns=by([() if p is None else (" -> ".join(p),) for p in pronouns]),
        by_count=by([(_counts(pair, language),) for pair in judged.pairs]),
        confusions=confusions(
            [right for right, _ in forms], [wrong for _, wrong in forms], judged.decisions.where(known)
        ),
        people_ties=people_ties,
        matching_threshold=matching,
        ties=None
        if tie_threshold is None
        else three_way(
            [said for _, said in labelled],
            with_answer,
            clusters_of([p for p, _ in labelled])[1],
            threshold=tie_threshold,
        ),
    )


def compare_metrics(
    pairs: Sequence[JudgedPair], first: Scores, second: Scores, *, seed: int = 0, draws: int = RESAMPLES
) -> MetricComparison:
    """Compare two metrics on the pairs whose answer is A or B, over clusters.

    seed, draws: of the randomisation.
    """
    answers = [human_answer(pair) for pair in pairs]
    one, other = _Judged(pairs, answers, first), _Judged(pairs, answers, second)
    _, clusters = clusters_of(one.pairs)
    right, also = (judged.decisions.right.astype(float) for judged in (one, other))
    a, b = (totals(values, np.ones(len(values)), clusters) for values in (right, also))
    test = difference_of(a, b)
    return MetricComparison(
        first=accuracy(one.decisions, clusters),
        second=accuracy(other.decisions, clusters),
        difference=Estimate(float(np.mean(right - also)), test.low, test.high),
        p_randomisation=randomisation(a, b, resamples=draws, seed=seed),
        p_t=test.p,
        only_first=int((right > also).sum()),
        only_second=int((also > right).sum()),
    )


def share_right(pairs: Sequence[JudgedPair], scores: Scores) -> float:
    """The accuracy alone, from 0 to 1.

    Raises:
        PronmetricError: no pair has an answer A or B.
    """
    return float(_Judged(pairs, [human_answer(pair) for pair in pairs], scores).decisions.right.mean())


def _counts(pair: JudgedPair, language: Language) -> str:
    """Whether both texts have equally many pronouns."""
    return EQUAL if len(language.find(pair.text_a)) == len(language.find(pair.text_b)) else UNEQUAL


class _Judged:
    """The pairs whose answer is A or B, turned so that the better text comes first."""

    def __init__(
        self,
        pairs: Sequence[JudgedPair],
        answers: Sequence[str | None],
        scores: Scores,
        language: Language = ENGLISH,
    ) -> None:
        if len(scores) != len(pairs):
            raise PronmetricError(f"each pair needs its scores: got {len(scores)} for {len(pairs)} pairs")
        chosen = [i for i, said in enumerate(answers) if said in (A, B)]
        if not chosen:
            raise PronmetricError(_NOTHING.format(len(pairs)))
        self.pairs = [pairs[i] for i in chosen]
        turned = [answers[i] == B for i in chosen]
        both = [scores[i][::-1] if turn else scores[i] for i, turn in zip(chosen, turned, strict=True)]
        self.decisions: Decisions = decide([better for better, _ in both], [worse for _, worse in both])
        forms = [pronouns_of(pair, language) for pair in self.pairs]
        self.pronouns = [
            None if p is None else (p[1], p[0]) if turn else p for p, turn in zip(forms, turned, strict=True)
        ]


def _majority(pair: JudgedPair) -> str | None:
    if not pair.votes:
        return None
    said, count = Counter(pair.votes.values()).most_common(1)[0]
    return said if 2 * count > len(pair.votes) else None


def _labels(pairs: Sequence[JudgedPair], answers: Sequence[str | None]) -> Labels:
    given = [pair.better is not None for pair in pairs]
    decided = [said in (A, B) for said in answers]
    voted = [(pair.better, _majority(pair)) for pair in pairs if pair.better is not None and pair.votes]
    return Labels(
        pairs=len(pairs),
        better=sum(a and b for a, b in zip(given, decided, strict=True)),
        votes=sum(not a and b for a, b in zip(given, decided, strict=True)),
        ties=sum(said == TIE for said in answers),
        open=sum(said is None for said in answers),
        against_votes=sum(majority not in (None, better) for better, majority in voted),
        judges=dict(Counter(pair.judge for pair in pairs if pair.better in (A, B) and pair.judge is not None)),
    )


def _people_ties(answers: Sequence[str], scores: Scores) -> tuple[float | None, float | None]:
    """People's share of ties, and the metric's tie threshold that matches it on the pairs with both scores."""
    if TIE not in answers:
        return None, None
    rate = sum(said == TIE for said in answers) / len(answers)
    differences = [a - b for a, b in scores if a is not None and b is not None]
    return rate, choose_threshold(differences, rate) if differences else None
