"""English texts with a pronoun of another class, such as he, him, his and himself for she, her, hers and herself."""

from __future__ import annotations

from collections.abc import Callable

from pronmetric.pronouns.classes import class_of
from pronmetric.pronouns.corrupt import replace
from pronmetric.pronouns.finder import Occurrence, find
from pronmetric.pronouns.slots import same_slot
from pronmetric.text.words import words

MALE, FEMALE = "male", "female"
GENDERS = {"he": MALE, "she": FEMALE}
_OTHER = {"he": "she", "she": "he"}


def class_name(found: Occurrence) -> str:
    """The class of a pronoun, such as "he" for himself."""
    return class_of(found.form, "")


def as_class(text: str, found: Occurrence, name: str) -> str | None:
    """The text with the form of the class `name` that fits the pronoun's slot; None where there is none.

    >>> text = "He lost it."
    >>> as_class(text, find(text)[1], "she"), as_class(text, find(text)[0], "she")
    ('He lost her.', 'She lost it.')
    """
    forms = same_slot(words(text), found.word)
    form = next((form for form in forms if class_of(form, "") == name), None)
    return None if form is None else replace(text, found.start, found.end, form)


def with_other_gender(text: str, chosen: Callable[[Occurrence], bool]) -> str | None:
    """The text with the other gender of each chosen pronoun of a man or woman; None where there is none.

    >>> with_other_gender("She said that he lost her book.", lambda found: class_name(found) == "she")
    'He said that he lost his book.'
    """
    changed = text
    for found in reversed(find(text)):
        other = _OTHER.get(class_name(found))
        if other is not None and chosen(found):
            changed = as_class(changed, found, other) or changed
    return None if changed == text else changed
