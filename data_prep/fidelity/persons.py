"""Exchanged persons: lines of talk whose speakers are known, with *I* for *you* and *you* for *I*, verbs included.

Both texts are grammatical; only who speaks decides between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from data_prep.fidelity.rewriting import CASE, Edit, Unclean, apply
from data_prep.survey import Row
from pronmetric.pronouns.corrupt import match_case
from pronmetric.pronouns.finder import Occurrence, find
from pronmetric.pronouns.slots import slot
from pronmetric.schema import FIDELITY, Mismatch, Pair
from pronmetric.text.context import is_sentence, spoken
from pronmetric.text.words import Word, words

_FIRST = {"s": "i", "o": "me", "p": "my", "a": "mine", "r": "myself"}
_SECOND = {"s": "you", "o": "you", "p": "your", "a": "yours", "r": "yourself"}
_TO_SECOND = frozenset({*_FIRST.values(), "we", "us", "our", "ours", "ourselves"})
_TO_FIRST = frozenset(_SECOND.values())
_VERB_OF_SECOND = {"am": "are", "'m": "'re", "was": "were"}
_VERB_OF_FIRST = {second: first for first, second in _VERB_OF_SECOND.items()}
_FIXED = frozenset({("thank", "you"), ("you", "know"), ("excuse", "me"), ("i", "mean")})
"""Phrases whose pronoun is no person of the talk."""


def pairs(
    document: Sequence[Row],
    *,
    is_free: Callable[[Row], bool],
    context_size: int,
    seed: int,
    counts: Counter[tuple[str, ...]],
) -> Iterator[Pair]:
    """Pairs of a document of at least two speakers: a reference, and it with one or all of its persons exchanged.

    is_free: whether a row is of the split that is written. counts: of lines, by outcome.
    """
    if len({row.speaker for row in document if row.speaker}) < 2:
        return
    for name in dict.fromkeys(name for row in document for name in row.refs):
        said = [(row.refs.get(name, ""), row.speaker) for row in document]
        for at, row in enumerate(document):
            text = row.refs.get(name, "")
            if not row.speaker or not is_sentence(text) or not is_free(row):
                continue
            split = words(text)
            rng = np.random.default_rng([seed, at, *row.segment.testset.encode(), *row.unit[2].encode()])
            exchanged = list(_exchange(text, split, rng))
            counts["lines", "exchanged" if exchanged else "no person that can be exchanged"] += 1
            context = spoken(reversed(said[:at]), row.speaker, size=context_size)
            for number, (worse, mismatches) in enumerate(exchanged, start=1):
                yield Pair(
                    id=f"{row.segment.testset}.{row.segment.lp}/{name}/{row.segment.seg}.{number}",
                    kind=FIDELITY,
                    testset=row.segment.testset,
                    lp=row.segment.lp,
                    doc=row.unit[2],
                    seg=row.segment.seg,
                    ref="speaker",
                    system="listener",
                    better=text,
                    worse=worse,
                    context=context,
                    system_context=context,
                    mismatches=mismatches,
                )


def _exchange(text: str, split: Sequence[Word], rng: np.random.Generator) -> Iterator[tuple[str, tuple[Mismatch, ...]]]:
    """`text` with all its persons exchanged, and, if it has several, with one of them, drawn uniformly."""
    persons = []
    for occurrence in find(text, split):
        try:
            persons.append((occurrence, _edits(text, split, occurrence)))
        except Unclean:
            continue
    if not persons:
        return
    yield _apply(text, persons)
    if len(persons) > 1:
        yield _apply(text, [persons[int(rng.integers(len(persons)))]])


def _apply(text: str, persons: Sequence[tuple[Occurrence, Sequence[Edit]]]) -> tuple[str, tuple[Mismatch, ...]]:
    new, spans = apply(text, [edit for _, edits in persons for edit in edits])
    return new, tuple(
        Mismatch("pronoun", occurrence.form, new[start:end].lower(), occurrence.start, occurrence.end, start, end)
        for (occurrence, _), (start, end) in zip(persons, spans, strict=True)
    )


def _edits(text: str, split: Sequence[Word], occurrence: Occurrence) -> list[Edit]:
    """The edits that exchange one pronoun, and its verb.

    Raises:
        Unclean: it is not of the first person or the second one in the singular, or the place or verb is not clear.
    """
    at, low = occurrence.word, [word.text.lower().replace("\u2019", "'") for word in split]
    place = slot(split, at)
    if occurrence.form not in _TO_SECOND | _TO_FIRST or place not in CASE:
        raise Unclean("no person")
    nearby = {*pairwise(low[max(0, at - 1) : at + 2])}
    if nearby & _FIXED or {"and", "or", "n't"} & {*low[max(0, at - 1) : at], *low[at + 1 : at + 2]}:
        raise Unclean("phrase")
    to_first = occurrence.form in _TO_FIRST
    form = (_FIRST if to_first else _SECOND)[CASE[place]]
    edits = [Edit(occurrence.start, occurrence.end, match_case(text, occurrence.start, occurrence.end, form), True)]
    verbs = _VERB_OF_FIRST if to_first else {} if occurrence.form == "we" else _VERB_OF_SECOND
    for verb in (at + 1, at - 1) if CASE[place] == "s" else ():
        if 0 <= verb < len(low) and low[verb] in verbs:
            edits.append(_verb(text, split[verb], verbs[low[verb]]))
            break
    return edits


def _verb(text: str, word: Word, new: str) -> Edit:
    """The edit of a verb, in its letter case and with its apostrophe."""
    mark = word.text[0]
    return Edit(word.start, word.end, match_case(text, word.start, word.end, new) if mark.isalpha() else mark + new[1:])
