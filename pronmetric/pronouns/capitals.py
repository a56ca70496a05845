"""US, IT and WHO in a text or phrase in capitals, where the letters do not show whether they are names.

Their neighbours decide: US is a pronoun after a verb or a preposition, IT is one except before a noun of information
technology, WHO is one except before a verb or a noun of the organisation. In doubt each is a pronoun, but for US where
only a name can stand: as a subject, and in a list.
"""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.pronouns.lexicon import ADVERB, ARTICLE, BASE, BE, FUNCTION, MODAL, PREPOSITION, SINGULAR, VERB
from pronmetric.pronouns.lexicon import CLASSES as LEXICON
from pronmetric.pronouns.word_class import FULL_STOP, OBJECT, SUBJECT, is_word, word_at

_OF_PLACES = frozenset("in across throughout inside outside within".split())
_SUBJECTS = LEXICON["personal_subject"] | {"who", "to", "n't", "not"}
_AGREES_WITH_NAME = (SINGULAR | MODAL | BE | {"had"}) - {"'s", "s", "be", "been", "being", "am", "'m", "m", "do", "are"}


def judge(lower: Sequence[str], index: int) -> tuple[bool, str]:
    """Whether US, IT or WHO at `index` of the lower-cased words is a pronoun, and the reason."""
    before, after = word_at(lower, index - 1), word_at(lower, index + 1)
    return _JUDGES[lower[index]](lower, index, before, after)


def _it(lower: Sequence[str], index: int, before: str, after: str) -> tuple[bool, str]:
    if after in LEXICON["it_noun"]:
        return False, f"name before {after}"
    return True, "all in capitals"


def _who(lower: Sequence[str], index: int, before: str, after: str) -> tuple[bool, str]:
    if after in LEXICON["who_noun"]:
        return False, f"name before {after}"
    opens = not is_word(before) and before not in (",", "-", "/", "(")
    end = next((word for word in lower[index:] if word in FULL_STOP), "")
    if opens and end != "?" and after in LEXICON["who_verb"]:
        return False, f"name that {after}"
    return True, "all in capitals"


def _us(lower: Sequence[str], index: int, before: str, after: str) -> tuple[bool, str]:
    if before != "of" and after in _AGREES_WITH_NAME:
        return False, f"name as the subject of {after}"
    content = after[:1].isalpha() and after not in FUNCTION and after not in OBJECT
    if before in PREPOSITION or before == "to":
        if before in _OF_PLACES or (content and after not in VERB):
            return False, f"name after {before}"
        if before == "between" and after == "and" and word_at(lower, index + 2) not in OBJECT | ARTICLE:
            return False, "name between two"
        return True, f"after {before}"
    if before in ("and", "or", "but"):
        known = word_at(lower, index - 2) in SUBJECT | OBJECT
        return known, f"{before} after a pronoun" if known else f"name after {before}"
    if not is_word(before) and not before.startswith("'"):
        return False, "name at the start of a phrase"
    verb = before in VERB or before in BASE or before in BE | {"'s"} or before.endswith(("ed", "ing"))
    if verb or before in ADVERB or before in FUNCTION or word_at(lower, index - 2) in _SUBJECTS:
        return True, "in doubt: all in capitals"
    return False, f"name after {before}"


_JUDGES = {"it": _it, "us": _us, "who": _who}
