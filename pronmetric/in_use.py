"""Is a form that looks like a pronoun one in use? Rules over the neighbouring words; in doubt it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pronmetric import that
from pronmetric.words import Word

Judge = Callable[[str, Sequence[Word], Sequence[str], int], tuple[bool, str]]


def _always(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    return True, "always a pronoun"


def _that(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    kind, reason = that.use(lower, index)
    return kind in that.IN_USE, f"{kind}: {reason}"


def _acronym(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    if words[index].text.isupper() and any(c.islower() for c in text):
        return False, "name in capitals"
    return True, "always a pronoun in this letter case"


def _mine(text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    if index and lower[index - 1] in {"a", "the", "coal", "gold", "this", "that", "land"}:
        return False, "noun"
    return True, "possessive"


_JUDGES: dict[str, Judge] = {"that": _that, "it": _acronym, "us": _acronym, "who": _acronym, "mine": _mine}


def judge(form: str, text: str, words: Sequence[Word], lower: Sequence[str], index: int) -> tuple[bool, str]:
    """Whether word `index`, which has the form `form`, is a pronoun in use, and the reason."""
    return _JUDGES.get(form, _always)(text, words, lower, index)
