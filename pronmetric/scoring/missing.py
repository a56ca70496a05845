"""Missing and surplus pronouns of scored texts, by their reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.unmatched import unmatched_in_reference
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import Language, occurrences
from pronmetric.schema import Alignment
from pronmetric.scoring.bulk import ScoredRow
from pronmetric.scoring.score import SegmentScore, Unmatched
from pronmetric.text.words import Word, lower_words

_ROWS = 128  # aligned together


def count_by_reference(rows: Iterable[ScoredRow], language: Language) -> Iterator[ScoredRow]:
    """The rows, each segment with its missing and surplus pronouns by the first reference.

    Rows without a reference are unchanged, and so are all in another language than English. The aligner is not
    trained: it links identical and similar words, so that the result for a text does not depend on other texts.
    """
    if not language.ruled:
        yield from rows
        return
    aligner, waiting = AgreementAligner(), iter(rows)
    while batch := list(islice(waiting, _ROWS)):
        sides = [(language.words(row.row.reference or ""), [*map(language.words, row.row.texts)]) for row in batch]
        links = aligner.align_all((lower_words(ref), lower_words(text)) for ref, texts in sides for text in texts)
        for row, (reference, texts) in zip(batch, sides, strict=True):
            expected = language.find(row.row.reference or "", reference)
            segments = [
                _compare(each, reference, expected, words, next(links), language)
                for each, words in zip(row.segments, texts, strict=True)
            ]
            yield row._replace(segments=segments) if reference else row


def _compare(
    each: Sequence[SegmentScore],
    reference: Sequence[Word],
    expected: Sequence[Occurrence],
    words: Sequence[Word],
    alignment: Alignment,
    language: Language,
) -> tuple[SegmentScore, ...]:
    """One text's scores in several contexts, with its missing and surplus pronouns."""
    own = occurrences((p[:3] for p in each[0].pronouns), words, language)
    found = unmatched_in_reference(reference, expected, words, own, alignment.links)
    without = Unmatched(
        tuple(reference[k] for k in found.missing),
        tuple(Word(own[n].text, own[n].start, own[n].end) for n in found.surplus),
    )
    return tuple(segment._replace(unmatched=without) for segment in each)
