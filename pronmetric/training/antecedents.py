"""Passages of documents with annotated antecedents of pronouns, for training the attention."""

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
_WORDS = 116  # words of a passage, about 128 pieces, as in `pronmetric prepare`


def read(folder: str | Path, *, known: Iterable[str]) -> datasets.Dataset:
    """The passages of the documents in `folder` that contain the start of a `known` passage; others are held out.

    Rows are passages of source "coreference" with a further column, `antecedents` (see `passages`).

    Raises:
        InputError: no document in the folder, or none with a known passage.
    """
    from datasets import Dataset, Features, Value

    first = openings(known)
    rows = [row for document in read_folder(folder) if trained_on(document, first) for row in passages(document)]
    if not rows:
        raise InputError("no document contains the start of a training passage: all are held out", file=folder)
    antecedents = [{"word": Value("int32"), "antecedent": [Value("int32")]}]
    return Dataset.from_list(rows, features=Features({**arrow.passage_features(), "antecedents": antecedents}))


def passages(document: Annotated) -> Iterator[dict[str, Any]]:
    """Overlapping passages of a document, each starting in the middle of the one before; only those with an antecedent.

    `antecedents` has, for each third-person pronoun with an antecedent in the passage, the index of its word in the
    text, and the indices of the antecedent's words (see `pronmetric.suites.antecedents`).
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
