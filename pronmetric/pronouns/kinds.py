"""Kinds of pronoun errors: the classes in which a wrong pronoun differs from the right one.

The classes are those of the language's table of pronouns. Of a form with several uses (her, that), the use with the
fewest differences counts; among equals the first in the table.

1. If either is a relative or an interrogative, the kind is relative; else if either is a demonstrative, it is
   demonstrative; neither is combined with another kind.
2. Else all of these that apply, so that a pair may have several kinds (he -> them: number and case): person (first,
   second, third); in the same person gender (masculine, feminine) or animacy (either of them and neuter; in English
   alone, elsewhere it is gender); number, if both forms show it (you does not); case (subject, object, determiner,
   independent, reflexive).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pronmetric.pronouns.finder import Entry
from pronmetric.pronouns.languages import ENGLISH, Language

GENDER, ANIMACY, NUMBER, PERSON, CASE = "gender", "animacy", "number", "person", "case"
DEMONSTRATIVE, RELATIVE = "demonstrative", "relative"
KINDS = (GENDER, ANIMACY, NUMBER, PERSON, CASE, DEMONSTRATIVE, RELATIVE)


@cache
def kinds(reference: str, wrong: str, language: Language = ENGLISH) -> tuple[str, ...]:
    """The kinds of `wrong` in place of `reference`, lower-cased forms of a language, in the order of `KINDS`.

    Empty if the two are equal, or one of them is not a pronoun.

    >>> kinds("he", "she"), kinds("her", "his"), kinds("it", "her"), kinds("i", "them")
    (('gender',), ('gender',), ('animacy',), ('number', 'person', 'case'))
    """
    if reference == wrong:
        return ()
    ours, theirs = ([entry for entry in language.entries if entry.form == form] for form in (reference, wrong))
    uses = [tuple(_differences(a, b, animacy=language == ENGLISH)) for a in ours for b in theirs]
    fewest = min(uses, key=len, default=())
    return tuple(kind for kind in KINDS if kind in fewest)


def _differences(a: Entry, b: Entry, *, animacy: bool) -> Iterator[str]:
    types = {a.type, b.type}
    if types & {"relative", "interrogative"}:
        yield RELATIVE
    elif "demonstrative" in types:
        yield DEMONSTRATIVE
    else:
        if a.person != b.person:
            yield PERSON
        elif a.gender != b.gender and "-" not in (a.gender, b.gender):
            yield ANIMACY if animacy and "neuter" in (a.gender, b.gender) else GENDER
        if a.number != b.number and "-" not in (a.number, b.number):
            yield NUMBER
        if _case(a) != _case(b):
            yield CASE


def _case(entry: Entry) -> str:
    return entry.type if entry.type == "reflexive" else entry.case
