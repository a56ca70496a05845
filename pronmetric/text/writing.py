"""How a language is written, as far as its texts are cut into sentences, counted and stripped of their marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from pronmetric.text import sentences
from pronmetric.text.sentences import Boundaries

UNSPACED_LETTERS = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff"
"""Letters between which words have no blanks (kana, Chinese characters and their mark of repetition), as a range of a
regular expression."""

_UNSPACED = re.compile(f"[{UNSPACED_LETTERS}]")
_OTHER = re.compile(r"[^a-z0-9@.?! ]+")
_MARK = re.compile(r"([.?!])")
_KEPT = frozenset(".?!\u3002\uff1f\uff01@'\u2019\u02bc")


@dataclass(frozen=True, slots=True)
class Writing:
    """The rules of one kind of writing.

    flatten: lower case without most marks, with every offset kept. passage_ends, context_ends: where sentences end,
    when preparation cuts passages and when training cuts off a passage's context. letters_per_piece: of the encoder's
    sub-words, estimated, to plan batches. spaced: whether blanks separate words.
    """

    flatten: Callable[[str], str]
    passage_ends: Boundaries
    context_ends: Boundaries
    letters_per_piece: float
    spaced: bool = True

    def pieces(self, text: str) -> float:
        """The estimated number of an encoder's pieces."""
        return len(text) / self.letters_per_piece

    def count_words(self, text: str) -> int:
        """The number of words between blanks; without blanks each character of such a script is a word.

        >>> SPACED.count_words("Er ging."), UNSPACED.count_words("他走了。")
        (2, 3)
        """
        if self.spaced:
            return len(text.split())
        return len(_UNSPACED.findall(text)) + sum(
            any(map(str.isalnum, part)) for part in _UNSPACED.sub(" ", text).split()
        )


def is_unspaced(text: str) -> bool:
    """Whether a text has letters of a script without blanks.

    >>> is_unspaced("他"), is_unspaced("он")
    (True, False)
    """
    return _UNSPACED.search(text) is not None


def flatten(text: str) -> str:
    """Text of any language in lower case, all marks but those of sentence ends and apostrophes blank; offsets are kept.

    >>> flatten("C'est \u00abbon\u00bb, \u00c9lise !")
    "c'est  bon   \u00e9lise !"
    """
    return "".join(map(_flat, text))


@cache
def _flat(letter: str) -> str:
    lower = letter.lower()
    if letter in _KEPT or letter.isspace():
        return letter
    if unicodedata.category(letter)[0] in "PS":
        return " "
    return lower if len(lower) == 1 else letter


def study_form(text: str) -> str:
    """The text as the files of Jwalapuram et al. 2019 have it, words and marks parted by one space.

    Lower case; accents off; of all marks only `. ? !` and `@` stay, an apostrophe or hyphen becomes a blank; a mark is
    parted from what is before it, not from what follows (3.5 -> 3 .5).

    >>> study_form("They\u2019re \u201cwell-known\u201d: it isn't 3.5%, U.S.!")
    'they re well known it isn t 3 .5 u .s . !'
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))
    return " ".join(_MARK.sub(r" \1", _OTHER.sub(" ", plain)).split())


def flatten_english(text: str) -> str:
    """`text` nearly in that form with every offset kept: what is dropped becomes a blank, marks stay in place.

    >>> flatten_english("She didn't say: it's Ren\u00e9's!")
    'she didn t say  it s rene s!'
    """
    return _OTHER.sub(lambda match: " " * len(match.group()), "".join(map(_plain, text)))


@cache
def _plain(letter: str) -> str:
    """One letter in lower case and without its accent; a letter that would become several stays as it is."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", letter.lower()) if not unicodedata.combining(c))
    return plain if len(plain) == 1 else letter


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    return match["mark"] is None or not text[match.end()].islower()


_ENDS = Boundaries(
    re.compile(
        "(?P<mark>[.!?\u2026]+[\"'\u201d\u2019\u00bb)\\]]*)\\s+(?=\\S)|[\u3002\uff1f\uff01]+[\u201d\u2019\u300d\u300f\uff09]*\\s*(?=\\S)"
    ),
    _is_end,
)


def _is_any_end(text: str, start: int, match: re.Match[str]) -> bool:
    dots = _DOTS.match(text, match.end())
    if not _is_end(text, start, match) or (dots and text[dots.end()].islower()):
        return False
    if match["mark"] is None or sentences.LISTED.is_end(text, start, match):
        return True
    return (
        _ANSWER.search(text, max(0, match.end("mark") - 4), match.end("mark")) is not None
        and not text[match.end()].isdigit()
    )


_ANSWER = re.compile(r"\bNo\.$")  # before a digit it is "number"
_DOTS = re.compile(r"[.\u2026]+\s*(?=\S)")
ANY = Boundaries(_ENDS.candidate, _is_any_end)
"""Sentence ends of a text whose language is not known: those of any language, not after English abbreviations."""
ENGLISH = Writing(flatten_english, sentences.LISTED, sentences.CONTEXTUAL, 4.2)
SPACED = Writing(flatten, _ENDS, _ENDS, 3.5)
UNSPACED = Writing(flatten, _ENDS, _ENDS, 1.3, spaced=False)
