"""A text with its genders swapped: he and she, man and woman, and with `Names.swap` the first names too.

Counterfactual data augmentation (Lu et al. 2018, "Gender Bias in Neural Natural Language Processing"): each text is
equally likely with women and with men, so that only the antecedent decides between he and she.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pronmetric.pronouns import finder
from pronmetric.pronouns.corrupt import match_case
from pronmetric.pronouns.slots import slot
from pronmetric.text.words import words

__all__ = ["swap_frequency", "swap_genders"]

_FIXED = {"he": "she", "she": "he", "him": "her", "hers": "his", "himself": "herself", "herself": "himself"}
_IN_SLOT = {
    "subject": ("he", "she"),
    "object": ("him", "her"),
    "possessive determiner": ("his", "her"),
    "possessive independent": ("his", "hers"),
    "reflexive": ("himself", "herself"),
}
_NOUNS = (
    "man:woman men:women boy:girl boys:girls father:mother fathers:mothers son:daughter sons:daughters "
    "brother:sister brothers:sisters husband:wife husbands:wives uncle:aunt uncles:aunts nephew:niece nephews:nieces "
    "grandfather:grandmother grandson:granddaughter grandsons:granddaughters stepfather:stepmother "
    "stepson:stepdaughter king:queen kings:queens prince:princess princes:princesses duke:duchess lord:lady "
    "lords:ladies gentleman:lady gentlemen:ladies sir:madam mr:mrs "
    "actor:actress actors:actresses waiter:waitress host:hostess hero:heroine widower:widow bridegroom:bride "
    "boyfriend:girlfriend boyfriends:girlfriends dad:mom daddy:mommy papa:mama "
    "emperor:empress monk:nun monks:nuns male:female males:females businessman:businesswoman "
    "policeman:policewoman chairman:chairwoman spokesman:spokeswoman congressman:congresswoman salesman:saleswoman "
    "schoolboy:schoolgirl steward:stewardess baron:baroness lad:lass lads:lasses grandpa:grandma monsieur:madame "
    "landlord:landlady master:mistress masculine:feminine fatherly:motherly manly:womanly"
).split()
_OF_MEN = {male: female for male, female in reversed([pair.split(":") for pair in _NOUNS])}
_OF_WOMEN = {female: male for male, female in reversed([pair.split(":") for pair in _NOUNS])}
_OTHER = {**_OF_MEN, **_OF_WOMEN, "ms": "mr", "miss": "mr", "mum": "dad", "mam": "papa", "dame": "sir"}
_WORD = re.compile(r"[^\W\d_]+")


def swap_genders(text: str) -> str:
    """`text` with each gendered pronoun and noun replaced by the one of the other gender; letter case is kept.

    >>> swap_genders("His wife gave the boys her word; it was hers.")
    'Her husband gave the girls his word; it was his.'
    """
    new: dict[tuple[int, int], str] = {}
    for match in _WORD.finditer(text):
        other = _OTHER.get(match.group().lower())
        if other is not None and match.group() != "miss":  # the verb
            new[match.span()] = other
    split = words(text)
    for occurrence in finder.find(text, split):
        other = _FIXED.get(occurrence.form)
        if occurrence.form == "her":
            other = "his" if slot(split, occurrence.word) == "possessive determiner" else "him"
        elif occurrence.form == "his":
            other = "hers" if slot(split, occurrence.word) == "possessive independent" else "her"
        if other is not None:
            new[occurrence.start, occurrence.end] = other
    pieces, last = [], 0
    for (start, end), word in sorted(new.items()):
        pieces += [text[last:start], match_case(text, start, end, word)]
        last = end
    return "".join([*pieces, text[last:]])


def swap_frequency(frequency: Mapping[str, Mapping[str, float]], share: float) -> dict[str, dict[str, float]]:
    """Frequency of each form in each slot after the genders of a `share` of the texts are swapped."""
    new = {place: dict(right) for place, right in frequency.items()}
    for place, (male, female) in _IN_SLOT.items():
        if old := frequency.get(place):
            for form, other in ((male, female), (female, male)):
                new[place][form] = (1 - share) * old.get(form, 0.0) + share * old.get(other, 0.0)
    return {place: {form: count for form, count in right.items() if count} for place, right in new.items()}
