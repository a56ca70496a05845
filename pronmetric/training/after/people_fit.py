"""A reader's numbers fitted on what people marked and corrected in development texts.

Weights join its logits with those of its checkpoint, and a calibration makes probabilities of the logits of its gap
head. A pronoun is right as far as raters did not mark it, and a gap as far as no pronoun was put there.

The weights are fitted apart for sources in the languages that the reader was trained on and in others. For the figures
those of a document are fitted on the other documents. Where the figure of such a group of languages is lower with the
source than without, the source counts nothing in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from pronmetric.checkpoint.files import Checkpoint
from pronmetric.checkpoint.model_config import Calibration, Mixing, Mixings
from pronmetric.data import arrow
from pronmetric.data.collate import Collator, Example, cut_batches
from pronmetric.eval.calibration import fit_shares
from pronmetric.eval.detection import average_precision, roc_auc
from pronmetric.nn.inference import for_inference
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.progress import progress
from pronmetric.pronouns.languages import Language
from pronmetric.schema import JudgedText
from pronmetric.scoring.judged import missing_forms, source_language, source_of
from pronmetric.text.context import join
from pronmetric.training.after.calibrate import FEWEST, PIECES, logits_of

FEWEST_GAPS = 10  # in which a pronoun was missing, to calibrate the logits of gaps
SILENT = Mixing(model=1.0, reader=0.0, bias=0.0)  # the source counts nothing
TRAINED, OTHERS = "trained", "others"  # languages of sources
WITHOUT, WITH = "held_without", "held_with"  # figures of held-out documents


class PeopleFit(NamedTuple):
    """The weights for texts with a context and without, and the calibration of gaps; None with too few marks.

    others: of sources in languages that the reader was not trained on; None with too few marks.
    figures: areas under the ROC curve by set: of the pronouns that one rater or more marked, by the checkpoint alone
    ("model") and with the source ("mixed"), and of the gaps in which a pronoun was missing; and of held-out documents
    those of `HeldOutFigures`.
    """

    in_context: Mixing | None
    alone: Mixing | None
    others: Mixings | None
    missing: Calibration | None
    figures: dict[str, float]


class Marks(NamedTuple):
    """Pronouns that people judged (pronouns,).

    own, read: the logits of the checkpoint and of the reader. right: the share of raters who did not mark them. sets,
    documents: their names. context: whether the text has one. trained: whether its source is in a language that the
    reader was trained on; one that is not known counts as such.
    """

    own: np.ndarray
    read: np.ndarray
    right: np.ndarray
    sets: np.ndarray
    documents: np.ndarray
    context: np.ndarray
    trained: np.ndarray

    def select(self, chosen: np.ndarray) -> Marks:
        """Those that are chosen (pronouns,)."""
        return Marks(*(column[chosen] for column in self))


class HeldOutFigures(NamedTuple):
    """Average precisions of doubts of held-out documents in one group of languages, by set, in [0, 1].

    without: by the checkpoint alone. with_source: by weights that were fitted on the other documents. marked: pronouns.
    """

    without: dict[str, float]
    with_source: dict[str, float]
    marked: dict[str, int]

    @property
    def means(self) -> tuple[float, float]:
        """The means over the sets without the source and with it, each set weighted by its marked pronouns."""
        total = sum(self.marked.values())
        without, with_source = (
            sum(self.marked[name] * each[name] for name in self.marked) / total
            for each in (self.without, self.with_source)
        )
        return without, with_source

    def figures(self, group: str) -> dict[str, float]:
        """The figures of each set and the means of the group, as `train` stores them."""
        means = self.means if self.marked else ()
        parts = zip((WITHOUT, WITH), (self.without, self.with_source), strict=True)
        found = {f"people/{kind}_{name}": value for kind, part in parts for name, value in part.items()}
        return found | {f"people/{kind}_{group}": mean for kind, mean in zip((WITHOUT, WITH), means, strict=False)}


def fit(
    english: Checkpoint,
    scorer: PronounScorer,
    collator: Collator,
    folder: Path,
    *,
    languages: Sequence[str],
    dtype: torch.dtype,
    show: bool,
) -> PeopleFit | None:
    """The fit on the development split of a prepared folder; None if it has no such texts.

    Arguments as for `pronmetric.training.source.mixing.mix`; show: the progress on stderr.
    """
    split = arrow.PEOPLE_SPLITS[1]
    if split not in arrow.read_manifest(folder)["splits"]:
        return None
    forms = frozenset(english.config["pronouns"])
    texts = [text for row in arrow.read_people(folder, split) if (text := arrow.to_judged(row)).source]
    if not texts:
        return None
    label = "what people marked" if show else None
    labelled = [example(text, forms) for text in texts]
    examples, labels = [example for example, _ in labelled], [right for _, right in labelled]
    readers = (english.model, english.collator), (scorer, collator)
    alone, read = (logits_of(model, rows, examples, dtype=dtype, label=label) for model, rows in readers)
    columns = (
        [_name(text) for text in texts],
        [f"{_name(text)}/{text.doc}" for text in texts],
        [bool(text.context) for text in texts],
        [source_language(text) in (None, *languages) for text in texts],
    )
    sizes = [len(each) for each in labels]
    values = (np.concatenate(each) for each in (alone, read, labels))
    marks = Marks(*values, *(np.repeat(each, sizes) for each in columns))
    weights, figures = _fit_groups(marks)
    mixed = marks.own.astype(np.float64)
    for group, there in ((TRAINED, marks.trained), (OTHERS, ~marks.trained)):
        mixed[there] = _join(weights[group], marks.select(there))
    figures |= _areas("model", marks.sets, marks.right, marks.own)
    figures |= _areas("mixed", marks.sets, marks.right, mixed)
    missing = None
    if scorer.gap_head is not None:
        corrected = [(text, each) for text, each in zip(texts, examples, strict=True) if text.kind == "edits"]
        outputs = gaps_of(scorer, collator, [each for _, each in corrected], dtype=dtype, label=label)
        lacks, logits, names = labelled_gaps([text for text, _ in corrected], outputs, english.language)
        missing = calibration(logits, lacks)
        figures |= _areas("missing", names, 1 - lacks, -logits)
    trained, others = weights[TRAINED], weights[OTHERS]
    known = {"in_context": others[True] or others[False], "alone": others[False] or others[True]}
    of_others = None if None in known.values() else Mixings.model_validate(known)
    return PeopleFit(trained[True], trained[False], of_others, missing, figures)


Weights = dict[bool, Mixing | None]
"""Weights for texts with a context (True) and without one; None with too few marks."""


def _fit_groups(marks: Marks) -> tuple[dict[str, Weights], dict[str, float]]:
    """The weights of each group of languages, and its figures of held-out documents."""
    weights, figures = dict[str, Weights](), dict[str, float]()
    for group, there in ((TRAINED, marks.trained), (OTHERS, ~marks.trained)):
        own = marks.select(there)
        weights[group] = _weights(own)
        if any(weights[group].values()):
            held = held_out(own)
            figures |= held.figures(group)
            if held.marked and held.means[1] < held.means[0]:
                weights[group] = {True: SILENT, False: SILENT}
    return weights, figures


def held_out(marks: Marks) -> HeldOutFigures:
    """The figures of held-out documents: the weights for a document are fitted on the others."""
    logits = marks.own.astype(np.float64)
    for document in sorted(set(marks.documents.tolist())):
        here = marks.documents == document
        logits[here] = _join(_weights(marks.select(~here)), marks.select(here))
    found = HeldOutFigures({}, {}, {})
    for name in sorted(set(marks.sets.tolist())):
        own = marks.sets == name
        marked, even = marks.right[own] < 1, np.ones(int(own.sum()))
        without, with_source = (average_precision(marked, -each[own], even) for each in (marks.own, logits))
        if without is not None and with_source is not None:
            found.without[name], found.with_source[name] = without, with_source
            found.marked[name] = int(marked.sum())
    return found


def _weights(marks: Marks) -> Weights:
    parts = {there: marks.select(marks.context == there) for there in (True, False)}
    return {there: _mixing(own.own, own.read, own.right) for there, own in parts.items()}


def _join(weights: Weights, marks: Marks) -> np.ndarray:
    """The logits with the source; those of the checkpoint where there are no weights."""
    logits = marks.own.astype(np.float64)
    for there, mixing in weights.items():
        if mixing is not None:
            here = marks.context == there
            logits[here] = mixing.model * marks.own[here] + mixing.reader * marks.read[here] + mixing.bias
    return logits


def labelled_gaps(
    texts: Sequence[JudgedText], outputs: Sequence[tuple[np.ndarray, np.ndarray]], language: Language
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all gaps with a label: whether a pronoun is missing, the logit, and the name of the set (gaps,)."""
    lacks, kept, names = list[bool](), list[float](), list[str]()
    for text, (places, values) in zip(texts, outputs, strict=True):
        for k, form in gap_labels(text, places.tolist(), language):
            lacks.append(bool(form))
            kept.append(float(values[k, 0]))
            names.append(_name(text))
    return np.array(lacks, dtype=float), np.array(kept), np.array(names, dtype=str)


def gap_labels(text: JudgedText, places: Sequence[int], language: Language) -> list[tuple[int, str]]:
    """The numbers of the gaps with a label, and the form that a person put there, "" for none.

    places: of each gap, the number of the word after it.
    """
    labels = missing_forms(text, language)
    return [(k, form) for k, place in enumerate(places) if (form := labels[place]) is not None]


def _name(text: JudgedText) -> str:
    return f"{text.testset}:{text.lp}"


def example(text: JudgedText, forms: frozenset[str]) -> tuple[Example, np.ndarray]:
    """A text with its source, and for each pronoun of these forms the share of raters who did not mark it."""
    kept = [each for each in text.pronouns if each.form in forms]
    right = np.array([1 - len(each.marked_by) / len(text.raters) for each in kept], dtype=float)
    spans = tuple((each.start, each.end) for each in kept)
    return Example(join(text.context), text.text, spans, source_of(text)), right


@torch.inference_mode()
def gaps_of(
    scorer: PronounScorer, collator: Collator, examples: Sequence[Example], *, dtype: torch.dtype, label: str | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each example the numbers of the words after its gaps (gaps,), and the gap head's (gaps, 1 + forms)."""
    device = next(scorer.parameters()).device
    fast = for_inference(scorer.eval(), dtype)
    found: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in examples]
    parts = list(cut_batches(collator.encode(examples), pieces=PIECES))
    for part in parts if label is None else progress(parts, label=label, total=len(parts), unit="batches"):
        outputs = fast(collator.pad(part).to(device)).gaps.cpu().numpy()
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


def calibration(logits: np.ndarray, missing: np.ndarray) -> Calibration | None:
    """The calibration of logits of gaps (gaps,) on whether a pronoun is missing; None with too few insertions."""
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
