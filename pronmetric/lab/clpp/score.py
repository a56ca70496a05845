"""The official figures of cross-lingual pronoun prediction: macro-averaged recall, macro-averaged F1 and accuracy.

Guillou et al. 2016, section 4.2; Hardmeier et al. 2015, section 5.3. The official program averages over all classes of
the language pair, also those without an instance in the gold data, whose recall counts as 0. The paper's tables leave
these out (Guillou et al. 2016, section 6, footnote 8). Both averages are given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pronmetric.errors import InputError
from pronmetric.lab.clpp.data import Task, labels_of, predictions, rows


@dataclass(frozen=True, slots=True)
class Figures:
    """Precision, recall and F1 in percent; a figure without instances is 0."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Score:
    """How often each class (gold) was predicted as each class."""

    task: Task
    counts: Mapping[tuple[str, str], int]

    def count(self, gold: str, predicted: str) -> int:
        """The number of slots of one class that were predicted as another."""
        return self.counts.get((gold, predicted), 0)

    def gold(self, label: str) -> int:
        """The number of slots of a class."""
        return sum(self.count(label, other) for other in self.task.classes)

    def predicted(self, label: str) -> int:
        """The number of slots predicted as a class."""
        return sum(self.count(other, label) for other in self.task.classes)

    @property
    def total(self) -> int:
        """The number of slots."""
        return sum(self.counts.values())

    @property
    def correct(self) -> int:
        """The number of slots predicted right."""
        return sum(self.count(label, label) for label in self.task.classes)

    @property
    def accuracy(self) -> float:
        """In percent; equal to the micro-averaged precision, recall and F1."""
        return 100 * self.correct / self.total

    def figures(self, label: str) -> Figures:
        """The figures of one class."""
        right = self.count(label, label)
        precision = _percent(right, self.predicted(label))
        recall = _percent(right, self.gold(label))
        both = precision + recall
        return Figures(precision, recall, 2 * precision * recall / both if both else 0.0)

    @property
    def macro(self) -> Figures:
        """The means over all classes; `recall` is the official score of 2016 and 2017, `f1` that of 2015."""
        return self._mean(self.task.classes)

    @property
    def in_gold(self) -> tuple[str, ...]:
        """The classes with an instance in the gold data."""
        return tuple(label for label in self.task.classes if self.gold(label))

    @property
    def macro_in_gold(self) -> Figures:
        """The means over the classes with an instance in the gold data, as in the paper."""
        return self._mean(self.in_gold)

    def _mean(self, labels: Sequence[str]) -> Figures:
        found = [self.figures(label) for label in labels]
        return Figures(*(sum(getattr(one, name) for one in found) / len(found) for name in Figures.__slots__))


def _percent(right: int, of: int) -> float:
    return 100 * right / of if of else 0.0


def score(gold: str | Path, predicted: str | Path, of: Task) -> Score:
    """Compare a prediction file with a data file, line by line; further lines of predictions are ignored.

    Raises:
        InputError: with the line: too few predictions, labels on one side only, an unknown label, another number of
            labels; no label at all.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for line, right, guess in _cells(gold, predicted):
        if right == guess == "":
            continue
        if not right:
            raise InputError(f"predicts {guess!r} where {gold} has no label", file=predicted, line=line)
        if not guess:
            raise InputError(f"expected a label: {gold} has {right!r}", file=predicted, line=line)
        labels = labels_of(right, of, file=gold, line=line)
        guesses = labels_of(guess, of, file=predicted, line=line)
        if len(labels) != len(guesses):
            message = f"expected {len(labels)} labels as in {gold}, got {len(guesses)}"
            raise InputError(message, file=predicted, line=line)
        counts.update(zip(labels, guesses, strict=True))
    if not counts:
        raise InputError("has no label, so there is no score", file=gold)
    return Score(of, counts)


def tally(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], of: Task) -> Score:
    """The score of labels in memory, line by line."""
    pairs = (zip(right, guess, strict=True) for right, guess in zip(gold, predicted, strict=True))
    return Score(of, Counter(pair for line in pairs for pair in line))


def _cells(gold: str | Path, predicted: str | Path) -> Iterator[tuple[int, str, str]]:
    """The line, the gold labels and the predicted labels."""
    for row, guess in zip_longest(rows(gold), predictions(predicted)):
        if row is None:
            return
        line, cells = row
        if guess is None:
            raise InputError(f"ends before line {line}; expected a line for each line of {gold}", file=predicted)
        yield line, cells[0], guess


def lines(score: Score) -> Iterator[str]:
    """The report, laid out as the official one: confusion matrix, accuracy, classes, averages, official score."""
    classes = score.task.classes
    yield "Confusion matrix (rows: gold, columns: predicted):"
    yield f"{'':7} " + " ".join(f"{label:>5}" for label in classes) + " | -SUM-"
    for label in classes:
        row = " ".join(f"{score.count(label, other):>5}" for other in classes)
        yield f"{label:>7} {row} | {score.gold(label):>5}"
    yield f"{'-SUM-':>7} " + " ".join(f"{score.predicted(label):>5}" for label in classes) + f" | {score.total:>5}"
    yield ""
    yield f"Accuracy = {score.correct}/{score.total} = {score.accuracy:.2f}%"
    yield ""
    yield "Classes:"
    for label in classes:
        right, found = score.count(label, label), score.figures(label)
        yield (
            f"{label:>7}  P = {right:>5}/{score.predicted(label):>5} = {found.precision:6.2f}%"
            f"  R = {right:>5}/{score.gold(label):>5} = {found.recall:6.2f}%  F1 = {found.f1:6.2f}%"
        )
    yield ""
    macro = score.macro
    yield f"Micro-averaged: P = R = F1 = {score.accuracy:.2f}%"
    yield f"Macro-averaged: P = {macro.precision:.2f}%  R = {macro.recall:.2f}%  F1 = {macro.f1:.2f}%"
    own, present = score.macro_in_gold, len(score.in_gold)
    yield (
        f"Macro-averaged over the {present} classes with a gold instance: P = {own.precision:.2f}%  "
        f"R = {own.recall:.2f}%  F1 = {own.f1:.2f}%"
    )
    yield ""
    yield f"Official score, 2016 and 2017 (macro-averaged R): {macro.recall:.2f}%"
    yield f"Official score, 2015 (macro-averaged F1): {macro.f1:.2f}%"
    yield f"As in the paper of 2016, over {present} of {len(classes)} classes (macro-averaged R): {own.recall:.2f}%"


def result_json(score: Score) -> dict[str, Any]:
    """All figures, in percent."""
    macro, macro_in_gold = score.macro, score.macro_in_gold
    by_class = {label: score.figures(label) for label in score.task.classes}
    return {
        "pair": score.task.pair,
        "macro_recall": macro.recall,
        "macro_precision": macro.precision,
        "macro_f1": macro.f1,
        "gold_classes": list(score.in_gold),
        "macro_recall_of_gold_classes": macro_in_gold.recall,
        "macro_precision_of_gold_classes": macro_in_gold.precision,
        "macro_f1_of_gold_classes": macro_in_gold.f1,
        "accuracy": score.accuracy,
        "correct": score.correct,
        "total": score.total,
        "classes": {
            label: {
                "precision": figures.precision,
                "recall": figures.recall,
                "f1": figures.f1,
                "correct": score.count(label, label),
                "gold": score.gold(label),
                "predicted": score.predicted(label),
            }
            for label, figures in by_class.items()
        },
        "confusion": {
            label: {other: score.count(label, other) for other in score.task.classes} for label in score.task.classes
        },
    }
