"""The numbers of a scorer that reads sources itself, fitted in each target language on what people marked.

Where people marked enough pronouns of development texts, the logits are calibrated on the share of raters who did not
mark a pronoun. What decides between two texts is chosen on pairs that people judged, of all languages together; a tie
threshold is that of a language, by pairs of a reference and the same with pronouns replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from pronmetric.checkpoint.config import TIE, TIES
from pronmetric.data.collate import Collator
from pronmetric.eval.calibration import fit_shares
from pronmetric.eval.decision import DECISIONS, SCORE
from pronmetric.eval.detection import average_precision, roc_auc
from pronmetric.metric import PronounMetric
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.progress import progress
from pronmetric.scoring.preference import without_pair_head
from pronmetric.text.context import Text
from pronmetric.training.after import people_decision, people_fit
from pronmetric.training.after.calibrate import FEWEST, Fit, logits_of
from pronmetric.training.after.decision import tie_of
from pronmetric.training.after.people_decision import Choice
from pronmetric.training.examples.prepared import Folder
from pronmetric.training.source.data import Development


class TargetFit(NamedTuple):
    """The calibration of a language on what people marked; None with too few marks.

    figures: the area under the ROC curve and the average precision of the pronouns that people marked, named
    "people/WHAT_CODE"; development texts.
    """

    calibration: Fit | None
    figures: dict[str, float]


def fit(
    scorer: PronounScorer, collator: Collator, folder: Folder, *, dtype: torch.dtype, show: bool
) -> TargetFit | None:
    """The fit on the development texts of a prepared folder that people judged; None if it has none.

    scorer: not calibrated. dtype: of the encoder's products. show: the progress on stderr.
    """
    texts = people_decision.development(folder.path)
    if not texts:
        return None
    code, label = folder.code, f"what people marked, {folder.code}" if show else None
    labelled = [people_fit.example(text, frozenset(folder.prepared.forms)) for text in texts]
    examples, right = [example for example, _ in labelled], np.concatenate([share for _, share in labelled])
    logits = np.concatenate(logits_of(scorer, collator, examples, dtype=dtype, label=label)).astype(np.float64)
    figures, even = dict[str, float](), np.ones(len(right))
    for name, value in (
        ("area", roc_auc(right < 1, -logits, even)),
        ("precision", average_precision(right < 1, -logits, even)),
    ):
        if value is not None:
            figures[f"people/{name}_{code}"] = value
    calibration, marked = None, int((right < 1).sum())
    if marked >= FEWEST:
        scale, bias = fit_shares([logits], right)
        if scale > 0:
            calibration = Fit(scale, bias, 1 - float(right.mean()), len(right), marked)
    return TargetFit(calibration, figures)


def choose(checkpoint: Path, folders: Sequence[Folder], *, show: bool) -> Choice | None:
    """What decides, and the preference, by the pairs that people judged in all languages; None with too few.

    checkpoint: calibrated, without a preference. show: the progress on stderr.
    """
    pairs = list[people_decision.PairScores]()
    for each in folders:
        if texts := people_decision.development(each.path):
            metric = _load(checkpoint, each, of=folders)
            pairs += people_decision.compare(metric, texts, show=show)
    if len(pairs) < people_decision.FEWEST:
        return None
    return people_decision.choose_among(
        [pair._replace(better=without_pair_head(pair.better), worse=without_pair_head(pair.worse)) for pair in pairs]
    )


def ties(
    checkpoint: Path, folder: Folder, references: Development, *, of: Sequence[Folder], show: bool
) -> dict[str, Any]:
    """The tie thresholds of a language, as the keys `tie` and `ties` of a `Target`.

    checkpoint: with its preference. references: those with a replaced pronoun are compared with the originals. of: the
    folders of all languages.
    """
    texts = [
        Text(each.context, each.text, each.source)
        for item, original in zip(references.items, references.originals, strict=True)
        if 0.0 in item.right
        for each in (original, item.example)
    ]
    scored = _load(checkpoint, folder, of=of).stream(texts)
    shown = progress(scored, label=f"tie threshold {folder.code}", total=len(texts), unit="texts") if show else scored
    scores, thresholds = list(shown), dict[str, float]()
    for by in DECISIONS:
        values = np.array([np.nan if (value := each.value(by)) is None else value for each in scores])
        if (tie := tie_of(values.reshape(-1, 2).T)) is not None:
            thresholds[by] = tie.threshold
    others = {by: value for by, value in thresholds.items() if by != SCORE}
    return {**({TIE: thresholds[SCORE]} if SCORE in thresholds else {}), **({TIES: others} if others else {})}


def _load(checkpoint: Path, folder: Folder, *, of: Sequence[Folder]) -> PronounMetric:
    lang = folder.code if len(of) > 1 else None
    return PronounMetric.from_pretrained(checkpoint, lang=lang, precision="bf16")
