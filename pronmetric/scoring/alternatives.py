"""Alternatives: what the model would make of the other forms in a pronoun's place.

Each form that could stand in the pronoun's slot is put there, alone, the rest of the text as it is, and scored as any
text is. The source is not seen, so this is no correction: it says what the model would rather read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from pronmetric.pronouns.corrupt import match_case, replace
from pronmetric.pronouns.slots import agrees, same_slot
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.text.context import Text
from pronmetric.text.words import words as split

Stream = Callable[..., Iterator[SegmentScore]]
"""Scores texts, in order; `PronounMetric.stream`, with its flags bound."""

_BEGIN = Text("", "")  # has no pronoun, so it costs nothing; stands before the variants of each text


class Alternative(NamedTuple):
    """Another form in a pronoun's place: the form, lower-cased; as it is written there; its probability there.

    agrees: whether the verb or noun beside it fits it too ("they" before "is" does not); where it does not, more than
    the pronoun would have to change.
    """

    form: str
    text: str
    probability: float
    agrees: bool


class PronounAlternatives(NamedTuple):
    """A pronoun as it is written, and the other forms in its place, most probable first."""

    pronoun: PronounScore
    others: tuple[Alternative, ...]

    def better(self, top: int | None = None) -> tuple[Alternative, ...]:
        """The other forms that are more probable than what is written, `top` of them at most."""
        found = (other for other in self.others if other.probability > self.pronoun.score)
        return tuple(islice(found, top))


class Variant(NamedTuple):
    """A text with one pronoun replaced: the form, as it is written, whether it agrees, and the text."""

    form: str
    written: str
    agrees: bool
    text: Text


def variants(text: Text, start: int, end: int) -> tuple[Variant, ...]:
    """The text with each other form of the slot of its pronoun [start, end), likest first; the context stays.

    >>> [v.text.text for v in variants(Text("", "She is here."), 0, 3)][:4]
    ['He is here.', 'It is here.', 'They is here.', 'That is here.']
    """
    context, line = text
    words = split(line)
    index = next(i for i, word in enumerate(words) if word.start == start)
    return tuple(
        Variant(
            form,
            match_case(line, start, end, form),
            agrees(words, index, form),
            Text(context, replace(line, start, end, form)),
        )
        for form in same_slot(words, index)
    )


def weigh(
    texts: Iterable[Text],
    stream: Stream,
    *,
    below: float | None = None,
    advance: Callable[[int], object] | None = None,
) -> Iterator[tuple[PronounAlternatives, ...]]:
    """For each text, in order, its pronouns with their alternatives; in bounded memory if `stream` is.

    A form that is not scored in that place, because the finder would not read it as a pronoun there or the checkpoint
    does not know it, is left out.

    Args:
        texts: the texts, with their contexts.
        stream: scores texts, in order, with probabilities; called once for the texts and once for all variants, so
            that each distinct one is encoded once.
        below: only pronouns of a lower probability are looked at; None is all of them.
        advance: is called with the number of texts whose variants were scored since the last call.
    """
    waiting: deque[Text] = deque()
    asked: deque[list[tuple[PronounScore, tuple[Variant, ...]]]] = deque()
    sizes: deque[int] = deque()
    scored_ahead = 0

    def originals() -> Iterator[Text]:
        for text in texts:
            waiting.append(text)
            yield text

    def replaced() -> Iterator[Text]:
        for segment in stream(originals()):
            text = waiting.popleft()
            doubtful = [p for p in segment.pronouns if below is None or p.score < below]
            made = [(p, variants(text, p.start, p.end)) for p in doubtful]
            asked.append(made)
            sizes.append(1 + sum(len(found) for _, found in made))
            yield _BEGIN
            yield from (variant.text for _, found in made for variant in found)

    def told(number: int) -> None:
        nonlocal scored_ahead
        scored_ahead += number
        while sizes and scored_ahead >= sizes[0]:
            scored_ahead -= sizes.popleft()
            assert advance is not None
            advance(1)

    scored = stream(replaced()) if advance is None else stream(replaced(), advance=told)
    for _ in scored:  # a beginning; then come the variants of that text
        yield tuple(_place(p, found, islice(scored, len(found))) for p, found in asked.popleft())


def _place(pronoun: PronounScore, found: Iterable[Variant], scored: Iterable[SegmentScore]) -> PronounAlternatives:
    """The pronoun with its scored variants."""
    others = []
    for variant, segment in zip(found, scored, strict=True):
        here = next((p for p in segment.pronouns if p.start == pronoun.start), None)
        if here is not None:
            others.append(Alternative(variant.form, variant.written, here.score, variant.agrees))
    return PronounAlternatives(pronoun, tuple(sorted(others, key=lambda other: -other.probability)))
