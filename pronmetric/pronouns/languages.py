"""The pronouns of a target language: its inventory, which of its forms stand in a text, and which forms compete.

English has rules of usage, slots and agreement (`finder`, `slots`). Another language has a table with the same columns,
from this package or from the user: every word with a form of the table is a pronoun in use, forms compete that share a
type and a case, and two forms agree with the same verb if they share person and number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from pronmetric.errors import InputError
from pronmetric.pronouns import finder, slots
from pronmetric.pronouns.finder import Entry, Occurrence
from pronmetric.pronouns.tables import codes, rows
from pronmetric.text.lines import read_lines
from pronmetric.text.words import Word
from pronmetric.text.words import words as split

COLUMNS = Entry._fields
TYPES = ("personal", "possessive", "reflexive", "demonstrative", "interrogative", "relative", "none")
_NO_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff]+")
_APOSTROPHES = "'\u2019\u02bc"


class Language(Protocol):
    """What preparation, training and scoring ask of a target language.

    code: such as "en". entries: the uses of its forms. forms: the inventory, lower-cased. ruled: whether there are
    rules of usage and role beside the table.
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

    def slot(self, words: Sequence[Word], index: int) -> str:
        """The slot of the pronoun `words[index]`."""
        ...

    def grades(self, words: Sequence[Word], index: int) -> tuple[tuple[str, ...], ...]:
        """The other forms that fit the slot of `words[index]`, the most similar first."""
        ...

    def share_slot(self, one: str, other: str) -> bool:
        """Whether two forms of the inventory have a use in the same slot."""
        ...

    def agrees(self, words: Sequence[Word], index: int, form: str) -> bool:
        """Whether `form` in place of `words[index]` agrees with its verb or noun."""
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
    slot = staticmethod(slots.slot)
    grades = staticmethod(slots.grades)
    agrees = staticmethod(slots.agrees)

    @staticmethod
    def share_slot(one: str, other: str) -> bool:
        """Whether two forms of the table share a type and a case."""
        places = [{(entry.type, entry.case) for entry in finder.ENTRIES if entry.form == form} for form in (one, other)]
        return bool(places[0] & places[1])


ENGLISH: Language = _English()


@dataclass(frozen=True)
class TableLanguage:
    """A language by its table alone."""

    code: str
    entries: tuple[Entry, ...]
    ruled: bool = field(init=False, default=False)
    _uses: Mapping[str, tuple[Entry, ...]] = field(init=False, repr=False, compare=False)
    _longest: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the table by form."""
        uses: dict[str, tuple[Entry, ...]] = {}
        for entry in self.entries:
            uses[entry.form] = (*uses.get(entry.form, ()), entry)
        object.__setattr__(self, "_uses", uses)
        object.__setattr__(self, "_longest", max(map(len, uses)))

    @property
    def forms(self) -> tuple[str, ...]:
        """The inventory, lower-cased, in the order of the table."""
        return tuple(form for form, uses in self._uses.items() if uses[0].type != "none")

    def inventory(self, name: str) -> tuple[str, ...]:
        """All forms.

        Raises:
            InputError: another inventory than "all".
        """
        if name != "all":
            raise InputError(f"inventory={name}: there is only inventory=all for {self.code}")
        return self.forms

    def words(self, text: str) -> tuple[Word, ...]:
        """The words of a text; where the script has no spaces, the longest forms of the table and single characters.

        >>> [word.text for word in language("zh").words("他们的")]
        ['他们', '的']
        """
        found: list[Word] = []
        for word in split(text):
            if _NO_SPACES.fullmatch(word.text) and word.end - word.start == len(word.text):
                found += self._cut(word)
            else:
                found.append(word)
        return tuple(found)

    def _cut(self, word: Word) -> list[Word]:
        parts, at = [], 0
        while at < len(word.text):
            sizes = range(min(self._longest, len(word.text) - at), 0, -1)
            size = next((n for n in sizes if word.text[at : at + n] in self._uses), 1)
            parts.append(Word(word.text[at : at + size], word.start + at, word.start + at + size))
            at += size
        return parts

    def find(self, text: str, words: Sequence[Word] | None = None) -> tuple[Occurrence, ...]:
        """Every word with a form of the table; an elided form (c') includes its apostrophe.

        >>> [(o.text, o.form) for o in language("fr").find("C'est elle.")]
        [("C'", "c'"), ('elle', 'elle')]
        """
        words = self.words(text) if words is None else words
        found = []
        for index, word in enumerate(words):
            if (form := self._form(words, index)) is not None:
                end = words[index + 1].end if form.endswith("'") else word.end
                found.append(Occurrence(index, word.start, end, text[word.start : end], form))
        return tuple(found)

    def _form(self, words: Sequence[Word], index: int) -> str | None:
        low = words[index].text.lower()
        after = words[index + 1] if index + 1 < len(words) else None
        glued = after is not None and after.start == words[index].end and after.text in _APOSTROPHES
        for form in (f"{low}'", low) if glued else (low,):
            if form in self._uses and self._uses[form][0].type != "none":
                return form
        return None

    def slot(self, words: Sequence[Word], index: int) -> str:
        """The type and case of the form's first use."""
        uses = self._uses[self._form(words, index) or words[index].text.lower()]
        return f"{uses[0].type} {uses[0].case}"

    def grades(self, words: Sequence[Word], index: int) -> tuple[tuple[str, ...], ...]:
        """The other forms that share a type and a case with the form: first those of its person, then the others."""
        form = self._form(words, index) or words[index].text.lower()
        return self._graded(form)

    def _graded(self, form: str) -> tuple[tuple[str, ...], ...]:
        places = {(entry.type, entry.case) for entry in self._uses[form]}
        persons = {entry.person for entry in self._uses[form]}
        near: list[str] = []
        far: list[str] = []
        for other, uses in self._uses.items():
            fitting = [entry for entry in uses if (entry.type, entry.case) in places]
            if other != form and fitting and uses[0].type != "none":
                (near if persons & {entry.person for entry in fitting} else far).append(other)
        return tuple(tuple(grade) for grade in (near, far) if grade)

    def share_slot(self, one: str, other: str) -> bool:
        """Whether two forms share a type and a case in some use."""
        places = [{(entry.type, entry.case) for entry in self._uses[form]} for form in (one, other)]
        return bool(places[0] & places[1])

    def agrees(self, words: Sequence[Word], index: int, form: str) -> bool:
        """Whether the forms share person and number in some use; "-" agrees with any."""
        old = self._uses[self._form(words, index) or words[index].text.lower()]
        return any(
            a.person == b.person and (a.number == b.number or "-" in (a.number, b.number))
            for a in old
            for b in self._uses[form]
        )


@cache
def language(name: str) -> Language:
    """A language by its code, or by the path of a user's table, whose code is the name of the file before ".tsv".

    Raises:
        InputError: there is no such language, or the table is broken.
    """
    if name == ENGLISH.code:
        return ENGLISH
    if name.endswith(".tsv"):
        return _read(Path(name))
    if name not in codes():
        known = ", ".join(sorted([ENGLISH.code, *codes()]))
        raise InputError(f"no table of pronouns for {name!r}: expected one of {known}, or the path of a table (.tsv)")
    return TableLanguage(name, tuple(Entry(**row) for row in rows(f"target.{name}.tsv")))


def _read(path: Path) -> TableLanguage:
    lines = read_lines(path)
    if len(lines) < 3 or not lines[0].startswith("#") or tuple(lines[1].split("\t")) != COLUMNS:
        raise InputError(f"expected a first line '# source', then the columns {' '.join(COLUMNS)}", file=path, line=1)
    entries = []
    for number, line in enumerate(lines[2:], start=3):
        cells = line.split("\t")
        if len(cells) != len(COLUMNS) or not all(cells):
            raise InputError(f"expected {len(COLUMNS)} filled columns, got {len(cells)}", file=path, line=number)
        entry = Entry(*cells)
        if entry.type not in TYPES or entry.form != entry.form.lower() or " " in entry.form:
            message = f"expected one lower-case word and a type, one of {', '.join(TYPES)}, got {line!r}"
            raise InputError(message, file=path, line=number)
        entries.append(entry)
    return TableLanguage(path.name.removesuffix(".tsv"), tuple(entries))
