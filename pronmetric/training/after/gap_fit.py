"""The calibration of a gap head in one target language, so that its logits become probabilities of a missing pronoun.

It is fitted on the gaps into which post-editors of development texts put a pronoun. With fewer than `FEWEST_GAPS` of
them it is fitted on development references some of whose pronouns are deleted, as if as many were missing as
post-editors of that language insert, or `WITHOUT_EDITS` where too few post-edits tell it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch

from pronmetric.checkpoint.model_config import Calibration
from pronmetric.data import arrow
from pronmetric.data.collate import Collator, Example
from pronmetric.eval.calibration import fit_sum
from pronmetric.eval.detection import roc_auc
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.delete import deletable, delete
from pronmetric.pronouns.gaps import missing_before
from pronmetric.pronouns.languages import Language
from pronmetric.training.after import people_decision, people_fit
from pronmetric.training.after.calibrate import FEWEST
from pronmetric.training.after.people_fit import FEWEST_GAPS, gaps_of
from pronmetric.training.examples.prepared import Folder

INSERTED, DELETED = "inserted", "deleted"  # what a calibration was fitted on
SHARE = 0.1  # of the pronouns of a reference that are deleted; chosen by hand
WITHOUT_EDITS = 0.017  # missing pronouns for each in a text: the post-edits en-de and en-zh have 136 for 7,867

Outputs = list[tuple[np.ndarray, np.ndarray]]
"""For each text the words after its gaps and the gap head's outputs there, as `people_fit.gaps_of` gives them."""


class GapFit(NamedTuple):
    """The calibration, None with too few missing pronouns or where they count against the logits.

    record: for the config; what it was fitted on ("on"), the number of missing pronouns there ("missing"), and of
    `DELETED` the missing pronouns for each in a text that were aimed at ("rate"). figures: areas under the ROC curve of
    gaps with a missing pronoun, "people/missing_CODE" and, of `FEWEST` or more, "development/deleted_CODE".
    """

    calibration: Calibration | None
    record: dict[str, Any] | None
    figures: dict[str, float]


def fit(
    scorer: PronounScorer,
    collator: Collator,
    folder: Folder,
    references: Sequence[Example],
    *,
    dtype: torch.dtype,
    show: bool,
) -> GapFit:
    """The fit for the language of a prepared folder.

    Args:
        scorer: with a gap head.
        collator: of its rows.
        folder: with the texts that people judged, if there are any.
        references: development references with their sources.
        dtype: of the encoder's products.
        show: the progress on stderr.
    """
    label = f"missing pronouns, {folder.code}" if show else None
    read = partial(gaps_of, scorer, collator, dtype=dtype, label=label)
    inserted, deleted = _on_insertions(read, folder), _on_deletions(read, folder, references)
    chosen = deleted if inserted.calibration is None else inserted
    return chosen._replace(figures=inserted.figures | deleted.figures)


def _on_insertions(read: Callable[[Sequence[Example]], Outputs], folder: Folder) -> GapFit:
    """The fit on the gaps into which post-editors of development texts put a pronoun."""
    edited = [text for text in people_decision.development(folder.path) if text.kind == "edits"]
    if not edited:
        return GapFit(None, None, {})
    outputs = read([people_fit.example(text, frozenset(folder.prepared.forms))[0] for text in edited])
    lacks, logits, _ = people_fit.labelled_gaps(edited, outputs, folder.prepared.language)
    record = {"on": INSERTED, "missing": int(lacks.sum())}
    return GapFit(people_fit.calibration(logits, lacks), record, _area("people/missing", folder, lacks, logits))


def _on_deletions(
    read: Callable[[Sequence[Example]], Outputs], folder: Folder, references: Sequence[Example]
) -> GapFit:
    """The fit on references some of whose pronouns are deleted."""
    language = folder.prepared.language
    shorter = [shorten(text, np.random.default_rng([9, number]), language) for number, text in enumerate(references)]
    labelled = [
        (bool(gaps[place]), value)
        for (_, gaps), (places, values) in zip(shorter, read([each for each, _ in shorter]), strict=True)
        for place, value in zip(places.tolist(), values[:, 0].tolist(), strict=True)
    ]
    lacks, logits = np.array(labelled, dtype=float).reshape(-1, 2).T
    if lacks.sum() < FEWEST:
        return GapFit(None, None, {})
    figures = _area("development/deleted", folder, lacks, logits)
    rate = insertions(folder)
    pronouns = sum(len(language.find(text.text)) for text in references)
    scale, bias = fit_sum([logits], lacks, rate=1 - rate * pronouns / len(lacks))
    if scale <= 0:
        return GapFit(None, None, figures)
    record = {"on": DELETED, "missing": int(lacks.sum()), "rate": rate}
    return GapFit(Calibration(scale=scale, bias=bias), record, figures)


def _area(name: str, folder: Folder, lacks: np.ndarray, logits: np.ndarray) -> dict[str, float]:
    value = roc_auc(lacks > 0, logits, np.ones(len(lacks)))
    return {} if value is None else {f"{name}_{folder.code}": value}


def insertions(folder: Folder) -> float:
    """The pronouns that post-editors inserted for each in the texts; `WITHOUT_EDITS` with fewer than `FEWEST_GAPS`."""
    inserted = pronouns = 0
    for split in arrow.PEOPLE_SPLITS[:2]:
        if split in folder.manifest["splits"]:
            texts = [text for text in map(arrow.to_judged, arrow.read_people(folder.path, split)) if text.source]
            edited = [text for text in texts if text.kind == "edits"]
            inserted += sum(len(text.gaps) for text in edited)
            pronouns += sum(len(text.pronouns) for text in edited)
    return inserted / pronouns if inserted >= FEWEST_GAPS and pronouns else WITHOUT_EDITS


def shorten(example: Example, rng: np.random.Generator, language: Language) -> tuple[Example, tuple[str | None, ...]]:
    """A text without about `SHARE` of its pronouns, and for each of its words the form that is missing before it."""
    found = language.find(example.text)
    spans = [(each.start, each.end) for each in found]
    drawn = np.flatnonzero(rng.random(len(spans)) < SHARE).tolist()
    chosen = [k for k in drawn if deletable(example.text, *spans[k])]
    shorter = delete(example.text, spans, chosen)
    missing = zip(shorter.places, (found[k].form for k in chosen), strict=True)
    gaps = missing_before(language.words(shorter.text), missing)
    return example._replace(text=shorter.text, spans=shorter.spans), gaps
