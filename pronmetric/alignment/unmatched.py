"""Pronouns of a source without a counterpart in the translation, and pronouns of a translation without a source.

A source pronoun and an English one correspond if they are linked, else if the source form can stand for the English
one, nearest first, else if they have nearly the same place: the form may be wrong, but none is missing. A source
pronoun that is linked to another word, or has a name in its place, is translated. An English pronoun that is linked to
any word, such as a verb of a language that drops subjects, or whose person another closed-class form shows, has a
source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pronmetric.alignment.source_features import Links
from pronmetric.alignment.source_words import SourceWords
from pronmetric.pronouns.classes import PERSON_OF, class_of
from pronmetric.pronouns.closed_class import ClosedClass
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.slots import slot
from pronmetric.text.words import Word

NEAR = 2.0  # source words between the places of two pronouns of different persons that correspond


class Unmatched(NamedTuple):
    """missing: places of source pronouns. surplus: numbers of English pronouns."""

    missing: tuple[int, ...]
    surplus: tuple[int, ...]


def unmatched(
    source: SourceWords, table: ClosedClass, words: Sequence[Word], pronouns: Sequence[Occurrence], links: Links
) -> Unmatched:
    """The pronouns of a source sentence and of its translation that correspond to none of the other side."""
    forms = [k for k in source.closed if source.forms[k] in table.pronouns]
    persons = [person(words, p) for p in pronouns]
    by_word = {p.word: number for number, p in enumerate(pronouns)}
    linked = {k: by_word.get(j) for j, k in links.of.items()}
    paired = {number for k, number in linked.items() if k in forms and number is not None}
    left = [k for k in forms if k not in linked]
    free = [number for number in range(len(pronouns)) if number not in paired and persons[number]]
    places = {number: links.place(pronouns[number].word, len(source.forms)) for number in free}
    near = sorted((abs(places[number] - k), k, number) for k in left for number in free)
    for same in (True, False):
        for distance, k, number in near:
            fits = persons[number] in _persons(source, k, table) if same else distance <= NEAR
            if fits and k in left and number in free:
                left.remove(k)
                free.remove(number)
    missing = tuple(k for k in left if not any(_is_name(words, j) for j in _gap(links, k)))
    shown = {name for k in source.closed if k not in forms for name in _persons(source, k, table)}
    surplus = tuple(n for n in free if pronouns[n].word not in links.of and persons[n] not in shown)
    return Unmatched(missing, surplus)


def person(words: Sequence[Word], pronoun: Occurrence) -> str:
    """The personal class of an English pronoun; "" for relatives and interrogatives."""
    return PERSON_OF.get(class_of(pronoun.form, slot(words, pronoun.word)), "")


def _persons(source: SourceWords, place: int, table: ClosedClass) -> set[str]:
    """The persons that a closed-class form can stand for."""
    return {PERSON_OF[name] for name in table.english[source.forms[place]] if name in PERSON_OF}


def _gap(links: Links, place: int) -> Iterator[int]:
    """The unlinked English words between those that are linked to the nearest linked words around a source word."""
    before = max((k for k in links.linked if k < place), default=None)
    after = min((k for k in links.linked if k > place), default=None)
    ends = [
        edge if k is None else next(j for j, i in links.of.items() if i == k)
        for k, edge in ((before, -1), (after, links.size))
    ]
    return (j for j in range(min(ends) + 1, max(ends)) if j not in links.of)


def _is_name(words: Sequence[Word], index: int) -> bool:
    """Whether a word inside a sentence begins with a capital letter."""
    text = words[index].text
    return text[0].isupper() and text != "I" and index > 0 and words[index - 1].text not in '.!?:"\u201c'
