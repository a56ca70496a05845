"""Classes of English forms by what they refer to: he, him, his and himself are one class, whatever their case.

The case follows from the English sentence; person, number and gender are what a source can say. Relative "that" and
"which" are one class. A demonstrative competes with a personal pronoun: "this" with "it", "these" with "they".
"""

from __future__ import annotations

from pronmetric.pronouns.finder import ENTRIES, Entry

CLASSES = ("i", "we", "you", "he", "she", "it", "they", "this", "that", "these", "those", "who", "which", "what")
PERSONAL = 7  # the first of them are of personal, possessive and reflexive pronouns
PERSON_OF = {name: name for name in CLASSES[:PERSONAL]} | {"this": "it", "that": "it", "these": "they", "those": "they"}
"""The personal class that a class competes with; relatives and interrogatives have none."""
_GENDER = {"masculine": "he", "feminine": "she", "neuter": "it"}
_OTHER = {"whom": "who", "whose": "who", "whoever": "who", "whatever": "what", "whichever": "which"}


def _class(entry: Entry) -> str:
    if entry.type not in ("personal", "possessive", "reflexive"):
        return _OTHER.get(entry.form, entry.form)
    if entry.person == "1":
        return "i" if entry.number == "singular" else "we"
    if entry.person == "2":
        return "you"
    return "they" if entry.number == "plural" else _GENDER[entry.gender]


_CLASS = {entry.form: _class(entry) for entry in ENTRIES}


def class_of(form: str, slot: str) -> str:
    """The class of a form in its slot (see `pronouns.slots.slot`).

    >>> class_of("himself", "reflexive"), class_of("that", "relative"), class_of("that", "demonstrative")
    ('he', 'which', 'that')
    """
    return "which" if form == "that" and slot == "relative" else _CLASS[form]
