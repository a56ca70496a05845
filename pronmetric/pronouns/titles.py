"""Quoted titles of films, books, songs and the like, in which no pronoun is in use: "Me and My Shadow".

A title stands between quotation marks in title case, in a text in which other words have small letters. Speech looks
like one where its words are names ("It's Miss Lee", "My God"), so a word must show that the capitals are those of a
title: a function word, the verb after a subject ("You Look Tasty"), or two nouns after a possessive ("My Cousin
Rachel"). In doubt it is speech, and so is one word.
"""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.pronouns.compound import is_glued
from pronmetric.pronouns.lexicon import ADVERB, ARTICLE, FUNCTION, PREPOSITION, VERB
from pronmetric.pronouns.lexicon import CLASSES as LEXICON
from pronmetric.pronouns.word_class import COORDINATOR, word_at
from pronmetric.text.words import Word

_CLOSING = {
    '"': '"',
    "'": "'",
    "`": "'",
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
    "\u00ab": "\u00bb",
    "\u2039": "\u203a",
    "\u300a": "\u300b",
    "\u3008": "\u3009",
}
_BEFORE_QUOTE = frozenset("([-/\u2013\u2014")
_END = frozenset(".!?")
_INNER = frozenset(",:-\u2013&/()'\u2019\u2022")
_SMALL = (PREPOSITION | ARTICLE | COORDINATOR | {"to"}) - {"like"}  # "I like Rome"
_OR_NAME = frozenset("don i may the till will".split())
_SHOWS_TITLE = FUNCTION - ADVERB - _OR_NAME
_SUBJECT = frozenset("i you he she it we they who".split())
_OWNS = LEXICON["possessive"]
_ADDRESS = LEXICON["honorific"] | frozenset(
    "dear eminence excellency god grace highness holiness honor honour ladies ladyship lords lordship madam majesties "
    "majesty reverence worship".split()
)


def is_in_title(words: Sequence[Word], lower: Sequence[str], index: int) -> bool:
    """Whether word `index` is in a quoted title.

    >>> from pronmetric.text.words import rule_word, words
    >>> film = words('The film "Let Me Stay" was shown.')
    >>> is_in_title(film, [rule_word(word) for word in film], 4)
    True
    """
    if not _is_capital(words[index]):
        return False
    opening = _opening(words, lower, index)
    end = None if opening is None else _end(words, lower, index, _CLOSING[words[opening].text])
    if opening is None or end is None or not has_small_letters(words):
        return False
    return _is_title(words[opening + 1 : end], lower[opening + 1 : end])


def has_small_letters(words: Sequence[Word]) -> bool:
    """Whether a text has longer words in small letters other than function words, so that a capital tells something."""
    return any(word.text.islower() and len(word.text) > 3 and word.text not in FUNCTION for word in words)


def _opening(words: Sequence[Word], lower: Sequence[str], index: int) -> int | None:
    """The opening mark before word `index` if only words of a title stand between."""
    for k in range(index - 1, -1, -1):
        if words[k].text in _CLOSING and _opens(words, k):
            return k
        if not _fits(words[k], lower[k]):
            return None
    return None


def _end(words: Sequence[Word], lower: Sequence[str], index: int, closing: str) -> int | None:
    """The closing mark after word `index` if only words of a title and the mark of an end stand between."""
    ended = False
    for k in range(index + 1, len(words)):
        if words[k].text in closing and not (is_glued(words, k + 1) and words[k + 1].text[0].isalnum()):
            return k
        if words[k].text in _END:
            ended = True
        elif not (words[k].text == "," if ended else _fits(words[k], lower[k])):
            return None
    return None


def _opens(words: Sequence[Word], k: int) -> bool:
    """Whether a mark opens a quotation; of a straight one the blanks around it tell, or else its number in the text."""
    mark = words[k].text
    if mark not in ('"', "'"):
        return True
    before = is_glued(words, k) and words[k - 1].text not in _BEFORE_QUOTE
    after = is_glued(words, k + 1)
    if mark == "'" or before or after:
        return after and not before
    return sum(word.text == mark for word in words[:k]) % 2 == 0


def _fits(word: Word, low: str) -> bool:
    """Whether a word can stand in a title: one with a capital, a small one, a clitic, a number or a mark."""
    return _is_capital(word) or low in _SMALL or low in _INNER or low[0].isdigit() or low[0] == "'" or low == "n't"


def _is_capital(word: Word) -> bool:
    """Whether a word begins with a capital; in speech a word in capitals is a stressed one ("With YOU?")."""
    return word.text[0].isupper() and (len(word.text) == 1 or not word.text.isupper())


def _is_title(words: Sequence[Word], lower: Sequence[str]) -> bool:
    """Whether words between quotation marks are a title and no speech."""
    inside = [k for k, low in enumerate(lower) if low[0].isalpha() and low != "n't"]
    capitals = [k for k in inside if _is_capital(words[k])]
    if len(inside) < 2 or inside[0] != capitals[0] or inside[-1] != capitals[-1]:
        return False
    if len(inside) == 2 and lower[inside[0]] in VERB:  # "Thank You"
        return False
    if any(lower[k] in _OWNS and word_at(lower, k + 1) in _ADDRESS for k in capitals):
        return False
    if any(lower[k] in _SHOWS_TITLE or _is_verb_of_subject(lower, k) for k in capitals[1:]):
        return True
    owned = lower[inside[0]] in _OWNS and inside[1] == inside[0] + 1
    return owned and len(capitals) > 2 and not {",", "!", "?"}.intersection(lower)


def _is_verb_of_subject(lower: Sequence[str], k: int) -> bool:
    return word_at(lower, k - 1) in _SUBJECT and (lower[k] in VERB or lower[k] in _OR_NAME)
