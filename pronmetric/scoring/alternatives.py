"""Alternatives: the scores of other forms in the position of a pronoun.

Each other form of the pronoun's slot is substituted, one at a time, with the rest of the text unchanged, and scored,
with the source of the text if that counts. A preferred form is not a correction: the rest of the text may be wrong.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pronmetric.pronouns.corrupt import match_case, replace
from pronmetric.pronouns.languages import ENGLISH, Language, same_slot
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.context import Text

Stream = Callable[..., Iterator[SegmentScore]]
"""Scores texts, in order: `PronounMetric.stream`, with its options bound."""

THRESHOLD = 0.7
"""A less probable pronoun is flagged: the best F1 on development data (benchmarks/published/suggest-threshold.md)."""
TOP = 3
"""Better forms of a pronoun that are listed."""

_BEGIN = Text("", "")  # precedes the variants of each text; it has no pronoun and is not encoded


class Alternative(NamedTuple):
    """Another form in the position of a pronoun: lower-cased, as it would be written, and its probability.

    agrees: whether the form has the case and kind of the pronoun and agrees with the neighbouring verb or noun, as
    `Language.replaces` ("they" before "is" does not; "these" for "she" does not). same_person: whether it is of the
    pronoun's grammatical person ("she" for "he" is, "I" is not).
    """

    form: str
    text: str
    probability: float
    agrees: bool
    same_person: bool = True


class PronounAlternatives(NamedTuple):
    """A pronoun as written, and the other forms for its position, most probable first."""

    pronoun: PronounScore
    others: tuple[Alternative, ...]

    def better(self, top: int | None = None) -> tuple[Alternative, ...]:
        """The other forms that are more probable than the pronoun as written, at most `top`.

        Those that agree come first, then those of the same person, then the more probable ones.
        """
        found = [other for other in self.others if other.probability > self.pronoun.score]
        return tuple(sorted(found, key=lambda other: (not other.agrees, not other.same_person))[:top])


class Tally:
    """The number of texts, of pronouns with alternatives, and of those with a better form."""

    def __init__(self) -> None:
        self.texts = self.pronouns = self.better = 0

    def add(self, places: Sequence[PronounAlternatives]) -> None:
        """Count one text."""
        self.texts += 1
        self.pronouns += len(places)
        self.better += sum(bool(place.better(1)) for place in places)


class Variant(NamedTuple):
    """A text with one pronoun replaced: the form, as it would be written, whether it agrees, and the text.

    same_person: see `Alternative`.
    """

    form: str
    written: str
    agrees: bool
    text: Text
    same_person: bool = True


def variants(text: Text, start: int, end: int, language: Language = ENGLISH) -> tuple[Variant, ...]:
    """The text with each other form of the slot of its pronoun [start, end), most similar first; same context.

    >>> [v.text.text for v in variants(Text("", "She is here."), 0, 3)][:4]
    ['He is here.', 'It is here.', 'They is here.', 'That is here.']
    """
    line = text.text
    words = language.words(line)
    index = next(i for i, word in enumerate(words) if word.start == start)
    persons = _persons(language, words[index].text.lower())
    return tuple(
        Variant(
            form,
            match_case(line, start, end, form),
            language.replaces(words, index, form),
            text._replace(text=replace(line, start, end, form)),
            not persons.isdisjoint(_persons(language, form)),
        )
        for form in same_slot(language, words, index)
    )


def _persons(language: Language, form: str) -> frozenset[str]:
    """The grammatical persons of a form; the third where its table names none, as of demonstratives."""
    named = {entry.person for entry in language.entries if entry.form == form}
    return frozenset(person if person in ("1", "2") else "3" for person in named) or frozenset({"3"})


def score_alternatives(
    texts: Iterable[Text],
    stream: Stream,
    *,
    stream_variants: Stream | None = None,
    language: Language = ENGLISH,
    below: float | None = None,
    agreeing: bool = False,
    scored: Iterable[Sequence[PronounScore]] | None = None,
    advance: Callable[[int], object] | None = None,
) -> Iterator[tuple[PronounAlternatives, ...]]:
    """For each text, in order, its pronouns with their alternatives; in bounded memory if the streams are.

    A form that is not scored in that position is left out: the finder does not find it as a pronoun there, or the
    checkpoint does not score it.

    Args:
        texts: the texts, with their contexts.
        stream: scores texts, in order, with probabilities; called once, unless the texts are `scored`.
        stream_variants: the same for the variants, called once for all, so that each distinct one is encoded once.
            None: `stream`.
        language: of the texts.
        below: only pronouns with a lower probability are listed; None: all pronouns.
        agreeing: only forms that agree are scored.
        scored: the pronouns of each text with their probabilities, if they are known; the texts are then not scored.
        advance: called with the number of texts finished since the last call.
    """
    waiting: deque[Text] = deque()
    asked: deque[list[tuple[PronounScore, tuple[Variant, ...]]]] = deque()
    sizes: deque[int] = deque()
    scored_ahead = 0

    def originals() -> Iterator[Text]:
        for text in texts:
            waiting.append(text)
            yield text

    def known() -> Iterator[Sequence[PronounScore]]:
        if scored is None:
            return (segment.pronouns for segment in stream(originals()))
        return (pronouns for _, pronouns in zip(originals(), scored, strict=True))

    def kept(found: tuple[Variant, ...]) -> tuple[Variant, ...]:
        return tuple(variant for variant in found if variant.agrees or not agreeing)

    def replaced() -> Iterator[Text]:
        for pronouns in known():
            text = waiting.popleft()
            doubtful = [p for p in pronouns if below is None or p.score < below]
            by_pronoun = [(p, kept(variants(text, p.start, p.end, language))) for p in doubtful]
            asked.append(by_pronoun)
            sizes.append(1 + sum(len(forms_of_one) for _, forms_of_one in by_pronoun))
            yield _BEGIN
            yield from (variant.text for _, forms_of_one in by_pronoun for variant in forms_of_one)

    def count(number: int) -> None:
        nonlocal scored_ahead
        scored_ahead += number
        while sizes and scored_ahead >= sizes[0]:
            scored_ahead -= sizes.popleft()
            assert advance is not None
            advance(1)

    of_variants = stream if stream_variants is None else stream_variants
    results = of_variants(replaced()) if advance is None else of_variants(replaced(), advance=count)
    for _ in results:  # _BEGIN; the variants of the text follow
        yield tuple(_rank(p, forms_of_one, islice(results, len(forms_of_one))) for p, forms_of_one in asked.popleft())


def _rank(pronoun: PronounScore, found: Iterable[Variant], scored: Iterable[SegmentScore]) -> PronounAlternatives:
    """The pronoun with its scored variants."""
    others = []
    for variant, segment in zip(found, scored, strict=True):
        here = next((p for p in segment.pronouns if p.start == pronoun.start), None)
        if here is not None:
            others.append(Alternative(variant.form, variant.written, here.score, variant.agrees, variant.same_person))
    return PronounAlternatives(pronoun, tuple(sorted(others, key=lambda other: -other.probability)))
