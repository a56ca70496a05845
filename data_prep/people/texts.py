"""MQM annotations as judged texts: for each pronoun the raters who marked it, for each gap those who missed one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from data_prep.people.edits import LONGEST
from pronmetric.lab.human.mqm import OTHER_CATEGORIES, Error, Judgement, before
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import Language
from pronmetric.schema import JudgedGap, JudgedPronoun, JudgedText
from pronmetric.text.context import SOURCE_CONTEXT

MARKS = "marks"


def judged_texts(
    judgements: Iterable[Judgement], *, testset: str, source: str, context_size: int, longest: int, language: Language
) -> Iterator[JudgedText]:
    """One record for each translation, in the order of the file; the context is the system's own sentences.

    A rater marks a pronoun if a span of at most `longest` words overlaps it (errors of punctuation, spelling, locale
    and the source do not count). What a rater put into the text corrects or inserts a
    pronoun if it has at most three words and one pronoun.
    """
    by_text: dict[tuple[str, str, int], list[Judgement]] = defaultdict(list)
    for one in judgements:
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


def _touched(
    error: Error, text: str, pronouns: Iterable[Occurrence], longest: int, language: Language
) -> tuple[Occurrence, ...]:
    """The pronouns that an error marks."""
    if not error.weight or error.category.lower().replace("_", " ").startswith(OTHER_CATEGORIES):
        return ()
    most = language.writing.tokens(longest)
    spans = [(a, b) for a, b in error.spans if sum(w.text[0].isalnum() for w in language.words(text[a:b])) <= most]
    return tuple(o for o in pronouns if any(a < o.end and o.start < b for a, b in spans))
