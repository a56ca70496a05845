"""Noisy references: a reference with one pronoun replaced by the system's; and their form in the published study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pronmetric.pronouns import corrupt
from pronmetric.pronouns.languages import ENGLISH, Language, same_slot
from pronmetric.schema import Pair
from pronmetric.text.writing import study_form


def noisy_references(pair: Pair, language: Language = ENGLISH) -> Iterator[Pair]:
    """One pair (reference, noisy reference) for each pronoun-pronoun mismatch of a system pair.

    Letter case is kept ("He" -> "It"); `agrees` is False if the verb or noun next to the pronoun agreed with it and
    no longer does ("he is" -> "they is").
    """
    split = language.words(pair.better)
    wrong = [mismatch for mismatch in pair.mismatches if mismatch.kind == "pronoun"]
    for number, mismatch in enumerate(wrong, start=1):
        start, end = mismatch.ref_start, mismatch.ref_end
        form = language.shape(mismatch.hyp_form, pair.better[end:].lstrip())
        new = corrupt.match_case(pair.better, start, end, form)
        index = sum(word.start < start for word in split)
        yield replace(
            pair,
            id=f"{pair.id}#{number}",
            kind="noisy",
            worse=corrupt.replace(pair.better, start, end, form),
            mismatches=(replace(mismatch, hyp_form=form, hyp_start=start, hyp_end=start + len(new)),),
            agrees=language.agrees(split, index, form) or not language.agrees(split, index, mismatch.ref_form),
        )


def confuse_slots(counts: Mapping[str, int], language: Language) -> Counter[tuple[str, str]]:
    """For each form the others of its slot, as often as `counts` has them: a confusion table without system outputs."""
    found: Counter[tuple[str, str]] = Counter()
    for form in filter(counts.__getitem__, language.forms):
        for other in same_slot(language, language.words(form), 0):
            if counts[other]:
                found[form, other] = counts[other]
    return found


def study_pair(pair: Pair) -> Pair | None:
    """A noisy pair in the study's form; None if the texts do not differ in exactly one word in that form.

    "it's" against "they're" differs in two words and is dropped, as is a change that the form hides.
    """
    better, worse = study_form(pair.better), study_form(pair.worse)
    left, right = better.split(), worse.split()
    changed = [i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b]
    (mismatch,) = pair.mismatches
    if len(left) != len(right) or len(changed) != 1 or left[changed[0]] != mismatch.ref_form:
        return None
    start = sum(len(word) + 1 for word in left[: changed[0]])
    there = replace(
        mismatch,
        ref_start=start,
        ref_end=start + len(left[changed[0]]),
        hyp_start=start,
        hyp_end=start + len(right[changed[0]]),
    )
    return replace(
        pair,
        id=f"{pair.id}/study",
        better=better,
        worse=worse,
        context=tuple(study_form(text) for text in pair.context),
        system_context=tuple(study_form(text) for text in pair.system_context),
        mismatches=(there,),
    )
