"""The clause that may follow "that": how it begins, and whether it has a subject, a verb and an object."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from pronmetric.pronouns.lexicon import (
    ADVERB,
    ARTICLE,
    AUXILIARY,
    BASE,
    BE,
    CONJUNCTION,
    MODAL,
    PREPOSITION,
)
from pronmetric.pronouns.lexicon import CLASSES as LEXICON
from pronmetric.pronouns.word_class import (
    COORDINATOR,
    DETERMINER_WORD,
    FINITE,
    FINITE_VERB,
    OBJECT,
    QUOTE,
    STARTER,
    SUBJECT,
    SURE_DETERMINER,
    is_adverb,
    is_plural,
    is_stop,
    is_word,
    may_be_finite,
    word_at,
)


class FollowingWords(NamedTuple):
    """What follows: its kind, and the index of its first word after quotes and adverbs.

    kind: verb (finite), pronoun, determiner, starter (of a clause), preposition, name, open (any other word),
    fixed (that way, that kind: certainly a determiner), comma or end.
    """

    kind: str
    at: int


_FOR_OBJECTS = frozenset("to about of with like for at on from as".split())
_AFTER_VERB = DETERMINER_WORD | PREPOSITION | (OBJECT - {"people"}) | ADVERB | {"to", "that", "and", "or"}
_AFTER_GAP = frozenset("is was are were has had".split())


def is_certain(words: Sequence[str], follows: FollowingWords) -> bool:
    """Whether the word that follows can only begin a clause."""
    word = word_at(words, follows.at)
    return follows.kind == "starter" or word in LEXICON["personal_subject"] or word in SURE_DETERMINER


def following(words: Sequence[str], index: int, names: Collection[int] = ()) -> FollowingWords:
    """What follows the "that" at `index`; names: the indices of words that begin with a capital."""
    at = index + 1
    while word_at(words, at) in QUOTE:
        at += 1
    first = at
    while is_adverb(word_at(words, at)) or (
        word_at(words, at) in ("more", "most") and is_adverb(word_at(words, at + 1))
    ):
        at += 1
    kind = _following_kind(word_at(words, at), word_at(words, at + 1), moved=at > first)
    return FollowingWords("name" if kind == "open" and at in names else kind, at)


def _following_kind(word: str, after: str, *, moved: bool) -> str:
    """The first kind of `_KINDS` whose test is true; moved: quotes or adverbs were skipped before `word`."""
    return next((kind for kind, holds in _KINDS if holds(word, after, moved)), "open")


def _is_number(word: str) -> bool:
    return word[:1].isdigit() or word[:1] in ("$", "#", "\u20ac", "\u00a3")


def _ends_clause(word: str, after: str, moved: bool) -> bool:
    return not _is_number(word) and not is_word(word)


def _is_verb(word: str, after: str, moved: bool) -> bool:
    return word in FINITE_VERB or word.startswith("'")


def _is_fixed(word: str, after: str, moved: bool) -> bool:
    """Whether "that" is certainly a determiner: that one, that way, that other, that day."""
    if word == "one" and (not after.isalpha() or after in FINITE_VERB - MODAL - {"had"}):
        return True
    if word in LEXICON["light_noun"] or (word == "other" and not is_plural(after)):
        return True
    return word in LEXICON["time_unit"] and not (after.isalpha() and not can_follow_verb(after))


def _is_determiner(word: str, after: str, moved: bool) -> bool:
    if _is_number(word) or word == "that" or word in DETERMINER_WORD:
        return True
    if word in ("about", "around", "over") and (after[:1].isdigit() or after in ARTICLE - {"the", "a", "an"}):
        return True
    return word.endswith("ing") and after in SURE_DETERMINER


def _is_preposition(word: str, after: str, moved: bool) -> bool:
    return word in PREPOSITION or word == "to" or (word in ("last", "next") and after in LEXICON["time_unit"])


def _is_coordinator(word: str, after: str, moved: bool) -> bool:
    return word in COORDINATOR or (word == "which" and not moved)


def _is_likely_verb(word: str, after: str, moved: bool) -> bool:
    return may_be_finite(word) and can_follow_verb(after)


_KINDS: tuple[tuple[str, Callable[[str, str, bool], bool]], ...] = (
    ("comma", lambda word, after, moved: word == "," and not moved),
    ("open", lambda word, after, moved: word == ","),
    ("end", _ends_clause),
    ("verb", _is_verb),
    ("pronoun", lambda word, after, moved: word in SUBJECT),
    ("fixed", _is_fixed),
    ("determiner", _is_determiner),
    ("starter", lambda word, after, moved: word in STARTER),
    ("preposition", _is_preposition),
    ("end", _is_coordinator),
    ("verb", _is_likely_verb),
)
"""Kinds of the word after "that", and tests of this word, the next one and `moved`; the first true one counts."""


def can_follow_verb(word: str) -> bool:
    """Whether `word` can come right after a verb."""
    if word == "of":
        return False
    return not word[:1].isalpha() or word in _AFTER_VERB


def _finite_ahead(words: Sequence[str], at: int, *, fronted: bool) -> bool:
    """Whether the clause that may begin at `at` has a finite verb.

    fronted: the clause begins with a phrase before its subject, which a comma or a pronoun may follow.
    """
    for k in range(at, min(at + 20, len(words))):
        word, before = words[k], words[k - 1]
        if is_stop(words, k) or (word in LEXICON["clause_end"] and (word == "but" or not fronted)):
            return False
        if k > at and (word == "and" if fronted else word == "," or word in STARTER):
            return False
        if word in SUBJECT and word in LEXICON["personal_subject"] and before not in PREPOSITION:
            return fronted and before not in LEXICON["clause_end"]
        if k == at:
            continue
        if word in FINITE or (word in LEXICON["base_verb_only"] and is_plural(before)):
            return True
        if may_be_finite(word) and before not in DETERMINER_WORD | PREPOSITION | {"and", "or", ","}:
            return True
    return False


def clause_can_follow(words: Sequence[str], follows: FollowingWords, *, object_unlikely: bool) -> bool:
    """Whether a clause with its own subject can follow.

    object_unlikely: the word before rarely takes an object "that N" ("he said that N").
    """
    kind, at = follows
    if kind == "preposition":
        return _is_fronted(words, at, object_unlikely=object_unlikely)
    if kind == "name" and (object_unlikely or _finite_ahead(words, at, fronted=True)):
        return True
    if kind in ("open", "name"):
        if is_plural(words[at]) or _finite_ahead(words, at, fronted=False):
            return True
        ends_soon = at + 4 > len(words) or any(is_stop(words, k) for k in range(at, at + 4))
        return object_unlikely and not ends_soon
    return kind in ("pronoun", "determiner", "starter")


def _is_fronted(words: Sequence[str], at: int, *, object_unlikely: bool) -> bool:
    """Whether the preposition at `at` begins a clause ("that in May he left"), not a phrase after "that"."""
    word, after = words[at], word_at(words, at + 1)
    if word == "about" or (word == "to" and after not in BASE):
        return False
    if word == "as":
        return after in LEXICON["personal_subject"] or (after in SURE_DETERMINER and object_unlikely)
    if object_unlikely and word not in _FOR_OBJECTS:
        return True
    end = next((k for k in range(at, len(words)) if is_stop(words, k)), len(words))
    return (object_unlikely and end - at > 7) or _finite_ahead(words, at, fronted=True)


def has_verb(words: Sequence[str], follows: FollowingWords) -> bool:
    """Whether a finite verb comes soon after the subject that follows."""
    ahead = words[follows.at + 1 : follows.at + 7]
    return any(word in FINITE_VERB or may_be_finite(word) or word in BASE for word in ahead)


def is_certain_clause(words: Sequence[str], follows: FollowingWords) -> bool:
    """Whether a clause with a certain subject, a verb and its object follows."""
    subject = follows.kind == "pronoun" or words[follows.at] in SURE_DETERMINER
    return subject and has_verb(words, follows) and not has_gap(words, follows)


def has_gap(words: Sequence[str], follows: FollowingWords) -> bool:
    """Whether the clause that follows lacks the object of its verb, as a relative one ("the claim that he made")."""
    if follows.kind not in ("pronoun", "determiner"):
        return False
    phrase = follows.kind == "determiner"
    for k in range(follows.at + 1 + phrase, min(follows.at + 6, len(words))):
        word, after = words[k], word_at(words, k + 1)
        if word in LEXICON["transitive"] and after not in LEXICON["transitive"]:
            if word.endswith("ing") != (words[k - 1] in BE):
                return False
            if is_adverb(after):
                continue
            if not after[:1].isalnum() or after in CONJUNCTION or after in _AFTER_GAP:
                return True
            return after in PREPOSITION and not phrase and after not in ("out", "up", "off", "in", "to", "on")
        if not phrase and word not in AUXILIARY and not is_adverb(word) and word not in ("not", "n't"):
            return False
    return False
