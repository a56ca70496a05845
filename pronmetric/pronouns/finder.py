"""Pronouns: the inventory of a language, its classes, and its forms in use in a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pronmetric.pronouns import usage
from pronmetric.pronouns.tables import rows
from pronmetric.text.literals import literals, part_at
from pronmetric.text.readable import readable
from pronmetric.text.words import Word, rule_word
from pronmetric.text.words import words as split


class Entry(NamedTuple):
    """One use of a form: `his` has two. Gender and number are "-" if the form does not show them."""

    form: str
    type: str
    person: str
    number: str
    gender: str
    case: str


ENTRIES = tuple(Entry(**row) for row in rows("pronouns.en.tsv"))
FORMS = tuple(dict.fromkeys(entry.form for entry in ENTRIES))
INVENTORIES: Mapping[str, tuple[str, ...]] = {
    "all": FORMS,
    "paper": tuple(form for form in FORMS if form != "theirs"),
}
THIRD_PERSON = frozenset(
    entry.form for entry in ENTRIES if entry.person == "3" and entry.type in ("personal", "possessive", "reflexive")
)

_FORM = {form: form for form in FORMS} | {f"{mark}t": "it" for mark in ("", "'", "\u2019", "\u2018", "\u02bc")}


def form_of(words: Sequence[Word], index: int) -> str | None:
    """The form in the inventory of word `index`, lower-cased ("it" for the 't of 'tis), or None."""
    form = _FORM.get(words[index].text.lower())
    if form == "it" and words[index].text[-2:].lower() != "it":
        follows = words[index + 1].text.lower() if index + 1 < len(words) else ""
        return form if follows in ("is", "was", "were") else None
    return form


class Occurrence(NamedTuple):
    """A pronoun in use: index of its word, span in the text, surface text and lower-cased form."""

    word: int
    start: int
    end: int
    text: str
    form: str


class Verdict(NamedTuple):
    """The finder's decision on one candidate, and its reason."""

    occurrence: Occurrence
    in_use: bool
    reason: str


def explain(text: str, words: Sequence[Word] | None = None) -> tuple[Verdict, ...]:
    """Every word of `text` with a form in the inventory, with the verdict and its reason.

    >>> [(v.occurrence.form, v.in_use, v.reason) for v in explain("He said that all left.")]
    [('he', True, 'always a pronoun'), ('that', False, 'complementizer: said takes a clause')]
    """
    words = split(text) if words is None else words
    seen = readable(text).text
    judged = words if seen == text else split(seen)  # the same words with offsets in the readable text
    lower = [rule_word(word) for word in words]
    parts = literals(seen)
    verdicts = []
    for index, word in enumerate(words):
        form = form_of(words, index)
        if form is None:
            continue
        part = part_at(parts, judged[index].start)
        if part is None:
            in_use_, reason = usage.judge(form, seen, judged, lower, index)
        else:
            in_use_, reason = False, f"{part}, no running text"
        verdicts.append(
            Verdict(Occurrence(index, word.start, word.end, text[word.start : word.end], form), in_use_, reason)
        )
    return tuple(verdicts)


def find(text: str, words: Sequence[Word] | None = None) -> tuple[Occurrence, ...]:
    """The pronouns in use in `text`, left to right; `words` saves splitting it again.

    >>> [o.text for o in find("She said that IT workers like it.")]
    ['She', 'it']
    """
    return tuple(verdict.occurrence for verdict in explain(text, words) if verdict.in_use)
