"""The words that a pronoun attends to most, with the genders of both."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.pronouns.gender import Genders

TOP = 5
"""Words that pages list for a pronoun."""


def most_attended(words: Sequence[str], weights: Sequence[float], *, top: int = TOP) -> list[int]:
    """The places of the `top` words with the highest weights, marks left out, the highest first."""
    named = (place for place, word in enumerate(words) if any(map(str.isalnum, word)))
    return sorted(named, key=lambda place: -weights[place])[:top]


def shown_genders(
    genders: Genders | None, pronoun: str, words: Sequence[str], listed: Sequence[int]
) -> tuple[str | None, dict[int, str]]:
    """The gender of a pronoun and, by their places, those of the `listed` words of its context and text.

    Nothing is shown of a pronoun without gender, nor in a language without (`genders` None).
    """
    own = None if genders is None else genders.of_pronoun(pronoun.lower())
    if genders is None or own is None:
        return None, {}
    found = {place: genders.of_noun(words, place) for place in listed}
    return own, {place: gender for place, gender in found.items() if gender is not None}
