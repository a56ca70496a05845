"""Whether texts are in the language in which they are scored, by the share of words that its tables know.

English texts are full of function words and pronouns (`tables/lexicon.en.tsv`); other languages have tables of
pronouns. Texts are doubted only where the figures leave no doubt, as lists, names and code have few known words too:

- most words are in another script;
- English: fewer than `LEAST` of the words are known, and other languages know more of them or there are `MANY` words;
  or other languages know `LEAST` of the words and more than English does;
- another language: English knows `MOST_ENGLISH` of the words, or other languages far more than the own one.

What other languages know are their tables and the lexicon's foreign words, without the words of the own language.

Measured: in English files (WMT21 to 23 references, 12 M words of documents) 42 to 65 % of the words are known, in those
of 11 other languages 0 to 7 %. benchmarks/published/pronoun-finder.md has the figures for groups of six lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from pronmetric.errors import PronmetricError
from pronmetric.pronouns.closed_class import closed_class
from pronmetric.pronouns.closed_class import languages as source_languages
from pronmetric.pronouns.languages import ENGLISH, Language, language
from pronmetric.pronouns.lexicon import CLASSES as LEXICON
from pronmetric.pronouns.lexicon import FUNCTION
from pronmetric.pronouns.tables import codes
from pronmetric.text.readable import readable

CHECKED_LINES = 2000
"""Lines that are read for a check; most texts then have `ENOUGH` words."""
FEWEST, MANY, ENOUGH = 20, 200, 20_000
"""Words: fewer are not judged; enough to judge without a rival; those that are read of a file."""
LEAST = 0.15  # between the 1 % quantiles: 24 % of six English lines, 16 % of six lines in another language
MOST_ENGLISH = 0.30  # in other languages at most 16 % of six lines
_FOREIGN, _FEWEST_FOREIGN, _RATIO = 0.05, 4, 3.0  # names have words like "la", "al" and "jo"
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[a-z\u00c0-\u024f\u1e00-\u1eff]")


class KnownWords:
    """The words of texts, counted by who knows them; words after the first `ENOUGH` are not read."""

    def __init__(self, own: Language) -> None:
        self._own = own
        self._is_latin = any(map(_LATIN.match, own.forms))
        self._known, self._english, self._foreign = _tables(own)
        self._words = self._other_script = 0
        self._counts = [0, 0, 0]

    def add(self, text: str) -> None:
        """Count the words of a text."""
        if self._words >= ENOUGH:
            return
        seen = readable(text).text.lower()
        if self._own.writing.spaced:
            seen_words = _LETTERS.findall(seen)
        else:
            seen_words = [word.text for word in self._own.words(seen) if word.text.isalpha()]
        self._words += len(seen_words)
        self._other_script += sum(bool(_LATIN.match(word)) != self._is_latin for word in seen_words)
        for place, table in enumerate((self._known, self._english, self._foreign)):
            self._counts[place] += sum(word in table for word in seen_words)

    def is_english(self) -> bool:
        """Whether the texts are English without doubt, if that is the own language."""
        return self._words >= FEWEST and self._counts[0] >= MOST_ENGLISH * self._words

    def doubt(self) -> str | None:
        """Why the texts do not look like the language; None where they may be in it."""
        own, words, (known, english, foreign) = self._own.code, self._words, self._counts
        if words < FEWEST:
            return None
        said = f"do the texts look like {own}? {known} of {words} words are known in {own}"
        if 2 * self._other_script > words:
            return f"{said}, {self._other_script} are in another script"
        if own == ENGLISH.code:
            other = foreign > known and foreign >= max(_FEWEST_FOREIGN, _FOREIGN * words)
            doubted = known < LEAST * words and (other or words >= MANY)
            doubted |= foreign > known and foreign >= LEAST * words
        else:
            other = foreign > _RATIO * known and foreign >= max(_FEWEST_FOREIGN, _FOREIGN * words)
            doubted = other or english >= MOST_ENGLISH * words
        more = f", {english} in en" if english > known else f", {foreign} in other languages" if foreign > known else ""
        return f"{said}{more}" if doubted else None


def doubt(texts: Iterable[str], own: Language) -> str | None:
    """Why the texts do not look like the language `own`; None where they may be in it.

    >>> text = "Er sagte, dass sie ihm ihr Buch gegeben hat, und er liest es ihr vor, wenn sie ihn darum bittet."
    >>> doubt([text], ENGLISH)
    'do the texts look like en? 0 of 20 words are known in en, 10 in other languages'
    """
    sample = KnownWords(own)
    for text in texts:
        sample.add(text)
    return sample.doubt()


def check_texts(
    named: Mapping[str, Iterable[str]], language: Language, note: Callable[[str], None], *, strict: bool
) -> None:
    """Note texts, by the name of their file or system, that do not look like `language`.

    Raises:
        PronmetricError: there are such texts, and `strict`.
    """
    for name, texts in named.items():
        said = doubt(texts, language)
        if said is not None and strict:
            raise PronmetricError(f"{name}: {said}; give texts in {language.code}, or leave out `strict=True`")
        if said is not None:
            note(f"{name}: {said}")


@cache
def _tables(own: Language) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The words that the own language knows, and those that it does not but English or other languages do."""
    english = FUNCTION | frozenset(ENGLISH.forms)
    known = english if own.code == ENGLISH.code else _forms(own.forms) | _forms(closed_class(own.code).pronouns)
    others = {*codes(), *source_languages()} - {own.code}
    tables = [_forms(closed_class(code).pronouns) for code in others]
    tables += [_forms(language(code).forms) for code in others if code in codes()]
    foreign = _forms(LEXICON["foreign_word"]).union(*tables) if own.code == ENGLISH.code else frozenset().union(*tables)
    return known, english - known, foreign - known - english


def _forms(table: Iterable[str]) -> frozenset[str]:
    """Forms as words: in lower case, elided ones without their apostrophe."""
    forms = {form.lower().rstrip("'") for form in table}
    return frozenset(form for form in forms if form.isalpha() and len(form) > 1)
