"""How a reader's logits join those of its checkpoint, and its changes the preference of the pair head.

Weights of both logits are fitted on what people marked in development texts (`people_fit`), for texts with a context
and without; without such texts, or with few marks, on development references with replaced pronouns. The share of the
change of a text's logits that the preference takes is fitted on references against themselves with a pronoun replaced:
of pairs of a reference with a system output the source is no judge, as systems follow it more closely than people do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from pronmetric.checkpoint.files import Checkpoint
from pronmetric.checkpoint.model_config import Calibration, Mixing, Mixings
from pronmetric.data import arrow
from pronmetric.data.collate import Collator, Example
from pronmetric.eval.calibration import fit_sum
from pronmetric.eval.decision import PREFERENCE
from pronmetric.eval.detection import detect
from pronmetric.nn.scorer import PronounScorer
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.text.context import Source
from pronmetric.training.after import people_fit, surplus_fit
from pronmetric.training.after.calibrate import FEWEST, logits_of
from pronmetric.training.after.decision import KINDS
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.examples.batches import Labeller
from pronmetric.training.source.data import Development, read_translations, without_context

REPLACED = "replaced"  # the kind of pairs whose worse text is the better one with a pronoun replaced
WHOLE = 1.0  # the share of the change where no pairs tell it


class SourceMixing(NamedTuple):
    """How a reader's logits join those of its checkpoint, for texts with a context and without, and what that gives.

    preference: share of the change of a text's logits that the preference takes. missing: calibrates the logits of the
    gap head; None without one, or with too few corrections. others: of sources in languages that the reader was not
    trained on; None: as in those. surplus: the share of each form's wrong pronouns that are surplus; None if not known.
    """

    in_context: Mixing
    alone: Mixing
    preference: float
    figures: dict[str, float]
    missing: Calibration | None = None
    others: Mixings | None = None
    surplus: dict[str, float] | None = None


def mix(
    english: Checkpoint,
    scorer: PronounScorer,
    collator: Collator,
    development: Development,
    folder: Path,
    *,
    languages: Sequence[str],
    rate: float,
    pairs: int,
    dtype: torch.dtype,
    progress: bool,
) -> SourceMixing:
    """Fit the weights on development references as if a share `rate` of their pronouns were replaced, and the share.

    Args:
        english: the checkpoint.
        scorer: the reader.
        collator: of its rows.
        development: the references.
        folder: the prepared folder with the pairs.
        languages: of the sources that the reader was trained on.
        rate: of replaced pronouns.
        pairs: most pairs of each kind, drawn by seed 0; 0 for all.
        dtype: of the products of both encoders.
        progress: show it on stderr.
    """
    right = np.concatenate([item.right for item in development.items])
    third = np.concatenate([np.array(each, dtype=bool) for each in development.third])
    of = np.repeat(development.languages, [len(item.right) for item in development.items])
    label = "weights of the source" if progress else None
    readers = (english.model, english.collator), (scorer, collator)
    by_people = people_fit.fit(english, scorer, collator, folder, languages=languages, dtype=dtype, show=progress)
    mixings, figures = [], {} if by_people is None else dict(by_people.figures)
    for name, is_alone in (("", False), ("_alone", True)):
        examples = [without_context(item.example) if is_alone else item.example for item in development.items]
        without_source, read = (
            np.concatenate(logits_of(model, rows, examples, dtype=dtype, label=label)) for model, rows in readers
        )
        by_marks = None if by_people is None else by_people.alone if is_alone else by_people.in_context
        mixing = by_marks or _fit_mixing(without_source, read, right, rate=rate)
        both = mixing.model * without_source + mixing.reader * read + mixing.bias
        figures |= areas(f"model{name}", without_source, right, third) | areas(f"mixed{name}", both, right, third)
        for language in sorted(set(development.languages)):
            here = of == language
            figures |= areas(f"mixed{name}_{language}", both[here], right[here], third[here])
        mixings.append(mixing)
    in_context, alone = mixings
    missing = None if by_people is None else by_people.missing
    others = None if by_people is None else by_people.others
    surplus = surplus_fit.fit(folder, english.config["pronouns"])
    mixed = SourceMixing(in_context, alone, WHOLE, figures | surplus.figures, missing, others, surplus.shares)
    return _with_share(mixed, english, scorer, collator, folder, most=pairs, dtype=dtype, progress=progress)


def _fit_mixing(own: np.ndarray, read: np.ndarray, right: np.ndarray, *, rate: float) -> Mixing:
    """The weights; the checkpoint's logits alone if few pronouns are replaced, or if they would count against them."""
    if (right == 0).sum() < FEWEST or (right == 1).sum() < FEWEST:
        return people_fit.SILENT
    model, reader, bias = fit_sum([own, read], right, rate=rate)
    return Mixing(model=model, reader=reader, bias=bias) if model > 0 and reader > 0 else people_fit.SILENT


def _with_share(
    mixed: SourceMixing,
    english: Checkpoint,
    scorer: PronounScorer,
    collator: Collator,
    folder: Path,
    *,
    most: int,
    dtype: torch.dtype,
    progress: bool,
) -> SourceMixing:
    """With the share of the change that the preference takes, by logistic regression, and the accuracies with it.

    Arguments as for `mix`. `WHOLE` for a checkpoint without a pair head, and with fewer than `FEWEST` pairs.
    """
    head: Any = english.model.pair_head
    if head is None:
        return mixed
    label = "pairs with a source" if progress else None
    labeller = Labeller(english.collator, forms=english.config["pronouns"], language=english.language)
    scored = PairScorer(english.model, labeller, dtype=dtype)
    gaps: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for kind, (pairs, sources) in pairs_with_sources(
        scored, folder, context=english.config["context"], most=most
    ).items():
        columns, numbers = scored.columns_of(pairs, label=label)
        texts = [text._replace(source=sources[k]) for k in numbers.tolist() for text in pairs[k]]
        logits = [
            logits_of(model, rows_of, texts, dtype=dtype, label=label)
            for model, rows_of in ((english.model, english.collator), (scorer, collator))
        ]
        changes = np.array([_change(mixed, *each) for each in zip(texts, *logits, strict=True)]).reshape(-1, 2)
        preference = columns[PREFERENCE][0] - columns[PREFERENCE][1] if len(numbers) else np.zeros(0)
        real = np.isfinite(preference)  # not where a text has no pronoun
        if real.any():
            gaps[kind] = preference[real], head.a.item() * (changes[real, 0] - changes[real, 1])
    preference, change = gaps.get(REPLACED, (np.zeros(0), np.zeros(0)))
    share = fit_share(preference, change) if len(preference) >= FEWEST else WHOLE
    figures = dict(mixed.figures)
    for kind, (preference, change) in gaps.items():
        for name, each in (("", preference), ("_source", preference + share * change)):
            figures[f"development/preference_{kind}{name}"] = float((each > 0).mean())
    return mixed._replace(preference=share, figures=figures)


def pairs_with_sources(
    scored: PairScorer, folder: Path, *, context: str, most: int
) -> dict[str, tuple[list[tuple[Example, Example]], list[Source]]]:
    """Pairs of a better and a worse text and their sources, at most `most` of each kind.

    They are the development pairs of each of `KINDS` whose reference has a source, and as `REPLACED` these references
    against themselves with one pronoun replaced by a form drawn from the confusion table, if one can be replaced.
    """
    known = {
        row["id"]: Source(row["source"], tuple(row["source_context"]))
        for row in read_translations(folder, arrow.TRANSLATION_SPLITS[1])
        if row["kind"] == "reference"
    }
    rows = arrow.read_pairs(folder, "development", kinds=("pronoun",))
    ids = [f"{row['testset']}.{row['lp']}/{row['ref']}/{row['seg']}" for row in rows]
    kinds, usable = np.array(rows["kind"]), np.array([each in known for each in ids], dtype=bool)
    first = np.unique(ids, return_index=True)[1]  # one row of each reference
    candidates = {kind: np.flatnonzero((kinds == kind) & usable) for kind in KINDS} | {REPLACED: first[usable[first]]}
    language = scored.labeller.language
    rng, table = np.random.default_rng(0), ConfusionTable.load(folder / "confusion.json", forms=language.forms)
    pairs = {}
    for kind, numbers in candidates.items():
        drawn = np.sort(rng.permutation(numbers)[: most or None]).tolist()
        if kind == REPLACED:
            same = [{**rows[k], "worse": rows[k]["better"]} for k in drawn]
            both = [scored.texts(row, context, table=table, rng=rng) for row in same]
        else:
            both = [scored.texts(rows[k], context) for k in drawn]
        differ = [k for k, (better, worse) in enumerate(both) if better.text != worse.text]
        pairs[kind] = [both[k] for k in differ], [known[ids[drawn[k]]] for k in differ]
    return pairs


def _change(mixed: SourceMixing, text: Example, own: np.ndarray, read: np.ndarray) -> float:
    """The mean change of a text's logits by its source; 0 without pronouns."""
    if not len(own):
        return 0.0
    mixing = mixed.in_context if text.context else mixed.alone
    return float((mixing.model * own + mixing.reader * read + mixing.bias - own).mean())


def fit_share(own: np.ndarray, change: np.ndarray) -> float:
    """The weight of the change, at least 0, beside a weight of 1 of the preference's own difference.

    own, change: better - worse (pairs,). `WHOLE` if the preference's own differences count against the labels.
    """
    labels = np.repeat([1.0, 0.0], len(own))
    first, second, _ = fit_sum([np.concatenate([each, -each]) for each in (own, change)], labels, rate=0.5)
    return max(0.0, second / first) if first > 0 else WHOLE


def areas(name: str, logits: np.ndarray, right: np.ndarray, third: np.ndarray) -> dict[str, float]:
    """The areas under the ROC curve, 1 at best, of all pronouns and of the third person, where there is one."""
    figures: dict[str, float] = {}
    for part, chosen in (("", np.ones(len(right), dtype=bool)), ("_third", third)):
        if chosen.any():
            area = detect((right[chosen] == 0).tolist(), logits[chosen].tolist()).roc_auc
            figures |= {} if area is None else {f"development/{name}{part}": area.value}
    return figures
