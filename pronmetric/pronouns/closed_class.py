"""Closed-class tables of source languages: pronouns, possessives and other forms that show person, number or gender.

tables/pronouns.LANGUAGE.tsv: forms that share a row are separated by blanks; `english` lists the classes of English
pronouns (`pronouns.classes`) that they can stand for. A form with a capital letter counts only inside a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from pronmetric.pronouns import tables
from pronmetric.pronouns.classes import CLASSES


@dataclass(frozen=True, slots=True)
class ClosedClass:
    """The forms of one language; without a table there are none.

    english: form -> classes of English pronouns. pronouns: the personal and possessive ones among the forms.
    """

    language: str
    english: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pronouns: frozenset[str] = frozenset()


def languages() -> tuple[str, ...]:
    """The languages that have a table."""
    names = (each.name for each in files(tables).iterdir())
    codes = {name.split(".")[1] for name in names if name.startswith("pronouns.") and name.endswith(".tsv")}
    return tuple(sorted(codes - {"en"}))


@cache
def closed_class(language: str) -> ClosedClass:
    """The table of a language; one without forms where there is no table.

    >>> closed_class("de").english["er"]
    ('he', 'it')
    """
    if language not in languages():
        return ClosedClass(language)
    english: dict[str, tuple[str, ...]] = {}
    pronouns = set()
    for row in tables.rows(f"pronouns.{language}.tsv"):
        classes = row["english"].split()
        if unknown := set(classes) - set(CLASSES):
            raise ValueError(f"pronouns.{language}.tsv: expected classes of {' '.join(CLASSES)}, got {unknown}")
        for form in row["forms"].split():
            english[form] = tuple(dict.fromkeys([*english.get(form, ()), *classes]))
            if row["type"] in ("personal", "possessive", "polite"):
                pronouns.add(form)
    return ClosedClass(language, english, frozenset(pronouns))
