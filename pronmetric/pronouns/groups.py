"""The classes of pronouns in which reports and the board group them."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.pronouns import classes
from pronmetric.pronouns.languages import Language

DEMONSTRATIVE, WH = "demonstrative", "relative or interrogative"
_PERSONAL = classes.CLASSES[: classes.PERSONAL]
_ENGLISH = {name: name for name in _PERSONAL} | dict.fromkeys(("this", "that", "these", "those"), DEMONSTRATIVE)


def names(language: Language) -> tuple[str, ...]:
    """The classes of a language.

    With rules: the personal classes (he, his, him and himself are "he"), demonstratives, and relatives with
    interrogatives; else the types in its table of pronouns.
    """
    if language.ruled:
        return (*_PERSONAL, DEMONSTRATIVE, WH)
    return tuple(dict.fromkeys(entry.type for entry in language.entries))


def classify(language: Language, text: str, starts: Sequence[int]) -> list[str]:
    """The class of the pronoun at each of these offsets of a text; one that is in no table is its own class.

    >>> from pronmetric.pronouns.languages import ENGLISH
    >>> classify(ENGLISH, "He knows that these belong to those who left.", [0, 14, 30, 36])
    ['he', 'demonstrative', 'demonstrative', 'relative or interrogative']
    """
    if not starts:
        return []
    words = language.words(text)
    places = {word.start: place for place, word in enumerate(words)}
    found = []
    for start in starts:
        form = language.form_of(words, places[start])
        if form is None:  # a pronoun of other tables than these
            found.append(words[places[start]].text.lower())
        elif language.ruled:
            found.append(_ENGLISH.get(classes.class_of(form, language.slot(words, places[start])), WH))
        else:
            found.append(next(entry.type for entry in language.entries if entry.form == form))
    return found
