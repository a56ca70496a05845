"""MQM annotations as judged texts: for each pronoun the raters who marked it, for each gap those who missed one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from data_prep.people.edits import LONGEST
from pronmetric.lab.human.mqm import OTHER_CATEGORIES, Error, Judgement, before
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import Language
from pronmetric.schema import JudgedGap, JudgedPronoun, JudgedText
from pronmetric.text.context import SOURCE_CONTEXT

MARKS = "marks"


def judged_texts(
    judgements: Sequence[Judgement],
    *,
    testset: str,
    source: str,
    context_size: int,
    longest: int,
    language: Language,
    tally: Counter[str],
) -> Iterator[JudgedText]:
    """One record for each translation, in the order of the file; the context is the system's own sentences.

    A rater marks a pronoun if a span of at most `longest` words overlaps it (errors of punctuation, spelling, locale
    and the source do not count). What a rater put into the text corrects or inserts a
    pronoun if it has at most three words and one pronoun. Rows that are not of their segment are left out and counted
    in `tally`, see `_of_their_segments`.
    """
    by_text: dict[tuple[str, str, int], list[Judgement]] = defaultdict(list)
    for one in _of_their_segments(judgements, tally):
        by_text[one.system, one.doc, one.seg].append(one)
    texts: dict[str, dict[tuple[str, int], str]] = defaultdict(dict)
    for (system, doc, seg), some in by_text.items():
        texts[system][doc, seg] = some[0].text
    sources = {(doc, seg): some[0].source for (_, doc, seg), some in by_text.items()}
    contexts = {system: before(own, own, size=context_size) for system, own in texts.items()}
    source_contexts = before(sources, sources, size=SOURCE_CONTEXT)
    for (system, doc, seg), some in by_text.items():
        text = texts[system][doc, seg]
        pronouns = language.find(text)
        marked: defaultdict[int, set[str]] = defaultdict(set)
        corrections: dict[int, str] = {}
        gaps: defaultdict[tuple[int, str], set[str]] = defaultdict(set)
        for one in some:
            for error in one.errors:
                touched = _touched(error, text, pronouns, longest, language)
                for each in touched:
                    marked[each.start].add(one.rater)
                put = [
                    (place, o.form)
                    for place, words in error.inserted
                    if len(language.words(words)) <= language.writing.tokens(LONGEST)
                    for o in language.find(words)
                ]
                if len(put) == 1 and len(touched) == 1 and touched[0].form != put[0][1]:
                    corrections[touched[0].start] = put[0][1]
                elif len(put) == 1 and not error.spans and error.weight:
                    gaps[put[0]].add(one.rater)
        yield JudgedText(
            id=f"{testset}.{source}-{language.code}/{doc}/{seg}/{system}",
            kind=MARKS,
            testset=testset,
            lp=f"{source}-{language.code}",
            doc=doc,
            system=system,
            raters=tuple(sorted({one.rater for one in some})),
            text=text,
            context=contexts[system][doc, seg],
            source=sources[doc, seg],
            source_context=source_contexts[doc, seg],
            pronouns=tuple(
                JudgedPronoun(o.start, o.end, o.form, tuple(sorted(marked[o.start])), corrections.get(o.start))
                for o in pronouns
            ),
            gaps=tuple(JudgedGap(start, form, tuple(sorted(who))) for (start, form), who in sorted(gaps.items())),
        )


def _of_their_segments(judgements: Sequence[Judgement], tally: Counter[str]) -> Iterator[Judgement]:
    """The rows without those whose number is wrong: they have the source, or the text, of another segment.

    Where a segment has several sources, one that is more frequent at another segment of the document belongs there; of
    those left, the most frequent is the segment's. A translation's text is that of its first row.
    """
    rows: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for one in judgements:
        rows[one.doc, one.seg][one.source] += 1
    most = Counter[tuple[str, str]]()
    for (doc, _), sources in rows.items():
        for source, count in sources.items():
            most[doc, source] = max(most[doc, source], count)
    own = {
        (doc, seg): max(sources, key=lambda source: (sources[source] == most[doc, source], sources[source]))
        for (doc, seg), sources in rows.items()
    }
    texts: dict[tuple[str, str, int], str] = {}
    for one in judgements:
        if one.source != own[one.doc, one.seg]:
            tally["rows with the source of another segment"] += 1
        elif one.text != texts.setdefault((one.system, one.doc, one.seg), one.text):
            tally["rows with another text than the first of their segment"] += 1
        else:
            yield one


def _touched(
    error: Error, text: str, pronouns: Iterable[Occurrence], longest: int, language: Language
) -> tuple[Occurrence, ...]:
    """The pronouns that an error marks."""
    if not error.weight or error.category.lower().replace("_", " ").startswith(OTHER_CATEGORIES):
        return ()
    most = language.writing.tokens(longest)
    spans = [(a, b) for a, b in error.spans if sum(w.text[0].isalnum() for w in language.words(text[a:b])) <= most]
    return tuple(o for o in pronouns if any(a < o.end and o.start < b for a, b in spans))
