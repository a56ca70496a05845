"""The uses of "that": relative and demonstrative pronoun, or complementizer, result and degree word.

Rules over the neighbouring words, no tagger. Two questions decide. Can a clause with a subject of its own follow? And
does something before take such a clause (said, sure, the fact, so ... , now)? Where either is in doubt, "that" is a
pronoun. After Huddleston & Pullum 2002, ch. 11 (content clauses), 12 (relative clauses) and 5 section 10.1
(demonstratives).
"""

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
    PAST,
    PREPOSITION,
    VERB,
)
from pronmetric.pronouns.lexicon import CLASSES as LEXICON

RELATIVE, DEMONSTRATIVE, DETERMINER = "relative", "demonstrative", "demonstrative determiner"
COMPLEMENTIZER, RESULT, DEGREE = "complementizer", "result", "degree word"
IN_USE = frozenset({RELATIVE, DEMONSTRATIVE, DETERMINER})


class Use(NamedTuple):
    """What a "that" is, and by which rule."""

    kind: str
    reason: str


class _Next(NamedTuple):
    """What follows: its kind, and the index of its first word after quotes and adverbs.

    kind: verb (finite), pronoun, determiner, starter (of a clause), preposition, name, open (any other word),
    fixed (that way, that kind: a determiner for sure), comma or end.
    """

    kind: str
    at: int


_SUBJECT = LEXICON["subject_pronoun"]
_OBJECT = LEXICON["object_pronoun"]
_DEMONSTRATIVE = frozenset({"this", "these", "those"})
_SURE_DETERMINER = LEXICON["possessive"] | _DEMONSTRATIVE | {"the", "a", "an"}
_DETERMINER = ARTICLE | _SURE_DETERMINER | {"such", "what", "whatever", "only"}
_WH = frozenset("what who whoever which whichever whose why how where when".split())
_STARTER = (
    (CONJUNCTION - {"and", "or", "but", "nor", "yet", "so", "plus"}) | _WH | {"since", "before", "after", "until"}
)
_CLAUSE_VERB, _CLAUSE_OR_OBJECT = LEXICON["clause_verb"], LEXICON["clause_or_object_verb"]
_CLAUSE_ADJECTIVE, _CLAUSE_NOUN = LEXICON["clause_adjective"], LEXICON["clause_noun"]
_GOVERNOR = _CLAUSE_VERB | _CLAUSE_OR_OBJECT | _CLAUSE_ADJECTIVE
_DISTANT_GOVERNOR = (_GOVERNOR | _CLAUSE_NOUN) - LEXICON["light_adjective"]
_SINGULAR = frozenset("one another each every".split())
_PRONOUN_TOO = frozenset("many some few several most both others".split())
_BARE_CLITIC = frozenset("s re m d ll ve".split())
_FINITE = (
    (AUXILIARY - _BARE_CLITIC - {"be", "been", "being"})
    | LEXICON["third_singular_verb"]
    | (PAST - LEXICON["past_or_adjective"])
)
_VERB = _FINITE | LEXICON["base_verb_only"] | _BARE_CLITIC
_BE = frozenset("is was are were be been 's s".split())
_QUOTE = frozenset("\"'`\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb([")
_FULL_STOP = frozenset(".!?\u2026")
_STOP = _FULL_STOP | {";", ":"}
_DASH = frozenset("-\u2013\u2014")
_FOR_OBJECTS = frozenset("to about of with like for at on from as".split())
_LIKES = LEXICON["personal_subject"] | frozenset("to n't not really also do did would 'd".split())
_AFTER_VERB = _DETERMINER | PREPOSITION | (_OBJECT - {"people"}) | ADVERB | {"to", "that", "and", "or"}
_AFTER_GAP = frozenset("is was are were has had".split())
_COORDINATOR = frozenset("and or but nor".split())


def use(words: Sequence[str], index: int, *, names: Collection[int] = (), bare: bool = False) -> Use:
    """The use of "that" at `index` of lower-cased `words`.

    names: the indices of words that begin with a capital inside a sentence.
    bare: the text has neither capitals nor punctuation. Names and the ends of clauses cannot be seen in it, so a clause
    is certain only right after a word that takes one or after "told me", and where a personal pronoun, an article, a
    possessive, a demonstrative or a conjunction follows.

    >>> use("he said that she left".split(), 2)
    Use(kind='complementizer', reason='said takes a clause')
    >>> use("the man that left".split(), 2).kind
    'relative'
    """
    follows = _following(words, index, names)
    if follows.kind not in ("verb", "end", "fixed"):
        governor = _governor(words, index, follows, near=bare)
        if governor is not None and bare and not _is_certain(words, follows):
            return _pronoun(words, index, follows)._replace(reason=f"in doubt: {governor.reason}")
        if governor is not None:
            return governor
    if follows.kind == "comma":
        return _before_comma(words, index)
    return _degree(words, index) or _pronoun(words, index, follows)


def _is_certain(words: Sequence[str], follows: _Next) -> bool:
    """Whether the word that follows can begin a clause, and neither a noun after "that" nor anything else."""
    word = _at(words, follows.at)
    return follows.kind == "starter" or word in LEXICON["personal_subject"] or word in _SURE_DETERMINER


def _at(words: Sequence[str], index: int) -> str:
    return words[index] if 0 <= index < len(words) else ""


def _is_word(word: str) -> bool:
    return word[:1].isalnum() or (len(word) > 1 and word[0] == "'")


def _is_stop(words: Sequence[str], k: int) -> bool:
    """Whether word `k` ends a sentence or clause; the full stop of an abbreviation does not."""
    if words[k] == "." and k and (words[k - 1] in LEXICON["abbreviation"] or len(words[k - 1]) == 1):
        return False
    return words[k] in _STOP


def _is_adverb(word: str) -> bool:
    return (word in ADVERB or (len(word) > 4 and word.endswith("ly"))) and word not in LEXICON["no_adverb"]


def _is_plural(word: str) -> bool:
    return word in LEXICON["plural"] or (
        len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    )


def _may_be_finite(word: str) -> bool:
    """Whether an open word looks like a finite verb, though it may be a noun or an adjective."""
    if word in LEXICON["past_or_adjective"] or word.endswith(("ates", "izes", "ises", "ifies")):
        return True
    if word.endswith("ed") and len(word) > 3:
        return not word.endswith("eed") and word not in ("hundred", "sacred", "naked")
    return word in VERB and word.endswith("s") and not word.endswith("ss")


def _following(words: Sequence[str], index: int, names: Collection[int] = ()) -> _Next:
    at = index + 1
    while _at(words, at) in _QUOTE:
        at += 1
    first = at
    while _is_adverb(_at(words, at)) or (_at(words, at) in ("more", "most") and _is_adverb(_at(words, at + 1))):
        at += 1
    kind = _following_kind(_at(words, at), _at(words, at + 1), moved=at > first)
    return _Next("name" if kind == "open" and at in names else kind, at)


def _following_kind(word: str, after: str, *, moved: bool) -> str:
    """The first kind of `_KINDS` whose test holds; moved: quotes or adverbs were skipped before `word`."""
    return next((kind for kind, holds in _KINDS if holds(word, after, moved)), "open")


def _is_number(word: str) -> bool:
    return word[:1].isdigit() or word[:1] in ("$", "#", "\u20ac", "\u00a3")


def _ends_clause(word: str, after: str, moved: bool) -> bool:
    return not _is_number(word) and not _is_word(word)


def _is_verb(word: str, after: str, moved: bool) -> bool:
    return word in _VERB or word.startswith("'")


def _is_fixed(word: str, after: str, moved: bool) -> bool:
    """Whether "that" is a determiner for sure: that one, that way, that other, that day."""
    if word == "one" and (not after.isalpha() or after in _VERB - MODAL - {"had"}):
        return True
    if word in LEXICON["light_noun"] or (word == "other" and not _is_plural(after)):
        return True
    return word in LEXICON["time_unit"] and not (after.isalpha() and not _can_follow_verb(after))


def _is_determiner(word: str, after: str, moved: bool) -> bool:
    if _is_number(word) or word == "that" or word in _DETERMINER:
        return True
    if word in ("about", "around", "over") and (after[:1].isdigit() or after in ARTICLE - {"the", "a", "an"}):
        return True
    return word.endswith("ing") and after in _SURE_DETERMINER


def _is_preposition(word: str, after: str, moved: bool) -> bool:
    return word in PREPOSITION or word == "to" or (word in ("last", "next") and after in LEXICON["time_unit"])


def _is_coordinator(word: str, after: str, moved: bool) -> bool:
    return word in _COORDINATOR or (word == "which" and not moved)


def _is_likely_verb(word: str, after: str, moved: bool) -> bool:
    return _may_be_finite(word) and _can_follow_verb(after)


_KINDS: tuple[tuple[str, Callable[[str, str, bool], bool]], ...] = (
    ("comma", lambda word, after, moved: word == "," and not moved),
    ("open", lambda word, after, moved: word == ","),
    ("end", _ends_clause),
    ("verb", _is_verb),
    ("pronoun", lambda word, after, moved: word in _SUBJECT),
    ("fixed", _is_fixed),
    ("determiner", _is_determiner),
    ("starter", lambda word, after, moved: word in _STARTER),
    ("preposition", _is_preposition),
    ("end", _is_coordinator),
    ("verb", _is_likely_verb),
)
"""Kinds of the word after "that", and tests of this word, the next one and `moved`; the first that holds counts."""


def _can_follow_verb(word: str) -> bool:
    if word == "of":
        return False
    return not word[:1].isalpha() or word in _AFTER_VERB


def _finite_ahead(words: Sequence[str], at: int, *, fronted: bool) -> bool:
    """Whether the clause that may begin at `at` has a finite verb.

    fronted: the clause begins with a phrase before its subject, which a comma or a pronoun may follow.
    """
    for k in range(at, min(at + 20, len(words))):
        word, before = words[k], words[k - 1]
        if _is_stop(words, k) or (word in LEXICON["clause_end"] and (word == "but" or not fronted)):
            return False
        if k > at and (word == "and" if fronted else word == "," or word in _STARTER):
            return False
        if word in _SUBJECT and word in LEXICON["personal_subject"] and before not in PREPOSITION:
            return fronted and before not in LEXICON["clause_end"]
        if k == at:
            continue
        if word in _FINITE or (word in LEXICON["base_verb_only"] and _is_plural(before)):
            return True
        if _may_be_finite(word) and before not in _DETERMINER | PREPOSITION | {"and", "or", ","}:
            return True
    return False


def _clause_can_follow(words: Sequence[str], follows: _Next, *, object_unlikely: bool) -> bool:
    """Whether a clause with its own subject can follow.

    object_unlikely: the word before hardly takes an object "that N" ("he said that N").
    """
    kind, at = follows
    if kind == "preposition":
        return _fronted(words, at, object_unlikely=object_unlikely)
    if kind == "name" and (object_unlikely or _finite_ahead(words, at, fronted=True)):
        return True
    if kind in ("open", "name"):
        if _is_plural(words[at]) or _finite_ahead(words, at, fronted=False):
            return True
        ends_soon = at + 4 > len(words) or any(_is_stop(words, k) for k in range(at, at + 4))
        return object_unlikely and not ends_soon
    return kind in ("pronoun", "determiner", "starter")


def _fronted(words: Sequence[str], at: int, *, object_unlikely: bool) -> bool:
    """Whether the preposition at `at` begins a clause ("that in May he left") and no phrase after "that"."""
    word, after = words[at], _at(words, at + 1)
    if word == "about" or (word == "to" and after not in BASE):
        return False
    if word == "as":
        return after in LEXICON["personal_subject"] or (after in _SURE_DETERMINER and object_unlikely)
    if object_unlikely and word not in _FOR_OBJECTS:
        return True
    end = next((k for k in range(at, len(words)) if _is_stop(words, k)), len(words))
    return (object_unlikely and end - at > 7) or _finite_ahead(words, at, fronted=True)


class _Site(NamedTuple):
    """The place before a "that".

    j: the index of the last word before it, quotes and adverbs skipped. certain: a clause follows even where an object
    "that N" would fit. near: a governor must be word `j` itself.
    """

    words: Sequence[str]
    j: int
    follows: _Next
    certain: bool
    near: bool

    @property
    def word(self) -> str:
        """The last word before "that"."""
        return _at(self.words, self.j)

    @property
    def before(self) -> str:
        """The word before the last one."""
        return _at(self.words, self.j - 1)


def _governor(words: Sequence[str], index: int, follows: _Next, *, near: bool) -> Use | None:
    """The word before "that" that takes the clause after it; None where there is none, or no clause follows.

    near: it must be the last word before "that".
    """
    if not _clause_can_follow(words, follows, object_unlikely=True):
        return None
    certain = _clause_can_follow(words, follows, object_unlikely=False)
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
    if word in _BE:
        return Use(COMPLEMENTIZER, "clause after be") if certain and not _asks(words, j, follows) else None
    if word == "it" and _so_such(words, j) is None:
        return _after_it(words, j, follows)
    if before in _BE and _at(words, j - 2) == "it" and _is_certain(words, follows) and word.isalpha():
        return Use(COMPLEMENTIZER, f"it is {word} that")
    direct = _so_such(words, j) or _direct(words, j, follows, certain=certain)
    if direct is not None:
        return direct
    if near and not _tells_somebody(site):
        return None
    return _distant(words, j) if certain and not _has_gap(words, follows) else None


def _tells_somebody(site: _Site) -> bool:
    """Whether a verb of telling and a pronoun stand right before ("told me that")."""
    return site.before in LEXICON["telling_verb"] and site.word in _OBJECT and _is_certain(site.words, site.follows)


def _phrase(site: _Site) -> Use | None:
    """The fixed phrase that ends at the site: the first of `_PHRASES` whose test holds."""
    for kind, reason, holds in _PHRASES:
        if holds(site):
            return Use(kind, reason.format(word=site.word, before=site.before))
    return None


def _is_conjunction_with_that(site: _Site) -> bool:
    """Now that, given that, except that; in that, not that, would that before a sure subject."""
    word = site.word
    if not site.certain:
        return False
    if word == "now" or word in LEXICON["linker"]:
        return True
    subject = site.follows.kind == "pronoun" or site.words[site.follows.at] in _SURE_DETERMINER
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
        lambda site: site.word == "like" and site.before in _LIKES and _is_certain(site.words, site.follows),
    ),
    (RESULT, "to the {word} that", _is_to_the_point),
    (
        COMPLEMENTIZER,
        "in mind that",
        lambda site: site.word == "mind" and site.before == "in" and site.certain,
    ),
    (COMPLEMENTIZER, "in the event that", _is_in_the_event),
)
"""Phrases before "that" that take a clause: use, reason and test; the first whose test holds counts."""


def _before_quotes(words: Sequence[str], index: int) -> int:
    """The index of the last word before `index`, quotes and a bracketed remark skipped."""
    index -= 1
    while _at(words, index) in _QUOTE:
        index -= 1
    if _at(words, index) == ")":
        opening = next((k for k in range(index, max(index - 15, -1), -1) if words[k] == "("), index + 1)
        return opening - 1
    return index


def _modifies_governor(words: Sequence[str], j: int) -> bool:
    """Whether word `j` is an adverb after a governor ("he knew then that")."""
    word, before = _at(words, j), _at(words, j - 1)
    return _is_adverb(word) and word not in _GOVERNOR | {"so", "now"} and (before in _GOVERNOR or before in _BE)


def _opens(words: Sequence[str], j: int) -> bool:
    """Whether a sentence or a coordinated clause begins after word `j`."""
    return j < 0 or words[j] in _STOP | _DASH | _COORDINATOR or words[j] == ","


def _direct(words: Sequence[str], j: int, follows: _Next, *, certain: bool) -> Use | None:
    """The word right before as governor: a noun (the fact), a verb (said) or an adjective (sure)."""
    word = words[j]
    noun = _is_noun(words, j)
    takes = Use(COMPLEMENTIZER, f"{word} takes a clause")
    if word in _CLAUSE_NOUN and (noun or word not in _CLAUSE_VERB | _CLAUSE_OR_OBJECT):
        return None if word in LEXICON["soft_clause_noun"] and _has_gap(words, follows) else takes
    if noun:
        return None
    if word in _CLAUSE_VERB | _CLAUSE_ADJECTIVE or (word in _CLAUSE_OR_OBJECT and certain):
        return takes
    return None


def _is_noun(words: Sequence[str], j: int) -> bool:
    """Whether word `j` is in the position of a noun: after a determiner, a genitive or an adjective."""
    word, before = words[j], _at(words, j - 1)
    if before in _SINGULAR and word.endswith("s") and word not in _CLAUSE_NOUN:
        return False
    if before in _PRONOUN_TOO and not word.endswith("s"):
        return False
    if before in ("this", "that") and word.endswith("s"):
        return False
    if word in PAST - LEXICON["past_or_adjective"] and word not in _CLAUSE_NOUN:
        return False
    if before in _DETERMINER:
        return before not in ("only", "both", "all", "most", "more", "much")
    if before in ("of", "with", "by", "from", "for", "'s") and word.endswith("s"):
        return True
    if word.endswith(("ing", "ed")):
        return False
    adjective = before.endswith(("al", "ive", "ous", "ful", "ic", "able", "ible"))
    return adjective and _at(words, j - 2) in _DETERMINER


def _asks(words: Sequence[str], j: int, follows: _Next) -> bool:
    """Whether the form of be at `j` opens a question ("is that the man") and is not "the point is that he"."""
    subject = _at(words, j - 1)
    if subject in ("n't", "not") or _is_adverb(subject):
        subject = _at(words, j - 2)
    if subject == "it" and words[j] != "be" and _at(words, j - 2) in BE | MODAL:
        return follows.kind != "pronoun"
    if subject in (",", "which") and _has_verb(words, follows):
        return False
    closes = subject in (")", '"', "\u201d")
    return not (_is_word(subject) or closes) or subject in CONJUNCTION or subject in _WH


def _has_verb(words: Sequence[str], follows: _Next) -> bool:
    """Whether a finite verb comes soon after the subject that follows."""
    ahead = words[follows.at + 1 : follows.at + 7]
    return any(word in _VERB or _may_be_finite(word) or word in BASE for word in ahead)


def _is_certain_clause(words: Sequence[str], follows: _Next) -> bool:
    subject = follows.kind == "pronoun" or words[follows.at] in _SURE_DETERMINER
    return subject and _has_verb(words, follows) and not _has_gap(words, follows)


def _after_it(words: Sequence[str], j: int, follows: _Next) -> Use | None:
    """How is it that, I take it that; but not the cleft what is it that."""
    before = _at(words, j - 1)
    taken = _at(words, j - 2) in ("how", "why") if before in BE | MODAL else before in VERB or before in ("for", "to")
    return Use(COMPLEMENTIZER, f"{before} it that") if taken and _is_certain(words, follows) else None


def _so_such(words: Sequence[str], j: int) -> Use | None:
    """So and such before the adjective, adverb or noun phrase that ends at `j`."""
    if words[j] in _DETERMINER - {"her", "many", "much", "few", "little", "enough"}:
        return None
    for k in range(j - 1, max(j - 10, -1), -1):
        word, after = words[k], words[k + 1]
        if _is_stop(words, k) or word in LEXICON["clause_end"] or word == ",":
            return None
        if (
            (word in AUXILIARY and word != "'s")
            or word in _SUBJECT - {"it", "you"}
            or (word == "to" and after not in _OBJECT | _SURE_DETERMINER)
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
    closed = word in _SUBJECT or word in AUXILIARY or word in _DETERMINER or word in _STARTER or word in PREPOSITION
    return word[:1].isalpha() and not closed and not word.endswith("ing")


def _has_gap(words: Sequence[str], follows: _Next) -> bool:
    """Whether the clause that follows lacks the object of its verb ("the claim that he made"): it is relative then."""
    if follows.kind not in ("pronoun", "determiner"):
        return False
    phrase = follows.kind == "determiner"
    for k in range(follows.at + 1 + phrase, min(follows.at + 6, len(words))):
        word, after = words[k], _at(words, k + 1)
        if word in LEXICON["transitive"] and after not in LEXICON["transitive"]:
            if word.endswith("ing") != (words[k - 1] in BE):
                return False
            if _is_adverb(after):
                continue
            if not after[:1].isalnum() or after in CONJUNCTION or after in _AFTER_GAP:
                return True
            return after in PREPOSITION and not phrase and after not in ("out", "up", "off", "in", "to", "on")
        if not phrase and word not in AUXILIARY and not _is_adverb(word) and word not in ("not", "n't"):
            return False
    return False


def _distant(words: Sequence[str], j: int) -> Use | None:
    """A governor further back: "said on Friday that", "told reporters that", "clear to me that"."""
    for k in range(j - 1, max(j - 11, -1), -1):
        word, first = words[k], words[k + 1]
        noun = _is_noun(words, k)
        if word in LEXICON["telling_verb"] and not noun and first not in PREPOSITION:
            near = k + 1 == j or words[k + 2] in LEXICON["back_preposition"]
            if word in LEXICON["showing_verb"] and not (first in _OBJECT and near):
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
        if _is_stop(words, k) or word == "," or word in LEXICON["clause_end"] or word in AUXILIARY or word in _WH:
            return None
        if word in _SUBJECT and _at(words, k - 1) not in PREPOSITION:
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


def _after_comma(words: Sequence[str], follows: _Next, j: int) -> Use | None:
    """After a comma or and: the governor before a parenthesis ("clear, however, that"), or a second clause."""
    if j > 0 and words[j] == ",":
        before = _at(words, j - 1)
        sure = before in _CLAUSE_VERB | _CLAUSE_ADJECTIVE or (before in _GOVERNOR and _is_certain(words, follows))
        if sure and not _is_noun(words, j - 1):
            return Use(COMPLEMENTIZER, f"{before} takes a clause")
        result = _so_such(words, j - 1)
        if result is not None and follows.kind in ("pronoun", "determiner"):
            return result
        opening = next((k for k in range(j - 1, max(j - 7, 0), -1) if words[k] == ","), 0)
        if opening and words[opening - 1] in _GOVERNOR | _CLAUSE_NOUN | _BE | {"so", "now"}:
            return Use(COMPLEMENTIZER, f"{words[opening - 1]} takes a clause")
        if opening and _is_certain(words, follows):
            return _distant(words, opening - 1) or _inherited(words, follows, j)
    return _inherited(words, follows, j)


def _inherited(words: Sequence[str], follows: _Next, j: int) -> Use | None:
    """The start of a sentence, or a further clause of an earlier "that" or governor of the sentence."""
    if j < 0 or words[j] in _FULL_STOP:
        subject = follows.kind == "determiner" or words[follows.at] in ("he", "she", "they", "we", "it", "there")
        return Use(COMPLEMENTIZER, "subject clause") if subject else None
    near = max(j - 80, -1)
    start = next((k for k in range(j, near, -1) if words[k] in _FULL_STOP), near) + 1
    for k in range(j - 1, start - 1, -1):
        if words[k] == "that" and not _opens(words, _before_quotes(words, k)):
            earlier = use(words, k).kind
            if earlier not in IN_USE:
                return Use(COMPLEMENTIZER, "second clause")
            if earlier == RELATIVE:
                return None
    speaker = words[follows.at] in ("i", "you", "we")
    if (
        words[j] in _DASH
        or words[j] == ":"
        or (words[j] == "," and speaker)
        or (follows.kind == "open" and not _is_plural(words[follows.at]))
        or words[follows.at] == "of"
    ):
        return None
    if any(words[k] in _CLAUSE_VERB and not _is_noun(words, k) for k in range(start, j)):
        return Use(COMPLEMENTIZER, "second clause of a verb")
    return Use(COMPLEMENTIZER, "second clause") if _is_certain_clause(words, follows) else None


def _before_comma(words: Sequence[str], index: int) -> Use:
    """That before a comma: before a parenthesis in its clause ("said that, if he"), or a demonstrative."""
    j = _before_quotes(words, index)
    before, after = _at(words, j), _at(words, index + 2)
    noun = _is_noun(words, j) if j >= 0 else False
    takes = (before in _CLAUSE_VERB | _CLAUSE_ADJECTIVE and not noun) or (before in _CLAUSE_NOUN and noun)
    opens = after in PREPOSITION or after in _STARTER or "," in words[index + 2 : index + 14]
    if (
        (takes or before in ("so", "is"))
        and opens
        and after not in ("and", "but", "or", "so", "then", "too", "which", "for")
    ):
        return Use(COMPLEMENTIZER, f"{before} takes a clause")
    return Use(DEMONSTRATIVE, "before a comma")


def _degree(words: Sequence[str], index: int) -> Use | None:
    """Not that big, that much: "that" before a graded word with no noun after it."""
    before, graded, after = _at(words, index - 1), _at(words, index + 1), _at(words, index + 2)
    if graded in ("much", "many") and after != "-":
        alone = not after or not after[0].isalnum()
        return None if not alone and _is_head(words, index - 1) else Use(DEGREE, f"that {graded}")
    if (
        graded not in LEXICON["graded"]
        or after in ("'s", "of")
        or not (_can_follow_verb(after) or after in CONJUNCTION or after in _SUBJECT or after == "when")
    ):
        return None
    if before in ("not", "n't"):
        asks = before == "n't" and not _is_word(_at(words, index - 3))
        return None if asks else Use(DEGREE, f"that {graded}")
    if before in BE | _BE:
        return None if _asks(words, index - 1, _Next("open", index + 1)) else Use(DEGREE, f"that {graded}")
    if before in ("all", "never") or (before in VERB and before not in ("do", "does", "did", "doing", "done")):
        return Use(DEGREE, f"that {graded}")
    return None


def _is_head(words: Sequence[str], j: int) -> bool:
    """Whether word `j` can be the noun that a relative clause belongs to."""
    word = _at(words, j)
    if word in ("one", "all", "those", "something", "anything", "everything", "nothing", "things"):
        return True
    closed = word in PREPOSITION or word in CONJUNCTION or word in AUXILIARY or word in ("to", "not", "n't", "and")
    return word[:1].isalnum() and not closed and not _is_adverb(word) and (word not in VERB or _is_noun(words, j))


def _pronoun(words: Sequence[str], index: int, follows: _Next) -> Use:
    """Which pronoun a "that" in use is: relative after a noun, else demonstrative, with a noun or alone."""
    before = _at(words, index - 1)
    if _is_head(words, index - 1) and follows.kind not in ("end", "fixed"):
        return Use(RELATIVE, f"after {before}")
    if before == "," and follows.kind == "verb":
        return Use(RELATIVE, "a verb follows")
    if follows.kind in ("open", "name", "fixed", "determiner"):
        return Use(DETERMINER, "before a noun")
    return Use(DEMONSTRATIVE, "stands alone" if follows.kind in ("end", "comma") else f"before a {follows.kind}")
