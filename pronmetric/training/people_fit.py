"""A reader's numbers fitted on what people marked and corrected in development texts.

Weights join its logits with those of its checkpoint, and a calibration makes probabilities of the logits of its gap
head. A pronoun is right as far as raters did not mark it, and a gap as far as no pronoun was put there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from pronmetric.checkpoint.files import Checkpoint
from pronmetric.checkpoint.model_config import Calibration, Mixing
from pronmetric.data import arrow
from pronmetric.data.collate import Collator, Example, cut_batches
from pronmetric.eval.calibration import fit_shares
from pronmetric.eval.detection import roc_auc
from pronmetric.nn.inference import for_inference
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.progress import progress
from pronmetric.pronouns.languages import Language
from pronmetric.schema import JudgedText
from pronmetric.text.context import Source, join
from pronmetric.training.calibrate import FEWEST, PIECES, logits_of
from pronmetric.training.people_text import missing_before

FEWEST_GAPS = 10  # in which a pronoun was missing, to calibrate the logits of gaps


class Fitted(NamedTuple):
    """The weights for texts with a context and without, and the calibration of gaps; None with too few marks.

    figures: areas under the ROC curve by set: of the pronouns that one rater or more marked, by the checkpoint alone
    ("model") and with the source ("mixed"), and of the gaps in which a pronoun was missing.
    """

    in_context: Mixing | None
    alone: Mixing | None
    missing: Calibration | None
    figures: dict[str, float]


def fit(
    english: Checkpoint,
    scorer: PronounScorer,
    collator: Collator,
    folder: Path,
    *,
    dtype: torch.dtype,
    show: bool,
) -> Fitted | None:
    """The fit on the development split of a prepared folder; None if it has no such texts.

    Arguments as for `pronmetric.training.source_mixing.mix`; show: the progress on stderr.
    """
    split = arrow.PEOPLE_SPLITS[1]
    if split not in arrow.read_manifest(folder)["splits"]:
        return None
    forms = frozenset(english.config["pronouns"])
    texts = [text for row in arrow.read_people(folder, split) if (text := arrow.to_judged(row)).source]
    if not texts:
        return None
    label = "what people marked" if show else None
    found = [_example(text, forms) for text in texts]
    examples, labels = [example for example, _ in found], [right for _, right in found]
    readers = (english.model, english.collator), (scorer, collator)
    own, read = (logits_of(model, rows, examples, dtype=dtype, label=label) for model, rows in readers)
    figures, mixings = dict[str, float](), dict[bool, Mixing | None]()
    sets = np.repeat([_name(text) for text in texts], [len(each) for each in labels])
    context = np.repeat([bool(text.context) for text in texts], [len(each) for each in labels])
    right, first, second = (np.concatenate(each) for each in (labels, own, read))
    mixed = first.astype(np.float64)
    for there in (True, False):
        here = context == there
        mixings[there] = mixing = _mixing(first[here], second[here], right[here])
        if mixing is not None:
            mixed[here] = mixing.model * first[here] + mixing.reader * second[here] + mixing.bias
    figures |= _areas("model", sets, right, first) | _areas("mixed", sets, right, mixed)
    missing = None
    if scorer.gap_head is not None:
        corrected = [(text, each) for text, each in zip(texts, examples, strict=True) if text.kind == "edits"]
        outputs = gaps_of(scorer, collator, [each for _, each in corrected], dtype=dtype, label=label)
        lacks, logits, names = _labelled_gaps([text for text, _ in corrected], outputs, english.language)
        missing = _calibration(logits, lacks)
        figures |= _areas("missing", names, 1 - lacks, -logits)
    return Fitted(mixings[True], mixings[False], missing, figures)


def _labelled_gaps(
    texts: Sequence[JudgedText], outputs: Sequence[tuple[np.ndarray, np.ndarray]], language: Language
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all gaps with a label: whether a pronoun is missing, the logit, and the name of the set (gaps,)."""
    lacks, kept, names = list[bool](), list[float](), list[str]()
    for text, (places, logits) in zip(texts, outputs, strict=True):
        inserted = [(gap.start, gap.form) for gap in text.gaps]
        labels = missing_before(language.words(text.text), inserted, text.unjudged)
        for place, logit in zip(places.tolist(), logits.tolist(), strict=True):
            if labels[place] is not None:
                lacks.append(bool(labels[place]))
                kept.append(logit)
                names.append(_name(text))
    return np.array(lacks, dtype=float), np.array(kept), np.array(names, dtype=str)


def _name(text: JudgedText) -> str:
    return f"{text.testset}:{text.lp}"


def _example(text: JudgedText, forms: frozenset[str]) -> tuple[Example, np.ndarray]:
    """A text with its source, and for each pronoun of these forms the share of raters who did not mark it."""
    kept = [each for each in text.pronouns if each.form in forms]
    right = np.array([1 - len(each.marked_by) / len(text.raters) for each in kept], dtype=float)
    spans = tuple((each.start, each.end) for each in kept)
    return Example(join(text.context), text.text, spans, Source(text.source, text.source_context)), right


@torch.inference_mode()
def gaps_of(
    scorer: PronounScorer, collator: Collator, examples: Sequence[Example], *, dtype: torch.dtype, label: str | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each example the numbers of the words after its gaps, and the logits that a pronoun is missing (gaps,)."""
    device = next(scorer.parameters()).device
    fast = for_inference(scorer.eval(), dtype)
    found: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in examples]
    parts = list(cut_batches(collator.encode(examples), pieces=PIECES))
    for part in parts if label is None else progress(parts, label=label, total=len(parts), unit="batches"):
        outputs = fast(collator.pad(part).to(device)).gaps[..., 0].cpu().numpy()
        for row, line in zip(part, outputs, strict=True):
            if row.gaps is not None:
                found[row.example].append((row.gaps, line[row.gap_word]))
    return [(np.concatenate([a for a, _ in each]), np.concatenate([b for _, b in each])) for each in found]


def _mixing(own: np.ndarray, read: np.ndarray, right: np.ndarray) -> Mixing | None:
    """The weights of both logits; None with few marks, or if a logit would count against them."""
    if (right < 1).sum() < FEWEST:
        return None
    model, reader, bias = fit_shares([own, read], right)
    return Mixing(model=model, reader=reader, bias=bias) if model > 0 and reader > 0 else None


def _calibration(logits: np.ndarray, missing: np.ndarray) -> Calibration | None:
    if missing.sum() < FEWEST_GAPS:
        return None
    scale, bias = fit_shares([logits], missing)
    return Calibration(scale=scale, bias=bias) if scale > 0 else None


def _areas(name: str, sets: np.ndarray, right: np.ndarray, logits: np.ndarray) -> dict[str, float]:
    """The area of each set with a mark, and of all."""
    figures = {}
    for part in ("", *sorted(set(sets.tolist()))):
        here = sets == part if part else np.ones(len(sets), dtype=bool)
        area = roc_auc(right[here] < 1, -logits[here], np.ones(int(here.sum())))
        if area is not None:
            figures[f"people/{name}{part and '_'}{part}"] = area
    return figures
