"""The uses of "that": relative and demonstrative pronoun, or complementizer, result and degree word.

Rules over the neighbouring words, no tagger. Two questions decide: can a clause with its own subject follow, and does
a word before take such a clause (said, sure, the fact, so ... , now)? If either is in doubt, "that" is a pronoun.
After Huddleston & Pullum 2002, ch. 11 (content clauses), 12 (relative clauses) and 5 section 10.1 (demonstratives).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from pronmetric.pronouns.clause import (
    FollowingWords,
    can_follow_verb,
    clause_can_follow,
    following,
    has_gap,
    has_verb,
    is_certain,
    is_certain_clause,
)
from pronmetric.pronouns.lexicon import (
    AUXILIARY,
    BASE,
    BE,
    CONJUNCTION,
    MODAL,
    PAST,
    PREPOSITION,
    VERB,
)
from pronmetric.pronouns.lexicon import CLASSES as LEXICON
from pronmetric.pronouns.word_class import (
    BE_FORM,
    COORDINATOR,
    DASH,
    DETERMINER_WORD,
    FULL_STOP,
    OBJECT,
    QUOTE,
    STARTER,
    STOP,
    SUBJECT,
    SURE_DETERMINER,
    WH,
    is_adverb,
    is_plural,
    is_stop,
    is_word,
    word_at,
)

RELATIVE, DEMONSTRATIVE, DETERMINER = "relative", "demonstrative", "demonstrative determiner"
COMPLEMENTIZER, RESULT, DEGREE = "complementizer", "result", "degree word"
IN_USE = frozenset({RELATIVE, DEMONSTRATIVE, DETERMINER})


class Use(NamedTuple):
    """The use of a "that", and the rule that decided it."""

    kind: str
    reason: str


_CLAUSE_VERB, _CLAUSE_OR_OBJECT = LEXICON["clause_verb"], LEXICON["clause_or_object_verb"]
_CLAUSE_ADJECTIVE, _CLAUSE_NOUN = LEXICON["clause_adjective"], LEXICON["clause_noun"]
_GOVERNOR = _CLAUSE_VERB | _CLAUSE_OR_OBJECT | _CLAUSE_ADJECTIVE
_DISTANT_GOVERNOR = (_GOVERNOR | _CLAUSE_NOUN) - LEXICON["light_adjective"]
_SINGULAR = frozenset("one another each every".split())
_PRONOUN_TOO = frozenset("many some few several most both others".split())
_LIKES = LEXICON["personal_subject"] | frozenset("to n't not really also do did would 'd".split())


def use(words: Sequence[str], index: int, *, names: Collection[int] = (), bare: bool = False) -> Use:
    """The use of "that" at `index` of lower-cased `words`.

    names: the indices of words that begin with a capital inside a sentence.
    bare: the text has neither capitals nor punctuation. It does not show names and ends of clauses, so that a clause
    is certain only right after a word that takes one or after "told me", and where a personal pronoun, an article, a
    possessive, a demonstrative or a conjunction follows.

    >>> use("he said that she left".split(), 2)
    Use(kind='complementizer', reason='said takes a clause')
    >>> use("the man that left".split(), 2).kind
    'relative'
    """
    follows = following(words, index, names)
    if follows.kind not in ("verb", "end", "fixed"):
        governor = _governor(words, index, follows, near=bare)
        if governor is not None and bare and not is_certain(words, follows):
            return _pronoun(words, index, follows)._replace(reason=f"in doubt: {governor.reason}")
        if governor is not None:
            return governor
    if follows.kind == "comma":
        return _before_comma(words, index)
    return _degree(words, index) or _pronoun(words, index, follows)


class _Site(NamedTuple):
    """The position before a "that".

    j: the index of the last word before it, quotes and adverbs skipped. certain: a clause follows even if an object
    "that N" would fit. near: a governor must be word `j` itself.
    """

    words: Sequence[str]
    j: int
    follows: FollowingWords
    certain: bool
    near: bool

    @property
    def word(self) -> str:
        """The last word before "that"."""
        return word_at(self.words, self.j)

    @property
    def before(self) -> str:
        """The word before the last one."""
        return word_at(self.words, self.j - 1)


def _governor(words: Sequence[str], index: int, follows: FollowingWords, *, near: bool) -> Use | None:
    """The word before "that" that takes the clause after it; None if there is none, or no clause follows.

    near: it must be the last word before "that".
    """
    if not clause_can_follow(words, follows, object_unlikely=True):
        return None
    certain = clause_can_follow(words, follows, object_unlikely=False)
    j = _before_quotes(words, index)
    if not near and _modifies_governor(words, j):
        j -= 1
    return _governor_at(_Site(words, j, follows, certain, near))


def _governor_at(site: _Site) -> Use | None:
    words, j, follows, certain, near = site
    word, before = site.word, site.before
    if _opens(words, j):
        return _after_comma(words, follows, j) if certain and not near else None
    phrase = _phrase(site)
    if phrase is not None:
        return phrase
    if word in PREPOSITION or word == "to":
        return _distant(words, j) if certain and not near and (before == "ever" or word == "out") else None
    if word in BE_FORM:
        return Use(COMPLEMENTIZER, "clause after be") if certain and not _asks(words, j, follows) else None
    if word == "it" and _so_such(words, j) is None:
        return _after_it(words, j, follows)
    if before in BE_FORM and word_at(words, j - 2) == "it" and is_certain(words, follows) and word.isalpha():
        return Use(COMPLEMENTIZER, f"it is {word} that")
    direct = _so_such(words, j) or _direct(words, j, follows, certain=certain)
    if direct is not None:
        return direct
    if near and not _tells_somebody(site):
        return None
    return _distant(words, j) if certain and not has_gap(words, follows) else None


def _tells_somebody(site: _Site) -> bool:
    """Whether a verb of telling and a pronoun are right before ("told me that")."""
    return site.before in LEXICON["telling_verb"] and site.word in OBJECT and is_certain(site.words, site.follows)


def _phrase(site: _Site) -> Use | None:
    """The fixed phrase that ends at the site: the first of `_PHRASES` whose test is true."""
    for kind, reason, holds in _PHRASES:
        if holds(site):
            return Use(kind, reason.format(word=site.word, before=site.before))
    return None


def _is_conjunction_with_that(site: _Site) -> bool:
    """Now that, given that, except that; in that, not that, would that before a certain subject."""
    word = site.word
    if not site.certain:
        return False
    if word == "now" or word in LEXICON["linker"]:
        return True
    subject = site.follows.kind == "pronoun" or site.words[site.follows.at] in SURE_DETERMINER
    return subject and (word in ("in", "order", "not") or (word == "would" and site.j == 0))


def _is_to_the_point(site: _Site) -> bool:
    degree = site.word in ("point", "extent", "degree") and "to" in site.words[max(site.j - 3, 0) : site.j]
    return degree and site.certain


def _is_in_the_event(site: _Site) -> bool:
    return [*site.words[max(site.j - 2, 0) : site.j + 1]] == ["in", "the", "event"] and site.certain


_PHRASES: tuple[tuple[str, str, Callable[[_Site], bool]], ...] = (
    (RESULT, "{word} that", lambda site: site.word in ("so", "such")),
    (
        COMPLEMENTIZER,
        "{before} {word} takes a clause",
        lambda site: site.word == "out" and site.before in LEXICON["out_verb"] and site.certain,
    ),
    (COMPLEMENTIZER, "{word} that", _is_conjunction_with_that),
    (
        COMPLEMENTIZER,
        "like takes a clause",
        lambda site: site.word == "like" and site.before in _LIKES and is_certain(site.words, site.follows),
    ),
    (RESULT, "to the {word} that", _is_to_the_point),
    (
        COMPLEMENTIZER,
        "in mind that",
        lambda site: site.word == "mind" and site.before == "in" and site.certain,
    ),
    (COMPLEMENTIZER, "in the event that", _is_in_the_event),
)
"""Phrases before "that" that take a clause: use, reason and test; the first whose test is true counts."""


def _before_quotes(words: Sequence[str], index: int) -> int:
    """The index of the last word before `index`, quotes and a bracketed remark skipped."""
    index -= 1
    while word_at(words, index) in QUOTE:
        index -= 1
    if word_at(words, index) == ")":
        opening = next((k for k in range(index, max(index - 15, -1), -1) if words[k] == "("), index + 1)
        return opening - 1
    return index


def _modifies_governor(words: Sequence[str], j: int) -> bool:
    """Whether word `j` is an adverb after a governor ("he knew then that")."""
    word, before = word_at(words, j), word_at(words, j - 1)
    return is_adverb(word) and word not in _GOVERNOR | {"so", "now"} and (before in _GOVERNOR or before in BE_FORM)


def _opens(words: Sequence[str], j: int) -> bool:
    """Whether a sentence or a coordinated clause begins after word `j`."""
    return j < 0 or words[j] in STOP | DASH | COORDINATOR or words[j] == ","


def _direct(words: Sequence[str], j: int, follows: FollowingWords, *, certain: bool) -> Use | None:
    """The word right before as governor: a noun (the fact), a verb (said) or an adjective (sure)."""
    word = words[j]
    noun = _is_noun(words, j)
    takes = Use(COMPLEMENTIZER, f"{word} takes a clause")
    if word in _CLAUSE_NOUN and (noun or word not in _CLAUSE_VERB | _CLAUSE_OR_OBJECT):
        return None if word in LEXICON["soft_clause_noun"] and has_gap(words, follows) else takes
    if noun:
        return None
    if word in _CLAUSE_VERB | _CLAUSE_ADJECTIVE or (word in _CLAUSE_OR_OBJECT and certain):
        return takes
    return None


def _is_noun(words: Sequence[str], j: int) -> bool:
    """Whether word `j` is in the position of a noun: after a determiner, a genitive or an adjective."""
    word, before = words[j], word_at(words, j - 1)
    if before in _SINGULAR and word.endswith("s") and word not in _CLAUSE_NOUN:
        return False
    if before in _PRONOUN_TOO and not word.endswith("s"):
        return False
    if before in ("this", "that") and word.endswith("s"):
        return False
    if word in PAST - LEXICON["past_or_adjective"] and word not in _CLAUSE_NOUN:
        return False
    if before in DETERMINER_WORD:
        return before not in ("only", "both", "all", "most", "more", "much")
    if before in ("of", "with", "by", "from", "for", "'s") and word.endswith("s"):
        return True
    if word.endswith(("ing", "ed")):
        return False
    adjective = before.endswith(("al", "ive", "ous", "ful", "ic", "able", "ible"))
    return adjective and word_at(words, j - 2) in DETERMINER_WORD


def _asks(words: Sequence[str], j: int, follows: FollowingWords) -> bool:
    """Whether the form of be at `j` begins a question ("is that the man"), unlike "the point is that he"."""
    subject = word_at(words, j - 1)
    if subject in ("n't", "not") or is_adverb(subject):
        subject = word_at(words, j - 2)
    if subject == "it" and words[j] != "be" and word_at(words, j - 2) in BE | MODAL:
        return follows.kind != "pronoun"
    if subject in (",", "which") and has_verb(words, follows):
        return False
    closes = subject in (")", '"', "\u201d")
    return not (is_word(subject) or closes) or subject in CONJUNCTION or subject in WH


def _after_it(words: Sequence[str], j: int, follows: FollowingWords) -> Use | None:
    """How is it that, I take it that; not the cleft what is it that."""
    before = word_at(words, j - 1)
    taken = (
        word_at(words, j - 2) in ("how", "why") if before in BE | MODAL else before in VERB or before in ("for", "to")
    )
    return Use(COMPLEMENTIZER, f"{before} it that") if taken and is_certain(words, follows) else None


def _so_such(words: Sequence[str], j: int) -> Use | None:
    """So and such before the adjective, adverb or noun phrase that ends at `j`."""
    if words[j] in DETERMINER_WORD - {"her", "many", "much", "few", "little", "enough"}:
        return None
    for k in range(j - 1, max(j - 10, -1), -1):
        word, after = words[k], words[k + 1]
        if is_stop(words, k) or word in LEXICON["clause_end"] or word == ",":
            return None
        if (
            (word in AUXILIARY and word != "'s")
            or word in SUBJECT - {"it", "you"}
            or (word == "to" and after not in OBJECT | SURE_DETERMINER)
        ):
            return None
        if word == "such" and after != "as" and (after in ("a", "an") or j - k <= 2):
            return Use(RESULT, "such ... that")
        if word == "so" and _is_graded(after):
            return Use(RESULT, f"so {after} ... that")
    return None


def _is_graded(word: str) -> bool:
    if word in ("many", "much", "few", "little", "often", "well", "far", "soon"):
        return True
    closed = word in SUBJECT or word in AUXILIARY or word in DETERMINER_WORD or word in STARTER or word in PREPOSITION
    return word[:1].isalpha() and not closed and not word.endswith("ing")


def _distant(words: Sequence[str], j: int) -> Use | None:
    """A governor further back: "said on Friday that", "told reporters that", "clear to me that"."""
    for k in range(j - 1, max(j - 11, -1), -1):
        word, first = words[k], words[k + 1]
        noun = _is_noun(words, k)
        if word in LEXICON["telling_verb"] and not noun and first not in PREPOSITION:
            near = k + 1 == j or words[k + 2] in LEXICON["back_preposition"]
            if word in LEXICON["showing_verb"] and not (first in OBJECT and near):
                return None
            return Use(COMPLEMENTIZER, f"{word} somebody takes a clause")
        if word in _DISTANT_GOVERNOR and not (noun and word not in _CLAUSE_NOUN):
            if noun or word not in _GOVERNOR:
                linked = first in ("among", "amongst", "from", "within", "in", "with")
            else:
                linked = _is_adjunct(words, k, j)
            if linked:
                return Use(COMPLEMENTIZER, f"{word} {first} ... takes a clause")
            if word in _CLAUSE_VERB | _CLAUSE_OR_OBJECT and not noun:
                return None
        if is_stop(words, k) or word == "," or word in LEXICON["clause_end"] or word in AUXILIARY or word in WH:
            return None
        if word in SUBJECT and word_at(words, k - 1) not in PREPOSITION:
            return None
    return None


def _is_adjunct(words: Sequence[str], k: int, j: int) -> bool:
    """Whether the words after the governor `k` up to `j` say when, where or to whom, and are not its object."""
    first = words[k + 1]
    if first == "to":
        return words[k + 2] not in BASE
    if first in LEXICON["back_preposition"] or (first == "for" and words[k] in _CLAUSE_ADJECTIVE):
        return True
    if words[j].endswith(("self", "selves")):
        return True
    if first in LEXICON["time_noun"] or words[j] in LEXICON["time_noun"]:
        return True
    return first.endswith("ly") or first in ("last", "this", "next", "him", "her", "them", "us", "me")


def _after_comma(words: Sequence[str], follows: FollowingWords, j: int) -> Use | None:
    """After a comma or and: the governor before a parenthesis ("clear, however, that"), or a second clause."""
    if j > 0 and words[j] == ",":
        before = word_at(words, j - 1)
        sure = before in _CLAUSE_VERB | _CLAUSE_ADJECTIVE or (before in _GOVERNOR and is_certain(words, follows))
        if sure and not _is_noun(words, j - 1):
            return Use(COMPLEMENTIZER, f"{before} takes a clause")
        result = _so_such(words, j - 1)
        if result is not None and follows.kind in ("pronoun", "determiner"):
            return result
        opening = next((k for k in range(j - 1, max(j - 7, 0), -1) if words[k] == ","), 0)
        if opening and words[opening - 1] in _GOVERNOR | _CLAUSE_NOUN | BE_FORM | {"so", "now"}:
            return Use(COMPLEMENTIZER, f"{words[opening - 1]} takes a clause")
        if opening and is_certain(words, follows):
            return _distant(words, opening - 1) or _inherit(words, follows, j)
    return _inherit(words, follows, j)


def _inherit(words: Sequence[str], follows: FollowingWords, j: int) -> Use | None:
    """The start of a sentence, or a further clause of an earlier "that" or governor of the sentence."""
    if j < 0 or words[j] in FULL_STOP:
        subject = follows.kind == "determiner" or words[follows.at] in ("he", "she", "they", "we", "it", "there")
        return Use(COMPLEMENTIZER, "subject clause") if subject else None
    near = max(j - 80, -1)
    start = next((k for k in range(j, near, -1) if words[k] in FULL_STOP), near) + 1
    for k in range(j - 1, start - 1, -1):
        if words[k] == "that" and not _opens(words, _before_quotes(words, k)):
            earlier = use(words, k).kind
            if earlier not in IN_USE:
                return Use(COMPLEMENTIZER, "second clause")
            if earlier == RELATIVE:
                return None
    speaker = words[follows.at] in ("i", "you", "we")
    if (
        words[j] in DASH
        or words[j] == ":"
        or (words[j] == "," and speaker)
        or (follows.kind == "open" and not is_plural(words[follows.at]))
        or words[follows.at] == "of"
    ):
        return None
    if any(words[k] in _CLAUSE_VERB and not _is_noun(words, k) for k in range(start, j)):
        return Use(COMPLEMENTIZER, "second clause of a verb")
    return Use(COMPLEMENTIZER, "second clause") if is_certain_clause(words, follows) else None


def _before_comma(words: Sequence[str], index: int) -> Use:
    """That before a comma: before a parenthesis in its clause ("said that, if he"), or a demonstrative."""
    j = _before_quotes(words, index)
    before, after = word_at(words, j), word_at(words, index + 2)
    noun = _is_noun(words, j) if j >= 0 else False
    takes = (before in _CLAUSE_VERB | _CLAUSE_ADJECTIVE and not noun) or (before in _CLAUSE_NOUN and noun)
    opens = after in PREPOSITION or after in STARTER or "," in words[index + 2 : index + 14]
    if (
        (takes or before in ("so", "is"))
        and opens
        and after not in ("and", "but", "or", "so", "then", "too", "which", "for")
    ):
        return Use(COMPLEMENTIZER, f"{before} takes a clause")
    return Use(DEMONSTRATIVE, "before a comma")


def _degree(words: Sequence[str], index: int) -> Use | None:
    """Not that big, that much: "that" before a graded word with no noun after it."""
    before, graded, after = word_at(words, index - 1), word_at(words, index + 1), word_at(words, index + 2)
    if graded in ("much", "many") and after != "-":
        alone = not after or not after[0].isalnum()
        return None if not alone and _is_head(words, index - 1) else Use(DEGREE, f"that {graded}")
    if (
        graded not in LEXICON["graded"]
        or after in ("'s", "of")
        or not (can_follow_verb(after) or after in CONJUNCTION or after in SUBJECT or after == "when")
    ):
        return None
    if before in ("not", "n't"):
        asks = before == "n't" and not is_word(word_at(words, index - 3))
        return None if asks else Use(DEGREE, f"that {graded}")
    if before in BE | BE_FORM:
        return None if _asks(words, index - 1, FollowingWords("open", index + 1)) else Use(DEGREE, f"that {graded}")
    if before in ("all", "never") or (before in VERB and before not in ("do", "does", "did", "doing", "done")):
        return Use(DEGREE, f"that {graded}")
    return None


def _is_head(words: Sequence[str], j: int) -> bool:
    """Whether word `j` can be the noun that a relative clause belongs to."""
    word = word_at(words, j)
    if word in ("one", "all", "those", "something", "anything", "everything", "nothing", "things"):
        return True
    closed = word in PREPOSITION or word in CONJUNCTION or word in AUXILIARY or word in ("to", "not", "n't", "and")
    return word[:1].isalnum() and not closed and not is_adverb(word) and (word not in VERB or _is_noun(words, j))


def _pronoun(words: Sequence[str], index: int, follows: FollowingWords) -> Use:
    """Which pronoun a "that" in use is: relative after a noun, else demonstrative, with a noun or alone."""
    before = word_at(words, index - 1)
    if _is_head(words, index - 1) and follows.kind not in ("end", "fixed"):
        return Use(RELATIVE, f"after {before}")
    if before == "," and follows.kind == "verb":
        return Use(RELATIVE, "a verb follows")
    if follows.kind in ("open", "name", "fixed", "determiner"):
        return Use(DETERMINER, "before a noun")
    return Use(DEMONSTRATIVE, "stands alone" if follows.kind in ("end", "comma") else f"before a {follows.kind}")
