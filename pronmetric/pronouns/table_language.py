"""A language by its table of pronouns alone: every word with a form of the table is a pronoun in use.

Forms compete that share a place, a type and a case. Two forms with the same person, number and gender in each place
that they share are one pronoun in another shape or inflection (je and j', meine and meinem): no error is made of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.pronouns.finder import Entry, Occurrence
from pronmetric.text import writing
from pronmetric.text.lines import read_lines
from pronmetric.text.literals import literals, part_at
from pronmetric.text.readable import readable
from pronmetric.text.words import Word
from pronmetric.text.words import words as split
from pronmetric.text.writing import Writing

COLUMNS = Entry._fields
TYPES = (
    "personal",
    "possessive",
    "reflexive",
    "demonstrative",
    "interrogative",
    "relative",
    "article",
    "none",
    "prefix",
)
_NO_PRONOUNS = ("article", "none", "prefix")
_RUNS = re.compile(f"[{writing.UNSPACED_LETTERS}]+|[^{writing.UNSPACED_LETTERS}]+")
_APOSTROPHES = "'\u2019\u02bc"
_VOWELS = frozenset(
    "aeiouy\u00e0\u00e2\u00e4\u00e9\u00e8\u00ea\u00eb\u00ee\u00ef\u00f4\u00f6\u00f9\u00fb\u00fc\u0153\u00e6"
)


@dataclass(frozen=True)
class TableLanguage:
    """A language by its table alone.

    code: such as "de". entries: the uses of its forms. Forms of three types are no pronouns: none, article, and
    prefix, which is written together with a pronoun that follows it.
    """

    code: str
    entries: tuple[Entry, ...]
    ruled: bool = field(init=False, default=False)
    articles: frozenset[str] = field(init=False, repr=False, compare=False)
    demonstratives: Mapping[str, str] = field(init=False, repr=False, compare=False, default_factory=dict)
    writing: Writing = field(init=False, repr=False, compare=False)
    _uses: Mapping[str, tuple[Entry, ...]] = field(init=False, repr=False, compare=False)
    _elided: Mapping[str, str] = field(init=False, repr=False, compare=False)
    _longest: int = field(init=False, repr=False, compare=False)
    _prefixes: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _rivals: dict[str, tuple[tuple[str, ...], ...]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Index the table by form."""
        uses: dict[str, tuple[Entry, ...]] = {}
        for entry in self.entries:
            uses[entry.form] = (*uses.get(entry.form, ()), entry)
        unspaced = any(map(writing.is_unspaced, uses))
        object.__setattr__(self, "_uses", uses)
        prefixes = {form for form in uses if uses[form][0].type == "prefix"}
        object.__setattr__(self, "articles", frozenset(form for form in uses if uses[form][0].type == "article"))
        object.__setattr__(self, "_longest", max(map(len, uses)))
        object.__setattr__(self, "_prefixes", tuple(sorted(prefixes, key=len, reverse=True)))
        object.__setattr__(self, "writing", writing.UNSPACED if unspaced else writing.SPACED)
        object.__setattr__(self, "_elided", dict(self._elisions()))

    @classmethod
    def of_record(cls, record: Mapping[str, object]) -> TableLanguage:
        """The language that `to_record` wrote.

        Raises:
            ValueError: the record is of another form.
        """
        code, uses = record.get("code"), record.get("uses")
        if record.keys() != {"code", "uses"} or not isinstance(code, str) or not code or not isinstance(uses, list):
            raise ValueError("a code and a list of uses")
        entries = []
        for line in uses:
            cells = line.split(" ") if isinstance(line, str) else []
            if len(cells) != len(COLUMNS) or not _is_sound(Entry(*cells)):
                raise ValueError(f"uses of six words ({' '.join(COLUMNS)}), not {str(line)[:60]!r}")
            entries.append(Entry(*cells))
        if all(entry.type in _NO_PRONOUNS for entry in entries):
            raise ValueError("at least one pronoun")
        return cls(code, tuple(entries))

    def to_record(self) -> dict[str, object]:
        """The language as plain values: its code, and each use as one line."""
        return {"code": self.code, "uses": [" ".join(entry) for entry in self.entries]}

    @property
    def forms(self) -> tuple[str, ...]:
        """The inventory, lower-cased, in the order of the table."""
        return tuple(filter(self._is_pronoun, self._uses))

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

        A prefix of the table and the pronoun after it are two words.

        >>> from pronmetric.pronouns.languages import language
        >>> [word.text for word in language("zh").words("他们的iPhone")]
        ['他们', '的', 'iPhone']
        >>> [word.text for word in language("he").words("שהיא")]
        ['ש', 'היא']
        """
        if self.writing.spaced and not self._prefixes:
            return split(text)
        parts = self._without_prefix if self.writing.spaced else self._runs
        seen = readable(text)
        return tuple(
            Word(word.text[start:end], *seen.original(word.start + start, word.start + end))
            for word in split(seen.text)
            for start, end in parts(word.text)
        )

    def _without_prefix(self, word: str) -> Iterator[tuple[int, int]]:
        """The spans of a prefix and of the pronoun after it; that of the whole word where there are none."""
        low = word.lower()
        fitting = () if low in self._uses else map(len, filter(low.startswith, self._prefixes))
        size = next((n for n in fitting if self._is_pronoun(low[n:])), 0)
        yield from ((0, size), (size, len(word))) if size else ((0, len(word)),)

    def _runs(self, word: str) -> Iterator[tuple[int, int]]:
        """The spans of a word's runs of other scripts, and of the parts of its runs without blanks."""
        for run in _RUNS.finditer(word):
            if writing.is_unspaced(run.group()):
                yield from self._cut(run.group(), run.start())
            else:
                yield run.span()

    def _cut(self, run: str, first: int) -> Iterator[tuple[int, int]]:
        at = 0
        while at < len(run):
            sizes = range(min(self._longest, len(run) - at), 0, -1)
            size = next((n for n in sizes if run[at : at + n] in self._uses), 1)
            yield first + at, first + at + size
            at += size

    def find(self, text: str, words: Sequence[Word] | None = None) -> tuple[Occurrence, ...]:
        """Every word with a form of the table, but in literals; an elided form (c') includes its apostrophe.

        >>> from pronmetric.pronouns.languages import language
        >>> [(o.text, o.form) for o in language("fr").find("C'est elle.")]
        [("C'", "c'"), ('elle', 'elle')]
        """
        words = self.words(text) if words is None else words
        seen = readable(text)
        parts = literals(seen.text)
        pronouns = []
        for index, word in enumerate(words):
            form = self.form_of(words, index)
            if form is not None and part_at(parts, seen.read(word.start, word.end)[0]) is None:
                end = words[index + 1].end if form.endswith("'") else word.end
                pronouns.append(Occurrence(index, word.start, end, text[word.start : end], form))
        return tuple(pronouns)

    def form_of(self, words: Sequence[Word], index: int) -> str | None:
        """The form of the table of word `index`, lower-cased, with the apostrophe of an elided one; None if none."""
        low = words[index].text.lower()
        after = words[index + 1] if index + 1 < len(words) else None
        glued = after is not None and after.start == words[index].end and after.text in _APOSTROPHES
        for form in (f"{low}'", low) if glued else (low,):
            if self._is_pronoun(form):
                return form
        return None

    def _is_pronoun(self, form: str) -> bool:
        return form in self._uses and self._uses[form][0].type not in _NO_PRONOUNS

    def _form_at(self, words: Sequence[Word], index: int) -> str:
        return self.form_of(words, index) or words[index].text.lower()

    def slot(self, words: Sequence[Word], index: int) -> str:
        """The type and case of the form's first use."""
        uses = self._uses[self._form_at(words, index)]
        return f"{uses[0].type} {uses[0].case}"

    def places(self, words: Sequence[Word], index: int) -> tuple[str, ...]:
        """The type and case of each of the form's uses."""
        uses = self._uses[self._form_at(words, index)]
        return tuple(dict.fromkeys(f"{entry.type} {entry.case}" for entry in uses))

    def grades(self, words: Sequence[Word], index: int) -> tuple[tuple[str, ...], ...]:
        """The other pronouns that share a place with the form: first those of its person there, then the others.

        Each has the shape that it has before the next word (see `shape`).
        """
        form = self._form_at(words, index)
        after = index + (2 if form.endswith("'") else 1)
        following = words[after].text if after < len(words) else ""
        if form not in self._rivals:
            self._rivals[form] = tuple(self._graded(form))
        return tuple(
            tuple(dict.fromkeys(self.shape(other, following) for other in grade)) for grade in self._rivals[form]
        )

    def _graded(self, form: str) -> Iterator[tuple[str, ...]]:
        places = _places(self._uses[form])
        persons = {entry.person for entry in self._uses[form]}
        near: list[str] = []
        far: list[str] = []
        for other, uses in self._uses.items():
            fitting = [entry for entry in uses if (entry.type, entry.case) in places]
            if fitting and self._is_pronoun(other) and other != form and not self.same(form, other):
                (near if persons & {entry.person for entry in fitting} else far).append(other)
        yield from (tuple(grade) for grade in (near, far) if grade)

    def shape(self, form: str, following: str) -> str:
        """The form as it is written before `following`: elided before a vowel if it has an elided form.

        Before h both shapes occur, and the form stays.

        >>> from pronmetric.pronouns.languages import language
        >>> [language("fr").shape("je", word) for word in ("ai", "vais")]
        ["j'", 'je']
        """
        first = following[:1].lower()
        if first in _VOWELS:
            return self._elided.get(form, form)
        whole = {short: whole for whole, short in self._elided.items()}
        return form if first == "h" else whole.get(form, form)

    def _elisions(self) -> Iterator[tuple[str, str]]:
        """The forms that have an elided form, and that form: ce and c'."""
        for short in self.forms:
            if short.endswith("'"):
                yield from ((form, short) for form in self.forms if form == f"{short[:-1]}e" and self.same(form, short))

    def same(self, one: str, other: str) -> bool:
        """Whether two forms are one pronoun in another shape or inflection: alike in each place that they share.

        >>> from pronmetric.pronouns.languages import language
        >>> german = language("de")
        >>> german.same("ihr", "ihre"), german.same("ihr", "sein"), german.same("er", "ihn")
        (True, False, False)
        """
        shared = _places(self._uses.get(one, ())) & _places(self._uses.get(other, ()))
        features = [
            {entry[1:] for entry in self._uses[form] if (entry.type, entry.case) in shared} for form in (one, other)
        ]
        return bool(shared) and features[0] == features[1]

    def share_slot(self, one: str, other: str) -> bool:
        """Whether two forms share a type and a case in some use."""
        return bool(_places(self._uses[one]) & _places(self._uses[other]))

    def agrees(self, words: Sequence[Word], index: int, form: str) -> bool:
        """Whether the forms share person and number in a place that they share; "-" agrees with any.

        Forms that share no place are compared in all their uses.
        """
        old, new = self._uses[self._form_at(words, index)], self._uses[form]
        shared = _places(old) & _places(new) or _places(old) | _places(new)
        return any(
            a.person == b.person and (a.number == b.number or "-" in (a.number, b.number))
            for a in old
            for b in new
            if (a.type, a.case) in shared and (b.type, b.case) in shared
        )

    def replaces(self, words: Sequence[Word], index: int, form: str) -> bool:
        """Whether `form` agrees with `words[index]` and shares a type and a case with it."""
        return self.agrees(words, index, form) and self.share_slot(self._form_at(words, index), form)


def _places(uses: Iterable[Entry]) -> set[tuple[str, str]]:
    return {(entry.type, entry.case) for entry in uses}


def _is_sound(entry: Entry) -> bool:
    return all(entry) and entry.type in TYPES and entry.form == entry.form.lower() and " " not in entry.form


def read(path: Path) -> TableLanguage:
    """The language of a user's table; its code is the name of the file before ".tsv".

    Raises:
        InputError: with the line, where the table is broken.
    """
    lines = read_lines(path)
    if len(lines) < 3 or not lines[0].startswith("#") or tuple(lines[1].split("\t")) != COLUMNS:
        raise InputError(f"expected a first line '# source', then the columns {' '.join(COLUMNS)}", file=path, line=1)
    entries = []
    for number, line in enumerate(lines[2:], start=3):
        cells = line.split("\t")
        if len(cells) != len(COLUMNS) or not all(cells):
            raise InputError(f"expected {len(COLUMNS)} filled columns, got {len(cells)}", file=path, line=number)
        entry = Entry(*cells)
        if not _is_sound(entry):
            message = f"expected one lower-case word and a type, one of {', '.join(TYPES)}, got {line!r}"
            raise InputError(message, file=path, line=number)
        entries.append(entry)
    return TableLanguage(path.name.removesuffix(".tsv"), tuple(entries))
