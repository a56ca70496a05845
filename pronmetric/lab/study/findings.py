"""The figures of a study: agreement overall and by pronoun pair, preference, consistency of the annotators."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from pronmetric.eval.agreement import Agreement, clustered_interval, gwet_ac1
from pronmetric.eval.estimates import Estimate, cluster_share
from pronmetric.eval.ratings import Agreements, Ratings, agreement
from pronmetric.eval.resampling import DRAWS, SEED
from pronmetric.lab.study.answers import OTHER, REFERENCE, Answers
from pronmetric.lab.study.folder import Study
from pronmetric.lab.study.item import BOTH, FIRST, NEITHER, SECOND
from pronmetric.lab.study.votes import Votes, by_item, collect, winner


@dataclass(frozen=True, slots=True)
class Cell:
    """Answers to some of the items: all, those of a language or of a pronoun pair.

    counts: of each answer. ac1: None if no item has two answers. preference: the share of answers for the reference,
    with an interval over documents.
    """

    items: int
    counts: Mapping[str, int]
    ac1: Agreement | None
    preference: Estimate | None


@dataclass(frozen=True, slots=True)
class Annotator:
    """One annotator's answers.

    tasks: assigned; answered: of these. preference: the share of first answers for the reference. first: the share of
    answers for the version shown first, of those for either; far from 0.5, it tells of answers by position. repeated:
    items answered twice; same: of these, with the same answer. consistency: AC1 of the first and the repeated answers.
    seconds: the median time of an answer.
    """

    tasks: int
    answered: int
    preference: float | None
    first: float | None
    repeated: int
    same: int
    consistency: Agreement | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Findings:
    """All figures of a study.

    agreement: between the annotators, None if no item has two answers; by_document: the interval of its AC1 over
    documents. won: the number of items that each answer wins, "" for those without a winner.
    """

    study: str
    categories: tuple[str, ...]
    agreement: Agreements | None
    by_document: tuple[float, float] | None
    overall: Cell
    languages: Mapping[str, Cell]
    pairs: Mapping[tuple[str, str], Cell]
    pairs_by_language: Mapping[tuple[str, str], Mapping[str, Cell]]
    annotators: Mapping[str, Annotator]
    won: Mapping[str, int]


def measure(study: Study, answers: Answers, *, seed: int = SEED, draws: int = DRAWS) -> Findings:
    """The figures of these answers; AC1 counts every answer that the study offers as a category.

    seed, draws: of the resampling of documents for AC1.
    """
    votes = collect(study, answers)
    offered = categories(study)
    counts = by_item(study, votes)
    answered = [item for item, found in counts.items() if found]
    ratings = Ratings.of(votes.first, categories=offered, order=answered)
    several = len(votes.first) > 1 and ratings.overlap()
    docs = [study.items[item].doc or item for item in answered]
    languages: defaultdict[str, list[str]] = defaultdict(list)
    pairs: defaultdict[tuple[str, str], defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for item in answered:
        of = study.items[item]
        languages[of.language].append(item)
        pairs[of.pronouns][of.language].append(item)

    def cell(items: Iterable[str]) -> Cell:
        return _cell(study, {item: counts[item] for item in items}, offered)

    return Findings(
        study=study.id,
        categories=offered,
        agreement=agreement(ratings) if several else None,
        by_document=clustered_interval(ratings.counts(), docs, seed=seed, draws=draws) if several else None,
        overall=cell(answered),
        languages={name: cell(languages[name]) for name in sorted(languages)},
        pairs={pair: cell(item for own in pairs[pair].values() for item in own) for pair in sorted(pairs)},
        pairs_by_language={
            pair: {name: cell(pairs[pair][name]) for name in sorted(pairs[pair])} for pair in sorted(pairs)
        },
        annotators={name: _annotator(study, name, answers, votes, offered) for name in answers},
        won=dict(Counter(winner(counts[item]) or "" for item in answered)),
    )


def categories(study: Study) -> tuple[str, ...]:
    """The answers that the study offers, in terms of the item: the categories of AC1."""
    return tuple({FIRST: REFERENCE, SECOND: OTHER}.get(name, name) for name in study.design.answers)


def _cell(study: Study, counts: Mapping[str, Counter[str]], categories: Sequence[str]) -> Cell:
    table = [[found[name] for name in categories] for found in counts.values()]
    total = Counter({name: sum(found[name] for found in counts.values()) for name in categories})
    twice = any(sum(row) > 1 for row in table)
    preference = None
    if table:
        shares = [found[REFERENCE] / found.total() for found in counts.values()]
        preference = cluster_share(shares, [study.items[item].doc or item for item in counts])
    return Cell(len(table), total, gwet_ac1(table) if twice else None, preference)


def _annotator(study: Study, name: str, answers: Answers, votes: Votes, categories: Sequence[str]) -> Annotator:
    given, first, again = answers[name], votes.first[name], votes.again[name]
    shown = Counter(answer.answer for answer in given)
    own = Counter(first.values())
    both = {"first": {item: first[item] for item in again}, "again": again}
    times = [answer.seconds for answer in given if answer.seconds is not None]
    decided = shown[FIRST] + shown[SECOND]
    return Annotator(
        tasks=len(study.assignments[name]),
        answered=len(given),
        preference=own[REFERENCE] / len(first) if first else None,
        first=shown[FIRST] / decided if decided else None,
        repeated=len(again),
        same=sum(first[item] == answer for item, answer in again.items()),
        consistency=agreement(Ratings.of(both, categories=categories)).ac1 if again else None,
        seconds=median(times) if times else None,
    )


def tied(counts: Mapping[str, int]) -> int:
    """The answers for neither version alone: "both" and "neither"."""
    return counts.get(BOTH, 0) + counts.get(NEITHER, 0)
