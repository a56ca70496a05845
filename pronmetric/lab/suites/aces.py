"""ACES (Amrhein et al., WMT 2022) and SPAN-ACES (Moghe et al. 2025): translations with one kind of error, for metrics.

A row has a source, a good and an incorrect translation, a reference and the phenomenon of the error. SPAN-ACES marks
the wrong words of the incorrect translation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Judging,
    Reading,
    Scores,
    SuiteVerdicts,
    Verdict,
    no_documents,
    no_translations,
    strict_verdicts,
    target_language,
)
from pronmetric.pronouns import tables
from pronmetric.pronouns.languages import ENGLISH, Language, language
from pronmetric.text.entry import Entry, read_table
from pronmetric.text.entry import read as read_objects
from pronmetric.text.lines import iter_lines

SOURCE, GOOD, INCORRECT, REFERENCE, PHENOMENON, PAIR = COLUMNS = (
    "source",
    "good-translation",
    "incorrect-translation",
    "reference",
    "phenomena",
    "langpair",
)
ANNOTATED = "incorrect-translation-annotated"
BY, CATEGORY, LANGUAGES, MARKED = "phenomenon", "category", "language pair", "marked words"
OF_PRONOUNS = (
    "anaphoric_",
    "pleonastic_it",
    "coreference-",
    "commonsense-",
    "ambiguous-translation-wrong-gender-",
)
"""Prefixes of the phenomena of pronouns and coreference."""
_CATEGORIES: Mapping[str, str] = {
    "addition": "addition",
    "omission": "omission",
    "copy-source": "untranslated",
    "untranslated-": "untranslated",
    "do-not-translate": "do not translate",
    "hyponym-": "overtranslation",
    "hypernym-": "undertranslation",
    "antonym-": "real-world knowledge",
    "commonsense-": "real-world knowledge",
    "real-world-knowledge-": "real-world knowledge",
    "similar-language-": "wrong language",
    "punctuation:": "punctuation",
}
_REST = "mistranslation"
_WEIGHTS: Mapping[str, float] = {
    **dict.fromkeys(("addition", "omission", _REST, "overtranslation", "undertranslation"), 5.0),
    **dict.fromkeys(("untranslated", "do not translate", "real-world knowledge", "wrong language"), 1.0),
    "punctuation": 0.1,
}
_MARK = re.compile(r"<(/?)v>")
_EXPECTED = "a TSV file of ACES"

ABOUT = About(
    name="aces",
    title="ACES (Amrhein et al., WMT 2022), SPAN-ACES (Moghe et al., Computational Linguistics 2025)",
    languages="146 language pairs",
    phenomena="68 kinds of errors, also of pronouns and coreference",
    judged=("scores",),
    by=BY,
    text="""Set: the TSV file of ACES or SPAN-ACES (huggingface.co/datasets/nikitam/ACES), whose first line names the
columns source, good-translation, incorrect-translation, reference, phenomena and langpair, or the same as JSONL. One
score for each line: the good translation, then the incorrect one. An item is right if the good one scores strictly
better. Accuracy by phenomenon, by category of ACES and by language pair; as in ACES, tau is the share of right items
minus that of the others, for a category the mean over its phenomena, and the ACES score their weighted sum.
--model judges the phenomena of pronouns and coreference (anaphoric_*, pleonastic_it*, coreference-*, commonsense-*,
ambiguous-translation-wrong-gender-*) of the pairs into its language; the others are left out, counted.
SPAN-ACES: also accuracy by whether the marked words of the incorrect translation contain a pronoun, for languages that
have a table of pronouns.""",
)


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The items of a set: the good and the incorrect translation of a source.

    Raises:
        InputError: with the line, where a column is missing, a language pair is malformed, or a mark is not closed.
    """
    no_documents(path, reading)
    first: dict[tuple[str, str], str] = {}
    return tuple(_item(entry, number, first) for number, entry in enumerate(_rows(path), start=1))


def _rows(path: str | Path) -> Iterator[Entry]:
    if next(iter_lines(path, kept=False), "").startswith("{"):
        return read_objects(path)
    return read_table(path, COLUMNS, expected=_EXPECTED)


def _item(entry: Entry, number: int, first: dict[tuple[str, str], str]) -> Item:
    pair, source, phenomenon = (entry.string(key) for key in (PAIR, SOURCE, PHENOMENON))
    target = target_language(entry, PAIR)
    category = next((name for start, name in _CATEGORIES.items() if phenomenon.startswith(start)), _REST)
    id = str(number)
    return Item(
        id=id,
        candidates=tuple(Candidate(source, entry.string(key)) for key in (GOOD, INCORRECT)),
        groups={BY: phenomenon, CATEGORY: category, LANGUAGES: pair, **_marked(entry, target)},
        document=first.setdefault((pair, source), id),
        reference=entry.string(REFERENCE),
        language=target,
        of_pronouns=phenomenon.startswith(OF_PRONOUNS),
    )


def _marked(entry: Entry, code: str) -> dict[str, str]:
    """The group by whether the marked words contain a pronoun; none without marks or a table of the language."""
    if not entry.get(ANNOTATED):
        return {}
    text, spans = _unmarked(entry, entry.string(ANNOTATED))
    table = _table(code)
    if not spans or table is None:
        return {}
    inside = any(one.start < end and start < one.end for one in table.find(text) for start, end in spans)
    return {MARKED: "a pronoun" if inside else "no pronoun"}


@cache
def _table(code: str) -> Language | None:
    return language(code) if code in (ENGLISH.code, *tables.codes()) else None


def _unmarked(entry: Entry, annotated: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without its marks <v> and </v>, and the marked spans in it."""
    text = ""
    places: list[int] = []
    for number, part in enumerate(_MARK.split(annotated)):
        if number % 2 == 0:
            text += part
        elif (part == "/") != (len(places) % 2 == 1):
            entry.fail(f'"{ANNOTATED}": expected <v> and </v> in turn, got <{part}v> after {text[-20:]!r}')
        else:
            places.append(len(text))
    if len(places) % 2:
        entry.fail(f'"{ANNOTATED}": the last <v> is not closed by </v>')
    return text, list(zip(places[::2], places[1::2], strict=True))


def judge(items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> SuiteVerdicts:
    """The verdicts; tau of each category, and the ACES score where all categories are there."""
    verdicts = strict_verdicts(items, scores)
    by_category: dict[str, dict[str, list[Verdict]]] = {}
    for one in verdicts:
        by_category.setdefault(one.groups[CATEGORY], {}).setdefault(one.groups[BY], []).append(one)
    taus = {name: _mean([_tau(members) for members in kinds.values()]) for name, kinds in sorted(by_category.items())}
    further: dict[str, object] = {"tau by category": taus}
    if taus.keys() == _WEIGHTS.keys():
        further["ACES score"] = sum(weight * taus[name] for name, weight in _WEIGHTS.items())
    return SuiteVerdicts(verdicts, further)


judge_translations = no_translations


def _tau(verdicts: Sequence[Verdict]) -> float:
    return _mean([1.0 if one.right else -1.0 for one in verdicts])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
