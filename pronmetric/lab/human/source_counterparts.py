"""Whether the source has a counterpart for each pronoun that people judged, by the tables of surplus pronouns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pronmetric.alignment.counts import files
from pronmetric.alignment.counts.table import Item
from pronmetric.alignment.unmatched import person
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.schema import JudgedText

COUNTERPART, NONE = NAMES = ("counterpart in the source", "no counterpart in the source")
UNKNOWN = ""


def of(texts: Sequence[JudgedText]) -> list[str]:
    """`COUNTERPART`, `NONE` or `UNKNOWN` for each judged pronoun of the texts, in order.

    Unknown are relatives and interrogatives, pronouns of a text without a source, and those of a language pair without
    a table.
    """
    by_language: defaultdict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        source, _, target = text.lp.partition("-")
        if text.source and target == ENGLISH.code and source in files.shipped():
            by_language[source].append(number)
    found: dict[int, dict[int, str]] = {}
    for language, numbers in by_language.items():
        items = [_item(texts[number]) for number in numbers]
        for number, item, surplus in zip(numbers, items, files.of_language(language).unsourced(items), strict=True):
            found[number] = {
                pronoun.start: NONE if k in surplus else COUNTERPART
                for k, pronoun in enumerate(item.pronouns)
                if person(item.words, pronoun)
            }
    return [
        found.get(number, {}).get(pronoun.start, UNKNOWN)
        for number, text in enumerate(texts)
        for pronoun in text.pronouns
    ]


def _item(text: JudgedText) -> Item:
    words = ENGLISH.words(text.text)
    return Item(text.source, words, ENGLISH.find(text.text, words))
