"""The form of the published study's files: lower case, bare words, end marks alone."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_OTHER = re.compile(r"[^a-z0-9@.?! ]+")
_MARK = re.compile(r"([.?!])")


def study_form(text: str) -> str:
    """The text as the files of Jwalapuram et al. 2019 have it, words and marks parted by one space.

    Lower case; accents off; of all marks only `. ? !` and `@` stay, an apostrophe or hyphen becomes a blank; a mark is
    parted from what is before it, not from what follows (3.5 -> 3 .5).

    >>> study_form("They\u2019re \u201cwell-known\u201d: it isn't 3.5%, U.S.!")
    'they re well known it isn t 3 .5 u .s . !'
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(c))
    return " ".join(_MARK.sub(r" \1", _OTHER.sub(" ", plain)).split())


def flatten(text: str) -> str:
    """`text` nearly in that form with every offset kept: what is dropped becomes a blank, marks stay in place.

    >>> flatten("She didn't say: it's Ren\u00e9's!")
    'she didn t say  it s rene s!'
    """
    return _OTHER.sub(lambda match: " " * len(match.group()), "".join(map(_plain, text)))


@cache
def _plain(letter: str) -> str:
    """One letter in lower case and without its accent; a letter that would become several stays as it is."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", letter.lower()) if not unicodedata.combining(c))
    return plain if len(plain) == 1 else letter
