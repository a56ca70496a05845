"""How a metric agrees with what people marked and corrected in translations (the people splits of a prepared folder).

A pronoun's suspicion is 1 - p. Figures, over all texts, by set (name and language pair), by form and by what became of
the pronoun: the metric as a further rater beside the raters among each other; areas under the ROC curve of the pronouns
that one or more, and two or more, raters marked; average precision; precision of the most doubted pronouns; and how
often the mended text of a pair is preferred. Baselines: how often the form is marked in training, and the text with
fewer and with more pronouns. Intervals resample documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.eval import detection, rater
from pronmetric.eval.decision import DECISIONS
from pronmetric.eval.estimates import Estimate, bootstrap, cluster_mean
from pronmetric.eval.rater import Agreement
from pronmetric.report.text import percent, table
from pronmetric.schema import JudgedText
from pronmetric.scoring.score import SegmentScore
from pronmetric.text.context import NONE, Source, Text, join

Array = NDArray[np.float64]
PARTS = (0.01, 0.02, 0.05)
DRAWS = 500
ALL = "all"
WRONG, SURPLUS, MARKED = "replaced", "deleted", "marked"
COUNTS = {"more": 1, "as many": 0, "fewer": -1}  # pronouns of the mended text, and the sign of the difference
FORM = "frequency of the form's marks in training"
_PRIOR = 5.0  # pronouns of the mean rate that are added to the counts of each form


@dataclass(frozen=True, slots=True)
class Items:
    """Judged pronouns, one number each. doubt: the metric's suspicion, NaN where it found no such pronoun."""

    forms: tuple[str, ...]
    kinds: tuple[str, ...]
    sets: tuple[str, ...]
    documents: tuple[str, ...]
    raters: Array
    marks: Array
    doubt: Array

    def select(self, chosen: NDArray[np.bool_]) -> Items:
        """The items where `chosen`."""
        forms, kinds, sets, documents = (
            tuple(np.array(each, dtype=object)[chosen]) for each in (self.forms, self.kinds, self.sets, self.documents)
        )
        return Items(forms, kinds, sets, documents, self.raters[chosen], self.marks[chosen], self.doubt[chosen])


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of some pronouns; estimates are in [0, 1], higher is better.

    two_area: of pronouns that two raters or more marked against those that none did. precision: of the most doubted
    pronouns, by their share. rater: the metric against a rater, at the rater's rate; share: its interval. raters: among
    each other, None where nobody judged a pronoun twice.
    """

    pronouns: int
    marked: int
    documents: int
    area: Estimate | None
    two_area: Estimate | None
    average_precision: Estimate | None
    precision: dict[float, float | None]
    rater: Agreement | None
    share: Estimate | None
    raters: Agreement | None


@dataclass(frozen=True, slots=True)
class PairFigures:
    """Pairs of a mended text and the text: right by each number that can decide, and by counting pronouns.

    accuracy: of all pairs, nulls and equal numbers are wrong. by_count: the same by whether the mended text has more,
    as many or fewer pronouns. fewer, more: right by the text with fewer or more pronouns.
    """

    pairs: int
    accuracy: dict[str, Estimate]
    by_count: dict[str, dict[str, tuple[int, float]]]
    fewer: float
    more: float


def read(folder: str | Path, split: str) -> list[JudgedText]:
    """The judged texts of a split.

    Raises:
        InputError: the folder has no such split, or no text in it.
    """
    texts = [arrow.to_judged(row) for row in arrow.read_people(folder, split)]
    if not texts:
        raise InputError(f"{split} has no text: prepare with data.people", file=Path(folder))
    return texts


def to_score(texts: Sequence[JudgedText], context: str) -> list[Text]:
    """What is scored: each text, then the mended one where there is one; in its own context or none."""
    scored = []
    for one in texts:
        before = "" if context == NONE else join(one.context)
        source = Source(one.source, () if context == NONE else one.source_context) if one.source else None
        scored.append(Text(before, one.text, source))
        if one.mended:
            scored.append(Text(before, one.mended, source))
    return scored


def items(
    texts: Sequence[JudgedText], scores: Iterable[SegmentScore]
) -> tuple[Items, list[tuple[JudgedText, SegmentScore, SegmentScore]]]:
    """The judged pronouns, and the pairs (text, score of the mended one, of the text), from scores of `to_score`."""
    stream = iter(scores)
    rows: list[tuple[str, str, str, str, int, int, float]] = []
    pairs = []
    for one in texts:
        segment = next(stream)
        if one.mended:
            pairs.append((one, next(stream), segment))
        places = {pronoun.start: pronoun.probability for pronoun in segment.pronouns}
        for each in one.pronouns:
            probability = places.get(each.start)
            kind = MARKED if each.correction is None else WRONG if each.correction else SURPLUS
            name = f"{one.testset}:{one.lp}"
            doubt = np.nan if probability is None else 1 - probability
            rows.append((each.form, kind, name, f"{name}/{one.doc}", len(one.raters), len(each.marked_by), doubt))
    forms, kinds, sets, documents, raters, marks, doubts = zip(*rows, strict=True)
    return Items(
        forms, kinds, sets, documents, *(np.array(each, dtype=float) for each in (raters, marks, doubts))
    ), pairs


def form_rates(texts: Iterable[JudgedText]) -> dict[str, float]:
    """How often each form is marked, smoothed towards the mean; "" is that of an unseen form."""
    seen: defaultdict[str, list[float]] = defaultdict(list)
    for one in texts:
        for each in one.pronouns:
            seen[each.form].append(len(each.marked_by) / len(one.raters))
    total = sum(map(len, seen.values()))
    mean = sum(map(sum, seen.values())) / total if total else 0.0
    rates = {form: (sum(marks) + _PRIOR * mean) / (len(marks) + _PRIOR) for form, marks in seen.items()}
    return {"": mean, **rates}


def by_form(items: Items, rates: Mapping[str, float]) -> Items:
    """The items with the rate of their form as the doubt: a baseline."""
    doubt = np.array([rates.get(form, rates[""]) for form in items.forms])
    return Items(items.forms, items.kinds, items.sets, items.documents, items.raters, items.marks, doubt)


def figures(items: Items, *, seed: int, draws: int = DRAWS) -> Figures:
    """The figures of some pronouns; those that the metric did not find are the least doubtful."""
    doubt = np.where(np.isnan(items.doubt), -1.0, items.doubt)
    one, two = items.marks >= 1, items.marks >= 2
    clear = ~one | two

    def estimate(of: Callable[[Array], float | None]) -> Estimate | None:
        return bootstrap(of, items.documents, draws=draws, seed=seed)

    def share(weights: Array) -> float | None:
        return rater.as_rater(doubt, items.raters, items.marks, weights).share

    several = bool((items.raters >= 2).any())
    return Figures(
        pronouns=len(doubt),
        marked=int(one.sum()),
        documents=len(set(items.documents)),
        area=estimate(lambda w: detection.roc_auc(one, doubt, w)),
        two_area=estimate(lambda w: detection.roc_auc(two[clear], doubt[clear], w[clear])) if several else None,
        average_precision=estimate(partial(detection.average_precision, one, doubt)),
        precision={part: rater.precision_at(doubt, items.raters, items.marks, part) for part in PARTS},
        rater=rater.as_rater(doubt, items.raters, items.marks) if one.any() else None,
        share=estimate(share) if one.any() else None,
        raters=rater.among_raters(items.raters, items.marks),
    )


def parts(items: Items) -> dict[str, Items]:
    """All pronouns, then those of each set; of post-edits also without the pronouns of other kinds of edits."""
    found = {ALL: items}
    for name in sorted(set(items.sets)):
        own = items.select(np.array([each == name for each in items.sets]))
        found[name] = own
        for kind in (WRONG, SURPLUS):
            kept = np.array([each == kind for each in own.kinds]) & (own.marks > 0)
            if kept.any():
                found[f"{name}, {kind}"] = own.select(kept | (own.marks == 0))
    return found


def forms(items: Items, *, least: int = 5) -> dict[str, Items]:
    """The pronouns of each form that is marked at least so often, the most frequently marked first."""
    counts: defaultdict[str, int] = defaultdict(int)
    for form, marks in zip(items.forms, items.marks, strict=True):
        counts[form] += bool(marks)
    chosen = sorted((form for form, count in counts.items() if count >= least), key=lambda form: (-counts[form], form))
    return {form: items.select(np.array([each == form for each in items.forms])) for form in chosen}


def pair_figures(pairs: Sequence[tuple[JudgedText, SegmentScore, SegmentScore]]) -> PairFigures:
    """How often the mended text is preferred; intervals by Student's t over documents."""
    more = np.array([np.sign(len(mended.pronouns) - len(text.pronouns)) for _, mended, text in pairs])
    documents = [f"{one.testset}:{one.lp}/{one.doc}" for one, _, _ in pairs]
    accuracy, by_count = {}, {}
    for by in DECISIONS:
        values = [(mended.value(by), text.value(by)) for _, mended, text in pairs]
        if all(a is None and b is None for a, b in values):
            continue
        right = np.array([a is not None and b is not None and a > b for a, b in values], dtype=float)
        accuracy[by] = cluster_mean(right, documents)
        by_count[by] = {
            name: (int((more == sign).sum()), float(right[more == sign].mean()))
            for name, sign in COUNTS.items()
            if (more == sign).any()
        }
    return PairFigures(len(pairs), accuracy, by_count, float((more < 0).mean()), float((more > 0).mean()))


def format_items(rows: Mapping[str, Figures]) -> str:
    """A table of figures in percent, a row each."""
    header = ["", "pronouns", "marked", "documents", "area", "by two", "AP", *(f"P at {part:.0%}" for part in PARTS)]
    header += ["as a rater", "raters", "F1", "AC1", "raters' AC1"]
    return table(header, [_row(name, one) for name, one in rows.items()])


def _row(name: str, one: Figures) -> list[object]:
    numbers = [one.area, one.two_area, one.average_precision]
    own, others = one.rater, one.raters
    return [
        name,
        one.pronouns,
        one.marked,
        one.documents,
        *map(percent, numbers),
        *(_percent(one.precision[part]) for part in PARTS),
        percent(one.share),
        _percent(others.share if others else None),
        _percent(own.f1 if own else None),
        _percent(own.ac1 if own else None),
        _percent(others.ac1 if others else None),
    ]


def format_pairs(found: PairFigures) -> str:
    """A table of the pairs in percent: by each number that decides, and by the count of pronouns."""
    rows: list[list[object]] = []
    for by, estimate in found.accuracy.items():
        cells = [found.by_count[by].get(name) for name in COUNTS]
        rows.append(
            [by, percent(estimate), *("-" if cell is None else f"{100 * cell[1]:.1f} of {cell[0]}" for cell in cells)]
        )
    rows.append(["fewer pronouns", _percent(found.fewer), *("-",) * 3])
    rows.append(["more pronouns", _percent(found.more), *("-",) * 3])
    return table(["mended against not", f"all {found.pairs}", *(f"mended has {name}" for name in COUNTS)], rows)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
