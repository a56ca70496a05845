"""Pairs (reference, system output) of a document that differ in a pronoun, each with its context."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from data_prep.mismatches import in_use, mismatches
from pronmetric.pronouns import Occurrence
from pronmetric.schema import Alignment, Document, Pair
from pronmetric.words import Word, words

Aligner = Callable[[Iterable[tuple[Sequence[str], Sequence[str]]]], Iterator[Alignment]]
"""Aligns pairs of lower-cased word lists, in order (`AgreementAligner.align_all`)."""


class _Candidate(NamedTuple):
    """One reference beside one system output, to be aligned."""

    place: int
    ref: str
    system: str
    ref_words: Sequence[Word]
    pronouns: Sequence[Occurrence]
    hyp_words: Sequence[Word]


def lowered(text_words: Iterable[Word]) -> list[str]:
    """The words as the aligner takes them."""
    return [word.text.lower() for word in text_words]


def system_pairs(
    document: Document, align: Aligner, *, forms: Collection[str], context_size: int, counts: Counter[str]
) -> Iterator[Pair]:
    """The pairs of one document that have a mismatch of any kind, segment by segment.

    Context is the `context_size` previous reference sentences of the document, beside the system's own. `counts`
    takes "compared.outputs" (system outputs, once for each reference), which are "identical" to the reference, face a
    reference with "no pronoun", or are "aligned"; of these the ones with "no mismatch"; "empty outputs", which are not
    compared; and "ref pronouns", the pronouns of the references compared.
    """
    sent: deque[_Candidate] = deque()  # to the aligner, which reads ahead

    def tokens() -> Iterator[tuple[list[str], list[str]]]:
        for candidate in _candidates(document, forms, counts):
            sent.append(candidate)
            yield lowered(candidate.ref_words), lowered(candidate.hyp_words)

    for alignment in align(tokens()):
        candidate = sent.popleft()
        segment = document.segments[candidate.place]
        better, worse = segment.refs[candidate.ref], segment.hyps[candidate.system]
        found = tuple(
            mismatches(candidate.ref_words, candidate.pronouns, worse, candidate.hyp_words, alignment, forms=forms)
        )
        if not found:
            counts["compared.no mismatch"] += 1
            continue
        before = document.segments[max(0, candidate.place - context_size) : candidate.place]
        yield Pair(
            id=f"{document.testset}.{document.lp}/{candidate.ref}/{candidate.system}/{segment.seg}",
            kind="system",
            testset=document.testset,
            lp=document.lp,
            doc=document.doc,
            seg=segment.seg,
            ref=candidate.ref,
            system=candidate.system,
            better=better,
            worse=worse,
            context=tuple(s.refs[candidate.ref] for s in before if s.refs.get(candidate.ref)),
            system_context=tuple(s.hyps[candidate.system] for s in before if s.hyps.get(candidate.system)),
            mismatches=found,
        )


def _candidates(document: Document, forms: Collection[str], counts: Counter[str]) -> Iterator[_Candidate]:
    for place, segment in enumerate(document.segments):
        split = {system: words(text) for system, text in segment.hyps.items() if text.strip()}
        counts["compared.empty outputs"] += (len(segment.hyps) - len(split)) * len(segment.refs)
        for ref, better in segment.refs.items():
            ref_words = words(better)
            found = in_use(better, ref_words, forms)
            for system, hyp_words in split.items():
                counts["compared.outputs"] += 1
                counts["compared.ref pronouns"] += len(found)
                if segment.hyps[system] == better:
                    counts["compared.identical"] += 1
                elif not found:
                    counts["compared.no pronoun"] += 1
                else:
                    counts["compared.aligned"] += 1
                    yield _Candidate(place, ref, system, ref_words, found, hyp_words)
