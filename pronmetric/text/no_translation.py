"""Lines of a language model's output that are no translation: refusals, comments, thoughts, JSON, far too long ones.

Their pronouns are right where they stand, so that no score shows them. The patterns are few, and real texts have hardly
any such line; docs/scoring.md has measurements. What the source or a reference says in the same way is translated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

REFUSAL, COMMENT, THOUGHTS, JSON, LENGTH = "refusal", "comment", "thoughts", "JSON", "far too long"
TIMES, MORE = 5, 300
"""A line is far too long with so many times the characters of its source or reference, and so many more."""
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")  # each is worth three characters of an alphabet
_MARKS = " \t\"'*_#>-`“”„«»"
_CANNOT = r"(?: can(?:no|')?t| can not| will not| won't| am unable to|'m unable to| am not able to|'m not able to)"
_HELP = r"(?:help|assist|translate|provide|fulfill?|comply|process|generate|complete)"
_WITH_THAT = (
    r"(?:with (?:that|this)(?=\W*$|[.,;:!]| request)|(?:that|this|your|the) (?:request|text|sentence|content)\b"
    r"|translation)"
)
_PATTERNS = {
    THOUGHTS: [r"</?(?:think|thinking|thought|thoughts|reasoning)>", r"<\|[a-z_]+\|>", r"\[/?INST\]"],
    REFUSAL: [
        r"(?:[^.!?]{0,40}\b(?:sorry|apologi[sz]e|unfortunately)\b[^.!?]{0,30})?"
        rf"\bi{_CANNOT} {_HELP}\b[^.!?]*\b{_WITH_THAT}",
        r"(?:[^.!?]{0,40}\bsorry\b[^.!?]{0,30})?\bas an? (?:ai|(?:large )?language model)\b",
        r"es tut mir leid\b[^.!?]{0,60}(?:\banfrage\b|übersetz)",
        r"(?:抱歉|对不起)[^。]{0,20}(?:翻译|请求)",
    ],
    COMMENT: [
        r"(?:sure|certainly|of course|absolutely)\b\W+(?:here|the translat|i will translat|i'll translat)",
        r"(?:here|this)(?:'s| is| are)\b[^.!?]{0,40}\btranslat(?:ion|ed)\b[^.!?]{0,40}:",
        r"(?:the )?(?:\w+ )?(?:translation|translated text)(?: (?:of|into|to|in) [^:.!?]{1,30})?"
        r"(?: is)?(?: as follows)?\W{0,4}:",
        r"assistant\W{0,3}:",
        r"\(?(?:translator's )?note\W{0,3}: [^:]*\btranslat",
        r"hier ist (?:die|eine|meine) (?:\w+ )?übersetzung\b",
        r"(?:вот|ось)(?: \w+)? (?:перевод|переклад)\b",
        r"zde je (?:\w+ )?překlad\b",
        r"以下[是はが][^。:]{0,10}(?:翻译|译文|翻訳|訳)",
    ],
}
_COMPILED = {kind: re.compile("|".join(patterns), re.IGNORECASE) for kind, patterns in _PATTERNS.items()}


def kind_of(text: str, others: Sequence[str] = ()) -> str | None:
    """Why a line is no translation; None where it may be one.

    others: its source and references, as far as they are known; a kind that one of them is too is none.

    >>> kind_of("I'm sorry, but I cannot help with that request."), kind_of("I'm sorry, but I cannot help you today.")
    ('refusal', None)
    """
    own = _kind(text)
    if own is not None:
        return None if any(_kind(other) == own for other in others) else own
    known = [size for other in others if (size := _size(other))]
    return LENGTH if known and _size(text) > max(TIMES * max(known), MORE + max(known)) else None


def _kind(text: str) -> str | None:
    if _COMPILED[THOUGHTS].search(text):
        return THOUGHTS
    if _is_json(text):
        return JSON
    line = text.lstrip(_MARKS).replace("\u2019", "'")
    return next((kind for kind in (REFUSAL, COMMENT) if _COMPILED[kind].match(line)), None)


def _is_json(text: str) -> bool:
    """Whether a line is a fence of code, or an object or list of JSON."""
    line = text.strip()
    if line.startswith("```"):
        return True
    if line[:1] + line[-1:] not in ("{}", "[]"):
        return False
    try:
        return bool(json.loads(line))
    except (ValueError, RecursionError):
        return False


def _size(text: str) -> int:
    """The characters of a text as those of an alphabet."""
    line = text.strip()
    return len(line) + 2 * len(_WIDE.findall(line))
