"""Pronouns of a source or a reference without a counterpart in the translation, and surplus ones of the translation.

A pronoun of the one side and one of the other correspond if they are linked, else if the form of the one can stand for
the other, nearest first, else if they have nearly the same place: the form may be wrong, but none is missing. A pronoun
that is linked to another word, or has a name in its place, is translated. An English pronoun that is linked to any
word, such as a verb of a language that drops subjects, or whose person another closed-class form shows, has a source.

A reference is in the language of the translation. Only identical and similar words are linked, so that any other word
in the place of a pronoun counts as its counterpart, on both sides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pronmetric.alignment.places import Links
from pronmetric.alignment.source_words import SourceWords
from pronmetric.pronouns.classes import PERSON_OF, class_of
from pronmetric.pronouns.closed_class import ClosedClass
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.slots import slot
from pronmetric.text.words import Word

# Chosen by hand, not tuned.
NEAR = 2.0  # words between the places of two pronouns of different persons that correspond


class Unmatched(NamedTuple):
    """missing: places of pronouns of the source or reference. surplus: numbers of pronouns of the translation."""

    missing: tuple[int, ...]
    surplus: tuple[int, ...]


def unmatched(
    source: SourceWords, table: ClosedClass, words: Sequence[Word], pronouns: Sequence[Occurrence], links: Links
) -> Unmatched:
    """The pronouns of a source sentence and of its translation that correspond to none of the other side."""
    forms = {k: _persons(source, k, table) for k in source.closed if source.forms[k] in table.pronouns}
    left, free = _pair(forms, len(source.forms), words, pronouns, links)
    missing = tuple(k for k in left if not any(_is_name(words, j) for j in _gap(links, k)))
    shown = {name for k in source.closed if k not in forms for name in _persons(source, k, table)}
    surplus = (n for n in free if pronouns[n].word not in links.of and person(words, pronouns[n]) not in shown)
    return Unmatched(missing, tuple(surplus))


def unmatched_in_reference(
    reference: Sequence[Word],
    expected: Sequence[Occurrence],
    words: Sequence[Word],
    pronouns: Sequence[Occurrence],
    links: Iterable[tuple[int, int]],
) -> Unmatched:
    """The personal, possessive, reflexive and demonstrative pronouns that correspond to none of the other text.

    expected: the pronouns of the reference. links: (word of the reference, word of the translation), from an aligner
    that links identical and similar words.
    """
    pairs = list(links)
    there, back = Links.read(pairs, len(words)), Links.read(((j, i) for i, j in pairs), len(reference))
    forms = {p.word: {name} for p in expected if (name := person(reference, p))}
    own = [n for n, pronoun in enumerate(pronouns) if pronoun.word not in there.of]
    left, free = _pair(forms, len(reference), words, [pronouns[n] for n in own], there)
    missing = (k for k in left if not any(_is_word(words[j]) for j in _gap(there, k)))
    gaps = {own[n]: _gap(back, pronouns[own[n]].word) for n in free}
    surplus = (n for n, gap in gaps.items() if not any(_is_word(reference[k]) for k in gap))
    return Unmatched(tuple(missing), tuple(surplus))


def _pair(
    forms: Mapping[int, Collection[str]],
    size: int,
    words: Sequence[Word],
    pronouns: Sequence[Occurrence],
    links: Links,
) -> tuple[list[int], list[int]]:
    """The pronouns of both sides that correspond to no word, and to no pronoun, of the other.

    forms: the place of each pronoun of the first side, which has `size` words, with the persons that it can stand for.
    """
    persons = [person(words, p) for p in pronouns]
    by_word = {p.word: number for number, p in enumerate(pronouns)}
    linked = {k: by_word.get(j) for j, k in links.of.items()}
    paired = {number for k, number in linked.items() if k in forms and number is not None}
    left = [k for k in forms if k not in linked]
    free = [number for number in range(len(pronouns)) if number not in paired and persons[number]]
    places = {number: links.place(pronouns[number].word, size) for number in free}
    near = sorted((abs(places[number] - k), k, number) for k in left for number in free)
    for same in (True, False):
        for distance, k, number in near:
            fits = persons[number] in forms[k] if same else distance <= NEAR
            if fits and k in left and number in free:
                left.remove(k)
                free.remove(number)
    return left, free


def person(words: Sequence[Word], pronoun: Occurrence) -> str:
    """The personal class of an English pronoun; "" for relatives and interrogatives."""
    return PERSON_OF.get(class_of(pronoun.form, slot(words, pronoun.word)), "")


def _persons(source: SourceWords, place: int, table: ClosedClass) -> set[str]:
    """The persons that a closed-class form can stand for."""
    return {PERSON_OF[name] for name in table.english[source.forms[place]] if name in PERSON_OF}


def _gap(links: Links, place: int) -> Iterator[int]:
    """The unlinked words in the place of a word: between the links of the nearest linked words around it."""
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


def _is_word(word: Word) -> bool:
    """Whether this is no punctuation."""
    return any(character.isalnum() for character in word.text)
