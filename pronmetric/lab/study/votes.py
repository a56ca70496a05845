"""The answers to a study by item: who chose what, who answered twice, and judged pairs with a majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pronmetric.eval.decision import TIE, A, B
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.study.answers import OTHER, REFERENCE, Answers, of_item
from pronmetric.lab.study.folder import Study
from pronmetric.lab.study.item import BOTH, NEITHER

_VOTES = {REFERENCE: A, OTHER: B, BOTH: TIE, NEITHER: TIE}
JUDGE = "majority of the annotators"


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
    found: dict[str, Counter[str]] = {item: Counter() for item in study.items}
    for own in votes.first.values():
        for item, answer in own.items():
            found[item][answer] += 1
    return found


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
    Items for which "neither" wins are left out: none of their texts is right.
    """
    for item, counts in by_item(study, votes).items():
        won = winner(counts)
        if not counts or won == NEITHER:
            continue
        of = study.items[item]
        yield JudgedPair(
            id=item,
            context=of.context,
            text_a=of.text_a,
            text_b=of.text_b,
            better=None if won is None else _VOTES[won],
            votes={name: _VOTES[own[item]] for name, own in votes.first.items() if item in own},
            group=of.language,
            doc=of.doc,
            pronoun_a=of.pronoun_a,
            pronoun_b=of.pronoun_b,
            judge=None if won is None else JUDGE,
        )
