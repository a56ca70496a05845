"""The uses of "that": relative and demonstrative pronoun, or complementizer, result and degree word.

Rules over the neighbouring words, no tagger. Two questions decide: can what follows be a clause with a subject of its
own, and does something before take such a clause (said, sure, the fact, so ... , now)? If either is in doubt, it is a
pronoun.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pronmetric.lexicon import ADVERB, ARTICLE, AUXILIARY, BASE, BE, CONJUNCTION, MODAL, PAST, PREPOSITION, VERB
from pronmetric.lexicon import CLASSES as LEXICON

RELATIVE, DEMONSTRATIVE, DETERMINER = "relative", "demonstrative", "demonstrative determiner"
COMPLEMENTIZER, RESULT, DEGREE = "complementizer", "result", "degree word"
IN_USE = frozenset({RELATIVE, DEMONSTRATIVE, DETERMINER})


class Use(NamedTuple):
    """What a "that" is, and by which rule."""

    kind: str
    reason: str


_QUOTE = frozenset("\"'`\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb([")
_STOP = frozenset(".!?;:\u2026")
_SUBJECT = frozenset("i he she we they it there you".split()) | LEXICON["indefinite"]
_OBJECT_PRONOUN = frozenset(
    "me us him them you her it everyone everybody people anyone someone myself himself herself themselves".split()
)
_POSSESSIVE = frozenset("my your his her its our their whose".split())
_DETERMINER = ARTICLE | _POSSESSIVE | {"this", "these", "those", "such", "what", "whatever", "only", "something"}
_CLAUSE_STARTER = (CONJUNCTION - {"and", "or", "but", "nor", "yet", "so", "plus"}) | frozenset(
    "as since before after until what who whoever which whichever whose that".split()
)
_BACK_PREPOSITION = frozenset(
    "amongst in on at to from during by after before with through via among within under".split()
)
_OBJECT_PREPOSITION = frozenset("to about of with like for at on from".split())
_HARD, _SOFT = LEXICON["clause_verb"], LEXICON["clause_or_object_verb"]
_ADJECTIVE, _NOUN, _SOFT_NOUN = LEXICON["clause_adjective"], LEXICON["clause_noun"], LEXICON["soft_clause_noun"]
_FINITE = (
    (AUXILIARY - {"be", "been", "being", "s", "re", "m", "d", "ll", "ve"})
    | (PAST - LEXICON["past_or_adjective"])
    | LEXICON["third_singular_verb"]
)
_VERB_AFTER = _FINITE | {"'s", "'d", "'ll", "s", "d", "ll", "re", "'re", "ve", "'ve"}
_LINKER = frozenset(
    "given provided providing assuming supposing considering granted seeing except save notwithstanding".split()
)
_BE = frozenset("is was are were be been 's s".split())
_GAP_VERB = frozenset(
    "make makes made give gives gave have has had hold holds held send sends sent get gets got receive receives received raise raised share shared express expressed express wrote put draw drew brought bring took take takes".split()
)
_PLURAL = frozenset("people men women children police media data".split())


def use(words: Sequence[str], index: int) -> Use:
    """The use of "that" at `index` of lower-cased `words`.

    >>> use("he said that she left".split(), 2)
    Use(kind='complementizer', reason='said takes a clause')
    >>> use("the man that left".split(), 2).kind
    'relative'
    """
    follows, at = _follows(words, index)
    governor = None if follows in ("verb", "end") else _governor(words, index, follows, at)
    if governor is not None:
        return governor
    if follows == "comma":
        return _before_comma(words, index)
    degree = _degree(words, index)
    if degree is not None:
        return degree
    return _pronoun(words, index, follows)


def _at(words: Sequence[str], index: int) -> str:
    return words[index] if 0 <= index < len(words) else ""


def _follows(words: Sequence[str], index: int) -> tuple[str, int]:
    """What stands after "that": verb, pronoun, determiner, starter, preposition, open, comma or end; and where."""
    at = index + 1
    while _at(words, at) in _QUOTE:
        at += 1
    first = at
    while _is_adverb(_at(words, at)):
        at += 1
    word, after = _at(words, at), _at(words, at + 1)
    if not word:
        return "end", at
    if not word[0].isalnum() and not (word[0] == "'" and len(word) > 1) and word[0] not in "$#€£@":
        if word == "," and at == first:
            return "comma", at
        return ("adverb" if at > first and word == "," else "end"), at
    if word in _VERB_AFTER and not (word == "had" and False):
        return "verb", at
    if word in _SUBJECT:
        return "pronoun", at
    if word in LEXICON["light_noun"] and at == first and word not in _DETERMINER and after not in _FINITE:
        return "light", at
    if word == "one" and (not after.isalpha() or after in _FINITE or after in ("s", "re")):
        return "light", at
    if word in _DETERMINER or word[0].isdigit() or word[0] in "$#€£@":
        return "determiner", at
    if word in _CLAUSE_STARTER:
        return "starter", at
    if word in ("about", "around", "over", "under", "up") and (
        after[:1].isdigit() or after in ("half", "one", "two", "three")
    ):
        return "determiner", at
    if word in PREPOSITION or word == "to":
        return "preposition", at
    if word in ("and", "or", "but", "nor"):
        return "end", at
    if (
        _can_be_verb(word)
        and (
            not after
            or not after[0].isalpha()
            or after in _DETERMINER
            or after in PREPOSITION
            or after in _OBJECT_PRONOUN
            or after in ADVERB
            or after in ("to", "that", "and", "or")
        )
        and not after.startswith("'")
        and after != "of"
    ):
        return "verb", at
    return "open", at


def _is_adverb(word: str) -> bool:
    if word in ("there", "today", "tomorrow", "yesterday", "home"):
        return False
    return word in ADVERB or (
        len(word) > 4 and word.endswith("ly") and word not in ("family", "only", "july", "italy", "reply", "supply")
    )


def _can_be_verb(word: str) -> bool:
    return (
        word in LEXICON["past_or_adjective"]
        or (len(word) > 4 and word.endswith("ed") and word not in ("hundred", "indeed"))
        or (word in VERB and word.endswith("s") and not word.endswith("ss"))
    )


def _finite_ahead(words: Sequence[str], at: int, *, pronoun: bool) -> bool:
    """Whether the words from `at` on hold a finite verb before their clause ends.

    pronoun: whether a subject pronoun counts as one (after a fronted phrase) or ends the search.
    """
    for k in range(at, min(at + 20, len(words))):
        word, before = words[k], words[k - 1]
        if _stops(words, k) or word in ("who", "which", "that", "whom", "when", "because", "while", "if", "but"):
            return False
        if word in _SUBJECT and word not in LEXICON["indefinite"]:
            if before in PREPOSITION:
                continue
            return pronoun or before == ","
        if k > at and word in _FINITE:
            return True
        if (
            k > at
            and _can_be_verb(word)
            and before not in _DETERMINER
            and before not in PREPOSITION
            and before not in ("and", ",", "or")
        ):
            return True
    return False


def _can_be_clause(words: Sequence[str], follows: str, at: int, *, sure: bool) -> bool:
    """Whether a clause with its own subject can begin at `at`; sure: the governor hardly takes an object "that N"."""
    if follows in ("pronoun", "determiner", "starter"):
        return True
    if follows == "preposition":
        return (sure and words[at] not in _OBJECT_PREPOSITION) or _finite_ahead(words, at, pronoun=True)
    if follows in ("open", "adverb"):
        return sure or _is_plural(_at(words, at)) or _finite_ahead(words, at, pronoun=False)
    if follows == "light":
        return False
    return False


def _is_plural(word: str) -> bool:
    return word in _PLURAL or (len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")))


def _governor(words: Sequence[str], index: int, follows: str, at: int) -> Use | None:
    """A word before that takes a clause with "that"; None if there is none or no clause can follow."""
    j = index - 1
    while _at(words, j) in _QUOTE and j >= 0:
        j -= 1
    word, before = _at(words, j), _at(words, j - 1)
    sure = _can_be_clause(words, follows, at, sure=True)
    doubtful = _can_be_clause(words, follows, at, sure=False)
    if j < 0 or word in _STOP or word in ("\u2013", "\u2014", "-"):
        return _inherited(words, index, follows, at, j)
    if word in ("and", "or", "but", "nor", ","):
        return _after_comma(words, index, follows, at, j)
    if word == "so" and follows != "light":
        return Use(RESULT, "so that") if sure else None
    if word == "such" and sure:
        return Use(RESULT, "such that")
    if word == "now" and doubtful:
        return Use(COMPLEMENTIZER, "now that")
    if word in _LINKER and doubtful:
        return Use(COMPLEMENTIZER, f"{word} that")
    if word == "in" and follows in ("pronoun", "determiner"):
        return Use(COMPLEMENTIZER, "in that")
    if word in ("order", "would", "not") and follows in ("pronoun", "determiner", "starter"):
        return Use(COMPLEMENTIZER, f"{word} that")
    if word in ("out", "up") and before in VERB and doubtful:
        return Use(COMPLEMENTIZER, f"{before} {word} takes a clause")
    if word in PREPOSITION or word == "to":
        return _distant(words, j) if doubtful and (before == "ever" or word == "out") else None
    if word in ("point", "extent", "degree") and "to" in words[max(j - 3, 0) : j] and doubtful:
        return Use(RESULT, f"to the {word} that")
    result = _result(words, j)
    if result is not None and sure:
        return result
    if word in _BE:
        return _after_be(words, j, follows, doubtful)
    noun = _is_noun(words, j)
    if word in _NOUN and (noun or word not in VERB or word not in _HARD | _SOFT):
        if word in _SOFT_NOUN and _has_gap(words, follows, at):
            return None
        return Use(COMPLEMENTIZER, f"{word} takes a clause") if sure else None
    if not noun:
        if word in _HARD and sure:
            return Use(COMPLEMENTIZER, f"{word} takes a clause")
        if word in _SOFT and doubtful:
            return Use(COMPLEMENTIZER, f"{word} takes a clause")
        if word in _ADJECTIVE and sure:
            return Use(COMPLEMENTIZER, f"{word} takes a clause")
    if doubtful:
        return _distant(words, j)
    return None


def _is_noun(words: Sequence[str], j: int) -> bool:
    """Whether word `j` stands where a noun stands: after a determiner, a preposition, a genitive or an adjective."""
    before = _at(words, j - 1)
    if before in ("this", "that") and words[j].endswith("s"):
        return False
    if before in _DETERMINER and before not in ("only", "both", "all", "most", "more", "much", "something"):
        return True
    if before in ("of", "with", "by", "from", "for", "'s", "for") and words[j].endswith("s"):
        return True
    return before.endswith(("al", "ive", "ous", "ful", "ic", "able", "ible")) and _at(words, j - 2) in _DETERMINER


def _after_be(words: Sequence[str], j: int, follows: str, doubtful: bool) -> Use | None:
    """After a form of be: "the point is that he", but not the question "is that the man"."""
    subject = _at(words, j - 1)
    if subject in ("n't", "not", "also", "only", "simply", "just"):
        subject = _at(words, j - 2)
    asks = (
        not subject
        or not (subject[0].isalnum() or subject[0] in "'\u201d\"")
        or subject in CONJUNCTION
        or subject in ("what", "who", "which", "why", "how", "where", "when", "whose")
    )
    if subject == "it" and words[j] != "be" and _at(words, j - 2) in BE | MODAL and follows != "pronoun":
        return None
    if asks or not doubtful:
        return None
    return Use(COMPLEMENTIZER, "clause after be")


def _result(words: Sequence[str], j: int) -> Use | None:
    """So and such before an adjective, adverb or noun phrase that ends at `j`."""
    if words[j] in PREPOSITION or words[j] in _DETERMINER:
        return None
    for k in range(j - 1, max(j - 10, -1), -1):
        word, after = words[k], words[k + 1]
        if (
            word in _STOP
            or word in (",", "that", "which", "who")
            or (word == "to" and after not in _OBJECT_PRONOUN)
            or word in AUXILIARY
            or word in _SUBJECT - {"it", "you"}
        ):
            return None
        if word == "such" and after != "as" and (after in ("a", "an") or j - k <= 2):
            return Use(RESULT, "such ... that")
        if (
            word == "so"
            and after not in _SUBJECT
            and after not in AUXILIARY
            and after not in _DETERMINER - {"many", "much", "few"}
            and after[0].isalpha()
            and after not in PREPOSITION
            and not after.endswith("ing")
        ):
            return Use(RESULT, f"so {after} ... that")
    return None


def _has_gap(words: Sequence[str], follows: str, at: int) -> bool:
    """Whether the clause at `at` lacks the object of its verb ("the claim that he made"): then it is relative."""
    if follows not in ("pronoun", "determiner"):
        return False
    for k in range(at + 1, min(at + 6, len(words))):
        if words[k] in _GAP_VERB:
            after = _at(words, k + 1)
            if after in _GAP_VERB or after in ADVERB:
                continue
            return (
                not after
                or not after[0].isalnum()
                or after in PREPOSITION - {"out", "up", "off"}
                or after in CONJUNCTION
                or after in BE
            )
    return False


def _distant(words: Sequence[str], j: int) -> Use | None:
    """A governor further back: "said on Friday that", "told reporters that", "clear to me that"."""
    for k in range(j - 1, max(j - 11, -1), -1):
        word, first = words[k], words[k + 1]
        if word in LEXICON["telling_verb"] and not _is_noun(words, k) and first not in PREPOSITION:
            if word in _SHOWING and first not in _OBJECT_PRONOUN:
                return None
            return Use(COMPLEMENTIZER, f"{word} somebody takes a clause")
        if (word in _HARD | _SOFT | _ADJECTIVE and not _is_noun(words, k)) or word in _NOUN:
            if word in _NOUN and _is_noun(words, k):
                linked = first in ("among", "amongst", "from", "within", "in")
            elif first == "to":
                linked = words[k + 2] not in BASE
            else:
                linked = (
                    first in _BACK_PREPOSITION
                    or words[j] in LEXICON["time_noun"]
                    or first in LEXICON["time_noun"]
                    or first.endswith("ly")
                    or first in ("last", "this", "next", "him", "her", "them", "us", "me")
                    or (first == "for" and word in _ADJECTIVE)
                )
            return Use(COMPLEMENTIZER, f"{word} {first} ... takes a clause") if linked else None
        if (
            _stops(words, k)
            or word in _DISTANT_STOP
            or word in AUXILIARY
            or (word in _SUBJECT and words[k - 1] not in PREPOSITION)
        ):
            return None
    return None


_DISTANT_STOP = frozenset(", that which who whom what where when".split())
_SHOWING = frozenset(
    "show shows showed shown taught teach believe trust asked ask wrote write promise promised bet brief".split()
)


def _stops(words: Sequence[str], k: int) -> bool:
    """Whether word `k` ends a sentence or clause; the full stop of an abbreviation does not."""
    if (
        words[k] == "."
        and k
        and (words[k - 1] in ("mr", "mrs", "ms", "dr", "st", "prof", "fr") or len(words[k - 1]) == 1)
    ):
        return False
    return words[k] in _STOP


def _after_comma(words: Sequence[str], index: int, follows: str, at: int, j: int) -> Use | None:
    """After a comma or and: a second clause of an earlier governor, or the governor before a parenthesis."""
    if words[j] == ",":
        before = _at(words, j - 1)
        if (
            before in _HARD | _ADJECTIVE
            and not _is_noun(words, j - 1)
            and _can_be_clause(words, follows, at, sure=False)
        ):
            return Use(COMPLEMENTIZER, f"{before} takes a clause")
        opens = next((k for k in range(j - 1, max(j - 7, 0), -1) if words[k] == ","), None)
        if (
            opens is not None
            and words[opens - 1] in _HARD | _SOFT | _ADJECTIVE | _NOUN | _BE | {"so", "now"}
            and follows in ("pronoun", "determiner", "starter", "open")
        ):
            return Use(COMPLEMENTIZER, f"{words[opens - 1]} takes a clause")
    return _inherited(words, index, follows, at, j)


def _inherited(words: Sequence[str], index: int, follows: str, at: int, j: int) -> Use | None:
    """The start of a sentence or a coordinated clause: as an earlier "that" of the sentence, if a clause follows."""
    if not _can_be_clause(words, follows, at, sure=False):
        return None
    begins = j < 0 or words[j] in ".!?\u2026"
    if begins:
        if follows == "determiner" or _at(words, at) in ("he", "she", "they", "we", "it", "there"):
            return Use(COMPLEMENTIZER, "subject clause")
        return None
    for k in range(j - 1, -1, -1):
        if words[k] in ".!?":
            break
        if words[k] == "that":
            earlier = use(words, k)
            return Use(COMPLEMENTIZER, "second clause") if earlier.kind in (COMPLEMENTIZER, RESULT) else None
    if words[j] in (":", "\u2014", "\u2013") and follows in ("pronoun", "determiner"):
        return None
    for k in range(j - 1, -1, -1):
        if words[k] in ".!?":
            break
        if (
            words[k] in _HARD
            and not _is_noun(words, k)
            and follows in ("pronoun", "determiner", "starter", "preposition")
        ):
            return Use(COMPLEMENTIZER, f"second clause of {words[k]}")
    return None


def _before_comma(words: Sequence[str], index: int) -> Use:
    """That before a comma: a parenthesis inside a clause ("said that, if he"), or a demonstrative."""
    before = _at(words, index - 1)
    after = _at(words, index + 2)
    closes = "," in words[index + 2 : index + 14]
    if (
        (before in _HARD | _ADJECTIVE | {"so", "is"} or (before in _NOUN and _is_noun(words, index - 1)))
        and (after in PREPOSITION or after in _CLAUSE_STARTER or closes)
        and after not in ("and", "but", "or", "so", "then", "too", "which", "for")
    ):
        return Use(COMPLEMENTIZER, f"{before} takes a clause")
    return Use(DEMONSTRATIVE, "before a comma")


def _degree(words: Sequence[str], index: int) -> Use | None:
    """Not that big, that much: "that" before a graded word with no noun after it."""
    before, after, third = _at(words, index - 1), _at(words, index + 1), _at(words, index + 2)
    ends = (
        not third
        or not third[0].isalnum()
        or third in PREPOSITION
        or third in CONJUNCTION
        or third in ADVERB
        or third in _SUBJECT
        or third in ("to", "a", "of", "that", "more", "than", "when")
    )
    if after in ("much", "many") and third != "-":
        noun = (
            before
            and before[0].isalpha()
            and before not in VERB
            and before not in PREPOSITION
            and before not in ADVERB
            and before not in AUXILIARY
            and before not in ("n't", "not", "all", "and", "have")
        )
        return None if noun else Use(DEGREE, f"that {after}")
    subject = _at(words, index - 2)
    negated = before in ("not", "n't", "all", "never")
    copular = (
        before in _BE | {"be", "been", "'m", "am", "'re"}
        and subject[:1].isalpha()
        and subject not in CONJUNCTION
        and subject not in ("what", "who", "how", "why", "where")
    )
    if after in LEXICON["graded"] and ends and third not in ("'s", "of") and (negated or copular or before in VERB):
        return Use(DEGREE, f"that {after}")
    return None


def _pronoun(words: Sequence[str], index: int, follows: str) -> Use:
    """Which pronoun a "that" in use is: relative after a noun, else demonstrative, with a noun or alone."""
    before = _at(words, index - 1)
    noun = (
        (bool(before)
        and before[0].isalnum()
        and not (
            before in PREPOSITION or before in CONJUNCTION or before in AUXILIARY or before in ADVERB or before == "to"
        )
        and (before not in VERB or _is_noun(words, index - 1)))
        or before in ("one", "all", "those")
    )
    if noun and follows in ("verb", "pronoun", "determiner", "open", "preposition", "starter", "adverb", "comma"):
        return Use(RELATIVE, f"after the noun {before}")
    if before == "," and follows == "verb":
        return Use(RELATIVE, "a verb follows")
    if follows in ("open", "light", "determiner") and _at(words, index + 1) not in AUXILIARY:
        return Use(DETERMINER, "before a noun")
    return Use(DEMONSTRATIVE, "stands alone" if follows == "end" else f"before a {follows}")
