"""The pronouns of a target language: its inventory, which of its forms stand in a text, and which forms compete.

English has rules of usage, slots and agreement (`finder`, `slots`). Another language has a table with the same columns,
from this package or from the user (`table_language`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from pronmetric.errors import InputError
from pronmetric.pronouns import finder, slots
from pronmetric.pronouns.finder import Entry, Occurrence
from pronmetric.pronouns.table_language import TableLanguage, read
from pronmetric.pronouns.tables import codes, rows
from pronmetric.text import writing
from pronmetric.text.language_codes import bare
from pronmetric.text.words import Word
from pronmetric.text.words import words as split
from pronmetric.text.writing import Writing


class Language(Protocol):
    """What preparation, training and scoring ask of a target language.

    code: such as "en". entries: the uses of its forms. forms: the inventory, lower-cased. ruled: whether there are
    rules of usage and role beside the table. demonstratives: each demonstrative that another of the same number can
    replace almost everywhere, and that other one. articles: words that stand where a determiner could. writing: how its
    texts are cut and counted.
    """

    def __hash__(self) -> int:  # noqa: D105
        ...

    @property
    def ruled(self) -> bool:  # noqa: D102
        ...

    @property
    def code(self) -> str:  # noqa: D102
        ...

    @property
    def entries(self) -> tuple[Entry, ...]:  # noqa: D102
        ...

    @property
    def demonstratives(self) -> Mapping[str, str]:  # noqa: D102
        ...

    @property
    def articles(self) -> frozenset[str]:  # noqa: D102
        ...

    @property
    def writing(self) -> Writing:  # noqa: D102
        ...

    @property
    def forms(self) -> tuple[str, ...]:  # noqa: D102
        ...

    def inventory(self, name: str) -> tuple[str, ...]:
        """The forms of a named inventory: "all", in English also "paper"."""
        ...

    def words(self, text: str) -> tuple[Word, ...]:
        """The words of a text, as they are aligned."""
        ...

    def find(self, text: str, words: Sequence[Word] | None = None) -> tuple[Occurrence, ...]:
        """The pronouns in use in a text, left to right."""
        ...

    def form_of(self, words: Sequence[Word], index: int) -> str | None:
        """The form of the inventory of word `index`, lower-cased, whether or not it is in use there; None if none."""
        ...

    def slot(self, words: Sequence[Word], index: int) -> str:
        """The slot of the pronoun `words[index]`."""
        ...

    def places(self, words: Sequence[Word], index: int) -> tuple[str, ...]:
        """The slots that the pronoun `words[index]` may have, which only rules can tell apart."""
        ...

    def grades(self, words: Sequence[Word], index: int) -> tuple[tuple[str, ...], ...]:
        """The other forms that fit the slot of `words[index]`, the most similar first."""
        ...

    def shape(self, form: str, following: str) -> str:
        """The form as it is written before the text `following`."""
        ...

    def same(self, one: str, other: str) -> bool:
        """Whether two forms are one pronoun in another shape or inflection."""
        ...

    def share_slot(self, one: str, other: str) -> bool:
        """Whether two forms of the inventory have a use in the same slot."""
        ...

    def agrees(self, words: Sequence[Word], index: int, form: str) -> bool:
        """Whether `form` in place of `words[index]` agrees with its verb or noun."""
        ...

    def replaces(self, words: Sequence[Word], index: int, form: str) -> bool:
        """Whether `form` can be proposed in place of `words[index]`: it agrees, and has its case and kind."""
        ...

    def to_record(self) -> dict[str, object] | None:
        """The language as plain values for `of_record`; None for English."""
        ...


class _English:
    """English, by the rules of `finder` and `slots`."""

    code = "en"
    ruled = True
    entries = finder.ENTRIES
    forms = finder.FORMS
    inventory = finder.INVENTORIES.__getitem__
    words = staticmethod(split)
    find = staticmethod(finder.find)
    form_of = staticmethod(finder.form_of)
    slot = staticmethod(slots.slot)
    grades = staticmethod(slots.grades)
    agrees = staticmethod(slots.agrees)
    replaces = staticmethod(slots.replaces)
    demonstratives: Mapping[str, str] = {"this": "that", "that": "this", "these": "those", "those": "these"}
    articles = frozenset({"the", "a", "an"})
    writing = writing.ENGLISH

    @staticmethod
    def places(words: Sequence[Word], index: int) -> tuple[str, ...]:
        """The slot."""
        return (slots.slot(words, index),)

    @staticmethod
    def shape(form: str, following: str) -> str:
        """The form itself."""
        return form

    @staticmethod
    def same(one: str, other: str) -> bool:
        """Never: each form of the table is a pronoun of its own."""
        return False

    @staticmethod
    def to_record() -> None:
        """English needs no record."""

    @staticmethod
    def share_slot(one: str, other: str) -> bool:
        """Whether two forms of the table share a type and a case."""
        places = [{(entry.type, entry.case) for entry in finder.ENTRIES if entry.form == form} for form in (one, other)]
        return bool(places[0] & places[1])


ENGLISH: Language = _English()


@cache
def language(name: str) -> Language:
    """A language by its code, or by the path of a user's table, whose code is the name of the file before ".tsv".

    Raises:
        InputError: there is no such language, or the table is broken.
    """
    if name == ENGLISH.code:
        return ENGLISH
    if name.endswith(".tsv"):
        return read(Path(name))
    if name not in codes() and bare(name) in (ENGLISH.code, *codes()):
        return language(bare(name))
    if name not in codes():
        known = ", ".join(sorted([ENGLISH.code, *codes()]))
        raise InputError(f"no table of pronouns for {name!r}: expected one of {known}, or the path of a table (.tsv)")
    return TableLanguage(name, tuple(Entry(**row) for row in rows(f"target.{name}.tsv")))


def of_record(record: Mapping[str, object] | None) -> Language:
    """The language of a record that `to_record` wrote; English without one.

    Raises:
        ValueError: the record is of another form.
    """
    return ENGLISH if record is None else TableLanguage.of_record(record)


def same_slot(language: Language, words: Sequence[Word], index: int) -> tuple[str, ...]:
    """The other forms that fit the slot of `words[index]`, most similar first (see `Language.grades`)."""
    return tuple(dict.fromkeys(form for grade in language.grades(words, index) for form in grade))


@cache
def referents(language: Language) -> Mapping[str, frozenset[str]]:
    """What each third-person form can refer to, as number and gender; forms of persons in general are left out.

    A form that does not show its gender or number can refer to all that the language's other forms distinguish.

    >>> sorted(referents(ENGLISH)["his"]), sorted(referents(language("de"))["sie"])
    (['singularmasculine'], ['plural-', 'singularfeminine'])
    """
    entries = [
        entry
        for entry in language.entries
        if entry.person == "3" and entry.gender != "person" and entry.type in ("personal", "possessive", "reflexive")
    ]
    shown = {(entry.number, entry.gender) for entry in entries if entry.number != "-" and entry.gender != "-"}
    numbers = {number for number, _ in shown}
    shown |= {(entry.number, "-") for entry in entries if entry.number != "-" and entry.number not in numbers}
    fitting_of: dict[str, frozenset[str]] = {}
    for entry in entries:
        fitting = {
            f"{number}{gender}"
            for number, gender in shown
            if entry.number in (number, "-") and (gender == entry.gender or "-" in (gender, entry.gender))
        }
        fitting_of[entry.form] = fitting_of.get(entry.form, frozenset()) | fitting
    return fitting_of


def occurrences(
    spans: Iterable[tuple[str, int, int]], words: Sequence[Word], language: Language
) -> tuple[Occurrence, ...]:
    """The pronouns (text, start, end) of a scored text, with the indices of their words and their forms."""
    places = {word.start: place for place, word in enumerate(words)}
    return tuple(
        Occurrence(place := places[start], start, end, text, language.form_of(words, place) or text.lower())
        for text, start, end in spans
    )
