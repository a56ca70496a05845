"""The pronoun of a system output that corresponds to a pronoun of the reference, by link, role and neighbouring words.

A word aligner links pronouns too freely: any two of them are often translations of each other. A link counts here
only where both pronouns have the same role and neighbouring words are linked; an unlinked pronoun gets the one in its
position. Expletive "it" corresponds to no pronoun.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial

from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.pronouns.lexicon import CLASSES
from pronmetric.pronouns.slots import role, slot
from pronmetric.text.words import Word, rule_word

_REACH = 3  # words after a pronoun that are compared; chosen by hand, not tuned
_BEFORE, _AFTER = (-1, -2), tuple(range(1, _REACH + 1))
_DETERMINERS = frozenset({"possessive determiner", "demonstrative determiner", "relative determiner"})
_DEMONSTRATIVE = frozenset({"this", "that", "these", "those"})
_SEEM = frozenset("seem seems seemed appear appears appeared turns turned takes took happens happened".split())
_CLAUSE = frozenset("to that whether if how when where why what who".split())


def counterparts(
    ref_words: Sequence[Word],
    ref_pronouns: Sequence[Occurrence],
    hyp_words: Sequence[Word],
    hyp_pronouns: Sequence[Occurrence],
    links: Mapping[int, int],
    *,
    language: Language = ENGLISH,
) -> Iterator[tuple[Occurrence, Occurrence]]:
    """The pairs of corresponding pronouns, reference and system output.

    In a language that has no rules of roles, two pronouns correspond if they have a use in the same slot.
    """
    place = same_place if language.ruled else partial(_same_slot, language)
    used = {found.word: found for found in hyp_pronouns}
    taken = set(links.values())
    for found in ref_pronouns:
        near = [links[found.word]] if found.word in links else _beside(found.word, links)
        for j in near:
            free = found.word in links or j not in taken
            if j in used and free and place(ref_words, found, hyp_words, used[j], links):
                taken.add(j)
                yield found, used[j]
                break


def in_same_rest(
    ref_words: Sequence[Word],
    ref_pronouns: Sequence[Occurrence],
    hyp_words: Sequence[Word],
    hyp_pronouns: Sequence[Occurrence],
) -> dict[int, Occurrence] | None:
    """The counterparts, by the word of the reference, of two sentences that differ in pronouns alone; None of others.

    "It is late." and "He is late." differ in one pronoun, whatever an aligner knows of the words.
    """
    sides = (ref_words, {found.word for found in ref_pronouns}), (hyp_words, {found.word for found in hyp_pronouns})
    rests = [[word.text.lower() for k, word in enumerate(words) if k not in places] for words, places in sides]
    if rests[0] != rests[1] or not any(text[0].isalnum() for text in rests[0]):
        return None
    forms, others = ([word.text.lower() for word in words] for words, _ in sides)
    used, found = {other.word: other for other in hyp_pronouns}, dict[int, Occurrence]()
    for _, i, i_end, j, j_end in SequenceMatcher(None, forms, others, autojunk=False).get_opcodes():
        pairs = zip(range(i, i_end), range(j, j_end), strict=False)
        found |= {k: used[m] for k, m in pairs if k in sides[0][1] and m in used}
    return found


def _beside(index: int, links: Mapping[int, int]) -> list[int]:
    """Candidate positions for the counterpart of an unlinked word: next to the links of its neighbours."""
    places = (links[index + step] - step for step in (1, -1) if index + step in links)
    return list(dict.fromkeys(places))


def _same_slot(
    language: Language,
    ref_words: Sequence[Word],
    ref: Occurrence,
    hyp_words: Sequence[Word],
    hyp: Occurrence,
    links: Mapping[int, int],
) -> bool:
    return language.share_slot(ref.form, hyp.form)


def same_place(
    ref_words: Sequence[Word], ref: Occurrence, hyp_words: Sequence[Word], hyp: Occurrence, links: Mapping[int, int]
) -> bool:
    """Whether two pronouns have the same role among words that are linked.

    The role of this, that, these and those is uncertain: for them it is enough that the next words are linked.
    """
    if expletive(ref_words, ref.word) or expletive(hyp_words, hyp.word):
        return False
    here, there = _role(ref_words, ref.word), _role(hyp_words, hyp.word)
    if here != there:
        return bool(_DEMONSTRATIVE & {ref.form, hyp.form}) and links.get(ref.word + 1) == hyp.word + 1
    steps = _BEFORE if here == "object" else (*_AFTER, -1) if here == "relative" else _AFTER
    return any(
        links.get(ref.word + k) == hyp.word + m and ref_words[ref.word + k].text[-1].isalnum()
        for k in steps
        for m in steps
        if k * m > 0
    )


def _role(words: Sequence[Word], index: int) -> str:
    place = slot(words, index)
    if place == "demonstrative":
        return role(words, index)
    return "determiner" if place in _DETERMINERS else place.split()[0] if place.startswith("inter") else place


def expletive(words: Sequence[Word], index: int) -> bool:
    """Whether an "it" is expletive: "it is clear that", "it seems", "it's time to".

    >>> from pronmetric.text.words import words
    >>> expletive(words("It is easy to see."), 0), expletive(words("It is red."), 0)
    (True, False)
    """
    lower = [rule_word(word) for word in words[index : index + 9]]
    if lower[0] != "it":
        return False
    rest = lower[1:]
    while rest and (rest[0] in CLASSES["modal"] or rest[0] in CLASSES["adverb"] or rest[0] in ("has", "have", "had")):
        rest.pop(0)
    if not rest or rest[0] in _SEEM:
        return bool(rest)
    if rest[0] not in CLASSES["be"]:
        return False
    for word in rest[1:6]:
        if not word[-1].isalnum():
            return False
        if word in _CLAUSE:
            return True
    return False
