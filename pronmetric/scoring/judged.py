"""Texts that people judged as texts to score, and the pairs of them of which one is better by what people said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from pronmetric.pronouns.gaps import missing_before
from pronmetric.pronouns.languages import Language
from pronmetric.schema import UNDETERMINED, JudgedText
from pronmetric.text.context import NONE, Source, Text, join

MENDED, MARKED = "mended", "marked"
_GAP = 0.5  # least difference of the marks of a rater between two systems' texts of a pair


class Pair(NamedTuple):
    """Two texts, by their numbers in what `to_score` gives.

    kind: "mended" (a text with all corrections of its pronouns, and the text) or "marked" (two systems' translations of
    one source, of which raters marked fewer pronouns in the better one).
    """

    kind: str
    better: int
    worse: int


def to_score(texts: Sequence[JudgedText], context: str) -> list[Text]:
    """What is scored: each text, then the mended one where there is one; in its own context or none."""
    scored = []
    for one in texts:
        before = "" if context == NONE else join(one.context)
        source = source_of(one) if one.source else None
        if source is not None and context == NONE:
            source = source._replace(before=())
        scored.append(Text(before, one.text, source))
        if one.mended:
            scored.append(Text(before, one.mended, source))
    return scored


def source_of(text: JudgedText) -> Source:
    """The source of a text, with its language."""
    return Source(text.source, text.source_context, source_language(text))


def source_language(text: JudgedText) -> str | None:
    """The code of the language of its source, None if it is not known."""
    code = text.lp.split("-")[0]
    return None if code == UNDETERMINED else code


def missing_forms(text: JudgedText, language: Language) -> tuple[str | None, ...]:
    """For each word of a corrected text the form that a person put before it, "" for none, None if it is not known."""
    inserted = [(gap.start, gap.form) for gap in text.gaps]
    return missing_before(language.words(text.text), inserted, text.unjudged)


def pairs(texts: Sequence[JudgedText]) -> list[Pair]:
    """The pairs among judged texts."""
    judged_pairs, number = list[Pair](), 0
    of_source = defaultdict[tuple[str, ...], list[tuple[int, JudgedText]]](list)
    for text in texts:
        if text.mended:
            judged_pairs.append(Pair(MENDED, number + 1, number))
        if text.kind == "marks":
            of_source[text.testset, text.lp, text.doc, text.source].append((number, text))
        number += 1 + bool(text.mended)
    for group in of_source.values():
        for (first, a), (second, b) in combinations(group, 2):
            difference = _marks(a) - _marks(b)
            if abs(difference) >= _GAP:
                judged_pairs.append(Pair(MARKED, *((first, second) if difference < 0 else (second, first))))
    return judged_pairs


def _marks(text: JudgedText) -> float:
    """The number of marks of pronouns and of gaps that a rater made, on average."""
    marks = [each.marked_by for each in text.pronouns] + [each.marked_by for each in text.gaps]
    return sum(map(len, marks)) / len(text.raters)
