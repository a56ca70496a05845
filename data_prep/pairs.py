"""Pairs (reference, system output) with pronouns that are aligned and differ, each with its context."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from pronmetric.alignment.counterparts import counterparts
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.schema import Alignment, Document, Mismatch, Pair, Segment
from pronmetric.text.context import spoken
from pronmetric.text.words import Word, lower_words

Aligner = Callable[[Iterable[tuple[Sequence[str], Sequence[str]]]], Iterator[Alignment]]
"""Aligns pairs of lower-cased word lists, in order (`AgreementAligner.align_all`)."""


def in_use(
    text: str, words: Sequence[Word], forms: Collection[str], language: Language = ENGLISH
) -> tuple[Occurrence, ...]:
    """The pronouns in use of `text` whose form is in the inventory `forms`."""
    return tuple(pronoun for pronoun in language.find(text, words) if pronoun.form in forms)


def mismatches(
    ref_words: Sequence[Word],
    ref_pronouns: Sequence[Occurrence],
    hyp: str,
    hyp_words: Sequence[Word],
    alignment: Alignment,
    *,
    forms: Collection[str],
    language: Language = ENGLISH,
) -> Iterator[Mismatch]:
    """The mismatches of a reference's pronouns with a system output, in the order of the reference.

    "pronoun": another pronoun in use is its counterpart (see `counterparts`). "word": it is linked to another word,
    or to a word with a pronoun's form that is no pronoun in use (that as a conjunction). "nothing": it has no link, or
    one to a pronoun in another position. The same word on both sides is no mismatch, whether or not the system's is
    in use, and neither are two forms of one pronoun (`Language.same`: je and j', meine and meinem).
    """
    linked = dict(alignment.links)
    wrong = [pronoun for pronoun in ref_pronouns if _differs(pronoun, linked, hyp_words)]
    if not wrong:
        return
    used = in_use(hyp, hyp_words, forms, language)
    there = dict(counterparts(ref_words, wrong, hyp_words, used, linked, language=language))
    places = {pronoun.word for pronoun in used}
    for pronoun in wrong:
        j = linked.get(pronoun.word)
        if other := there.get(pronoun):
            if other.form != pronoun.form and not language.same(pronoun.form, other.form):
                yield Mismatch("pronoun", pronoun.form, other.form, pronoun.start, pronoun.end, other.start, other.end)
        elif j is None or j in places:
            yield Mismatch("nothing", pronoun.form, "", pronoun.start, pronoun.end, -1, -1)
        else:
            word = hyp_words[j]
            yield Mismatch("word", pronoun.form, word.text.lower(), pronoun.start, pronoun.end, word.start, word.end)


def _differs(pronoun: Occurrence, linked: dict[int, int], hyp_words: Sequence[Word]) -> bool:
    """Whether the words alone show that the system may have a different pronoun."""
    j = linked.get(pronoun.word)
    return j is None or hyp_words[j].text.lower() != pronoun.text.lower()


class _Candidate(NamedTuple):
    """A reference and a system output to align."""

    document: Document
    position: int
    ref: str
    system: str
    ref_words: Sequence[Word]
    pronouns: Sequence[Occurrence]
    hyp_words: Sequence[Word]

    @property
    def segment(self) -> Segment:
        """The segment of both."""
        return self.document.segments[self.position]


def system_pairs(
    documents: Iterable[Document],
    align: Aligner,
    *,
    forms: Collection[str],
    context_size: int,
    counts: Counter[tuple[str, ...]],
    language: Language = ENGLISH,
) -> Iterator[Pair]:
    """The pairs of these documents that have a mismatch, segment by segment.

    `align` is called once for all of them. The context is the `context_size` reference sentences before the segment in
    its document (`nearest`); the system's own are kept as well. `counts` is updated, under "compared": "outputs" (of
    systems, once for each reference), of these "identical" to the reference, with "no pronoun" in the reference, or
    "aligned"; of the aligned ones those with "no mismatch"; "empty outputs", which are not compared; and "ref
    pronouns", the pronouns of the compared references.
    """
    sent: deque[_Candidate] = deque()  # passed to the aligner, which reads ahead

    def tokens() -> Iterator[tuple[list[str], list[str]]]:
        for document in documents:
            for candidate in _candidates(document, forms, counts, language):
                sent.append(candidate)
                yield lower_words(candidate.ref_words), lower_words(candidate.hyp_words)

    for alignment in align(tokens()):
        candidate = sent.popleft()
        hyp = candidate.segment.hyps[candidate.system]
        wrong = tuple(
            mismatches(
                candidate.ref_words,
                candidate.pronouns,
                hyp,
                candidate.hyp_words,
                alignment,
                forms=forms,
                language=language,
            )
        )
        if wrong:
            yield _pair(candidate, wrong, context_size)
        else:
            counts["compared", "no mismatch"] += 1


def _candidates(
    document: Document, forms: Collection[str], counts: Counter[tuple[str, ...]], language: Language
) -> Iterator[_Candidate]:
    for index, segment in enumerate(document.segments):
        split = {system: language.words(text) for system, text in segment.hyps.items() if text.strip()}
        counts["compared", "empty outputs"] += (len(segment.hyps) - len(split)) * len(segment.refs)
        for ref, better in segment.refs.items():
            ref_words = language.words(better)
            pronouns = in_use(better, ref_words, forms, language)
            for system, hyp_words in split.items():
                counts["compared", "outputs"] += 1
                counts["compared", "ref pronouns"] += len(pronouns)
                if segment.hyps[system] == better:
                    counts["compared", "identical"] += 1
                elif not pronouns:
                    counts["compared", "no pronoun"] += 1
                else:
                    counts["compared", "aligned"] += 1
                    yield _Candidate(document, index, ref, system, ref_words, pronouns, hyp_words)


def _pair(candidate: _Candidate, wrong: tuple[Mismatch, ...], context_size: int) -> Pair:
    document, segment, ref, system = candidate.document, candidate.segment, candidate.ref, candidate.system

    def before(texts: Callable[[Segment], str]) -> tuple[str, ...]:
        earlier = map(document.segments.__getitem__, range(candidate.position - 1, -1, -1))
        return spoken(((texts(each), each.speaker) for each in earlier), segment.speaker, size=context_size)

    return Pair(
        id=f"{document.testset}.{document.lp}/{ref}/{system}/{segment.seg}",
        kind="system",
        testset=document.testset,
        lp=document.lp,
        doc=document.doc,
        seg=segment.seg,
        ref=ref,
        system=system,
        better=segment.refs[ref],
        worse=segment.hyps[system],
        context=before(lambda each: each.refs.get(ref, "")),
        system_context=before(lambda each: each.hyps.get(system, "")),
        mismatches=wrong,
    )
