"""Sentence boundaries of running English text, by one of two rules.

CONTEXTUAL looks at the next word and at brackets; evaluation on GAP and on coreference corpora and the context of
training passages use it. LISTED knows abbreviations only and keeps every mark of punctuation; preparation cuts
passages by it. Published figures depend on the first rule, prepared folders on the second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

Judge = Callable[[str, int, re.Match[str]], bool]
"""Whether a candidate ends the sentence that begins at the index; takes text, index and match."""


class Boundaries(NamedTuple):
    """A rule for sentence boundaries: a pattern of candidates with the white space after them, and a test of each."""

    candidate: re.Pattern[str]
    is_end: Judge


_END = re.compile(r"""(?P<mark>[.!?]+)(?:''|["'\u2019\u201d)\]])*\s+(?=(?P<next>(?:``|["'\u2018\u201c(\[])*\s*\S+))""")
_TITLES = frozenset(
    "mr mrs ms mme mlle dr prof st ste sen rep gov gen col maj capt cpt lt sgt cmdr adm rev revd fr hon pres supt insp "
    "det messrs no nos vol vols pp ch op vs ca cf approx fl al fig ft mt bt bart ed eds trans feat esq "
    "jan feb mar apr aug sept oct nov dec".split()
)
_AFTER_NAME = frozenset(
    {"jr", "sr", "co", "inc", "ltd", "corp", "bros", "etc", "d.c", "u.s", "u.k", "u.s.a", "a.m", "p.m"}
)
_STARTERS = frozenset(
    "a an the this that these those he she it they we you i his her its their there here in on at by for from after "
    "before during while when as with since although though however but and despite following according to one two "
    "both some many most all what who where why if then later also born upon under throughout between".split()
)


def sentence_at(text: str, offset: int) -> tuple[int, int]:
    """The half-open span of the sentence that contains `offset`, without white space at its ends.

    >>> text = "Mr. J. Doe left. She saw him (why?) and wept. It rained."
    >>> text[slice(*sentence_at(text, text.index("him")))]
    'She saw him (why?) and wept.'
    """
    cuts = [0, *starts(text), len(text)]
    start = max(cut for cut in cuts if cut <= offset)
    end = min(cut for cut in cuts if cut > offset)
    return start, len(text[:end].rstrip())


def starts(text: str, rule: Boundaries | None = None) -> list[int]:
    """The offset of each sentence but the first, by `rule` (CONTEXTUAL by default)."""
    candidate, is_end = rule or CONTEXTUAL
    found = [0]
    for match in candidate.finditer(text):
        if is_end(text, found[-1], match):
            found.append(match.end())
    return found[1:]


def split_sentences(text: str, rule: Boundaries | None = None) -> list[str]:
    """The sentences of a paragraph, without white space at their ends.

    By LISTED, an end is a run of `.!?` or an ellipsis with its closing quotes, before a capital or a digit (or an
    opening quote before one), unless after a title, an initial or another common abbreviation.

    >>> split_sentences("Mr. Hall laughed. \u201cWhy?\u201d she asked. He did not know.", LISTED)
    ['Mr. Hall laughed.', '\u201cWhy?\u201d she asked.', 'He did not know.']
    """
    return cut_text(text, starts(text, rule))


def cut_text(text: str, offsets: Iterable[int]) -> list[str]:
    """The parts of a text between offsets, without white space at their ends and without empty parts.

    >>> cut_text("He left, she stayed.", [8])
    ['He left,', 'she stayed.']
    """
    parts = (text[start:end].strip() for start, end in pairwise((0, *offsets, len(text))))
    return [part for part in parts if part]


def _is_contextual_end(text: str, start: int, match: re.Match[str]) -> bool:
    ends = _ends(text[start : match.start("mark")], match["mark"], match["next"])
    return ends and not _in_brackets(text, start, match)


def _ends(before: str, marks: str, following: str) -> bool:
    first = re.sub(r"^[^\w*]+", "", following)  # GAP has * for a letter outside ASCII
    if not first or first[0].islower():
        return False
    if marks != ".":
        return True
    found = re.search(r"[^\s(\[]*$", before)
    word = re.sub(r"^[^\w]+", "", found.group() if found else "").lower()
    starter = re.sub(r"\W.*$", "", first).lower() in _STARTERS
    if word in _TITLES:
        return False
    if word in _AFTER_NAME or re.fullmatch(r"(?:\w\.)+\w", word):
        return starter
    if re.fullmatch(r"[^\W\d_]", word):  # an initial, but the end of "vitamin C." before a usual first word
        return starter
    return True


def _in_brackets(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a bracket opened in this sentence is closed after the mark, before another one opens."""
    sentence = text[start : match.end()]
    closing, opening = text.find(")", match.end()), text.find("(", match.end())
    return sentence.count("(") > sentence.count(")") and closing >= 0 and (opening < 0 or closing < opening)


OPENING, CLOSING, DASHES = "\"'\u201c\u2018\u00ab(\\[", "\"'\u201d\u2019\u00bb)\\]", "\u2013\u2014"
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Messrs|Mme|Mlle|Dr|Prof|Rev|Hon|Capt|Col|Gen|Lt|Maj|Sgt|Cpl|Adm|Gov|Sen|Rep|Pres|Supt|Insp|"
    r"St|Ste|Mt|Ft|Jr|Sr|No|Nos|Vol|Fig|Eq|Ch|pp?|vs|cf|viz|al|etc|approx|ca|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|"
    rf"Nov|Dec|Inc|Ltd|Co|Corp|Dept|e\.g|i\.e)|(?:^|[\s.{OPENING}])[A-Z])\.$"
)
_LONGEST_ABBREVIATION = 12  # characters with the full stop and one before it, more than any above has


def _is_listed_end(text: str, start: int, match: re.Match[str]) -> bool:
    end = match.end("mark")
    return _ABBREVIATION.search(text[max(0, end - _LONGEST_ABBREVIATION) : end]) is None


CONTEXTUAL = Boundaries(_END, _is_contextual_end)
LISTED = Boundaries(
    re.compile(rf"(?P<mark>[.!?\u2026]+[{CLOSING}]*)\s+(?=[{OPENING}{DASHES}-]*[^\W_a-z])"), _is_listed_end
)
