"""Where one sentence of running English text begins and ends; for GAP, and for clean context in training."""

from __future__ import annotations

import re

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
    """The half-open span of the sentence that holds `offset`, without white space at its ends.

    >>> text = "Mr. J. Doe left. She saw him (why?) and wept. It rained."
    >>> text[slice(*sentence_at(text, text.index("him")))]
    'She saw him (why?) and wept.'
    """
    cuts = [0, *starts(text), len(text)]
    start = max(cut for cut in cuts if cut <= offset)
    end = min(cut for cut in cuts if cut > offset)
    return start, len(text[:end].rstrip())


def starts(text: str) -> list[int]:
    """Where each sentence but the first starts."""
    found = [0]
    for match in _END.finditer(text):
        if _ends(text[: match.start("mark")], match["mark"], match["next"]) and not _in_brackets(
            text, found[-1], match
        ):
            found.append(match.end())
    return found[1:]


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
    sentence, rest = text[start : match.end()], text[match.end() :]
    closing, opening = rest.find(")"), rest.find("(")
    return sentence.count("(") > sentence.count(")") and closing >= 0 and (opening < 0 or closing < opening)
