"""Reranking: choose one of the candidate translations of each line by their pronouns, by a given score, or by both.

The first candidate is chosen unless another is strictly better. If a candidate or the first one has no pronoun, the
pronoun term of their difference is zero. A candidate that is no translation, such as a refusal, or has no text where
another has some, is chosen only where all are none: the first of the others stands in for the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, groupby, islice
from typing import NamedTuple

from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.scoring.score import SegmentScore
from pronmetric.text.context import CONTEXT_SIZE, Source, Text, attribute, introduce, is_sentence, join
from pronmetric.text.no_translation import kind_of

Stream = Callable[[Iterable[Text]], Iterator[SegmentScore]]
NO_TEXT = "no text"
"""Why an empty candidate is no translation, where another has text."""


class Choice(NamedTuple):
    """The index of the chosen candidate, and the scores of all candidates.

    scores: of the pronouns, higher is better; None without a pronoun. gains: weighted differences from the first that
    is a translation. no_translation: why a candidate is none (`pronmetric.text.no_translation`, or `NO_TEXT`); None
    where it may be.
    """

    chosen: int
    scores: tuple[float | None, ...]
    gains: tuple[float, ...]
    no_translation: tuple[str | None, ...]


class Preference(NamedTuple):
    """Two candidates of a line and by how much the chosen one is better, above 0."""

    chosen: str
    rejected: str
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighting:
    """The score of a candidate: weight x score of the pronouns + (1 - weight) x given score.

    margin: another candidate is chosen only if it is better than the first by more than this.
    """

    weight: float = 1.0
    margin: float = 0.0

    def choose(
        self,
        scores: Sequence[float | None],
        given: Sequence[float] | None = None,
        no_translation: Sequence[str | None] | None = None,
    ) -> Choice:
        """The best candidate, the earliest of equal ones; the first unless another is better by more than the margin.

        no_translation: of each candidate; None: all may be translations.

        >>> Weighting().choose([0.5, None, 0.9, 0.9]).chosen, Weighting().choose([None, 0.9]).chosen
        (2, 0)
        >>> Weighting(weight=0.5).choose([0.5, 0.9, None], [-1.0, -2.0, -0.5]).chosen
        2
        """
        why = tuple([None] * len(scores) if no_translation is None else no_translation)
        translations = [number for number, reason in enumerate(why) if reason is None] or list(range(len(scores)))
        first = translations[0]
        rest = [0.0] * len(scores) if given is None else [value - given[first] for value in given]
        gains = tuple(
            self.weight * _difference(score, scores[first]) + (1 - self.weight) * other
            for score, other in zip(scores, rest, strict=True)
        )
        best = max(translations, key=gains.__getitem__)
        return Choice(best if gains[best] > self.margin else first, tuple(scores), gains, why)

    def preferences(
        self,
        texts: Sequence[str],
        scores: Sequence[float | None],
        given: Sequence[float] | None = None,
        no_translation: Sequence[str | None] | None = None,
    ) -> list[Preference]:
        """Each two different texts, of which one is better by more than the margin; the clearest pair comes first.

        A text that is no translation is in no pair.

        >>> Weighting().preferences(["It left.", "She left.", "Gone."], [0.2, 0.9, None])
        [Preference(chosen='She left.', rejected='It left.', difference=0.7)]
        """
        pairs = []
        why = [None] * len(texts) if no_translation is None else no_translation
        for i, j in combinations([number for number, reason in enumerate(why) if reason is None], 2):
            other = 0.0 if given is None else given[i] - given[j]
            difference = self.weight * _difference(scores[i], scores[j]) + (1 - self.weight) * other
            if abs(difference) > self.margin and texts[i] != texts[j]:
                chosen, rejected = (texts[i], texts[j]) if difference > 0 else (texts[j], texts[i])
                pairs.append(Preference(chosen, rejected, abs(difference)))
        return sorted(dict.fromkeys(pairs), key=lambda pair: -pair.difference)


def _difference(score: float | None, first: float | None) -> float:
    return 0.0 if score is None or first is None else score - first


def consensus(candidates: Sequence[str], language: Language = ENGLISH) -> list[float]:
    """The mean agreement of each candidate's pronouns with those of the other candidates, in [0, 1].

    Minimum Bayes risk decoding with the other candidates, all equally likely, in place of the reference. The agreement
    of two texts is the F1 of their pronoun forms as multisets: twice the number of shared forms over the number of
    pronouns of both; 1 if neither has a pronoun. A single candidate has 1.

    >>> [round(value, 3) for value in consensus(["She left.", "He left.", "She went.", "Gone."])]
    [0.333, 0.0, 0.333, 0.0]
    """
    bags = [Counter(found.form for found in language.find(text)) for text in candidates]
    sums = [sum((_f1(bag, other) for j, other in enumerate(bags) if j != i), Fraction()) for i, bag in enumerate(bags)]
    return [float(total / (len(bags) - 1)) for total in sums] if len(bags) > 1 else [1.0] * len(bags)


def rerank_by_agreement(
    candidates: Iterable[Sequence[str]],
    *,
    weighting: Weighting,
    given: Sequence[Sequence[float]] | None = None,
    language: Language = ENGLISH,
) -> Iterator[Choice]:
    """Choose one of the candidates of each line by their `consensus`, without a model, in the order of the lines."""
    for i, texts in enumerate(candidates):
        why = _no_translations(texts, [kind_of(text) for text in texts])
        yield weighting.choose(consensus(texts, language), None if given is None else given[i], why)


def _no_translations(texts: Sequence[str], kinds: Sequence[str | None]) -> list[str | None]:
    """Why each candidate is no translation: its kind, or that it has no text where another has some."""
    empty = [not text.strip() for text in texts]
    return [NO_TEXT if blank and not all(empty) else kind for blank, kind in zip(empty, kinds, strict=True)]


def _f1(a: Counter[str], b: Counter[str]) -> Fraction:
    """An exact fraction, so that equal agreement is a tie in any order of summation."""
    size = a.total() + b.total()
    return Fraction(2 * (a & b).total(), size) if size else Fraction(1)


def rerank(
    candidates: Sequence[Sequence[str]],
    stream: Stream,
    *,
    weighting: Weighting,
    given: Sequence[Sequence[float]] | None = None,
    contexts: Sequence[str] | None = None,
    sources: Sequence[Source] | None = None,
    speakers: Sequence[str] | None = None,
    docs: Sequence[Hashable] | None = None,
    context_size: int = CONTEXT_SIZE,
) -> Iterator[tuple[int, Choice]]:
    """Choose one of the candidates of each line by the model; yields line numbers from 0 with choices, as made.

    Args:
        candidates: the candidates of each line.
        stream: scores texts, in order.
        weighting: the score of a candidate.
        given: another score of each candidate.
        contexts: the context of each line. None: the previously chosen lines of its document; the first lines of all
            documents are then scored together, then the second lines, and so on.
        sources: the source of each line, None where sources do not count.
        speakers: of each line, "" if unknown; given `contexts` have their names (`previous`). None: not given.
        docs: the document of each line; without it all lines are one document.
        context_size: the number of previously chosen lines in the context of a line.
    """
    chosen: list[str] = [""] * len(candidates)
    said_by: Sequence[str | None] = [None] * len(candidates) if speakers is None else speakers
    starts = _starts(len(candidates), docs)
    for wave in [range(len(candidates))] if contexts is not None else _waves(starts):
        before = (
            [contexts[i] for i in wave]
            if contexts is not None
            else [_context(chosen, said_by, range(starts[i], i), i, size=context_size) for i in wave]
        )
        scored = stream(
            Text(context, text, None if sources is None else sources[i], said_by[i])
            for i, context in zip(wave, before, strict=True)
            for text in candidates[i]
        )
        for i in wave:
            segments = list(islice(scored, len(candidates[i])))
            choice = weighting.choose(
                [segment.score for segment in segments],
                None if given is None else given[i],
                _no_translations(candidates[i], [segment.no_translation for segment in segments]),
            )
            chosen[i] = candidates[i][choice.chosen]
            yield i, choice


def _context(chosen: Sequence[str], speakers: Sequence[str | None], before: range, line: int, *, size: int) -> str:
    """The last `size` sentences chosen in the lines `before` a line, with the names of speakers as in `Text`."""
    used = list(islice((i for i in reversed(before) if is_sentence(chosen[i])), size))
    return introduce(join(attribute(chosen[i], speakers[i]) for i in reversed(used)), speakers[line])


def _starts(size: int, docs: Sequence[Hashable] | None) -> list[int]:
    """For each line, the number of the first line of its document."""
    if docs is None:
        return [0] * size
    runs = [list(run) for _, run in groupby(range(size), key=docs.__getitem__)]
    return [run[0] for run in runs for _ in run]


def _waves(starts: Sequence[int]) -> list[list[int]]:
    """The first lines of all documents, then the second lines, and so on."""
    waves: list[list[int]] = []
    for i, start in enumerate(starts):
        if i - start == len(waves):
            waves.append([])
        waves[i - start].append(i)
    return waves
