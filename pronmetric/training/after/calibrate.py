"""Calibration: a scale and a bias for the logits, fitted at the error rate of real systems.

Training replaces far more pronouns than systems get wrong. The scale and bias (Platt, 1999) are fitted on development
sentences with natural error rates and folded into the head, so that scoring needs no extra step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from pronmetric.data import arrow
from pronmetric.data.collate import Collator, Example, cut_batches
from pronmetric.errors import PronmetricError
from pronmetric.eval.calibration import Platt, fit_platt, fit_shares
from pronmetric.nn.head import LogitHead
from pronmetric.nn.inference import for_inference
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.progress import progress as report
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.text.context import join
from pronmetric.training.examples import labelled as examples
from pronmetric.training.examples.batches import Labelled
from pronmetric.training.examples.labelled import LabelledExample

PIECES = 8192  # of a batch, padding included
FEWEST = 30  # replaced pronouns that a fit needs
WITHOUT_OUTPUTS = 0.05  # share of wrong pronouns where no output tells it, about that of outputs into English


class Fit(NamedTuple):
    """The calibration folded into the head: logit -> scale * logit + bias.

    rate: share of replaced pronouns that was aimed at. pronouns: number of them that the fit is from. replaced: those
    of them that are; None in the records of older checkpoints.
    """

    scale: float
    bias: float
    rate: float
    pronouns: int
    replaced: int | None = None

    def to_record(self) -> dict[str, float]:
        """What a checkpoint's config records."""
        return {key: value for key, value in self._asdict().items() if value is not None}


def recorded(config: Mapping[str, Any]) -> Fit | None:
    """The calibration that a checkpoint's config records, None if it has none."""
    record = config.get("training", {}).get("calibration")
    return None if record is None else Fit(**record)


def natural_rate(manifest: Mapping[str, Any]) -> float:
    """Share of reference pronouns for which the outputs have a different pronoun, over all test sets of a manifest.

    `WITHOUT_OUTPUTS` if there are none.
    """
    counts = manifest.get("counts", {}).get("testsets", {}).values()
    pronouns = sum(c["compared"].get("ref pronouns", 0) for c in counts)
    if counts and all(c["compared"].get("outputs") == 0 for c in counts):
        return WITHOUT_OUTPUTS
    if not pronouns:
        raise PronmetricError("the manifest counts no reference pronoun: run `pronmetric prepare` again")
    return sum(c.get("mismatches", {}).get("pronoun", 0) for c in counts) / pronouns


def add_noise(
    rows: Sequence[Mapping[str, Any]],
    *,
    context: str,
    table: ConfusionTable,
    rate: float,
    seed: int,
    forms: Collection[str] | None = None,
    language: Language = ENGLISH,
) -> Iterator[LabelledExample]:
    """The distinct better texts of pairs with about `rate` of their pronouns replaced; half in plain form.

    Only `forms` are labelled; None: all of the language.
    """
    forms = language.forms if forms is None else forms
    seen: set[tuple[str, str]] = set()
    for row in rows:
        before = "" if context == "none" else join(row["context"])
        if (before, row["better"]) in seen:
            continue
        seen.add((before, row["better"]))
        rng = np.random.default_rng([seed, len(seen)])
        item = examples.add_noise(before, row["better"], rng, table=table, rate=rate, plain=0.5, language=language)
        yield examples.of_forms(item, forms, language)


def on_references(
    scorer: PronounScorer,
    collator: Collator,
    folder: Path,
    *,
    context: str,
    rate: float,
    seed: int,
    most: int,
    forms: Collection[str] | None = None,
    language: Language = ENGLISH,
    dtype: torch.dtype = torch.float32,
    progress: bool = False,
) -> Fit | None:
    """Calibrate on development references of a prepared folder, with `rate` of their pronouns replaced.

    most: number of references, drawn by seed 0; 0 for all. dtype: as for `calibrate`. progress: show it on stderr.
    """
    table = ConfusionTable.load(folder / "confusion.json", forms=language.forms)
    rows = _draw(arrow.read_pairs(folder, "development"), context=context, most=most)
    items = list(add_noise(rows, context=context, table=table, rate=rate, seed=seed, forms=forms, language=language))
    return calibrate(scorer, collator, items, rate=rate, dtype=dtype, progress=progress)


def _draw(rows: Any, *, context: str, most: int) -> Any:
    """One row of each distinct better text in its context, at most `most` of them, in order."""
    first: dict[tuple[str, ...], int] = {}
    number = 0
    for part in arrow.read_columns(rows, "better", "context"):
        for better, before in zip(part["better"], part["context"], strict=True):
            first.setdefault((better, *(() if context == "none" else before)), number)
            number += 1
    chosen = np.random.default_rng(0).permutation(list(first.values()))[: most or None]
    return rows.select(np.sort(chosen.astype(np.int64)))


def calibrate(
    scorer: PronounScorer,
    collator: Collator,
    items: Sequence[LabelledExample],
    *,
    rate: float,
    dtype: torch.dtype = torch.float32,
    progress: bool = False,
) -> Fit | None:
    """Fit scale and bias on labelled examples and fold them into the scorer's head, which is a `LogitHead`.

    Returns None and leaves the head unchanged if fewer than `FEWEST` pronouns are replaced, or if the fit would reverse
    the order of the scores, as may happen with an untrained model. dtype: of the encoder's products.
    """
    head = _head(scorer)
    if sum(right == 0 for item in items for right in item.right) < FEWEST:
        return None
    return _fold(head, *_logits(scorer, collator, items, dtype=dtype, progress=progress), rate=rate)


def to_training(
    scorer: PronounScorer, batches: Iterable[Labelled], *, dtype: torch.dtype = torch.float32
) -> Fit | None:
    """Calibrate on training batches, before further training of a calibrated checkpoint.

    Training replaces far more pronouns than the checkpoint was calibrated for, and the head's bias adapts so
    slowly that in a short run the other weights would compensate for it. dtype: of the encoder's products.
    """
    head, device = _head(scorer.eval()), next(scorer.parameters()).device
    fast = for_inference(scorer, dtype)
    logits, labels = [], []
    with torch.inference_mode():
        for item in batches:
            places = item.places.labelled
            scores = fast(item.batch.to(device)).scores.cpu()
            logits.append(scores.flatten()[places].numpy())
            labels.append(item.right.flatten()[places].numpy())
    scorer.train()
    if not labels:
        return None
    replaced = float(sum((each == 0).sum() for each in labels))
    if replaced < FEWEST:
        return None
    right = np.concatenate(labels)
    return _fold(head, np.concatenate(logits), right, rate=replaced / len(right))


def _head(scorer: PronounScorer) -> LogitHead:
    if not isinstance(scorer.head, LogitHead):
        raise PronmetricError("only head=logit has probabilities to calibrate")
    return scorer.head


def _fold(head: LogitHead, logits: np.ndarray, labels: np.ndarray, *, rate: float) -> Fit | None:
    hard = np.isin(labels, (0, 1)).all()
    fit = fit_platt(logits, labels) if hard else Platt(*fit_shares([logits], labels))  # shares of raters
    if fit.scale <= 0:
        return None
    head.calibrate(scale=fit.scale, bias=fit.bias)
    return Fit(float(fit.scale), float(fit.bias), rate, len(labels), int((labels == 0).sum()))


def _logits(
    scorer: PronounScorer,
    collator: Collator,
    items: Sequence[LabelledExample],
    *,
    dtype: torch.dtype,
    progress: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """The logit and the label of each pronoun."""
    examples = [item.example for item in items]
    logits = logits_of(scorer, collator, examples, dtype=dtype, label="calibration" if progress else None)
    return np.concatenate(logits), np.concatenate([item.right for item in items])


@torch.inference_mode()
def logits_of(
    scorer: PronounScorer, collator: Collator, examples: Sequence[Example], *, dtype: torch.dtype, label: str | None
) -> list[np.ndarray]:
    """The logits of each example's pronouns; `label` of the progress on stderr, None for none."""
    device = next(scorer.parameters()).device
    scorer = for_inference(scorer.eval(), dtype)
    logits = [np.zeros(len(example.spans), np.float32) for example in examples]
    parts = list(cut_batches(collator.encode(examples), pieces=PIECES))
    for part in parts if label is None else report(parts, label=label, total=len(parts), unit="batches"):
        scores = scorer(collator.pad(part).to(device)).scores.cpu().numpy()
        for row, line in zip(part, scores, strict=True):
            logits[row.example][row.pronouns] = line[: len(row.pronouns)]
    return logits
