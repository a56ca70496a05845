"""Filters of pairs: by forms that people find equally good, which are no errors, and, for suites, by the source.

Reference translators rephrase, so that a system's pronoun may be what the source says; "the reference is right, the
system is wrong" is then no clean label. The source judges noisy pairs: one place, two forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.schema import Document, Pair
from pronmetric.text import numbers
from pronmetric.text.context import Source, SourceHistory, Text, join
from pronmetric.text.lines import read_lines

Filter = Callable[[str, str], bool]
"""Whether a reference form and a system's form count as an error."""

GRAMMAR, NONE = "grammar", "none"
CONTRADICTS, ALIKE = "source contradicts", "source supports both"
# Chosen by hand, not tuned.
EVIDENT = 1.0  # log-odds from which the source supports a form, and their difference from which it prefers one
Judge = Callable[[Pair], str | None]
"""Why a noisy pair has no clean label; None if it has."""
LogOdds = Callable[[Text, int], float]
"""The log-odds by the text's source that the pronoun that begins at a place of it is right; 0: nothing is known."""
_COLUMNS = ("ref_pronoun", "noisy_pronoun", "entry", "ac1", "ref", "tie", "sys")


class Reader(NamedTuple):
    """A reader of sources that judges pairs.

    name: of its checkpoint, for the manifest. log_odds: those of its probability of a pronoun.
    """

    name: str
    log_odds: LogOdds


def agreement_filter(agreement: str, *, min_agreement: float, language: Language = ENGLISH) -> Filter:
    """The filter with the name `agreement`.

    "grammar": two forms that are grammatically interchangeable are no error (see `interchangeable`).
    "none": every difference is an error.
    Otherwise a tab-separated table of human answers for pronoun pairs (columns ref_pronoun, noisy_pronoun, entry, ac1,
    ref, tie, sys): a pair is an error if its line with entry "sum" has ac1 >= `min_agreement` and more answers
    for the reference than for tie and system together; pairs that are not in the table are dropped, as
    in Jwalapuram et al. 2019, section 4.1.
    """
    if agreement == NONE:
        return lambda ref_form, hyp_form: True
    if agreement == GRAMMAR:
        return lambda ref_form, hyp_form: not interchangeable(ref_form, hyp_form, language)
    if not Path(agreement).exists():
        raise InputError(f"filter.agreement={agreement}: expected {GRAMMAR}, {NONE} or the file of a table")
    kept = _agreed(Path(agreement), min_agreement)
    return lambda ref_form, hyp_form: (ref_form, hyp_form) in kept


@cache
def interchangeable(one: str, other: str, language: Language = ENGLISH) -> bool:
    """Whether two forms are interchangeable: both are grammatical in the same place with the same antecedent.

    The rule, by the classes of `tables/pronouns.en.tsv`: both are demonstratives of the same number (this/that,
    these/those), or both are relatives that can refer to persons: who, whom, and that, whose antecedent may be anything
    (who/whom, who/that, whom/that). Which/that is kept: it distinguishes supplementary from integrated clauses.

    >>> interchangeable("this", "that"), interchangeable("who", "that"), interchangeable("he", "she")
    (True, True, False)
    """
    return any(
        (a.type == b.type == "demonstrative" and a.number == b.number)
        or (
            a.type == b.type == "relative" and a.case == b.case == "pronoun" and {a.gender, b.gender} <= {"person", "-"}
        )
        for a in language.entries
        for b in language.entries
        if (a.form, b.form) == (one, other)
    )


def _agreed(path: Path, min_agreement: float) -> frozenset[tuple[str, str]]:
    lines = read_lines(path)
    if not lines or tuple(lines[0].split("\t")) != _COLUMNS:
        raise InputError(f"expected the tab-separated columns {' '.join(_COLUMNS)}", file=path, line=1)
    kept = set()
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split("\t")
        try:
            ref_form, hyp_form, entry, agreement = *fields[:3], numbers.real(fields[3])
            ref, tie, sys = map(numbers.whole, fields[4:])
        except (ValueError, IndexError):
            raise InputError(
                f"expected {len(_COLUMNS)} columns as in the first line, came {line!r}", file=path, line=number
            ) from None
        if entry == "sum" and agreement >= min_agreement and ref > tie + sys:
            kept.add((ref_form, hyp_form))
    if not kept:
        raise InputError(
            f'no pronoun pair has a line "sum" with ac1 >= {min_agreement} and the reference preferred', file=path
        )
    return frozenset(kept)


def filter_pair(pair: Pair, keep: Filter) -> Pair | None:
    """The pair without the pronoun-pronoun mismatches that `keep` rejects; None if no mismatch is left."""
    kept = tuple(m for m in pair.mismatches if m.kind != "pronoun" or keep(m.ref_form, m.hyp_form))
    if not kept:
        return None
    return pair if len(kept) == len(pair.mismatches) else replace(pair, mismatches=kept)


def sources(documents: Iterable[Document]) -> dict[int, Source]:
    """The source of each segment that has one, by its number."""
    found = {}
    for document in documents:
        history = SourceHistory()
        for segment in document.segments:
            if segment.src is not None and segment.src.strip():
                found[segment.seg] = history.source(segment.src)
    return found


def judge(given: Mapping[int, Source], reader: Reader) -> Judge | None:
    """The judge of pairs by the source of each segment and a reader; None without sources."""
    if not given:
        return None

    def judged(pair: Pair) -> str | None:
        source = given.get(pair.seg)
        if source is None:
            return None
        mismatch = pair.mismatches[0]
        places = ((pair.better, mismatch.ref_start), (pair.worse, mismatch.hyp_start))
        context = join(pair.context)
        return verdict(*(reader.log_odds(Text(context, text, source), start) for text, start in places))

    return judged


def verdict(right: float, wrong: float) -> str | None:
    """Why a noisy pair has no clean label, by the log-odds of the reference's form and of the other; None if it has.

    >>> verdict(0.5, 2.0), verdict(3.0, 2.5), verdict(3.0, -1.0), verdict(0.0, 0.0)
    ('source contradicts', 'source supports both', None, None)
    """
    if right - wrong <= -EVIDENT:
        return CONTRADICTS
    return ALIKE if min(right, wrong) >= EVIDENT and right - wrong < EVIDENT else None
