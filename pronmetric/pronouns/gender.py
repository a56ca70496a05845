"""The grammatical gender that a pronoun shows, and that of the nouns to which it may refer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pronmetric.pronouns.finder import Entry
from pronmetric.pronouns.languages import Language
from pronmetric.pronouns.noun_gender import GENDERS, PLURAL, NounGenders, described, noun_genders

_TYPES = ("personal", "possessive")


@dataclass(frozen=True)
class Genders:
    """The genders of the pronouns and the nouns of a language, in words such as "masculine or neuter".

    nouns: what tells those of nouns.
    """

    language: Language
    nouns: NounGenders

    def of_pronoun(self, form: str) -> str | None:
        """The genders that a form of the table has in the third person; None if it does not show any.

        >>> from pronmetric.pronouns.languages import language
        >>> german = Genders(language("de"), lambda words, index: frozenset())
        >>> [german.of_pronoun(form) for form in ("er", "ihm", "sie", "ich", "ihnen")]
        ['masculine', 'masculine or neuter', 'feminine or plural', None, None]
        """
        shown = [_shown(entry) for entry in self.language.entries if entry.form == form and entry.type in _TYPES]
        if None in shown:
            return None
        return described(frozenset(gender for gender in shown if gender is not None))

    def of_noun(self, words: Sequence[str], index: int) -> str | None:
        """The genders that word `index` of these words of a text may have; None if it is no noun, or not known."""
        return None if words[index].lower() in self.language.forms else described(self.nouns(words, index))


def _shown(entry: Entry) -> str | None:
    """What one use of a form shows: its gender, or that it is plural; None for neither."""
    if entry.person == "3" and entry.number != "-" and entry.gender in GENDERS:
        return entry.gender
    return PLURAL if entry.number == "plural" else None


def genders_of(language: Language) -> Genders | None:
    """The genders of a language; None if nothing tells those of its nouns.

    Raises:
        MissingExtra: its lexicon is not installed.
    """
    nouns = noun_genders(language.code)
    return None if nouns is None else Genders(language, nouns)
