"""The figures of a study in two stages, after Voita et al. 2019.

Each of two consecutive translations is judged alone; if both are good, they are judged in context of each other; if
they do not fit together, the annotator names the phenomenon.

Relative to the paper: an annotator goes through both stages of an item at once, and the second stage is left out by
each annotator's own first stage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pronmetric.eval.agreement import Agreement, gwet_ac1
from pronmetric.eval.estimates import Estimate, cluster_share
from pronmetric.eval.ratings import Ratings
from pronmetric.lab.human.rater_agreement import percent
from pronmetric.lab.study import findings
from pronmetric.lab.study.answers import Answers
from pronmetric.lab.study.findings import Annotator, Comment
from pronmetric.lab.study.folder import ALONE, GOOD, INVALID, PHENOMENA, Study
from pronmetric.report.text import table

BAD = "bad"
LEVELS: Mapping[str, Mapping[str, str]] = {
    "alone": {GOOD: GOOD, ALONE: BAD, **dict.fromkeys(PHENOMENA, GOOD)},
    "in context": {GOOD: GOOD, **dict.fromkeys(PHENOMENA, BAD)},
    "phenomenon": {name: name for name in PHENOMENA},
}
"""What an answer says at each level; answers that say nothing there are missing."""


@dataclass(frozen=True, slots=True)
class Level:
    """The answers at one level.

    counts: of each category. won: the number of items by the category with most votes, "" without a winner; of
    "in context" only items that most annotators found good alone, of "phenomenon" only those bad in context. bad: the
    share of answers "bad", with an interval over documents; None for phenomena. ac1: None if no item has two answers.
    """

    counts: Mapping[str, int]
    won: Mapping[str, int]
    bad: Estimate | None
    ac1: Agreement | None


@dataclass(frozen=True, slots=True)
class StageFindings:
    """All figures of a study in two stages. items: with an answer; invalid: answers that an item cannot be judged."""

    study: str
    items: int
    invalid: int
    levels: Mapping[str, Level]
    annotators: Mapping[str, Annotator]
    comments: tuple[Comment, ...]


def measure(study: Study, answers: Answers) -> StageFindings:
    """The figures of these answers; repeated answers count for consistency only."""
    votes = findings.collect(study, answers)
    counts = findings.by_item(study, votes)
    levels = {}
    open_items = [item for item, given in counts.items() if given]
    items = len(open_items)
    for name, said in LEVELS.items():
        heard = {
            annotator: {item: said.get(answer) for item, answer in own.items()}
            for annotator, own in votes.first.items()
        }
        ratings = Ratings.of(heard, categories=dict.fromkeys(said.values()), order=counts)
        by_item = {item: _heard(given, said) for item, given in counts.items()}
        total = sum(by_item.values(), Counter())
        won = {item: findings.winner(by_item[item]) or "" for item in open_items if by_item[item]}
        rated = [item for item, given in by_item.items() if given]
        levels[name] = Level(
            counts={category: total[category] for category in ratings.categories},
            won=dict(Counter(won.values())),
            bad=cluster_share(
                [by_item[item][BAD] / by_item[item].total() for item in rated],
                [study.items[item].doc or item for item in rated],
            )
            if rated and BAD in ratings.categories
            else None,
            ac1=gwet_ac1(ratings.counts()) if ratings.overlap() else None,
        )
        goes_on = GOOD if name == "alone" else BAD
        open_items = [item for item, category in won.items() if category == goes_on]
    return StageFindings(
        study=study.id,
        items=items,
        invalid=sum(given[INVALID] for given in counts.values()),
        levels=levels,
        annotators={name: findings.annotator(study, name, answers, votes) for name in answers},
        comments=findings.comments(study, answers),
    )


def _heard(given: Counter[str], said: Mapping[str, str]) -> Counter[str]:
    heard: Counter[str] = Counter()
    for answer, number in given.items():
        if answer in said:
            heard[said[answer]] += number
    return heard


def format_findings(figures: StageFindings) -> str:
    """All figures."""
    alone, context, phenomena = (figures.levels[name] for name in LEVELS)
    pairs = [
        ("one or both bad alone", alone.won.get(BAD, 0)),
        ("both good alone, bad in context", context.won.get(BAD, 0)),
        ("both good alone, good in context", context.won.get(GOOD, 0)),
    ]
    pairs.append(("no majority, or cannot be judged", figures.items - sum(number for _, number in pairs)))
    bad, answers = context.won.get(BAD, 0), sum(phenomena.counts.values())
    named = [
        (name, phenomena.won.get(name, 0), _share(phenomena.won.get(name, 0), bad), number, _share(number, answers))
        for name, number in phenomena.counts.items()
    ]
    levels = [
        (name, sum(level.counts.values()), *findings.share_cells(level.bad), *findings.ac1_cells(level.ac1))
        for name, level in figures.levels.items()
    ]
    people = [
        (name, one.tasks, one.answered, one.repeated, one.same, "-" if one.seconds is None else f"{one.seconds:.1f}")
        for name, one in figures.annotators.items()
    ]
    parts = [
        findings.format_head(figures.study, figures.items, figures.annotators.values()),
        table(
            ("most votes", "pairs of sentences", "share"),
            [(name, number, _share(number, figures.items)) for name, number in pairs],
        ),
        "pairs that are bad in context, and answers that say so\n"
        + table(("phenomenon", "pairs", "share", "answers", "share"), named),
        table(("level", "answers", "bad", "95 % interval", "AC1", "95 % interval"), levels),
        f"answers that an item cannot be judged: {figures.invalid}",
        table(("annotator", "tasks", "answered", "repeated", "same answer", "seconds"), people),
        *findings.format_comments(figures.comments),
    ]
    return "\n\n".join(parts)


def _share(part: int, whole: int) -> str:
    return percent(part / whole if whole else None)
