"""The content of a report as plain data: a result, its pronouns paired with the reference, attention, alternatives.

Pronouns are paired by the aligner that prepares the training data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from typing import NamedTuple, Protocol

import numpy as np

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.counterparts import counterparts, in_same_rest
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.gender import Genders
from pronmetric.pronouns.languages import ENGLISH, Language, occurrences
from pronmetric.results import Output, Pronoun, Result, Segment
from pronmetric.schema import Alignment
from pronmetric.scoring.alternatives import PronounAlternatives
from pronmetric.scoring.comparison import A, B
from pronmetric.signature import Signature
from pronmetric.text.context import SourceHistory, Text
from pronmetric.text.words import Word

SAME, PRONOUN, WORD, NOTHING, ADDED = "same", "pronoun", "word", "nothing", "added"
OTHER_WORD, NO_WORD = "(other word)", "(nothing)"
_TRAINING_LINES = 20_000  # line pairs on which the aligner is trained, at most


class Link(NamedTuple):
    """A pronoun of the reference and its counterpart in an output, by the indices of their words (-1: none).

    kind: "same"; "pronoun", another pronoun; "word", another word; "nothing"; or "added", a pronoun of the output
    without a counterpart in the reference. The forms are lower-cased, "" for none.
    """

    kind: str
    reference: int
    reference_form: str
    word: int
    form: str

    @property
    def row(self) -> str:
        """Its row in the confusion matrix."""
        return self.reference_form or NO_WORD

    @property
    def column(self) -> str:
        """Its column in the confusion matrix."""
        return OTHER_WORD if self.kind == WORD else self.form or NO_WORD


class ModelView(NamedTuple):
    """Attention and alternatives of the pronouns of one output, in their order.

    attention: for each pronoun, a weight in [0, 1] for every word of the context, then of the text; None if the head
    has no attention. others: for each pronoun, the more probable forms that agree (`Alternative`) and their scores,
    those of the same person first; None if they were not scored.
    """

    attention: tuple[tuple[float, ...], ...] | None
    others: tuple[tuple[tuple[str, float], ...] | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a report.

    links: for each segment and each of its outputs; None without a reference. listed: indices of the listed segments,
    largest difference of what decides first. differing: the number of segments that could be listed. views: by index
    of a listed segment, one for each output; absent if the model was not run on the segment. notes: notes for the
    reader. language: of the texts. genders: of its pronouns and nouns, if they are to be shown.
    """

    result: Result
    links: Sequence[Sequence[Sequence[Link]]] | None
    listed: Sequence[int]
    differing: int
    language: Language = ENGLISH
    views: Mapping[int, Sequence[ModelView]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    genders: Genders | None = None


def confusion(links: Iterable[Sequence[Sequence[Link]]], system: int) -> Counter[tuple[str, str]]:
    """How often each form of the reference (the first) became each form of one system (the second)."""
    return Counter((link.row, link.column) for outputs in links for link in outputs[system])


def display_form(form: str) -> str:
    """A lower-cased form as it is written: "I" in capitals.

    >>> display_form("i"), display_form("it")
    ('I', 'it')
    """
    return "I" if form == "i" else form


def differing(result: Result, links: Sequence[Sequence[Sequence[Link]]] | None) -> list[int]:
    """The indices of the differing segments, largest difference of what decides first.

    A segment differs if the pronouns of the systems differ, if one system is better than another, or if a pronoun
    differs from the reference. For a single system without a reference: each segment with a pronoun, or with a gap
    where one may be missing.
    """
    alone = len(result.systems) == 1 and links is None
    indices = [
        index
        for index, segment in enumerate(result.segments)
        if (alone and (segment.outputs[0].pronouns or segment.outputs[0].gaps))
        or _apart(segment)
        or (links is not None and any(link.kind != SAME for output in links[index] for link in output))
    ]
    return sorted(indices, key=lambda index: (-gap(result.segments[index]), _lowest(result.segments[index]), index))


def gap(segment: Segment) -> float:
    """The largest difference between two outputs of a segment, in the unit of what decides; 0 if none are compared."""
    return max((abs(one.difference) for one in segment.verdicts if one.difference is not None), default=0.0)


def best(segment: Segment) -> tuple[int, ...] | None:
    """The best of the outputs that are compared, those worse than the fewest others; (): a tie of all; None: none are.

    Of two outputs it is the one that the verdict names.
    """
    pairs = combinations(range(len(segment.outputs)), 2)
    lost: dict[int, int] = {}
    for (a, b), verdict in zip(pairs, segment.verdicts, strict=bool(segment.verdicts)):
        if verdict.better is not None:
            lost[a] = lost.get(a, 0) + (verdict.better == B)
            lost[b] = lost.get(b, 0) + (verdict.better == A)
    if not lost:
        return None
    fewest = min(lost.values())
    winners = tuple(sorted(system for system, number in lost.items() if number == fewest))
    return () if len(winners) == len(lost) else winners


def _apart(segment: Segment) -> bool:
    forms = {tuple(pronoun.text.lower() for pronoun in output.pronouns) for output in segment.outputs}
    return len(forms) > 1 or any(verdict.better in (A, B) for verdict in segment.verdicts)


def _lowest(segment: Segment) -> float:
    return min((pronoun.score for output in segment.outputs for pronoun in output.pronouns), default=float("inf"))


def link_pronouns(
    result: Result, note: Callable[[str], object], language: Language = ENGLISH
) -> list[list[tuple[Link, ...]]] | None:
    """The links of each segment's outputs; None if no segment has a reference.

    The aligner is trained on the lines of the result. Two pronouns are paired if they have the same role and their
    neighbouring words are aligned, or if the rest of the sentence is the same (`pronmetric.alignment.counterparts`). A
    segment without a reference has no links.
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
    links = aligner.align_all(pairs)
    return [_segment_links(segment, [next(links) for _ in segment.outputs], language) for segment in result.segments]


def _texts(words: Sequence[Word]) -> list[str]:
    return [word.text for word in words]


def _segment_links(segment: Segment, alignments: Sequence[Alignment], language: Language) -> list[tuple[Link, ...]]:
    """The links of each output of a segment; equal outputs share theirs."""
    if segment.reference is None:
        return [()] * len(segment.outputs)
    ref_words = language.words(segment.reference)
    ref_pronouns = language.find(segment.reference, ref_words)
    links: dict[tuple[str, tuple[Pronoun, ...]], tuple[Link, ...]] = {}
    for output, alignment in zip(segment.outputs, alignments, strict=True):
        key = output.text, output.pronouns
        if key not in links:
            words = language.words(output.text)
            there = occurrences((p[:3] for p in output.pronouns), words, language)
            links[key] = tuple(_pair(ref_words, ref_pronouns, words, there, alignment, language))
    return [links[output.text, output.pronouns] for output in segment.outputs]


def _pair(
    ref_words: Sequence[Word],
    ref_pronouns: Sequence[Occurrence],
    words: Sequence[Word],
    there: Sequence[Occurrence],
    alignment: Alignment,
    language: Language,
) -> Iterator[Link]:
    """A link for each pronoun of the reference, in its order; then the pronouns of the output without a counterpart."""
    to, alike = dict(alignment.links), in_same_rest(ref_words, ref_pronouns, words, there)
    if alike is None:
        kept = {o.word: to[o.word] for o in ref_pronouns if o.word in to and _same_form(o, words[to[o.word]])}
        rest = [o for o in ref_pronouns if o.word not in kept]
        partner = {o.word: other for o, other in counterparts(ref_words, rest, words, there, to, language=language)}
    else:
        kept, partner, to = {}, alike, {}
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


def _same_form(occurrence: Occurrence, word: Word) -> bool:
    return word.text.lower() == occurrence.text.lower()


class Attention(Protocol):
    """The attention of one pronoun: where it starts, and its weights (words,) over context and text, None if none."""

    @property
    def start(self) -> int:
        """The offset of the pronoun in the text."""

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of the words."""


def listed_outputs(result: Result, listed: Sequence[int]) -> list[Output]:
    """The outputs of the listed segments, segment by segment."""
    return [output for index in listed for output in result.segments[index].outputs]


def listed_texts(result: Result, listed: Sequence[int], *, with_source: bool) -> list[Text]:
    """The outputs of the listed segments with their contexts and maybe their sources, as the model reads them."""
    history = SourceHistory(result.source_language)
    sources = [None if s.source is None else history.source(s.source, s.doc) for s in result.segments]
    return [
        Text(output.context, output.text, sources[index] if with_source else None)
        for index in listed
        for output in result.segments[index].outputs
    ]


def result_sources(result: Result) -> Iterator[tuple[str | None, str]]:
    """The source of each segment, None without one, and the first system's text."""
    return ((segment.source, segment.outputs[0].text) for segment in result.segments)


def model_views(
    result: Result,
    listed: Sequence[int],
    attention: Iterable[Sequence[Attention]],
    alternatives: Iterable[Sequence[PronounAlternatives]],
    language: Language = ENGLISH,
) -> dict[int, tuple[ModelView, ...]]:
    """By index of a listed segment, the attention and alternatives of each of its outputs (in the order of `texts`).

    Of the alternatives those are kept that agree and are more probable than the pronoun they would replace.
    """
    views = []
    for output, rows, pronouns in zip(listed_outputs(result, listed), attention, alternatives, strict=True):
        weights = {row.start: row.weights for row in rows}
        others = {p.pronoun.start: tuple((o.form, o.probability) for o in p.better() if o.agrees) for p in pronouns}
        views.append(_view(output, weights, others, language))
    size = len(result.systems)
    return {index: tuple(views[k * size : (k + 1) * size]) for k, index in enumerate(listed)}


def _view(
    output: Output,
    weights: Mapping[int, np.ndarray | None],
    others: Mapping[int, tuple[tuple[str, float], ...]],
    language: Language,
) -> ModelView:
    """For the pronouns of the result; a pronoun that this checkpoint does not score has attention 0 and no others."""
    size = len(language.words(output.context)) + len(language.words(output.text))
    rows = [weights.get(p.start) for p in output.pronouns]
    known = any(row is not None for row in rows)
    attention = tuple((0.0,) * size if row is None else tuple(row.tolist()) for row in rows) if known else None
    return ModelView(attention, tuple(_above(p.score, others.get(p.start)) for p in output.pronouns))


def _above(score: float, others: tuple[tuple[str, float], ...] | None) -> tuple[tuple[str, float], ...] | None:
    """The forms that are more probable than a pronoun of the result."""
    return None if others is None else tuple(one for one in others if one[1] > score)


def is_model_of(loaded: Signature, scored: str) -> bool:
    """Whether the loaded model is the one that made the result, by its weights and settings, whatever its name.

    scored: the signature of the result.
    """
    return not _differences(loaded, scored) & {"weights", "settings"}


def reads_as(loaded: Signature, scored: str) -> bool:
    """Whether the result was made with the sources of its texts, by the reader that the loaded model has too.

    loaded: the signature of texts with sources.
    """
    fields = dict(loaded.fields)
    return "source" in fields and "source" not in _differences(loaded, scored)


def _differences(loaded: Signature, scored: str) -> set[str]:
    try:
        return set(Signature.parse(scored).differences(loaded))
    except ValueError:
        return {"weights", "source"}
