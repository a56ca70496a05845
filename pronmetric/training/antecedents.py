"""Passages of annotated documents that name the words of their pronouns' antecedents: what attention learns from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.pronouns.finder import THIRD_PERSON, find
from pronmetric.schema import Passage
from pronmetric.suites.antecedents import ANTECEDENT, openings, pronoun, sentences, trained_on
from pronmetric.suites.gum import Annotated, read_folder
from pronmetric.text.context import join

if TYPE_CHECKING:
    import datasets

SOURCE = "coreference"
_WORDS = 116  # of a passage, about as many pieces as `pronmetric prepare` makes one of (128)


def read(folder: str | Path, *, known: Iterable[str]) -> datasets.Dataset:
    """The passages of the documents in `folder` in which one of the passages `known` begins; the others are held out.

    Rows are passages of source "coreference" with one column more, `antecedents` (see `passages`).

    Raises:
        InputError: no document in the folder, or none of which a passage is known.
    """
    from datasets import Dataset, Features, Value

    first = openings(known)
    rows = [row for document in read_folder(folder) if trained_on(document, first) for row in passages(document)]
    if not rows:
        raise InputError("no passage of training begins in any document of it: all are held out", file=folder)
    antecedents = [{"word": Value("int32"), "antecedent": [Value("int32")]}]
    return Dataset.from_list(rows, features=Features({**arrow.passage_features(), "antecedents": antecedents}))


def passages(document: Annotated) -> Iterator[dict[str, Any]]:
    """Passages of a document, each of which begins in the middle of the last one; those without an antecedent left out.

    `antecedents` has for each third-person pronoun with an antecedent within the passage the number of its word in the
    text, and the numbers of the antecedent's words (see `pronmetric.suites.antecedents`).
    """
    parts = sentences(document)
    begins = np.cumsum([0, *(len(part.words) for part in parts)])
    for number, first in enumerate(range(0, max(1, int(begins[-1]) - _WORDS // 2), _WORDS // 2), start=1):
        shown = [part for part, at in zip(parts, begins[:-1], strict=True) if first <= at < first + _WORDS]
        text = join(part.text for part in shown)
        found = find(text)
        antecedents = [
            {"word": each.word, "antecedent": np.flatnonzero(target.words).tolist()}
            for each in found
            if each.form in THIRD_PERSON
            and (target := pronoun(document, each.form, each.word, shown).targets.get(ANTECEDENT))
            and target.words.any()
        ]
        if antecedents:
            spans, forms = tuple((o.start, o.end) for o in found), tuple(o.form for o in found)
            passage = Passage(f"{SOURCE}/{document.name}#{number}", SOURCE, document.name, text, spans, forms)
            yield {**arrow.to_row(passage), "antecedents": antecedents}
