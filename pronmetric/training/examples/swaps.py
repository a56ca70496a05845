"""Texts with other names and genders, so that the model memorises neither.

First names are replaced by others of the same gender. Where genders are swapped, he and she, man and woman, and with
`Names.swap` the first names too, each text is equally likely with women and with men, so that only the antecedent
decides between he and she: counterfactual data augmentation (Lu et al. 2018, "Gender Bias in Neural Natural Language
Processing"). The lists of names are Faker's (MIT), from the extra "train".
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from pronmetric.errors import MissingExtra
from pronmetric.pronouns import finder
from pronmetric.pronouns.corrupt import match_case
from pronmetric.pronouns.slots import slot
from pronmetric.text.words import words

ENGLISH = ("en_US", "en_GB", "en_IE", "en_NZ")
OTHERS = (
    "cs_CZ da_DK de_DE en_IN es_ES es_MX fi_FI fr_FR hr_HR hu_HU it_IT nl_NL no_NO pl_PL pt_BR pt_PT ro_RO sk_SK "
    "sl_SI sv_SE tr_TR"
).split()
_WORD = re.compile(r"[^\W\d_]+")
_LAST_LATIN = "\u024f"
_OF_A_PLACE = frozenset("at in from near to toward towards north south east west new old saint st".split())
_OF_A_FAMILY = frozenset("mr mrs ms miss mister madam sir lord lady dr doctor prof professor president the".split())
_NOT_A_NAME = frozenset(
    "april may june july august chad chelsea georgia german india israel jesus jordan paris".split()
)
_OFTEN = 5  # chosen by hand, not tuned
_OTHER = {"female": "male", "male": "female"}
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
_COUNTERPART = {**_OF_MEN, **_OF_WOMEN, "ms": "mr", "miss": "mr", "mum": "dad", "mam": "papa", "dame": "sir"}


class Names:
    """Female and male first names.

    Args:
        female, male: lists of names, one per language; names of both genders are left out.
        common: lower-cased words that are not names at the start of a sentence (will, mark, rose); see `common_words`.
    """

    def __init__(
        self, female: Iterable[Collection[str]], male: Iterable[Collection[str]], *, common: Collection[str] = ()
    ) -> None:
        lists = {"female": [frozenset(names) for names in female], "male": [frozenset(names) for names in male]}
        known = {gender: frozenset().union(*parts) for gender, parts in lists.items()}
        both = known["female"] & known["male"]
        self._lists = {
            gender: [kept for names in parts if (kept := sorted(names - both))] for gender, parts in lists.items()
        }
        self._gender: Mapping[str, str] = {
            name: gender
            for gender, names in known.items()
            for name in names - both
            if name.lower() not in _NOT_A_NAME and name.lower() not in common
        }

    @classmethod
    def from_faker(cls, *, common: Collection[str] = ()) -> Names:
        """Faker's names in Latin letters: those of English-speaking countries as frequent as all others together.

        Raises:
            MissingExtra: Faker is not installed.
        """
        names: dict[str, list[frozenset[str]]] = {"female": [], "male": []}
        for gender, lists in names.items():
            english = frozenset().union(*(_faker(locale, gender) for locale in ENGLISH))
            lists += [english] * len(OTHERS) + [_faker(locale, gender) for locale in OTHERS]
        return cls(names["female"], names["male"], common=common)

    def swap(self, text: str, rng: np.random.Generator, *, other_gender: bool = False) -> str:
        """`text` with each first name replaced by one of the same gender, consistently within the text.

        other_gender: by one of the other gender (see `swap_genders`).

        A name that follows "in", "from" or the like, a title, or another first name anywhere in the text is taken for a
        place or a family name and is kept.

        >>> names = Names([["Anna", "Eva"]], [["Karl", "Olaf"]])
        >>> names.swap("Karl met Anna in Berlin. Anna left.", np.random.default_rng(0)).count("Eva") in (0, 2)
        True
        """
        matches, others, before, end = [], set(), "", 0
        for match in _WORD.finditer(text):
            word = match.group()
            if word in self._gender:
                matches.append(match)
                family = before in self._gender and match.start() == end + 1
                if family or before.lower() in _OF_A_PLACE or before.lower() in _OF_A_FAMILY:
                    others.add(word)
            before, end = word, match.end()
        new: dict[str, str] = {}
        pieces, last = [], 0
        for match in matches:
            name = match.group()
            if name in others:
                continue
            if name not in new:
                new[name] = self._draw(_OTHER[self._gender[name]] if other_gender else self._gender[name], rng)
            pieces += [text[last : match.start()], new[name]]
            last = match.end()
        return "".join([*pieces, text[last:]])

    def _draw(self, gender: str, rng: np.random.Generator) -> str:
        names = self._lists[gender][int(rng.integers(len(self._lists[gender])))]
        return names[int(rng.integers(len(names)))]


def common_words(texts: Iterable[str]) -> frozenset[str]:
    """The words that occur in lower case in `texts` at least a fifth as often as capitalised.

    >>> sorted(common_words(["Will they? They will.", "Anna, Mark."]))
    ['they', 'will']
    """
    counts = Counter(word for text in texts for word in _WORD.findall(text))
    return frozenset(
        word for word, count in counts.items() if word.islower() and count * _OFTEN >= counts[word.title()]
    )


def _faker(locale: str, gender: str) -> frozenset[str]:
    try:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
    except ModuleNotFoundError as error:
        raise MissingExtra("faker", "train", "objective.corruption.name_swap or .gender_swap above 0") from error
    names = getattr(provider, f"first_names_{gender}")
    return frozenset(name for name in names if name.istitle() and name.isalpha() and max(name) <= _LAST_LATIN)


def swap_genders(text: str) -> str:
    """`text` with each gendered pronoun and noun replaced by the one of the other gender; letter case is kept.

    >>> swap_genders("His wife gave the boys her word; it was hers.")
    'Her husband gave the girls his word; it was his.'
    """
    new: dict[tuple[int, int], str] = {}
    for match in _WORD.finditer(text):
        other = _COUNTERPART.get(match.group().lower())
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
