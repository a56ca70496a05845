"""Pairs the pronouns of a result with those of its reference, by the aligner that prepares the training data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.counterparts import counterparts
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import ENGLISH, Language, occurrences
from pronmetric.report.content import ADDED, NOTHING, PRONOUN, SAME, WORD, Link
from pronmetric.results import Pronoun, Result, Segment
from pronmetric.schema import Alignment
from pronmetric.text.words import Word

_TRAINING_LINES = 20_000  # line pairs on which the aligner is trained, at most


def link_pronouns(
    result: Result, note: Callable[[str], object], language: Language = ENGLISH
) -> list[list[tuple[Link, ...]]] | None:
    """The links of each segment's outputs; None if no segment has a reference.

    The aligner is trained on the lines of the result. Two pronouns are paired if they have the same role and their
    neighbouring words are aligned (`pronmetric.alignment.counterparts`). A segment without a reference has no links.
    """
    if all(segment.reference is None for segment in result.segments):
        return None
    pairs: list[tuple[list[str], list[str]]] = []
    for segment in result.segments:
        reference = _texts(language.words(segment.reference or ""))
        pairs += [(reference, _texts(language.words(output.text))) for output in segment.outputs]
    aligner = AgreementAligner()
    known = list(islice((pair for pair in pairs if all(pair)), _TRAINING_LINES))
    aligner.train(known)
    note(
        "pronouns are paired with those of the reference by the agreement aligner, trained on these "
        f"{len(known)} line pairs; the pairing may contain errors"
    )
    found = aligner.align_all(pairs)
    return [_segment_links(segment, [next(found) for _ in segment.outputs], language) for segment in result.segments]


def _texts(words: Sequence[Word]) -> list[str]:
    return [word.text for word in words]


def _segment_links(segment: Segment, alignments: Sequence[Alignment], language: Language) -> list[tuple[Link, ...]]:
    """The links of each output of a segment; equal outputs share theirs."""
    if segment.reference is None:
        return [()] * len(segment.outputs)
    ref_words = language.words(segment.reference)
    found = language.find(segment.reference, ref_words)
    made: dict[tuple[str, tuple[Pronoun, ...]], tuple[Link, ...]] = {}
    for output, alignment in zip(segment.outputs, alignments, strict=True):
        key = output.text, output.pronouns
        if key not in made:
            words = language.words(output.text)
            there = occurrences((p[:3] for p in output.pronouns), words, language)
            made[key] = tuple(_pair(ref_words, found, words, there, alignment, language))
    return [made[output.text, output.pronouns] for output in segment.outputs]


def _pair(
    ref_words: Sequence[Word],
    ref_pronouns: Sequence[Occurrence],
    words: Sequence[Word],
    there: Sequence[Occurrence],
    alignment: Alignment,
    language: Language,
) -> Iterator[Link]:
    """A link for each pronoun of the reference, in its order; then the pronouns of the output without a counterpart."""
    to = dict(alignment.links)
    kept = {o.word: to[o.word] for o in ref_pronouns if o.word in to and _same_form(o, words[to[o.word]])}
    rest = [o for o in ref_pronouns if o.word not in kept]
    partner = {o.word: other for o, other in counterparts(ref_words, rest, words, there, to, language=language)}
    places = {o.word for o in there}
    for o in ref_pronouns:
        linked = to.get(o.word)
        if o.word in kept:
            yield Link(SAME, o.word, o.form, kept[o.word], o.form)
        elif other := partner.get(o.word):
            is_same = other.form == o.form or language.same(o.form, other.form)
            yield Link(SAME if is_same else PRONOUN, o.word, o.form, other.word, other.form)
        elif linked is None or linked in places:
            yield Link(NOTHING, o.word, o.form, -1, "")
        else:
            yield Link(WORD, o.word, o.form, linked, words[linked].text.lower())
    taken = {*kept.values(), *(other.word for other in partner.values())}
    yield from (Link(ADDED, -1, "", o.word, o.form) for o in there if o.word not in taken)


def _same_form(found: Occurrence, word: Word) -> bool:
    return word.text.lower() == found.text.lower()
