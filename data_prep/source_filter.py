"""Clean labels: pairs whose reference form the source contradicts, or whose two forms it supports alike.

Reference translators rephrase, so that a system's pronoun may be what the source says; "the reference is right, the
system is wrong" is then no label. Judged are noisy pairs: one place, two forms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache

from data_prep.noise import noisy_references
from pronmetric.pronouns import finder
from pronmetric.schema import Document, Pair
from pronmetric.source import files as source_files
from pronmetric.source.evidence import Item, SourceTable
from pronmetric.text.context import Source, SourceHistory
from pronmetric.text.words import words

CONTRADICTS, ALIKE = "source contradicts", "source supports both"
EVIDENT = 1.0  # log-odds from which the source supports a form, and their difference from which it prefers one
_JUDGED = re.compile(r"(kept|dropped)\.\w+ mismatch(\.|$)")
Judge = Callable[[Pair], str | None]
"""Why a noisy pair has no clean label; None if it has."""


def sources(documents: Iterable[Document]) -> dict[int, Source]:
    """The source of each segment that has one, by its number."""
    found = {}
    for document in documents:
        history = SourceHistory()
        for segment in document.segments:
            if segment.src is not None and segment.src.strip():
                found[segment.seg] = history.source(segment.src)
    return found


def judge(language: str, given: Mapping[int, Source]) -> Judge | None:
    """The judge of pairs from a source language; None without a shipped table or without sources."""
    if not given or language not in source_files.shipped():
        return None
    table = _table(language)

    def judged(pair: Pair) -> str | None:
        source = given.get(pair.seg)
        if source is None:
            return None
        mismatch = pair.mismatches[0]
        places = ((pair.better, mismatch.ref_start), (pair.worse, mismatch.hyp_start))
        right, wrong = (_log_odds(table, source, text, start) for text, start in places)
        if right - wrong <= -EVIDENT:
            return CONTRADICTS
        return ALIKE if min(right, wrong) >= EVIDENT and right - wrong < EVIDENT else None

    return judged


@cache
def _table(language: str) -> SourceTable:
    return source_files.of_language(language)


def _log_odds(table: SourceTable, source: Source, text: str, start: int) -> float:
    """The log-odds of the pronoun that begins at `start`; 0 if it is no pronoun in use there."""
    split = words(text)
    found = tuple(pronoun for pronoun in finder.find(text, split) if pronoun.start == start)
    return next((one.log_odds for each in table.evidence([Item(source, split, found)]) for one in each), 0.0)


def clean_pair(pair: Pair, judged: Judge, counts: Counter[str]) -> Pair | None:
    """The pair without the pronoun mismatches that have no clean label; None if no mismatch is left.

    Counted are the pronoun mismatches: "kept.KIND mismatch", "dropped.KIND mismatch.REASON".
    """
    kept = []
    noisy = noisy_references(pair) if pair.kind == "system" else iter([pair])
    for mismatch in pair.mismatches:
        reason = judged(next(noisy)) if mismatch.kind == "pronoun" else None
        if reason is None:
            kept.append(mismatch)
            counts[f"kept.{pair.kind} mismatch"] += mismatch.kind == "pronoun"
        else:
            counts[f"dropped.{pair.kind} mismatch.{reason}"] += 1
    return replace(pair, mismatches=tuple(kept)) if kept else None


def by_language(counts: Mapping[str, Mapping[str, int]], languages: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """The pronoun mismatches kept and dropped, by source language, of the test sets that were judged.

    counts: of each test set, named as in `clean_pair`. languages: the source language of each test set.
    """
    found: dict[str, Counter[str]] = {}
    for testset, each in counts.items():
        judged = {name: count for name, count in each.items() if _JUDGED.match(name)}
        if judged:
            found.setdefault(languages[testset], Counter()).update(judged)
    return {language: dict(found[language]) for language in sorted(found)}
