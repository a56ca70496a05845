"""What people marked and corrected in translations (the people splits of a prepared folder), beside a metric's doubts.

A pronoun's doubt is 1 - p, higher is more suspicious. Baselines doubt the same pronouns: by how often the form is
marked elsewhere, and by how far the text is from a human translation. Figures: `people_figures`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pronmetric.data import arrow
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.human.mqm import is_reference
from pronmetric.schema import JudgedText
from pronmetric.scoring.score import SegmentScore
from pronmetric.text.context import Text

Array = NDArray[np.float64]
T = TypeVar("T")
ALL = "all"
WRONG, SURPLUS, MARKED = "replaced", "deleted", "marked"
_PRIOR = 5.0  # pronouns of the mean rate that are added to the counts of each form


@dataclass(frozen=True, slots=True)
class Items:
    """Judged pronouns, one entry each. doubt: the suspicion, NaN where there is none.

    kinds: what became of them, "replaced", "deleted" or "marked". raters, marks: how many saw and marked them.
    names, marked_by: of these raters.
    """

    forms: tuple[str, ...]
    kinds: tuple[str, ...]
    sets: tuple[str, ...]
    documents: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    marked_by: tuple[tuple[str, ...], ...]
    raters: Array
    marks: Array
    doubt: Array

    def select(self, chosen: ArrayLike) -> Items:
        """The items where `chosen`."""
        places = np.flatnonzero(np.asarray(chosen, dtype=bool))

        def of(column: tuple[T, ...]) -> tuple[T, ...]:
            return tuple(column[place] for place in places)

        return Items(
            of(self.forms),
            of(self.kinds),
            of(self.sets),
            of(self.documents),
            of(self.names),
            of(self.marked_by),
            self.raters[places],
            self.marks[places],
            self.doubt[places],
        )

    def doubted(self, doubt: ArrayLike) -> Items:
        """The same items with other doubts."""
        return replace(self, doubt=np.asarray(doubt, dtype=float))

    @property
    def suspicion(self) -> Array:
        """The doubts; items without one are the least suspicious."""
        known = ~np.isnan(self.doubt)
        return np.where(known, self.doubt, self.doubt[known].min(initial=0.0) - 1)


class ScoredPair(NamedTuple):
    """A text that people mended: the scores of the mended one and of the text."""

    text: JudgedText
    mended: SegmentScore
    given: SegmentScore


def read(folder: str | Path, split: str, *, needed: bool = True) -> list[JudgedText]:
    """The judged texts of a split.

    Raises:
        InputError: the folder has no such split, or, if `needed`, no text in it.
    """
    texts = [arrow.to_judged(row) for row in arrow.read_people(folder, split)]
    if needed and not texts:
        raise InputError(f"{split} has no text: prepare with data.people", file=Path(folder))
    return texts


def sources(texts: Iterable[JudgedText]) -> dict[str, list[tuple[str, str]]]:
    """By set, the source of each text of its first system, and this text."""
    first: dict[str, str] = {}
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in texts:
        if first.setdefault(name := set_of(one), one.system) == one.system:
            found[name].append((one.source, one.text))
    return found


def mended(scored: Iterable[Text], texts: Sequence[JudgedText]) -> list[Text]:
    """The mended text and the text of each pair, one after the other, out of those of `judged.to_score`."""
    stream = iter(scored)
    found: list[Text] = []
    for one in texts:
        given = next(stream)
        if one.mended:
            found += [next(stream), given]
    return found


def items(texts: Sequence[JudgedText], scores: Iterable[SegmentScore]) -> tuple[Items, list[ScoredPair]]:
    """The judged pronouns and the mended pairs, from scores of the texts of `judged.to_score`.

    A pronoun that the metric does not find has no doubt.

    Raises:
        PronmetricError: no text has a judged pronoun.
    """
    stream = iter(scores)
    doubts: list[float] = []
    pairs = []
    for one in texts:
        segment = next(stream)
        if one.mended:
            pairs.append(ScoredPair(one, next(stream), segment))
        places = {pronoun.start: pronoun.probability for pronoun in segment.pronouns}
        found = (places.get(each.start) for each in one.pronouns)
        doubts += [np.nan if probability is None else 1 - probability for probability in found]
    return _judged(texts).doubted(doubts), pairs


def _judged(texts: Iterable[JudgedText]) -> Items:
    """The judged pronouns without doubts."""
    rows = [(one, each) for one in texts for each in one.pronouns]
    if not rows:
        raise PronmetricError("no text has a pronoun that people judged")
    return Items(
        forms=tuple(each.form for _, each in rows),
        kinds=tuple(MARKED if each.correction is None else WRONG if each.correction else SURPLUS for _, each in rows),
        sets=tuple(set_of(one) for one, _ in rows),
        documents=tuple(f"{set_of(one)}/{one.doc}" for one, _ in rows),
        names=tuple(one.raters for one, _ in rows),
        marked_by=tuple(each.marked_by for _, each in rows),
        raters=np.array([len(one.raters) for one, _ in rows], dtype=float),
        marks=np.array([len(each.marked_by) for _, each in rows], dtype=float),
        doubt=np.full(len(rows), np.nan),
    )


def set_of(text: JudgedText) -> str:
    """The set of a text, NAME:LP."""
    return f"{text.testset}:{text.lp}"


def source_language(name: str) -> str:
    """The code of the language of the sources of a set NAME:LP.

    >>> source_language("newstest2020:zh-en")
    'zh'
    """
    return name.rsplit(":", 1)[-1].split("-")[0]


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
    return items.doubted([rates.get(form, rates[""]) for form in items.forms])


def by_form_elsewhere(items: Items) -> Items:
    """The items with the rate of their form in the other documents as the doubt, smoothed as in `form_rates`."""
    names, form = np.unique(np.array(items.forms), return_inverse=True)
    documents, document = np.unique(np.array(items.documents), return_inverse=True)
    cells = form * len(documents) + document
    shape = len(names), len(documents)
    seen = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    marked = np.bincount(cells, items.marks / items.raters, shape[0] * shape[1]).reshape(shape)
    seen, marked = (each.sum(axis=1, keepdims=True) - each for each in (seen, marked))  # (forms, documents)
    mean = marked.sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    rates = (marked + _PRIOR * mean) / (seen + _PRIOR)
    return items.doubted(rates[form, document])


def by_translation(items: Items, texts: Sequence[JudgedText]) -> Items:
    """The items with 1 - chrF of their text to the human translations of its segment as the doubt: a baseline.

    chrF (Popović 2015) as sacreBLEU computes it, in [0, 1]. NaN where no other human translation was judged.

    Raises:
        ImportError: sacreBLEU is not installed.
    """
    from sacrebleu.metrics import CHRF

    metric = CHRF()
    references: defaultdict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    for one in texts:
        if one.source and is_reference(one.system.removeprefix("hyp.")):
            references[set_of(one), one.doc, one.source][one.system] = one.text
    doubts: list[float] = []
    for one in texts:
        known = references.get((set_of(one), one.doc, one.source), {})
        others = [text for system, text in known.items() if system != one.system]
        doubt = 1 - metric.sentence_score(one.text, others).score / 100 if others else np.nan
        doubts += [doubt] * len(one.pronouns)
    return items.doubted(doubts)


def parts(items: Items) -> dict[str, Items]:
    """All pronouns, then those of each set; of post-edits also without the pronouns of other kinds of edits."""
    by_name = {ALL: items}
    for name in sorted(set(items.sets)):
        of_set = items.select(np.array([each == name for each in items.sets]))
        by_name[name] = of_set
        for kind in (WRONG, SURPLUS):
            of_kind = np.array([each == kind for each in of_set.kinds]) & (of_set.marks > 0)
            if of_kind.any():
                by_name[f"{name}, {kind}"] = of_set.select(of_kind | (of_set.marks == 0))
    return by_name


def forms(items: Items, *, least: int = 5) -> dict[str, Items]:
    """The pronouns of each form that is marked at least so often, the most frequently marked first."""
    counts: defaultdict[str, int] = defaultdict(int)
    for form, marks in zip(items.forms, items.marks, strict=True):
        counts[form] += bool(marks)
    chosen = sorted((form for form, count in counts.items() if count >= least), key=lambda form: (-counts[form], form))
    return {form: items.select(np.array([each == form for each in items.forms])) for form in chosen}
