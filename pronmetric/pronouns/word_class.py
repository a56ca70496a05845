"""Classes of words for the rules of "that" that are not in the lexicon, and tests of single words."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.pronouns.lexicon import (
    ADVERB,
    ARTICLE,
    AUXILIARY,
    CONJUNCTION,
    PAST,
    VERB,
)
from pronmetric.pronouns.lexicon import CLASSES as LEXICON

SUBJECT = LEXICON["subject_pronoun"]
OBJECT = LEXICON["object_pronoun"]
_DEMONSTRATIVE = frozenset({"this", "these", "those"})
SURE_DETERMINER = LEXICON["possessive"] | _DEMONSTRATIVE | {"the", "a", "an"}
DETERMINER_WORD = ARTICLE | SURE_DETERMINER | {"such", "what", "whatever", "only"}
WH = frozenset("what who whoever which whichever whose why how where when".split())
STARTER = (CONJUNCTION - {"and", "or", "but", "nor", "yet", "so", "plus"}) | WH | {"since", "before", "after", "until"}
_BARE_CLITIC = frozenset("s re m d ll ve".split())
FINITE = (
    (AUXILIARY - _BARE_CLITIC - {"be", "been", "being"})
    | LEXICON["third_singular_verb"]
    | (PAST - LEXICON["past_or_adjective"])
)
FINITE_VERB = FINITE | LEXICON["base_verb_only"] | _BARE_CLITIC
BE_FORM = frozenset("is was are were be been 's s".split())
QUOTE = frozenset("\"'`\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb([")
FULL_STOP = frozenset(".!?\u2026")
STOP = FULL_STOP | {";", ":"}
DASH = frozenset("-\u2013\u2014")
COORDINATOR = frozenset("and or but nor".split())


def word_at(words: Sequence[str], index: int) -> str:
    """Word `index`; "" outside the text."""
    return words[index] if 0 <= index < len(words) else ""


def is_word(word: str) -> bool:
    """Whether it is not a punctuation mark."""
    return word[:1].isalnum() or (len(word) > 1 and word[0] == "'")


def is_stop(words: Sequence[str], k: int) -> bool:
    """Whether word `k` ends a sentence or clause; the full stop of an abbreviation does not."""
    if words[k] == "." and k and (words[k - 1] in LEXICON["abbreviation"] or len(words[k - 1]) == 1):
        return False
    return words[k] in STOP


def is_adverb(word: str) -> bool:
    """Whether it is an adverb, by its form or by the lexicon."""
    return (word in ADVERB or (len(word) > 4 and word.endswith("ly"))) and word not in LEXICON["no_adverb"]


def is_plural(word: str) -> bool:
    """Whether it looks like a plural noun."""
    return word in LEXICON["plural"] or (
        len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "'s"))
    )


def may_be_finite(word: str) -> bool:
    """Whether an open word looks like a finite verb, though it may be a noun or an adjective."""
    if word in LEXICON["past_or_adjective"] or word.endswith(("ates", "izes", "ises", "ifies")):
        return True
    if word.endswith("ed") and len(word) > 3:
        return not word.endswith("eed") and word not in ("hundred", "sacred", "naked")
    return word in VERB and word.endswith("s") and not word.endswith("ss")
