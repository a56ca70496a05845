"""Simulated annotators with known error rates, and the AC1 that they must have.

An item has a true answer, drawn for each item with the probabilities of `truth`. An annotator gives it with
probability 1 - error, otherwise one of the other answers that the study offers, with equal probability, independent of
the other annotators, of the item and of the order of the versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pronmetric.errors import PronmetricError
from pronmetric.lab.study.answers import OTHER, REFERENCE, TaskAnswer, as_shown
from pronmetric.lab.study.folder import ALONE, FIRST, GOOD, PHENOMENA, SECOND, Study

TRUTH = {
    **{REFERENCE: 0.75, "both": 0.15, "neither": 0.05, OTHER: 0.05},
    **{GOOD: 0.8, ALONE: 0.1, **dict.fromkeys(PHENOMENA, 0.1 / len(PHENOMENA))},
}
"""Probabilities of the true answers, of those that a study offers in proportion."""


def simulate(
    study: Study, errors: Sequence[float], *, truth: Mapping[str, float] = TRUTH, seed: int = 1
) -> dict[str, tuple[TaskAnswer, ...]]:
    """Complete answers of all annotators; errors: of each annotator, in order.

    Raises:
        PronmetricError: another number of errors than of annotators.
    """
    _check(study, errors)
    names, weights = _categories(study, truth)
    right = np.random.default_rng([seed, 0]).choice(len(names), size=len(study.items), p=weights)
    answer_of = dict(zip(study.items, right.tolist(), strict=True))
    answers = {}
    for k, (name, tasks) in enumerate(study.assignments.items()):
        rng = np.random.default_rng([seed, k + 1])
        wrong = rng.random(len(tasks)) < errors[k]
        step = rng.integers(1, len(names), size=len(tasks))
        given = []
        for number, task in enumerate(tasks):
            code = (answer_of[task.item] + int(step[number]) * bool(wrong[number])) % len(names)
            given.append(TaskAnswer(number, as_shown(names[code], swapped=task.swapped)))
        answers[name] = tuple(given)
    return answers


def expected_ac1(study: Study, errors: Sequence[float], *, truth: Mapping[str, float] = TRUTH) -> float:
    """The AC1 of infinitely many items that these annotators answer, in the groups of this study."""
    _check(study, errors)
    if study.design.annotators == study.design.groups:
        raise PronmetricError("no group has two annotators, so that AC1 is not defined")
    names, weights = _categories(study, truth)
    given = [_answer_probabilities(len(names), error) for error in errors]  # each (true, given)
    members: dict[int, list[int]] = {}
    for annotator in range(study.design.annotators):
        members.setdefault(study.design.group_of(annotator), []).append(annotator)
    sizes = _group_sizes(study)
    share = sum(sizes[g] * np.mean([weights @ given[k] for k in own], axis=0) for g, own in members.items())
    share = np.asarray(share) / sum(sizes.values())
    several = {g: own for g, own in members.items() if len(own) > 1}
    agreed = sum(
        sizes[g] * np.mean([weights @ (given[a] * given[b]).sum(axis=1) for a, b in combinations(own, 2)])
        for g, own in several.items()
    ) / sum(sizes[g] for g in several)
    chance = float((share * (1 - share)).sum() / (len(names) - 1))
    return float((agreed - chance) / (1 - chance))


def _answer_probabilities(size: int, error: float) -> NDArray[np.float64]:
    return np.where(np.eye(size, dtype=bool), 1 - error, error / (size - 1))


def _group_sizes(study: Study) -> Counter[int]:
    """The number of items of each group."""
    return Counter(number % study.design.groups for number in range(len(study.items)))


def _categories(study: Study, truth: Mapping[str, float]) -> tuple[list[str], NDArray[np.float64]]:
    names = [{FIRST: REFERENCE, SECOND: OTHER}.get(name, name) for name in study.design.answers]
    weights = np.array([truth.get(name, 0.0) for name in names])
    return names, weights / weights.sum()


def _check(study: Study, errors: Sequence[float]) -> None:
    if len(errors) != study.design.annotators:
        raise PronmetricError(
            f"expected an error rate for each of the {study.design.annotators} annotators, got {len(errors)}"
        )
