"""Noisy references: a reference with one pronoun replaced by the system's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pronmetric.pronouns import corrupt
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.schema import Pair


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
