"""The figures of a study: agreement overall and by pronoun pair, preference, consistency of the annotators.

Also as text, as the table of pronoun pairs that `prepare filter.agreement=FILE` reads, and as judged pairs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from pronmetric.eval.agreement import Agreement, clustered_interval, gwet_ac1
from pronmetric.eval.decision import TIE, A, B
from pronmetric.eval.estimates import Estimate, cluster_share
from pronmetric.eval.ratings import Agreements, Ratings, agreement
from pronmetric.eval.resampling import DRAWS, SEED
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.rater_agreement import five, format_coefficients, percent
from pronmetric.lab.study.answers import OTHER, REFERENCE, Answers, of_item
from pronmetric.lab.study.folder import BOTH, FIRST, INVALID, NEITHER, SECOND, Study
from pronmetric.report.text import table
from pronmetric.text.context import Source

_VOTES = {REFERENCE: A, OTHER: B, BOTH: TIE, NEITHER: TIE}
JUDGE = "majority of the annotators"
COLUMNS = ("ref_pronoun", "noisy_pronoun", "entry", "ac1", "ref", "tie", "sys")
SUM = "sum"


@dataclass(frozen=True, slots=True)
class Votes:
    """Answers in terms of the item ("reference", "other", "both", "neither").

    first: each annotator's first answer by item. again: the answer to the repeated task of the same item.
    """

    first: Mapping[str, Mapping[str, str]]
    again: Mapping[str, Mapping[str, str]]


def collect(study: Study, answers: Answers) -> Votes:
    """The first and the repeated answers; a repeated task whose item has no first answer counts as the first."""
    first: dict[str, dict[str, str]] = {}
    again: dict[str, dict[str, str]] = {}
    for name, given in answers.items():
        own, later = first.setdefault(name, {}), again.setdefault(name, {})
        for answer in given:
            task = study.assignments[name][answer.task]
            (later if task.item in own else own)[task.item] = of_item(answer.answer, swapped=task.swapped)
    return Votes(first, again)


def by_item(study: Study, votes: Votes) -> dict[str, Counter[str]]:
    """How often each answer was given to each item, without repeated answers."""
    counts: dict[str, Counter[str]] = {item: Counter() for item in study.items}
    for own in votes.first.values():
        for item, answer in own.items():
            counts[item][answer] += 1
    return counts


def winner(counts: Counter[str]) -> str | None:
    """The answer with more votes than any other, None if there is none.

    >>> winner(Counter(reference=2, both=1)), winner(Counter(reference=1, both=1))
    ('reference', None)
    """
    ranked = counts.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def judged_pairs(study: Study, votes: Votes) -> Iterator[JudgedPair]:
    """The answered items as judged pairs; text A is the reference.

    `better` is the answer with most votes: "A", "B", or "tie" if "both fine" wins; it is left out if no answer wins.
    Items for which "neither" or "invalid" wins are left out: none of their texts is right, or they cannot be judged.
    The other items are without the votes for "invalid". Sources that annotators saw are theirs.
    """
    for item, counts in by_item(study, votes).items():
        won = winner(counts)
        if not judged(counts) or won in (NEITHER, INVALID):
            continue
        of = study.items[item]
        yield JudgedPair(
            id=item,
            context=of.context,
            text_a=of.text_a,
            text_b=of.text_b,
            better=None if won is None else _VOTES[won],
            votes={name: _VOTES[own[item]] for name, own in votes.first.items() if own.get(item) in _VOTES},
            group=of.language,
            doc=of.doc,
            pronoun_a=of.pronoun_a,
            pronoun_b=of.pronoun_b,
            judge=None if won is None else JUDGE,
            source=Source(of.source, of.source_context) if study.design.source and of.source else None,
        )


@dataclass(frozen=True, slots=True)
class Cell:
    """Answers to some of the items: all, those of a language or of a pronoun pair.

    counts: of each answer. ac1: None if no item has two answers. preference: the share of answers for the reference,
    of those other than "invalid", with an interval over documents; None if there are none.
    """

    items: int
    counts: Mapping[str, int]
    ac1: Agreement | None
    preference: Estimate | None


@dataclass(frozen=True, slots=True)
class Annotator:
    """One annotator's answers.

    tasks: assigned; answered: of these. preference: the share of first answers for the reference, of those other than
    "invalid". first: the share of
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
class Comment:
    """What an annotator wrote about an item; answer: the one it came with, in terms of the item."""

    item: str
    annotator: str
    answer: str
    text: str


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
    comments: tuple[Comment, ...]


def measure(study: Study, answers: Answers, *, seed: int = SEED, draws: int = DRAWS) -> Findings:
    """The figures of these answers; AC1 counts every answer that the study offers as a category.

    seed, draws: of the resampling of documents for AC1.
    """
    votes = collect(study, answers)
    offered = categories(study)
    counts = by_item(study, votes)
    answered = [item for item, given in counts.items() if given]
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
        annotators={name: annotator(study, name, answers, votes) for name in answers},
        won=dict(Counter(winner(counts[item]) or "" for item in answered)),
        comments=comments(study, answers),
    )


def comments(study: Study, answers: Answers) -> tuple[Comment, ...]:
    """The comments of the annotators, in the order of their tasks."""
    found = []
    for name, given in answers.items():
        for one in given:
            task = study.assignments[name][one.task]
            if one.comment:
                found.append(Comment(task.item, name, of_item(one.answer, swapped=task.swapped), one.comment))
    return tuple(found)


def categories(study: Study) -> tuple[str, ...]:
    """The answers that the study offers, in terms of the item: the categories of AC1."""
    return tuple({FIRST: REFERENCE, SECOND: OTHER}.get(name, name) for name in study.design.answers)


def _cell(study: Study, counts: Mapping[str, Counter[str]], categories: Sequence[str]) -> Cell:
    table = [[answers[name] for name in categories] for answers in counts.values()]
    total = Counter({name: sum(answers[name] for answers in counts.values()) for name in categories})
    twice = any(sum(row) > 1 for row in table)
    return Cell(len(table), total, gwet_ac1(table) if twice else None, preference(study, counts))


def preference(study: Study, counts: Mapping[str, Counter[str]]) -> Estimate | None:
    """The share of answers for the reference, of those other than "invalid"; None if there are none."""
    valid = {item: answers for item, answers in counts.items() if judged(answers)}
    if not valid:
        return None
    shares = [answers[REFERENCE] / judged(answers) for answers in valid.values()]
    return cluster_share(shares, [study.items[item].doc or item for item in valid])


def judged(counts: Counter[str]) -> int:
    """The number of answers other than "invalid"."""
    return counts.total() - counts[INVALID]


def annotator(study: Study, name: str, answers: Answers, votes: Votes) -> Annotator:
    """The figures of one annotator."""
    given, first, again = answers[name], votes.first[name], votes.again[name]
    shown = Counter(answer.answer for answer in given)
    own = Counter(first.values())
    both = {"first": {item: first[item] for item in again}, "again": again}
    times = [answer.seconds for answer in given if answer.seconds is not None]
    decided = shown[FIRST] + shown[SECOND]
    return Annotator(
        tasks=len(study.assignments[name]),
        answered=len(given),
        preference=own[REFERENCE] / judged(own) if judged(own) else None,
        first=shown[FIRST] / decided if decided else None,
        repeated=len(again),
        same=sum(first[item] == answer for item, answer in again.items()),
        consistency=agreement(Ratings.of(both, categories=categories(study))).ac1 if again else None,
        seconds=median(times) if times else None,
    )


def tied(counts: Mapping[str, int]) -> int:
    """The answers for neither version alone: "both" and "neither"."""
    return counts.get(BOTH, 0) + counts.get(NEITHER, 0)


def format_sample(study: Study) -> str:
    """The items of each source language, and the tasks of each annotator."""
    items = Counter(item.language for item in study.items.values())
    pairs = {code: {i.pronouns for i in study.items.values() if i.language == code} for code in items}
    docs = {code: {i.doc for i in study.items.values() if i.language == code} for code in items}
    drawn = [
        (code, items[code], *(() if study.design.stages else (len(pairs[code]),)), len(docs[code]))
        for code in sorted(items)
    ]
    tasks = [
        (name, study.design.group_of(k) + 1, len(own), sum(task.repeated for task in own))
        for k, (name, own) in enumerate(study.assignments.items())
    ]
    shown = () if study.design.stages else ("pronoun pairs",)
    first = table(("source language", "items", *shown, "documents"), drawn)
    return f"study {study.id}\n{first}\n\n{table(('annotator', 'group', 'tasks', 'repeated'), tasks)}"


def format_findings(figures: Findings) -> str:
    """All figures."""
    won = ", ".join(
        f"{name or 'no answer'} {figures.won[name]}" for name in (*figures.categories, "") if name in figures.won
    )
    parts = [
        format_head(figures.study, figures.overall.items, figures.annotators.values()),
        format_between(figures.agreement, figures.by_document),
        _cells("", [("all", figures.overall), *figures.languages.items()], figures),
        _cells("pronoun pair", [(f"{a} -> {b}", cell) for (a, b), cell in figures.pairs.items()], figures),
        _annotators(figures),
        f"most votes, in items: {won}",
        *format_comments(figures.comments),
    ]
    return "\n\n".join(parts)


def format_head(study: str, items: int, annotators: Collection[Annotator]) -> str:
    """How much of a study is answered."""
    tasks, answered = sum(one.tasks for one in annotators), sum(one.answered for one in annotators)
    return f"study {study}: {items} items answered, {len(annotators)} annotators, {answered} of {tasks} tasks"


def format_between(agreement: Agreements | None, by_document: tuple[float, float] | None) -> str:
    """The agreement between the annotators."""
    between = "no item has two answers"
    if agreement is not None:
        between = format_coefficients(agreement, "gwet", by_document)
    return f"agreement between the annotators\n{between}"


def format_comments(comments: Sequence[Comment]) -> Iterator[str]:
    """The comments as a table; nothing if there are none."""
    if comments:
        rows = [(one.item, one.annotator, one.answer, one.text) for one in comments]
        yield "comments\n" + table(("item", "annotator", "answer", "comment"), rows, left=range(4))


def _cells(name: str, rows: Sequence[tuple[str, Cell]], figures: Findings) -> str:
    names = figures.categories
    header = (name, "items", *names, "prefer reference", "95 % interval", "AC1", "95 % interval")
    return table(
        header,
        [
            (
                label,
                cell.items,
                *(cell.counts.get(n, 0) for n in names),
                *share_cells(cell.preference),
                *ac1_cells(cell.ac1),
            )
            for label, cell in rows
        ],
    )


def share_cells(share: Estimate | None) -> tuple[str, str]:
    """A share in percent and its interval as two cells of a table."""
    if share is None:
        return "-", "-"
    if share.low is None or share.high is None:
        return percent(share.value), "-"
    return percent(share.value), f"{100 * share.low:.1f}..{100 * share.high:.1f}"


def ac1_cells(agreement: Agreement | None) -> tuple[str, str]:
    """AC1 and its interval as two cells of a table."""
    if agreement is None:
        return "-", "-"
    if agreement.low is None or agreement.high is None:
        return five(agreement.ac1), "-"
    return five(agreement.ac1), f"{agreement.low:.5f}..{agreement.high:.5f}"


def _annotators(figures: Findings) -> str:
    header = (
        *("annotator", "tasks", "answered", "prefer reference", "first version"),
        *("repeated", "same answer", "AC1", "95 % interval", "seconds"),
    )
    return table(header, [(name, *_annotator_row(one)) for name, one in figures.annotators.items()])


def _annotator_row(one: Annotator) -> tuple[object, ...]:
    seconds = "-" if one.seconds is None else f"{one.seconds:.1f}"
    shares = percent(one.preference), percent(one.first)
    return one.tasks, one.answered, *shares, one.repeated, one.same, *ac1_cells(one.consistency), seconds


def agreement_lines(figures: Findings) -> Iterator[str]:
    """The lines of the table: for each pronoun pair one entry a source language, then their sum.

    ac1: Gwet's AC1 of the entry's items, also in the sum (not a mean of the entries). ref, tie, sys: answers for the
    reference's pronoun, for both or neither, and for the other pronoun. Entries without an item that was answered twice
    have no AC1 and are left out.
    """
    yield "\t".join(COLUMNS) + "\n"
    for pair, cell in figures.pairs.items():
        for entry, one in [*figures.pairs_by_language[pair].items(), (SUM, cell)]:
            if one.ac1 is not None:
                yield "\t".join((*pair, entry, *_agreement_figures(one))) + "\n"


def without_agreement(figures: Findings) -> int:
    """The number of pronoun pairs that the table cannot have: no item has two answers."""
    return sum(cell.ac1 is None for cell in figures.pairs.values())


def _agreement_figures(cell: Cell) -> tuple[str, ...]:
    assert cell.ac1 is not None
    counts = cell.counts.get(REFERENCE, 0), tied(cell.counts), cell.counts.get(OTHER, 0)
    return f"{cell.ac1.ac1:.4f}", *map(str, counts)
