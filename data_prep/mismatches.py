"""Aligned pronouns that differ: the pronouns in use of a reference that a system translated differently."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pronmetric.alignment.counterparts import counterparts
from pronmetric.pronouns.finder import Occurrence
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.schema import Alignment, Mismatch
from pronmetric.text.words import Word


def in_use(
    text: str, words: Sequence[Word], forms: Collection[str], language: Language = ENGLISH
) -> tuple[Occurrence, ...]:
    """The pronouns in use of `text` whose form is in the inventory `forms`."""
    return tuple(found for found in language.find(text, words) if found.form in forms)


def mismatches(
    ref_words: Sequence[Word],
    ref_pronouns: Sequence[Occurrence],
    hyp: str,
    hyp_words: Sequence[Word],
    alignment: Alignment,
    *,
    forms: Collection[str],
    language: Language = ENGLISH,
) -> Iterator[Mismatch]:
    """The mismatches of a reference's pronouns with a system output, in the order of the reference.

    "pronoun": another pronoun in use is its counterpart (see `counterparts`). "word": it is linked to another word,
    or to a word with a pronoun's form that is no pronoun in use (that as a conjunction). "nothing": it has no link, or
    one to a pronoun in another position. The same word on both sides is no mismatch, whether or not the system's is
    in use, and neither are two forms of one pronoun (`Language.same`: je and j', meine and meinem).
    """
    linked = dict(alignment.links)
    wrong = [found for found in ref_pronouns if _differs(found, linked, hyp_words)]
    if not wrong:
        return
    used = in_use(hyp, hyp_words, forms, language)
    there = dict(counterparts(ref_words, wrong, hyp_words, used, linked, language=language))
    places = {found.word for found in used}
    for found in wrong:
        j = linked.get(found.word)
        if other := there.get(found):
            if other.form != found.form and not language.same(found.form, other.form):
                yield Mismatch("pronoun", found.form, other.form, found.start, found.end, other.start, other.end)
        elif j is None or j in places:
            yield Mismatch("nothing", found.form, "", found.start, found.end, -1, -1)
        else:
            word = hyp_words[j]
            yield Mismatch("word", found.form, word.text.lower(), found.start, found.end, word.start, word.end)


def _differs(found: Occurrence, linked: dict[int, int], hyp_words: Sequence[Word]) -> bool:
    """Whether the words alone show that the system may have a different pronoun."""
    j = linked.get(found.word)
    return j is None or hyp_words[j].text.lower() != found.text.lower()
