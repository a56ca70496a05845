"""Whether a form of the inventory is a pronoun in use. Rules over the neighbouring words; in doubt it is one.

Any form can be a part of a compound (`compound`) or of a quoted title (`titles`), and some a word of another language
(`foreign`). Only that, i, us, it, who, me, mine, he and she can be something else: a complementizer, a numeral or
initial, a name in capitals (`capitals`), a noun. The arguments of each rule: the text, its words, the same lower-cased,
the index of the word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from pronmetric.pronouns import capitals, compound, foreign, that, titles
from pronmetric.pronouns.lexicon import ADVERB, AUXILIARY, BASE, FUNCTION, PAST, PREPOSITION, VERB
from pronmetric.pronouns.lexicon import CLASSES as LEXICON
from pronmetric.text.words import Word

Judge = Callable[[str, Sequence[Word], Sequence[str], int], tuple[bool, str]]

_ROMAN = re.compile("[IVX]{2,}")
_SPEAKS = frozenset("am 'm m have 've ve do don 'll 'd think hope believe guess know".split())
_GLUED_MARK = re.compile(r"\w[.?!]")
_INNER = frozenset(",;:()[]\"'`\u2018\u2019\u201c\u201d\u2013\u2014-")
_HYPHEN = frozenset("-\u2010\u2011")


def judge(form: str, text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    """Whether word `index`, which has the form `form`, is a pronoun in use, and the reason."""
    part = compound.found(words, lower, index)
    if part is not None:
        return False, f"part of the compound {part}"
    if foreign.is_foreign(lower, index):
        return False, "word of another language"
    if titles.is_in_title(words, lower, index):
        return False, "part of a quoted title"
    rule = _JUDGES.get(form)
    return (True, "always a pronoun") if rule is None else rule(text, words, lower, index)


def _that(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    kind, reason = that.use(lower, index, names=_names(text, words, lower, index), bare=_is_bare(text))
    return kind in that.IN_USE, f"{kind}: {reason}"


def _names(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> set[int]:
    """The next words that begin with a capital, unless everything is in capitals."""
    ahead = range(index + 1, min(index + 4, len(words)))
    return set() if _is_upper(text) else {k for k in ahead if words[k].text[0].isupper() and lower[k] not in FUNCTION}


@lru_cache(maxsize=4)  # called for each "that" of a text
def _is_bare(text: str) -> bool:
    """Whether a text has neither capitals nor the punctuation of running text: none inside, no mark after a word."""
    return text.islower() and _INNER.isdisjoint(text) and not _GLUED_MARK.search(text)


@lru_cache(maxsize=4)
def _is_upper(text: str) -> bool:
    return text.isupper()


def _in_capitals(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    """US, IT and WHO are names, unless their neighbours are in capitals too and make them a pronoun."""
    if not words[index].text.isupper() or lower[index] not in ("us", "it", "who"):
        return True, "a pronoun in this letter case"
    if index and lower[index - 1] == "the":
        return False, "name after the"
    if lower[index] != "it" and compound.is_hyphenated(words, lower, index):
        return False, "part of a compound in capitals"
    if _is_upper(text):
        return capitals.judge(lower, index)
    if lower[index] == "it" and _low(lower, index + 1) in ("'s", "is", "was") and _starts(lower, index):
        return True, "in doubt: IT before be"
    for k in (index - 1, index + 1):
        if (
            0 <= k < len(words)
            and words[k].text.isupper()
            and len(lower[k]) > 1
            and (lower[k] in FUNCTION or lower[k] in VERB)
        ):
            return capitals.judge(lower, index)
    return False, "name in capitals"


def _me(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    """ME in capitals can be Windows ME, the state of Maine, or a part of ME/CFS."""
    if words[index].text != "ME" or _is_upper(text):
        return True, "a pronoun in this letter case"
    before, after = _low(lower, index - 1), _low(lower, index + 1)
    if before == "windows":
        return False, "name after Windows"
    if after == "/" and words[index + 1].start == words[index].end and _is_capital(words, index + 2):
        return False, "abbreviation"
    if before not in (",", "(") or not _is_capital(words, index - 2) or _low(lower, index - 2) in FUNCTION:
        return True, "in doubt: ME in capitals"
    place = after == ")" if before == "(" else not after or after in (",", ".", ";") or after[:1].isdigit()
    return (False, "state after a place") if place else (True, "in doubt: ME in capitals")


def _is_capital(words: Sequence[Word], index: int) -> bool:
    return 0 <= index < len(words) and words[index].text[0].isupper()


class _Place(NamedTuple):
    """The position of an "I": the words, the same lower-cased, its index, and its two neighbours lower-cased."""

    words: Sequence[Word]
    lower: Sequence[str]
    at: int
    before: str
    after: str

    def is_glued(self, k: int) -> bool:
        """Whether word `k` follows the one before it without white space."""
        return 0 < k < len(self.words) and self.words[k].start == self.words[k - 1].end

    def after_capital(self) -> bool:
        """Whether the word before begins with a capital."""
        return self.at > 0 and self.words[self.at - 1].text[0].isupper()


def _i(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    """I is a numeral after a numbered noun or a ruler, and may be an initial."""
    place = _Place(words, lower, index, _low(lower, index - 1), _low(lower, index + 1))
    if place.after.startswith("'") and len(place.after) > 1:
        return True, "before a clitic"
    for reason, holds in _NO_PERSON:
        if holds(place):
            return False, reason.format(before=place.before)
    return True, "a person speaks"


def _begins_abbreviation(place: _Place) -> bool:
    """Whether "I" is a letter of I.E."""
    index = place.at
    glued = place.after == "." and place.is_glued(index + 1) and place.is_glued(index + 2)
    return glued and _is_letter(place.lower[index + 2])


def _ends_abbreviation(place: _Place) -> bool:
    """Whether "I" is a letter of A.I."""
    return place.before == "." and place.is_glued(place.at) and _is_letter(_low(place.lower, place.at - 2))


def _is_before_stop(place: _Place) -> bool:
    index, lower = place.at, place.lower
    stop = place.after == "." and place.is_glued(index + 1) and place.words[index].text == "I"
    return stop and _low(lower, index + 2)[:1].isalpha() and _is_initial(place.words, lower, index)


def _is_list_mark(place: _Place) -> bool:
    """Whether "I" numbers an item: "i)" without an opening bracket, "i." at the start of a text."""
    index, lower = place.at, place.lower
    if not place.is_glued(index + 1) or not _low(lower, index + 2)[:1].isalnum():
        return False
    if place.after == ")":
        return lower[:index].count("(") <= lower[:index].count(")")
    begins = index == 0 and place.after == "." and not place.is_glued(index + 2)
    return begins and (place.words[0].text == "i" or place.words[2].text[0].islower())


def _is_letter_i(place: _Place) -> bool:
    """Whether "I" is a letter or the name of a newspaper: the letter i, the i."""
    return place.before in ("the", "letter", "vowel") and not (
        _may_be_said_of_me(place.after) or place.after in _SPEAKS or place.after in _INNER
    )


def _is_ionised(place: _Place) -> bool:
    """Whether "I" says how far an element is ionised: Na I lines."""
    element = place.at > 0 and place.words[place.at - 1].text in LEXICON["element"]
    return element and place.after in LEXICON["spectral"]


def _is_scripture(place: _Place) -> bool:
    """Whether "I" numbers a book of the Bible: I Corinthians, I Kings 3."""
    if place.after in LEXICON["scripture"]:
        return True
    chapter = _low(place.lower, place.at + 2)[:1].isdigit()
    return place.after in LEXICON["scripture_or_person"] and chapter


def _is_in_compound(place: _Place) -> bool:
    """Whether "I" is part of I-95 or i/o, and not before another "I"."""
    index, words = place.at, place.words
    if place.after not in _HYPHEN | {"/"} or not (place.is_glued(index + 1) and place.is_glued(index + 2)):
        return False
    part = words[index + 2].text
    return place.lower[index + 2] != "i" and (part.isdigit() or part.isupper() or words[index].text == "i")


def _is_regnal(place: _Place) -> bool:
    """Whether "I" follows the name of a ruler: a regnal name, or a name after a title."""
    if not place.after_capital() or place.after in _SPEAKS:
        return False
    titled = _low(place.lower, place.at - 2) in LEXICON["title"]
    return place.before in LEXICON["regnal"] or (titled and place.before.isalpha() and place.before not in FUNCTION)


_NO_PERSON: tuple[tuple[str, Callable[[_Place], bool]], ...] = (
    ("part of an abbreviation", _begins_abbreviation),
    ("initial or numeral before a full stop", _is_before_stop),
    ("part of an abbreviation", _ends_abbreviation),
    ("part of a compound", _is_in_compound),
    ("mark of a list", _is_list_mark),
    ("letter", _is_letter_i),
    ("numeral after an element", _is_ionised),
    ("numeral before a book of the Bible", _is_scripture),
    ("numeral in brackets", lambda place: place.before == "(" and place.after == ")"),
    (
        "first of several numerals",
        lambda place: any(_ROMAN.fullmatch(word.text) for word in place.words[place.at + 1 : place.at + 3]),
    ),
    ("World War I", lambda place: place.before == "war" and _low(place.lower, place.at - 2) == "world"),
    (
        "numeral after {before}",
        lambda place: place.before in LEXICON["numbered"] and _is_numbered(place.words, place.lower, place.at),
    ),
    ("numeral after {before}", _is_regnal),
)
"""The reason why an "I" is not a pronoun, and its test; the first true one counts."""


def _is_letter(word: str) -> bool:
    return len(word) == 1 and word.isalpha()


def _is_numbered(words: Sequence[Word], lower: Sequence[str], index: int) -> bool:
    """Whether "I" numbers the noun before it ("Part I", "type I diabetes") and is not a subject ("the part I like")."""
    after = _low(lower, index + 1)
    if words[index - 1].text[0].isupper() and after != ",":
        return not _may_be_said_of_me(after)
    joined = (
        (after in PREPOSITION and after not in BASE)
        or after in ("and", "or", "to")
        or after in LEXICON["numbered_noun"]
    )
    return joined or (after != "," and not after[:1].isalnum())


def _may_be_said_of_me(word: str) -> bool:
    return word in AUXILIARY or word in PAST or word in BASE or word in ADVERB or word.endswith(("ed", "ly"))


def _is_initial(words: Sequence[Word], lower: Sequence[str], index: int) -> bool:
    """Whether the full stop after "I" ends an initial: after a name or nothing, and before a capital."""
    if not words[index + 2].text[0].isupper() or lower[index + 2] in FUNCTION:
        return False
    before = _low(lower, index - 1)
    if _starts(lower, index):
        return True
    return before in PREPOSITION or (words[index - 1].text[0].isupper() and before not in FUNCTION and before.isalpha())


def _mine(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    """Mine is a noun after a determiner or the name of what is mined, and a verb after "to"."""
    before, after = _low(lower, index - 1), _low(lower, index + 1)
    if words[index].text == "Mine" and not _is_upper(text):
        if not _starts(lower, index) or (index + 1 < len(words) and words[index + 1].text[0].isupper()):
            return False, "name"
    if after in LEXICON["mining"] and before not in ("of", "is", "was"):
        return False, f"noun before {after}"
    if before in LEXICON["mined"]:
        return False, f"noun after {before}"
    if before == "to" and (after in LEXICON["article"] or after in LEXICON["mined"] or after in ("bitcoin", "data")):
        return False, "verb after to"
    if before == "that":
        noun = that.use(lower, index - 1).kind in that.IN_USE
        return not noun, "noun after that" if noun else "possessive"
    for k in range(index - 1, max(index - 4, -1), -1):
        if lower[k] in ("a", "the", "this", "another", "each", "every") or lower[k] in LEXICON["possessive"]:
            return False, f"noun after {lower[k]}"
        if lower[k] in FUNCTION or lower[k] in VERB or lower[k].endswith("ed") or not lower[k].isalpha():
            break
    return True, "possessive"


def _gendered(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    """He and she are parts of he-man and she-wolf; HE can be His Excellency, and He a Chinese surname."""
    if words[index].text == "HE" and _is_capital(words, index + 1) and lower[index + 1] in LEXICON["honorific"]:
        return False, "title: His Excellency"
    if _low(lower, index + 1) in _HYPHEN and words[index + 1].start == words[index].end:
        if _low(lower, index + 2) in LEXICON["gendered_noun"]:
            return False, "part of a compound"
    if words[index].text == "He" and _is_surname(words, lower, index):
        return False, "surname"
    return True, "always a pronoun"


def _is_surname(words: Sequence[Word], lower: Sequence[str], index: int) -> bool:
    """Whether He is a surname: beside a given name, in text in which some other words begin with small letters.

    "He Dayi", "Dayi He"; not beside a verb, an adverb or a function word, and not in a title ("The Life He Led").
    """
    if not titles.has_small_letters(words):
        return False
    if _is_given_name(words, lower, index + 1):
        return True
    ends = _low(lower, index + 1) in (",", "(")
    return ends and not _starts(lower, index) and _is_given_name(words, lower, index - 1)


def _is_given_name(words: Sequence[Word], lower: Sequence[str], index: int) -> bool:
    if not _is_capital(words, index) or not words[index].text[1:].islower():
        return False
    other = FUNCTION | VERB | BASE | PAST | ADVERB | {"himself", "who"}
    return lower[index] not in other


def _starts(lower: Sequence[str], index: int) -> bool:
    """Whether word `index` begins a sentence: after nothing, a full stop or other punctuation."""
    return index == 0 or not (lower[index - 1][0].isalnum() or lower[index - 1] in "-,/")


def _low(lower: Sequence[str], index: int) -> str:
    return lower[index] if 0 <= index < len(lower) else ""


_JUDGES: dict[str, Judge] = {
    "that": _that,
    "it": _in_capitals,
    "us": _in_capitals,
    "who": _in_capitals,
    "me": _me,
    "mine": _mine,
    "i": _i,
    "he": _gendered,
    "she": _gendered,
}
