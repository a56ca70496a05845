"""The slot a pronoun stands in, the forms that could stand there too, and whether the verb would still agree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pronmetric import that
from pronmetric.lexicon import (
    ADVERB,
    ARTICLE,
    AUXILIARY,
    BASE,
    BE,
    CONJUNCTION,
    FIRST,
    MODAL,
    PAST,
    PLURAL,
    PREPOSITION,
    SINGULAR,
    VERB,
)
from pronmetric.lexicon import CLASSES as LEXICON
from pronmetric.pronouns import ENTRIES, FORMS, form_of
from pronmetric.words import Word

_FIXED = {
    "subject": "i we he she they",
    "object": "me us him them",
    "possessive determiner": "my our your its their",
    "possessive independent": "mine ours yours hers theirs",
    "reflexive": "myself ourselves yourself yourselves himself herself itself themselves",
}
_SLOT = {form: slot for slot, forms in _FIXED.items() for form in forms.split()}
_DEMONSTRATIVE = frozenset("this that these those".split())
_ALSO_CONJUNCTION = frozenset("as than since before after until till like for but".split())
_OPENS_CLAUSE = frozenset("that which what who whom whatever where how why".split())
_FUNCTION = (
    PREPOSITION | CONJUNCTION | ARTICLE | AUXILIARY | frozenset(FORMS) | ADVERB | {"to", "that", "not", "n't", "t"}
)


def slot(words: Sequence[Word], index: int) -> str:
    """The slot in which the pronoun `words[index]` stands, by simple rules over its neighbours.

    One of: subject, object, possessive determiner, possessive independent, reflexive, relative,
    relative determiner, interrogative, interrogative determiner, demonstrative, demonstrative determiner.

    >>> from pronmetric.words import words
    >>> text = words("I gave her book to her.")
    >>> slot(text, 2), slot(text, 5)
    ('possessive determiner', 'object')
    """
    form = _form(words, index)
    if form in _SLOT:
        return _SLOT[form]
    if form in ("it", "you"):
        return role(words, index)
    if form == "her":
        return "possessive determiner" if _noun_phrase_follows(words, index) else "object"
    if form == "his":
        return "possessive determiner" if _noun_phrase_follows(words, index) else "possessive independent"
    if form == "that":
        kind = that.use(_lowered(words), index).kind
        return kind if kind in that.IN_USE else "demonstrative"
    if form in _DEMONSTRATIVE:
        return "demonstrative determiner" if _noun_phrase_follows(words, index, form) else "demonstrative"
    kind = "relative" if form in ("who", "whom", "whose", "which") and _is_relative(words, index) else "interrogative"
    determiner = form == "whose" or (
        form.startswith(("wh", "what"))
        and form not in ("who", "whom", "whoever")
        and kind == "interrogative"
        and _noun_phrase_follows(words, index)
    )
    return f"{kind} determiner" if determiner else kind


def role(words: Sequence[Word], index: int) -> str:
    """Whether a pronoun that shows no case ("it", "you", "this") is "subject" or "object" where it stands."""
    before, after = _low(words, index - 1), _low(words, index + 1)
    ends = not _is_word(after)
    if before in PREPOSITION and before not in _ALSO_CONJUNCTION:
        return "object"
    if after in AUXILIARY or after in ("n't", "'tis"):
        return "subject"
    if not _is_word(before):
        return "object" if ends and before == "," else "subject"
    if before in AUXILIARY or before in ("n't", "not"):
        return "object" if ends and before not in BE | MODAL else "subject"
    if before in CONJUNCTION or before in _OPENS_CLAUSE or before in _ALSO_CONJUNCTION:
        return "object" if ends or after in PREPOSITION else "subject"
    if ends or (after in _FUNCTION and after not in ADVERB) or after.endswith("self"):
        return "object"
    if before.endswith("ly") or before in ADVERB:
        return "subject"
    if before in VERB:
        return "object"
    return "subject" if _is_finite(after) else "object"


@cache
def _forms(kind: str, case: str, person: str = "") -> tuple[str, ...]:
    return tuple(e.form for e in ENTRIES if e.type == kind and e.case == case and person in ("", e.person))


def grades(words: Sequence[Word], index: int) -> tuple[tuple[str, ...], ...]:
    """The other forms that could stand in the slot of `words[index]`, in grades of likeness.

    The first grade holds the forms that the sentence itself can hardly expose: the same slot and, for
    he, she, it and they, the third person. Then come demonstratives, then the other persons.

    >>> from pronmetric.words import words
    >>> grades(words("She saw him."), 2)
    (('her', 'it', 'them'), ('that', 'this', 'these', 'those'), ('me', 'us', 'you'))
    """
    form, place = _form(words, index), slot(words, index)
    if place in ("subject", "object"):
        found = _personal(form, "personal", place, _forms("demonstrative", "pronoun"))
    elif place.startswith("possessive"):
        found = _personal(form, "possessive", place.split()[1], ())
    elif place == "reflexive":
        found = _personal(form, "reflexive", "object", ())
    elif place == "demonstrative":
        found = _demonstrative(form, _forms("personal", role(words, index), "3"))
    elif place == "demonstrative determiner":
        found = _demonstrative(form, _forms("possessive", "determiner", "3"))
    elif place == "relative":
        found = (("who", "which", "that"), ("whom", "what"))
    elif place == "relative determiner":
        found = (_forms("possessive", "determiner", "3"), ("which",))
    elif form.endswith("ever"):
        found = (("whatever", "whichever", "whoever"), ("what", "which", "who"))
    elif place == "interrogative determiner":
        found = (("what", "which", "whose"), ("whatever", "whichever"))
    else:
        found = (("what", "which", "who"), ("that", "whatever", "whom"))
    rest = (tuple(f for f in grade if f != form) for grade in found)
    return tuple(grade for grade in rest if grade)


def same_slot(words: Sequence[Word], index: int) -> tuple[str, ...]:
    """The other forms that could stand in the slot of `words[index]`, likest first (see `grades`).

    >>> from pronmetric.words import words
    >>> same_slot(words("The garden that fell is his."), 2)[:2]
    ('who', 'which')
    """
    return tuple(dict.fromkeys(form for grade in grades(words, index) for form in grade))


def _personal(form: str, kind: str, case: str, more: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    third = _forms(kind, case, "3")
    other = tuple(f for f in _forms(kind, case) if f not in third)
    return (third, more, other) if form in third else (other, third, more)


def _demonstrative(form: str, personal: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    singular, plural = ("that", "this"), ("these", "those")
    if form in plural:
        return plural, tuple(f for f in personal if f.startswith("the")), singular, personal
    return singular, tuple(f for f in personal if f in ("it", "its")), plural, personal


def agrees(words: Sequence[Word], index: int, form: str) -> bool:
    """Whether the verb (of a subject) or the noun (of this, that, these, those) beside it fits `form` as well.

    >>> from pronmetric.words import words
    >>> agrees(words("He is here."), 0, "they"), agrees(words("He was here."), 0, "it")
    (False, True)
    """
    place = slot(words, index)
    old = _form(words, index)
    if place == "demonstrative determiner":
        return (
            not form.startswith("th") or form == "their" or (old in ("these", "those")) == (form in ("these", "those"))
        )
    if place == "demonstrative":
        place = role(words, index)
    if place != "subject":
        return True
    verb = _verb(words, index)
    return not verb or _fits(form, verb)


def _verb(words: Sequence[Word], index: int) -> str:
    """The finite verb of the subject `words[index]`, lower-cased; "" if none is seen."""
    before = _low(words, index - 1)
    if before in ("n't", "not"):
        before = _low(words, index - 2)
    ahead = index + 1
    while _low(words, ahead) in ADVERB or _low(words, ahead).endswith("ly"):
        ahead += 1
    after = _low(words, ahead)
    if after in AUXILIARY:
        return after
    if before in SINGULAR | PLURAL | FIRST | MODAL | {"had", "did"}:
        return before
    return after if _is_finite(after) else ""


def _fits(form: str, verb: str) -> bool:
    if verb in FIRST:
        return form == "i"
    if form == "i":
        return (
            verb in MODAL
            or verb in PAST
            or verb in ("have", "do", "'ve", "ve", "was")
            or not (verb in SINGULAR or verb in PLURAL or _third_singular(verb))
        )
    singular = form in ("he", "she", "it", "this", "that")
    plural = form in ("they", "we", "you", "these", "those")
    if verb in SINGULAR or _third_singular(verb):
        return not plural
    if verb in PLURAL or (verb in BASE and verb not in PAST and verb not in MODAL):
        return not singular
    return True


def _third_singular(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss") and word in VERB


def _is_finite(word: str) -> bool:
    if word in AUXILIARY or word in PAST or word in BASE or word.endswith("ed"):
        return True
    return word.endswith("s") and word not in LEXICON["not_third_singular_s"] and word not in _FUNCTION


def _noun_phrase_follows(words: Sequence[Word], index: int, form: str = "") -> bool:
    """Whether the word after a possible determiner can begin the rest of its noun phrase."""
    after = _low(words, index + 1)
    if not _is_word(after) or after in _FUNCTION - _INSIDE:
        return False
    if form in ("this", "that") and (_third_singular(after) or after in PAST):
        return False
    return True


_INSIDE = frozenset(
    "very really quite rather almost own one two three four five six seven eight nine ten first last "
    "few many more most less much same other only then well best better home back".split()
)


def _is_relative(words: Sequence[Word], index: int) -> bool:
    before = _low(words, index - 1)
    if _form(words, index) == "that":
        return (
            _is_word(before)
            and before not in _FUNCTION
            and before not in VERB
            and (not _noun_phrase_follows(words, index, "that") or _low(words, index + 1) in VERB)
        )
    return (
        before == ","
        or before in PREPOSITION
        or (
            _is_word(before) and before not in _FUNCTION - {"those", "these", "he", "all", "one"} and before not in BASE
        )
    )


def _lowered(words: Sequence[Word]) -> list[str]:
    return [word.text.lower().replace("\u2019", "'") for word in words]


def _form(words: Sequence[Word], index: int) -> str:
    return form_of(words, index) or _low(words, index)


def _low(words: Sequence[Word], index: int) -> str:
    """Word `index` lower-cased with a plain apostrophe; "" outside the text."""
    if not 0 <= index < len(words):
        return ""
    return words[index].text.lower().replace("\u2019", "'")


def _is_word(low: str) -> bool:
    return low[:1].isalpha() or (low[:1] == "'" and len(low) > 1)
