"""Choice: one of several candidate translations of a line, by their pronouns, by a given score, or by both.

The first candidate stays unless another is strictly better. A candidate without a pronoun neither wins nor loses by
that: beside it, or where it is the first, the pronouns' part of the sum is nought.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, islice
from typing import NamedTuple

from pronmetric.pronouns import finder
from pronmetric.scoring.score import SegmentScore
from pronmetric.text.context import CONTEXT_SIZE, Text, join

Stream = Callable[[Iterable[Text]], Iterator[SegmentScore]]


class Choice(NamedTuple):
    """The number of the chosen candidate, from 0, and what each candidate has of it.

    scores: of the pronouns, higher is better; None without a pronoun. gains: how much better each is than the first.
    """

    chosen: int
    scores: tuple[float | None, ...]
    gains: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How candidates are weighed: weight x score of the pronouns + (1 - weight) x given score.

    margin: another candidate is chosen where it is better than the first by more than this.
    """

    weight: float = 1.0
    margin: float = 0.0

    def choose(self, scores: Sequence[float | None], given: Sequence[float] | None = None) -> Choice:
        """The best candidate; of equal ones the earliest, and the first unless another is better by the margin.

        >>> Rule().choose([0.5, None, 0.9, 0.9]).chosen, Rule().choose([None, 0.9]).chosen
        (2, 0)
        >>> Rule(weight=0.5).choose([0.5, 0.9, None], [-1.0, -2.0, -0.5]).chosen
        2
        """
        rest = [0.0] * len(scores) if given is None else [value - given[0] for value in given]
        gains = tuple(
            self.weight * _difference(score, scores[0]) + (1 - self.weight) * other
            for score, other in zip(scores, rest, strict=True)
        )
        best = max(range(len(gains)), key=gains.__getitem__)
        return Choice(best if gains[best] > self.margin else 0, tuple(scores), gains)


def _difference(score: float | None, first: float | None) -> float:
    return 0.0 if score is None or first is None else score - first


def consensus(candidates: Sequence[str]) -> list[float]:
    """How well each candidate's pronouns agree with those of the others on average, in [0, 1].

    The other candidates stand for the reference that nobody has (minimum Bayes risk, each as likely as the next).
    Agreement of two texts is F1 of their pronoun forms: twice the forms they share, as often as both have them, over
    all their pronouns; 1 where neither has any. A single candidate has 1.

    >>> [round(value, 3) for value in consensus(["She left.", "He left.", "She went.", "Gone."])]
    [0.333, 0.0, 0.333, 0.0]
    """
    bags = [Counter(found.form for found in finder.find(text)) for text in candidates]
    sums = [sum((_f1(bag, other) for j, other in enumerate(bags) if j != i), Fraction()) for i, bag in enumerate(bags)]
    return [float(total / (len(bags) - 1)) for total in sums] if len(bags) > 1 else [1.0] * len(bags)


def _f1(a: Counter[str], b: Counter[str]) -> Fraction:
    """Exact, so that equal agreement is a tie whatever the order of the sum."""
    size = a.total() + b.total()
    return Fraction(2 * (a & b).total(), size) if size else Fraction(1)


def rerank(
    candidates: Sequence[Sequence[str]],
    stream: Stream,
    *,
    rule: Rule,
    given: Sequence[Sequence[float]] | None = None,
    contexts: Sequence[str] | None = None,
    docs: Sequence[Hashable] | None = None,
    context_size: int = CONTEXT_SIZE,
) -> Iterator[tuple[int, Choice]]:
    """Choose one of the candidates of each line; gives line numbers from 0 with choices, as they are made.

    Args:
        candidates: those of each line, in the order of the lines.
        stream: scores texts, in order.
        rule: how candidates are weighed.
        given: another score of each candidate.
        contexts: what stands before each line. None: the lines that were chosen before it in its document, so that
            documents are read side by side, each line after the one before it.
        docs: the document of each line; without it all lines are one document.
        context_size: how many of the lines that were chosen before are a line's context.
    """
    chosen: list[str] = [""] * len(candidates)
    starts = _starts(len(candidates), docs)
    for wave in [range(len(candidates))] if contexts is not None else _waves(starts):
        before = (
            [contexts[i] for i in wave]
            if contexts is not None
            else [join(chosen[max(starts[i], i - context_size) : i]) for i in wave]
        )
        scored = stream(Text(c, text) for i, c in zip(wave, before, strict=True) for text in candidates[i])
        for i in wave:
            scores = [segment.score for segment in islice(scored, len(candidates[i]))]
            choice = rule.choose(scores, None if given is None else given[i])
            chosen[i] = candidates[i][choice.chosen]
            yield i, choice


def _starts(size: int, docs: Sequence[Hashable] | None) -> list[int]:
    """For each line, the number of the first line of its document."""
    if docs is None:
        return [0] * size
    runs = [list(run) for _, run in groupby(range(size), key=docs.__getitem__)]
    return [run[0] for run in runs for _ in run]


def _waves(starts: Sequence[int]) -> list[list[int]]:
    """The first lines of all documents, then their second lines, and so on."""
    waves: list[list[int]] = []
    for i, start in enumerate(starts):
        if i - start == len(waves):
            waves.append([])
        waves[i - start].append(i)
    return waves
