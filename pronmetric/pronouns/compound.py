"""Hyphenated compounds that have a form of the inventory as a part: it-girl, do-it-yourself, us-based.

A glued hyphen can also be a dash ("I saw it-and left") or a stutter ("I-I"), so a compound is one of a list, or us with
a participle, or has three parts or more that are no repetition and no choice (his-or-her).
"""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.pronouns.lexicon import CLASSES as LEXICON
from pronmetric.text.words import Word

_HYPHENS = frozenset("-\u2010\u2011")
_JOINS = frozenset({"or", "and"})


def found(words: Sequence[Word], lower: Sequence[str], index: int) -> str | None:
    """The compound that word `index` is a part of, None if there is none."""
    first, last = _first(words, lower, index), _last(words, lower, index)
    if first == last:
        return None
    whole = "".join("-" if word in _HYPHENS else word for word in lower[first : last + 1])
    parts = whole.split("-")
    if whole in LEXICON["compound"]:
        return whole
    if len(parts) == 2:
        return whole if parts[0] == "us" and parts[1] in LEXICON["us_compound"] else None
    if len(parts) < 3 or _JOINS.intersection(parts[1:-1]):
        return None
    own = lower[index]
    place = parts.index(own) if own in parts else 0
    beside = parts[max(place - 1, 0) : place] + parts[place + 1 : place + 2]
    return None if any(own.startswith(part) for part in beside) else whole


def is_hyphenated(words: Sequence[Word], lower: Sequence[str], index: int) -> bool:
    """Whether a glued hyphen joins word `index` to the word before or after it."""
    return _first(words, lower, index) != _last(words, lower, index)


def is_glued(words: Sequence[Word], k: int) -> bool:
    """Whether word `k` follows the one before it without white space."""
    return 0 < k < len(words) and words[k].start == words[k - 1].end


def _first(words: Sequence[Word], lower: Sequence[str], index: int) -> int:
    """The first word of the hyphenated run that ends with word `index` or goes on there."""
    while index > 1 and lower[index - 1] in _HYPHENS and is_glued(words, index) and is_glued(words, index - 1):
        if not lower[index - 2][0].isalnum() and not _is_clitic(lower[index - 2]):
            break
        index -= 2
        if _is_clitic(lower[index]) and is_glued(words, index):
            index -= 1
    return index


def _last(words: Sequence[Word], lower: Sequence[str], index: int) -> int:
    """The last word of the hyphenated run that begins with word `index` or came there."""
    while True:
        hyphen = index + 1
        if hyphen < len(words) and _is_clitic(lower[hyphen]) and is_glued(words, hyphen):
            hyphen += 1
        glued = is_glued(words, hyphen) and is_glued(words, hyphen + 1)
        if not glued or lower[hyphen] not in _HYPHENS or not lower[hyphen + 1][0].isalnum():
            return index
        index = hyphen + 1


def _is_clitic(word: str) -> bool:
    return len(word) > 1 and word[0] == "'"
