"""Texts that people judged, as training data: soft labels by how many raters marked a pronoun, and mended pairs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pronmetric.data import arrow
from pronmetric.data.collate import Example
from pronmetric.errors import InputError
from pronmetric.pronouns.gaps import missing_before
from pronmetric.pronouns.languages import Language
from pronmetric.text.context import Source, join
from pronmetric.training.examples.labelled import LabelledExample

SPLIT = arrow.PEOPLE_SPLITS[0]
# Chosen by hand, not tuned one by one; experiments.md has readers of sources trained with them.
MARKED = 0.4  # of the pieces of texts that people judged, those with a mark
ONE_RATER, STYLE = 0.5, 0.8  # that a pronoun is right that one of several raters marked; of the forms of style
OF_STYLE = frozenset({"that", "this", "these", "those", "which", "who"})
MENDED = 0.4  # the chance that a corrected text is read as corrected; experiments.md, "corrected texts (40 %)"


def read(folder: Path, *, setting: str, column: str) -> Any:
    """The rows of the training split of what people judged whose `column` is not empty, memory-mapped.

    setting: the key that asks for them, for the error. column: "pronouns", or "mended" for corrected texts.

    Raises:
        InputError: the folder has none.
    """
    if SPLIT not in arrow.read_manifest(folder)["splits"]:
        raise InputError(f"no texts that people judged: prepare with data.people, or set {setting}=0", file=folder)
    rows = arrow.read_people(folder, SPLIT)
    rows = rows.select([k for k, value in enumerate(rows[column]) if value])
    if not len(rows):
        cure = (
            "with post-edits whose pronouns were corrected" if column == "mended" else "with texts that have pronouns"
        )
        raise InputError(f"{SPLIT}: nothing to learn from: prepare data.people {cure}, or set {setting}=0", file=folder)
    return rows


def draw_weights(rows: Any, pieces: np.ndarray, share: float) -> np.ndarray:
    """Weights by which texts with so many pieces are drawn (rows,), so that they have `share` of all pieces.

    Those with a mark have `MARKED` of it. The weights of all other texts, times their pieces, sum to 1 - `share`.
    """
    marked = np.array([any(each["marked_by"] for each in row) for row in rows["pronouns"]], dtype=bool)
    weights = np.zeros(len(pieces))
    for mask, part in ((marked, MARKED), (~marked, 1 - MARKED)):
        if mask.any():
            weights[mask] = part * share / pieces[mask].sum()
    return weights


def people_text(row: Mapping[str, Any], rng: np.random.Generator, language: Language) -> LabelledExample:
    """A text that people judged, with its source; a pronoun is right as far as they did not mark it.

    A correction, and a mark of two raters or more, or of the only one, is wrong; that of one of several `ONE_RATER`,
    and `STYLE` of a demonstrative or relative. Gaps have labels where a person corrected the text. By chance, `MENDED`,
    such a text is read with all corrections of its pronouns: then all are right, and none is missing.
    """
    source = Source(row["source"], tuple(row["source_context"])) if row["source"] else None
    if row["mended"] and not row["unjudged"] and rng.random() < MENDED:
        split = language.words(row["mended"])
        found = tuple((each.start, each.end) for each in language.find(row["mended"], split))
        example = Example(join(row["context"]), row["mended"], found, source)
        return LabelledExample(example, (1.0,) * len(found), True, gaps=("",) * len(split))
    right = tuple(share_right(each, len(row["raters"])) for each in row["pronouns"])
    spans = tuple((each["start"], each["end"]) for each in row["pronouns"])
    gaps: tuple[str | None, ...] = ()
    if row["kind"] == "edits":
        places = [(each["start"], each["form"]) for each in row["gaps"]]
        gaps = missing_before(language.words(row["text"]), places, row["unjudged"])
    return LabelledExample(Example(join(row["context"]), row["text"], spans, source), right, True, gaps=gaps)


def share_right(pronoun: Mapping[str, Any], raters: int) -> float:
    """That a pronoun is right that so many raters judged, from 0 to 1 (see `people_text`)."""
    marks = len(pronoun["marked_by"])
    if marks == 1 and raters > 1:
        return STYLE if pronoun["form"] in OF_STYLE else ONE_RATER
    return 0.0 if marks else 1.0


def target_text(
    row: Mapping[str, Any], rng: np.random.Generator, language: Language, *, context: str, plain: float
) -> LabelledExample:
    """A text that people judged, as `people_text`, without its source and without labels of its gaps.

    context: as for `pronmetric.training.examples.labelled.pair`. plain: the chance that it is in plain form.
    """
    item = people_text(row, rng, language)
    return _read(item, rng, language, context=context, plain=plain)._replace(gaps=())


def mended_pair(
    row: Mapping[str, Any], rng: np.random.Generator, language: Language, *, context: str, plain: float
) -> tuple[LabelledExample, LabelledExample]:
    """A text with all corrections of its pronouns, which is better, and the text itself, each in its context.

    The worse text is a system's, and the texts may differ in their numbers of pronouns: the kind is "system". Pronouns
    have labels unless a part of the text was rewritten, of which nothing is known. Arguments as for `target_text`.
    """
    labelled, before = not row["unjudged"], join(row["context"])
    share = {(each["start"], each["end"]): share_right(each, len(row["raters"])) for each in row["pronouns"]}
    flat = 1.0 if rng.random() < plain else 0.0
    items = []
    for text, known in ((row["mended"], {}), (row["text"], share)):
        spans = tuple((each.start, each.end) for each in language.find(text))
        right = tuple(known.get(span, 1.0) for span in spans)
        item = LabelledExample(Example(before, text, spans), right, labelled, kind="system")
        items.append(_read(item, rng, language, context=context, plain=flat))
    return items[0], items[1]


def _read(
    item: LabelledExample, rng: np.random.Generator, language: Language, *, context: str, plain: float
) -> LabelledExample:
    """An item without its source, by chance in plain form; without its context if that is "none"."""
    before, text, spans, _ = item.example
    before = "" if context == "none" else before
    if rng.random() < plain:
        before, text = language.writing.flatten(before), language.writing.flatten(text)
    return item._replace(example=Example(before, text, spans))
