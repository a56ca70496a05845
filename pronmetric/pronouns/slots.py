"""The grammatical slot of a pronoun, the other forms that fit it, and agreement with the verb."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pronmetric.pronouns import that
from pronmetric.pronouns.finder import ENTRIES, FORMS, form_of
from pronmetric.pronouns.lexicon import (
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
from pronmetric.pronouns.lexicon import CLASSES as LEXICON
from pronmetric.text.words import Word, rule_word

_FIXED = {
    "subject": "i we he she they",
    "object": "me us him them",
    "possessive determiner": "my our your its their",
    "possessive independent": "mine ours yours hers theirs",
    "reflexive": "myself ourselves yourself yourselves himself herself itself themselves",
}
_SLOT = {form: slot for slot, forms in _FIXED.items() for form in forms.split()}
_DEMONSTRATIVE = frozenset("this that these those".split())
_PLURAL_THERE = frozenset({"these", "those"})
_POINTED_AT = {True: frozenset({"they", "them"}), False: frozenset({"it"})}  # plural or not: what these, this replace
_RELATIVE = frozenset("who whom whose which that".split())
_DETERMINERS = frozenset("what which whatever whichever".split())
_INSIDE = frozenset(
    "very really quite rather almost own one two three four five six seven eight nine ten first last "
    "few many more most less much same other only then well best better home back".split()
)
_QUOTES = frozenset("\"'\u201c\u2018")
_OPENING = _QUOTES | frozenset("(-/")
_ALSO_CONJUNCTION = frozenset("as than since before after until till like for but".split())
_OPENS_CLAUSE = frozenset("that which what who whom whatever where how why".split())
_FUNCTION = (
    PREPOSITION | CONJUNCTION | ARTICLE | AUXILIARY | frozenset(FORMS) | ADVERB | {"to", "that", "not", "n't", "t"}
)


def slot(words: Sequence[Word], index: int) -> str:
    """The slot of the pronoun `words[index]`, by simple rules over its neighbours.

    One of: subject, object, possessive determiner, possessive independent, reflexive, relative,
    relative determiner, interrogative, interrogative determiner, demonstrative, demonstrative determiner.

    >>> from pronmetric.text.words import words
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
        owns = _noun_follows(words, index) or _possesses_number_or_quote(words, index)
        return "possessive determiner" if owns else "object"
    if form == "his":
        return "possessive independent" if _stands_alone(words, index) else "possessive determiner"
    if form == "that":
        kind = that.use([rule_word(word) for word in words], index).kind
        return kind if kind in that.IN_USE else "demonstrative"
    if form in _DEMONSTRATIVE:
        return "demonstrative determiner" if _has_demonstrated_noun(words, index, form) else "demonstrative"
    kind = "relative" if form in _RELATIVE and _is_relative(words, index) else "interrogative"
    if form == "whose" or (kind == "interrogative" and form in _DETERMINERS and _asks_for_noun(words, index)):
        return f"{kind} determiner"
    return kind


def role(words: Sequence[Word], index: int) -> str:
    """Whether a pronoun that shows no case ("it", "you", "this") is "subject" or "object" in its position."""
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
    if before in _ALSO_CONJUNCTION and before not in ("as", "than", "but"):
        return "subject" if _is_finite(after) else "object"
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
    """The other forms that fit the slot of `words[index]`, in grades of similarity.

    The first grade has the forms that are usually grammatical in the sentence: the same slot and, for he, she, it and
    they, the third person. Demonstratives are next, then the other persons.

    >>> from pronmetric.text.words import words
    >>> grades(words("She saw him."), 2)
    (('her', 'it', 'them'), ('that', 'this', 'these', 'those'), ('me', 'us', 'you'))
    """
    form, place = _form(words, index), slot(words, index)
    if place in ("subject", "object"):
        forms = _personal(form, "personal", place, _forms("demonstrative", "pronoun"))
    elif place.startswith("possessive"):
        forms = _personal(form, "possessive", place.split()[1], ())
    elif place == "reflexive":
        forms = _personal(form, "reflexive", "object", ())
    elif place == "demonstrative":
        forms = _demonstrative(form, _forms("personal", role(words, index), "3"))
    elif place == "demonstrative determiner":
        forms = _demonstrative(form, _forms("possessive", "determiner", "3"))
    elif place == "relative":
        forms = (("who", "which", "that"), ("whom", "what"))
    elif place == "relative determiner":
        forms = (_forms("possessive", "determiner", "3"), ("which",))
    elif form.endswith("ever"):
        forms = (("whatever", "whichever", "whoever"), ("what", "which", "who"))
    elif place == "interrogative determiner":
        forms = (("what", "which", "whose"), ("whatever", "whichever"))
    else:
        forms = (("what", "which", "who"), ("that", "whatever", "whom"))
    rest = (tuple(f for f in grade if f != form) for grade in forms)
    return tuple(grade for grade in rest if grade)


def same_slot(words: Sequence[Word], index: int) -> tuple[str, ...]:
    """The other forms that fit the slot of `words[index]`, most similar first (see `grades`).

    >>> from pronmetric.text.words import words
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
    """Whether `form` in place of `words[index]` agrees in number and person with its verb or noun.

    That is the finite verb of a subject ("they is" does not agree), and the noun after this, that, these and those
    ("these book" does not). Case is ignored. A form without a visible verb agrees.

    >>> from pronmetric.text.words import words
    >>> agrees(words("He is here."), 0, "they"), agrees(words("He was here."), 0, "it")
    (False, True)
    """
    place, old = slot(words, index), _form(words, index)
    if place == "demonstrative determiner":
        return form not in _DEMONSTRATIVE or (old in _PLURAL_THERE) == (form in _PLURAL_THERE)
    subject = place == "subject" or (place == "demonstrative" and role(words, index) == "subject")
    if not subject and (place != "relative" or form in _RELATIVE):
        return True
    verb = _verb(words, index)
    return not verb or _fits(form, verb) or (subject and not _fits(old, verb))


def replaces(words: Sequence[Word], index: int, form: str) -> bool:
    """Whether `form` can be proposed in place of `words[index]`: it agrees, and has its case and kind.

    A demonstrative replaces only "it" ("this", "that") and "they" ("these", "those"), not persons; a personal pronoun
    replaces a demonstrative of its number. "whom" is no subject, "what" no relative, "that" asks for nothing.

    >>> from pronmetric.text.words import words
    >>> she = words("She left."), 0
    >>> [form for form in same_slot(*she) if replaces(*she, form)]
    ['he', 'it', 'they', 'i', 'we', 'you']
    """
    if not agrees(words, index, form):
        return False
    place, old = slot(words, index), _form(words, index)
    points, plural = form in _DEMONSTRATIVE, form in _PLURAL_THERE
    if place in ("subject", "object"):
        return not points or old in _POINTED_AT[plural]
    if place == "demonstrative":
        return points or (form in _POINTED_AT[True]) == (old in _PLURAL_THERE)
    if place in ("relative", "interrogative"):
        kind = {"relative": "what", "interrogative": "that"}[place]
        return form != kind and (form != "whom" or not _finite_follows(words, index, place))
    return True


def _finite_follows(words: Sequence[Word], index: int, place: str) -> bool:
    """Whether the next word makes the pronoun a subject; an auxiliary after an interrogative one does not."""
    after = _low(words, index + 1)
    return _is_finite(after) if place == "relative" or after not in AUXILIARY else after in BE


def _verb(words: Sequence[Word], index: int) -> str:
    """The finite verb of the subject `words[index]`, lower-cased; "" if none is found."""
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
    """Whether a subject `form` agrees with the finite `verb`; forms that are not subjects agree with all."""
    if verb in FIRST:
        return form == "i"
    third = verb in SINGULAR or _third_singular(verb)
    plural = verb in PLURAL or (verb in BASE and verb not in PAST and verb not in MODAL)
    if form == "i":
        return verb in ("was", "have", "do", "'ve", "ve") or not (third or verb in PLURAL)
    if form in ("he", "she", "it", "this", "that"):
        return not plural
    return not third or form not in ("they", "we", "you", "these", "those")


def _third_singular(word: str) -> bool:
    return word.endswith("s") and not word.endswith("ss") and word in VERB


def _is_finite(word: str) -> bool:
    if word in AUXILIARY or word in PAST or word in BASE or word.endswith("ed"):
        return True
    return word.endswith("s") and word not in LEXICON["not_third_singular_s"] and word not in _FUNCTION


def _noun_follows(words: Sequence[Word], index: int) -> bool:
    """Whether the word after a possible determiner can begin the rest of its noun phrase."""
    after, third = _low(words, index + 1), _low(words, index + 2)
    if after in ("quite", "such", "rather", "almost") and third in ("a", "an", "the"):
        return False
    return _is_word(after) and after not in _FUNCTION - _INSIDE


def _possesses_number_or_quote(words: Sequence[Word], index: int) -> bool:
    """Whether "her" is a possessive before a figure ("her 20s") or a quotation.

    After a verb the quotation is not possessed ("called her 'Aunt'"); after a preposition or conjunction it usually is.
    """
    before, after = _low(words, index - 1), _low(words, index + 1)
    if after[:1].isdigit():
        return True
    opens = after in _QUOTES and words[index + 1].start > words[index].end
    return opens and (before in PREPOSITION or before in CONJUNCTION)


def _stands_alone(words: Sequence[Word], index: int) -> bool:
    """Whether "his" has no noun after it."""
    after, third = _low(words, index + 1), _low(words, index + 2)
    if after in ("or", "and"):
        return third not in LEXICON["possessive"]
    if after in ("past", "round", "outside", "inside", "opposite", "being", "having", "own", "so", "very", "not"):
        return False
    if after in ("once", "too", "also", "instead", "now", "then", "alone", "already", "anyway"):
        return True
    return not (_is_word(after) or after[:1].isdigit() or after in _OPENING) or (
        after in AUXILIARY | PREPOSITION | CONJUNCTION
        or after in PAST - LEXICON["past_or_adjective"]
        or after in ("who", "which", "that", "to")
    )


def _has_demonstrated_noun(words: Sequence[Word], index: int, form: str) -> bool:
    """Whether this, these or those has a noun after it."""
    after, third = _low(words, index + 1), _low(words, index + 2)
    if after[:1].isdigit():
        return True
    if not _noun_follows(words, index):
        return False
    if form == "this":
        return not (_third_singular(after) or after in PAST)
    participle = after.endswith(("ing", "ed")) or after == "made"
    return not (participle and (third in PREPOSITION or third in CONJUNCTION or not _is_word(third)))


def _asks_for_noun(words: Sequence[Word], index: int) -> bool:
    """Whether what or which has a noun after it ("what time"), and neither a verb nor a subject."""
    after = _low(words, index + 1)
    name = index + 1 < len(words) and words[index + 1].text[0].isupper() and index > 0
    verb = _third_singular(after) or after in PAST or (after in VERB and after.endswith("ed"))
    return _noun_follows(words, index) and not verb and not name


def _is_relative(words: Sequence[Word], index: int) -> bool:
    """Whether who, whom, whose or which has an antecedent, so that it is not interrogative."""
    before, low = _low(words, index - 1), _low(words, index)
    if index == 0 or before in (".", "?", "!", ":") or before in LEXICON["asking_verb"]:
        return False
    if before in PREPOSITION or before == "to":
        return low in ("which", "whom", "whose")
    if before in ('"', "\u201c", "\u2018"):
        return index > 1 and low == "which" and _low(words, index - 2) == ","
    if before in ("and", "or", "but"):
        return any(_low(words, k) in (low, ",") for k in range(max(index - 12, 0), index))
    return before not in AUXILIARY and before not in ("not", "n't", "if", "because", "when", "what")


def _form(words: Sequence[Word], index: int) -> str:
    return form_of(words, index) or _low(words, index)


def _low(words: Sequence[Word], index: int) -> str:
    """Word `index` lower-cased with a plain apostrophe; "" outside the text."""
    return rule_word(words[index]) if 0 <= index < len(words) else ""


def _is_word(low: str) -> bool:
    return low[:1].isalpha() or (low[:1] == "'" and len(low) > 1)
