"""The grammatical gender of the nouns of a text: by a morphological lexicon, or by the determiners beside them.

Russian and Ukrainian have a lexicon (pymorphy3, of the extra `morphology`). In German, Spanish and French a determiner
tells the genders that its noun may have (tables/determiners.XX.tsv).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

from pronmetric.errors import MissingExtra
from pronmetric.pronouns.tables import names, rows

GENDERS = ("masculine", "feminine", "neuter")
PLURAL = "plural"
"""In place of a gender: of several things, whose gender the form does not show."""
NounGenders = Callable[[Sequence[str], int], frozenset[str]]
"""The genders that word `index` of these words of a text may have; none if it is no noun, or not known."""
_UNKNOWN: frozenset[str] = frozenset()
_MODULES = {"ru": ("pymorphy3",), "uk": ("pymorphy3", "pymorphy3_dicts_uk")}
_TAGS: Mapping[str, Sequence[str]] = {
    "masc": ("masculine",),
    "femn": ("feminine",),
    "neut": ("neuter",),
    "ms-f": ("masculine", "feminine"),
}
_OTHER_CLASSES = ("NPRO", "ADJF", "VERB", "INFN")  # of words that are more often no noun, though they may be one
_LIKELY = 0.2  # of the first reading's probability, from which another counts: Ivanova is also a genitive of Ivanov
_CAPITALISED = ("de",)  # languages whose nouns begin with a capital
_ADJECTIVES = ("e", "en", "em", "er", "es")  # endings of an adjective between determiner and noun there
_LOOKED_UP = 100_000  # words whose gender is in memory


def noun_genders(code: str) -> NounGenders | None:
    """What tells the gender of nouns in a language; None for a language without.

    Raises:
        MissingExtra: the language's lexicon is not installed.
    """
    if code in _MODULES:
        for module in _MODULES[code]:
            if find_spec(module) is None:
                raise MissingExtra(module.replace("_", "-"), "morphology", f"the gender of nouns ({code})")
        return lambda words, index: _lexicon(code)(words[index])
    return _by_determiners(code) if f"determiners.{code}.tsv" in names() else None


def described(genders: frozenset[str]) -> str | None:
    """Genders in words, such as "masculine or neuter"; None if they tell nothing.

    >>> described(frozenset({"plural", "feminine"})), described(frozenset({"plural"}))
    ('feminine or plural', None)
    """
    listed = [one for one in (*GENDERS, PLURAL) if one in genders]
    if listed in ([], [PLURAL]) or genders >= {*GENDERS}:
        return None
    *first, last = listed
    return f"{', '.join(first)} or {last}" if first else last


@cache
def _lexicon(code: str) -> Callable[[str], frozenset[str]]:
    """What looks a word up in the lexicon, which takes seconds to load."""
    from pymorphy3 import MorphAnalyzer

    lexicon = MorphAnalyzer(lang=code)
    return lru_cache(_LOOKED_UP)(lambda word: _of_readings(word, lexicon.parse(word)))


def _of_readings(word: str, readings: Sequence[Any]) -> frozenset[str]:
    """The genders of a word by its readings in the lexicon, the most probable first; that must be one of a noun.

    Ukrainian readings are all as probable. A word in small letters is no surname.
    """
    readings = [one for one in readings if one.is_known and not (word.islower() and "Surn" in one.tag.grammemes)]
    first = [one for one in readings if one.score == readings[0].score]
    if not first or first[0].tag.POS != "NOUN" or any(one.tag.POS in _OTHER_CLASSES for one in first):
        return _UNKNOWN
    nouns = [one for one in readings if one.tag.POS == "NOUN" and one.score >= _LIKELY * first[0].score]
    return frozenset(gender for one in nouns for gender in _of_tag(one.tag) or _of_tag(one.normalized.tag))


def _of_tag(tag: Any) -> list[str]:
    """The genders of a reading; a Ukrainian plural has none, but its singular."""
    return [gender for name, genders in _TAGS.items() if name in tag.grammemes for gender in genders]


@dataclass(frozen=True)
class _Determiner:
    """genders: of its nouns, none for a word that is no determiner. after, not_before: see the table's first line."""

    genders: frozenset[str]
    after: frozenset[str]
    not_before: tuple[str, ...]

    def fits(self, words: Sequence[str], index: int) -> bool:
        """Whether it can be a determiner as word `index`; after a comma it may be a relative pronoun."""
        before = words[index - 1].lower() if index else ""
        follower = words[index + 1].lower()
        return before != "," and (not self.after or before in self.after) and not follower.startswith(self.not_before)


@cache
def _by_determiners(code: str) -> NounGenders:
    def parts(cell: str) -> list[str]:
        return [] if cell == "-" else cell.split(" ")

    table = {
        row["form"]: _Determiner(
            frozenset(parts(row["genders"])), frozenset(parts(row["after"])), tuple(parts(row["not_before"]))
        )
        for row in rows(f"determiners.{code}.tsv")
    }
    capitalised = code in _CAPITALISED

    def find(word: str) -> _Determiner | None:
        return table.get(word) or table.get(word.lower())

    def is_noun(word: str) -> bool:
        return word.isalpha() and find(word) is None and (word[0].isupper() or not capitalised)

    def told(words: Sequence[str], index: int) -> frozenset[str]:
        """What the determiner of a noun tells; none if there is no determiner."""
        place = index - 1
        if capitalised and place > 0 and find(words[place]) is None and _is_adjective(words[place]):
            place -= 1
        found = find(words[place]) if place >= 0 else None
        return found.genders if found is not None and found.fits(words, place) else _UNKNOWN

    def genders(words: Sequence[str], index: int) -> frozenset[str]:
        """What the determiners of all places of a word in the text have in common."""
        if not is_noun(words[index]) or words[index + 1 : index + 2] == ["-"]:  # the determiner is of the word after -
            return _UNKNOWN
        everywhere = [told(words, place) for place, word in enumerate(words) if word == words[index]]
        known = [one for one in everywhere if one]
        return frozenset.intersection(*known) if known else _UNKNOWN

    return genders


def _is_adjective(word: str) -> bool:
    return word.isalpha() and word.islower() and word.endswith(_ADJECTIVES)
