"""Pairs in the form of the published study: lower-case words without punctuation, one of them replaced."""

from __future__ import annotations

from dataclasses import replace

from pronmetric.schema import Pair
from pronmetric.text.study_form import study_form


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
