"""Passages of annotated documents with the words of their pronouns' antecedents: what attention learns from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from data_prep.coreference.antecedents import ANTECEDENT, pronoun, sentences
from data_prep.coreference.document import Annotated
from pronmetric.pronouns.finder import THIRD_PERSON, find
from pronmetric.schema import Antecedent, Passage
from pronmetric.text.context import join

SOURCE = "coreference"
_WORDS = 116  # of a passage, about as many pieces as a passage of plain English has (128)


def passages(document: Annotated) -> Iterator[Passage]:
    """Passages of a document, each of which begins in the middle of the last one; those without an antecedent left out.

    `antecedents` has each third-person pronoun with an antecedent within the passage (see
    `data_prep.coreference.antecedents`).
    """
    parts = sentences(document)
    begins = np.cumsum([0, *(len(part.words) for part in parts)])
    for number, first in enumerate(range(0, max(1, int(begins[-1]) - _WORDS // 2), _WORDS // 2), start=1):
        shown = [part for part, at in zip(parts, begins[:-1], strict=True) if first <= at < first + _WORDS]
        text = join(part.text for part in shown)
        found = find(text)
        antecedents = tuple(
            Antecedent(each.word, tuple(np.flatnonzero(target.words).tolist()))
            for each in found
            if each.form in THIRD_PERSON
            and (target := pronoun(document, each.form, each.word, shown).targets.get(ANTECEDENT))
            and target.words.any()
        )
        if antecedents:
            spans, forms = tuple((o.start, o.end) for o in found), tuple(o.form for o in found)
            name = f"{SOURCE}/{document.name}#{number}"
            yield Passage(name, SOURCE, document.name, text, spans, forms, antecedents)
