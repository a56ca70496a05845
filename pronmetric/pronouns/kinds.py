"""What kind of error a wrong pronoun is: the classes in which it differs from the right one.

The rule, over the classes of `tables/pronouns.en.tsv`. A form with several uses (her, that) is taken in the use in
which the two differ in the fewest kinds, the first of the table among equals.

1. Where either is a relative or an interrogative, the kind is relative; else where either is a demonstrative, it is
   demonstrative; neither goes with another kind.
2. Else each of these that holds, so that a pair may count in several (he -> them: number and case): person (first,
   second, third); in the same person gender (masculine, feminine) or animacy (either of them against neuter); number,
   where both forms show it (you does not); case (subject, object, determiner, independent; reflexive is one too).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pronmetric.pronouns.finder import ENTRIES, Entry

GENDER, ANIMACY, NUMBER, PERSON, CASE = "gender", "animacy", "number", "person", "case"
DEMONSTRATIVE, RELATIVE = "demonstrative", "relative"
KINDS = (GENDER, ANIMACY, NUMBER, PERSON, CASE, DEMONSTRATIVE, RELATIVE)


@cache
def kinds(reference: str, wrong: str) -> tuple[str, ...]:
    """The kinds of `wrong` in place of `reference`, lower-cased forms, in the order of `KINDS`.

    Empty where the two are equal, or one of them is no pronoun.

    >>> kinds("he", "she"), kinds("her", "his"), kinds("it", "her"), kinds("i", "them")
    (('gender',), ('gender',), ('animacy',), ('number', 'person', 'case'))
    """
    if reference == wrong:
        return ()
    uses = [tuple(_differences(a, b)) for a in _uses(reference) for b in _uses(wrong)]
    fewest = min(uses, key=len, default=())
    return tuple(kind for kind in KINDS if kind in fewest)


def _uses(form: str) -> list[Entry]:
    return [entry for entry in ENTRIES if entry.form == form]


def _differences(a: Entry, b: Entry) -> Iterator[str]:
    types = {a.type, b.type}
    if types & {"relative", "interrogative"}:
        yield RELATIVE
    elif "demonstrative" in types:
        yield DEMONSTRATIVE
    else:
        if a.person != b.person:
            yield PERSON
        elif a.gender != b.gender and "-" not in (a.gender, b.gender):
            yield ANIMACY if "neuter" in (a.gender, b.gender) else GENDER
        if a.number != b.number and "-" not in (a.number, b.number):
            yield NUMBER
        if _case(a) != _case(b):
            yield CASE


def _case(entry: Entry) -> str:
    return entry.type if entry.type == "reflexive" else entry.case
