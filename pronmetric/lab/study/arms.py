"""Two arms of a study: the same items, judged by people who were shown different things, such as the source or not.

Jwalapuram et al. 2019 (section 3.3) compare judgements with and without the source in this way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pronmetric.errors import InputError
from pronmetric.eval.agreement import Agreement, clustered_interval, gwet_ac1
from pronmetric.eval.estimates import Estimate, cluster_mean
from pronmetric.eval.resampling import DRAWS, SEED
from pronmetric.lab.study import findings
from pronmetric.lab.study.answers import REFERENCE, Answers
from pronmetric.lab.study.folder import Study
from pronmetric.report.text import table


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm's answers to the items that both arms share.

    study: its id. disagreements: items that its annotators did not all answer alike.
    """

    study: str
    annotators: int
    ac1: Agreement
    preference: Estimate | None
    disagreements: int


@dataclass(frozen=True, slots=True)
class AnswerShift:
    """The items with these answers of most votes, one in each arm; "" where no answer wins."""

    first: str
    second: str
    items: int


@dataclass(frozen=True, slots=True)
class Arms:
    """Two arms, on the items that have two answers or more in each.

    arms: by name, the first one first. joint: AC1 of the annotators of both arms together; by_document: its interval
    over documents. common: the items with a disagreement in both arms; expected: their number if the disagreements of
    the arms were independent. difference: the share of answers for the reference, first arm minus second, paired by
    item. moved: items by the answers with most votes in both arms, the largest number first.
    """

    items: int
    arms: Mapping[str, Arm]
    joint: Agreement
    by_document: tuple[float, float] | None
    common: tuple[str, ...]
    expected: float
    difference: Estimate | None
    moved: tuple[AnswerShift, ...]


def compare(
    first: tuple[Study, Answers], second: tuple[Study, Answers], *, seed: int = SEED, draws: int = DRAWS
) -> Arms:
    """The figures of two arms; studies drawn from the same data with the same seed have the same items.

    Raises:
        InputError: the studies have other answers, an item has other texts, or no item has two answers in each arm.
    """
    studies = first[0], second[0]
    if studies[0].design.answers != studies[1].design.answers:
        said = " against ".join(", ".join(study.design.answers) for study in studies)
        raise InputError(f"the arms offer different answers ({said}); compare studies of one kind")
    votes = [findings.collect(*arm) for arm in (first, second)]
    counts = [findings.by_item(study, votes_of) for study, votes_of in zip(studies, votes, strict=True)]
    shared = [
        item for item in studies[0].items if all(item in votes_of and votes_of[item].total() > 1 for votes_of in counts)
    ]
    if not shared:
        raise InputError(
            "no item has two answers in each arm; give studies of the same data and seed, and more answers"
        )
    for item in shared:
        item_a, item_b = (study.items[item] for study in studies)
        if (item_a.context, item_a.text_a, item_a.text_b) != (item_b.context, item_b.text_a, item_b.text_b):
            raise InputError(f'the item "{item}" has other texts in the second arm; give studies of the same data')
    docs = {item: studies[0].items[item].doc or item for item in shared}
    offered = findings.categories(studies[0])
    tables = [np.array([[votes_of[item][name] for name in offered] for item in shared]) for votes_of in counts]
    winners = [{item: findings.winner(votes_of[item]) or "" for item in shared} for votes_of in counts]
    disputed = [{item for item in shared if len(votes_of[item]) > 1} for votes_of in counts]
    figures = [
        Arm(
            study=study.id,
            annotators=sum(any(item in given for item in shared) for given in vote.first.values()),
            ac1=gwet_ac1(rows),
            preference=findings.preference(study, {item: votes_of[item] for item in shared}),
            disagreements=len(items),
        )
        for study, vote, rows, votes_of, items in zip(studies, votes, tables, counts, disputed, strict=True)
    ]
    joint = tables[0] + tables[1]
    return Arms(
        items=len(shared),
        arms=dict(zip(_names(*studies), figures, strict=True)),
        joint=gwet_ac1(joint),
        by_document=clustered_interval(joint, [*docs.values()], seed=seed, draws=draws),
        common=tuple(item for item in shared if item in disputed[0] and item in disputed[1]),
        expected=len(disputed[0]) * len(disputed[1]) / len(shared),
        difference=_difference(counts, docs),
        moved=_moved(Counter((winners[0][item], winners[1][item]) for item in shared)),
    )


def _moved(counts: Counter[tuple[str, str]]) -> tuple[AnswerShift, ...]:
    return tuple(
        AnswerShift(*pair, number) for pair, number in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    )


def _names(one: Study, other: Study) -> tuple[str, str]:
    """What the arms differ in."""
    if one.design.source == other.design.source:
        return "first arm", "second arm"
    return ("with source", "without source") if one.design.source else ("without source", "with source")


def _difference(counts: list[dict[str, Counter[str]]], docs: Mapping[str, str]) -> Estimate | None:
    """The mean difference of the shares of answers for the reference; None if every item is invalid in an arm."""

    def share(answers: Counter[str]) -> float | None:
        number = findings.judged(answers)
        return answers[REFERENCE] / number if number else None

    shares = {item: [share(own[item]) for own in counts] for item in docs}
    differences = {item: a - b for item, (a, b) in shares.items() if a is not None and b is not None}
    return cluster_mean([*differences.values()], [docs[item] for item in differences]) if differences else None


def format_arms(figures: Arms) -> str:
    """All figures."""
    rows = [
        (
            *(name, one.study, one.annotators),
            *(*findings.share_cells(one.preference), *findings.ac1_cells(one.ac1), one.disagreements),
        )
        for name, one in figures.arms.items()
    ]
    header = (
        "arm",
        "study",
        "annotators",
        "prefer reference",
        "95 % interval",
        "AC1",
        "95 % interval",
        "disagreements",
    )
    first, second = figures.arms
    joint, interval = findings.ac1_cells(figures.joint)
    by_document = "" if figures.by_document is None else "; by document {:.5f}..{:.5f}".format(*figures.by_document)
    moved = [(one.first or "no answer", one.second or "no answer", one.items) for one in figures.moved]
    parts = [
        f"two arms: {figures.items} items with two answers or more in each\n{table(header, rows, left=(0, 1))}",
        f"joint AC1, of the annotators of both arms: {joint} ({interval}{by_document})",
        f"items with disagreements in both arms: {len(figures.common)} (expected by chance: {figures.expected:.1f})",
    ]
    if figures.difference is not None:
        one = figures.difference
        span = (
            "" if one.low is None or one.high is None else f" (95 % interval {100 * one.low:.1f}..{100 * one.high:.1f})"
        )
        parts.append(f"prefer reference, {first} minus {second}: {100 * one.value:+.1f} points{span}")
    parts.append("most votes\n" + table((first, second, "items"), moved, left=(0, 1)))
    if figures.common:
        parts.append("with disagreements in both arms\n" + "\n".join(figures.common))
    return "\n\n".join(parts)
