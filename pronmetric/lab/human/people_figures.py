"""How a metric agrees with what people marked and corrected in translations: figures, tables and curves.

Over all pronouns, by set (name and language pair), by what became of the pronoun, by whether the source has a
counterpart, and by form: the metric as a further rater beside the raters among each other; areas under the ROC curve of
the pronouns that one or more, and two or more, raters marked; average precision; precision of the most doubted
pronouns; how often the mended text of a pair is preferred; by set and language what the source adds; and of pronouns
that are missing the figures of `people_gaps` and the pairs whose text lacks one. Intervals resample documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from pronmetric.eval import detection, rater
from pronmetric.eval.decision import DECISIONS
from pronmetric.eval.estimates import Estimate, bootstrap, cluster_share
from pronmetric.eval.rater import Agreement
from pronmetric.lab.human import people, people_gaps, source_counterparts
from pronmetric.lab.human.people import Items, ScoredPair
from pronmetric.lab.human.people_gaps import GapFigures, TextGaps
from pronmetric.report.plots import Panel
from pronmetric.report.tables import Table
from pronmetric.report.text import percent, table
from pronmetric.schema import JudgedText

Array = NDArray[np.float64]
Values = Sequence[tuple[float | None, float | None]]
"""What a number that decides says of the mended text and of the text of each pair, higher is better."""
PARTS = (0.01, 0.02, 0.05)
"""Parts of the pronouns, the most doubtful first, of which the precision is told."""
DRAWS = 500
"""Resamples of a bootstrap; fewer than elsewhere, as areas are computed anew in each."""
COUNTS = {"more": 1, "as many": 0, "fewer": -1}  # pronouns of the mended text, and the sign of the difference
METRIC, WITHOUT = "pronmetric", "without the source"
MISSING = "missing pronouns"
PAIRS, LACKING = "mended against not", "mended against a text that lacks a pronoun"
TRANSLATED, CHRF = "segments with a human translation", "chrF to the human translation"


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of some pronouns; estimates are in [0, 1], higher is better.

    expected: errors that the metric expects in a pronoun, its mean doubt; the rater's rate over it is the marks of each
    expected error. two_area: of pronouns that two raters or more marked against those that none did. precision: of the
    most doubted pronouns, by their share. rater: the metric against a rater, at the rater's rate; share: its interval.
    raters: among each other, None where nobody judged a pronoun twice.
    """

    pronouns: int
    marked: int
    documents: int
    expected: float
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


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """Area and average precision of some pronouns by the metric without the source and with it, in [0, 1].

    marked: pronouns. area_gain, precision_gain: with the source minus without it. None where they are undefined.
    """

    pronouns: int
    marked: int
    documents: int
    area: tuple[float | None, float | None]
    area_gain: Estimate | None
    precision: tuple[float | None, float | None]
    precision_gain: Estimate | None


@dataclass(frozen=True, slots=True)
class PeopleScores:
    """What is measured: doubts of the judged pronouns, and numbers that decide between the texts of the mended pairs.

    items, pairs: by the metric. without: the same without the source, None where that was not computed. baselines:
    other doubts by name. decisions: other numbers of the pairs by name. gaps, gap_baselines: the same of the gaps of
    corrected texts.
    """

    texts: Sequence[JudgedText]
    items: Items
    pairs: Sequence[ScoredPair]
    without: tuple[Items, Sequence[ScoredPair]] | None = None
    baselines: Mapping[str, Items] = field(default_factory=dict)
    decisions: Mapping[str, Values] = field(default_factory=dict)
    gaps: Sequence[TextGaps] = ()
    gap_baselines: Mapping[str, Sequence[TextGaps]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PeopleFigures:
    """All figures. pronouns: by name of the row. forms: by form, without intervals. pairs: None without any.

    source: what the source adds, by set and by language; empty if scores without it were not computed. missing: of
    gaps, by name of the row; empty for the reason in no_missing. missing_pairs: those whose text lacks a pronoun.
    """

    pronouns: dict[str, Figures]
    forms: dict[str, Figures]
    pairs: PairFigures | None
    source: dict[str, SourceFigures] = field(default_factory=dict)
    missing: dict[str, GapFigures] = field(default_factory=dict)
    no_missing: str | None = None
    missing_pairs: PairFigures | None = None


def measure(said: PeopleScores, *, seed: int) -> PeopleFigures:
    """The figures of a metric and of the baselines."""
    rows = people.parts(said.items)
    if said.without is not None:
        rows |= {f"{name}, {WITHOUT}": part for name, part in people.parts(said.without[0]).items()}
    sourced = np.array(source_counterparts.of(said.texts), dtype=object)
    rows |= {name: said.items.select(sourced == name) for name in source_counterparts.NAMES if (sourced == name).any()}
    rows |= said.baselines
    if find_spec("sacrebleu") is not None:
        translated = people.by_translation(said.items, said.texts)
        if (known := ~np.isnan(translated.doubt)).any():
            rows |= {TRANSLATED: said.items.select(known), f"{TRANSLATED}: {CHRF}": translated.select(known)}
    decisions = dict(said.decisions)
    if said.without is not None:
        decisions = {f"{by}, {WITHOUT}": values for by, values in decide(said.without[1]).items()} | decisions
    no_missing = people_gaps.reason(said.gaps)
    return PeopleFigures(
        pronouns={name: figures(part, seed=seed) for name, part in rows.items()},
        forms={name: figures(part, seed=seed, draws=0) for name, part in people.forms(said.items).items()},
        pairs=pair_figures(said.pairs, decisions) if said.pairs else None,
        source={} if said.without is None else source_figures(said.without[0], said.items, seed=seed),
        missing={} if no_missing else people_gaps.measure(said.gaps, said.gap_baselines, seed=seed, draws=DRAWS),
        no_missing=no_missing,
        missing_pairs=_missing_pairs(said.pairs, decisions),
    )


def _missing_pairs(pairs: Sequence[ScoredPair], decisions: Mapping[str, Values]) -> PairFigures | None:
    """The pairs whose text lacks a pronoun, also by the expected number of missing pronouns; None without any."""
    lacking = [number for number, pair in enumerate(pairs) if pair.text.gaps]
    if not lacking:
        return None
    own = [pairs[number] for number in lacking]
    further = {by: [values[number] for number in lacking] for by, values in decisions.items()}
    expected = [(_negative(pair.mended.missing), _negative(pair.given.missing)) for pair in own]
    told = {MISSING: expected} if any(value is not None for both in expected for value in both) else {}
    return pair_figures(own, {**told, **further})


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def source_figures(without: Items, with_source: Items, *, seed: int, draws: int = DRAWS) -> dict[str, SourceFigures]:
    """What the source adds, over all pronouns, by set and, where a language has several sets, by language.

    without, with_source: the same pronouns with the doubts of a metric.
    """
    sets = np.array(with_source.sets, dtype=object)
    languages = np.array([people.source_language(name) for name in with_source.sets], dtype=object)
    parts = {people.ALL: np.ones(len(sets), dtype=bool)} | {name: sets == name for name in sorted(set(sets))}
    for code in sorted(set(languages)):
        if len(set(sets[languages == code])) > 1:
            parts[f"sources in {code}"] = languages == code
    return {
        name: _gain(without.select(part), with_source.select(part), seed=seed, draws=draws)
        for name, part in parts.items()
    }


def _gain(without: Items, with_source: Items, *, seed: int, draws: int) -> SourceFigures:
    one, even = with_source.marks >= 1, np.ones(len(with_source.marks))
    doubts = without.suspicion, with_source.suspicion
    pairs, gains = [], []
    for figure in (detection.roc_auc, detection.average_precision):
        values = [figure(one, doubt, even) for doubt in doubts]
        pairs.append((values[0], values[1]))
        difference = partial(_difference, figure, one, *doubts)
        gains.append(bootstrap(difference, with_source.documents, draws=draws, seed=seed))
    return SourceFigures(
        len(one), int(one.sum()), len(set(with_source.documents)), pairs[0], gains[0], pairs[1], gains[1]
    )


def _difference(
    figure: Callable[[NDArray[np.bool_], Array, Array], float | None],
    marked: NDArray[np.bool_],
    without: Array,
    with_source: Array,
    weights: Array,
) -> float | None:
    """The figure with the source minus the one without; None where it is undefined."""
    before, after = figure(marked, without, weights), figure(marked, with_source, weights)
    return None if before is None or after is None else after - before


def figures(items: Items, *, seed: int, draws: int = DRAWS) -> Figures:
    """The figures of some pronouns; those that the metric did not find are the least doubtful."""
    doubt = items.suspicion
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
        expected=float(np.nansum(items.doubt)) / len(doubt),
        area=estimate(lambda w: detection.roc_auc(one, doubt, w)),
        two_area=estimate(lambda w: detection.roc_auc(two[clear], doubt[clear], w[clear])) if several else None,
        average_precision=estimate(partial(detection.average_precision, one, doubt)),
        precision={part: rater.precision_at(doubt, items.raters, items.marks, part) for part in PARTS},
        rater=rater.as_rater(doubt, items.raters, items.marks) if one.any() else None,
        share=estimate(share) if one.any() else None,
        raters=rater.among_raters(items.raters, items.marks),
    )


def decide(pairs: Sequence[ScoredPair]) -> dict[str, Values]:
    """What each number that the metric gives says of the pairs."""
    numbers = {by: [(pair.mended.value(by), pair.given.value(by)) for pair in pairs] for by in DECISIONS}
    return {by: values for by, values in numbers.items() if any(value is not None for both in values for value in both)}


def pair_figures(pairs: Sequence[ScoredPair], further: Mapping[str, Values]) -> PairFigures:
    """How often the mended text is preferred, by the metric and by `further` numbers; intervals over documents."""
    more = np.array([np.sign(len(pair.mended.pronouns) - len(pair.given.pronouns)) for pair in pairs])
    documents = [f"{people.set_of(pair.text)}/{pair.text.doc}" for pair in pairs]
    accuracy, by_count = {}, {}
    for by, values in {**decide(pairs), **further}.items():
        right = np.array([a is not None and b is not None and a > b for a, b in values], dtype=float)
        accuracy[by] = cluster_share(right, documents)
        by_count[by] = {
            name: (int((more == sign).sum()), float(right[more == sign].mean()))
            for name, sign in COUNTS.items()
            if (more == sign).any()
        }
    return PairFigures(len(pairs), accuracy, by_count, float((more < 0).mean()), float((more > 0).mean()))


def panels(said: PeopleScores) -> dict[str, Panel]:
    """Precision against recall of the metric and the baselines, and of each rater against the others; a panel a set.

    A set whose pronouns several raters judged is shown by these pronouns; without such a set, all pronouns are.
    """
    doubts = {METRIC: said.items}
    if said.without is not None:
        doubts[f"{METRIC}, {WITHOUT}"] = said.without[0]
    doubts |= said.baselines
    several = said.items.raters >= 2
    sets = np.array(said.items.sets, dtype=object)
    found = {}
    for name in sorted(set(sets[several])):
        chosen = several & (sets == name)
        if points := _raters_apart(said.items.select(chosen)):
            found[name] = Panel({line: _curve(its.select(chosen)) for line, its in doubts.items()}, points)
    return found or {people.ALL: Panel({line: _curve(its) for line, its in doubts.items()}, {})}


def _raters_apart(items: Items) -> dict[str, tuple[float, float]]:
    """Recall and precision of each rater against the others of the pronouns that this rater judged."""
    found = {}
    for name in sorted({each for names in items.names for each in names}):
        own = items.select([name in names for names in items.names])
        marked = [name in names for names in own.marked_by]
        if (both := rater.one_rater(marked, own.raters, own.marks)) is not None:
            found[name] = both[::-1]
    return found


def _curve(items: Items) -> tuple[Array, Array]:
    """Recall and precision of the doubts."""
    precision, recall = rater.curve(items.suspicion, items.raters, items.marks)
    return recall, precision


def format_measured(measured: PeopleFigures) -> str:
    """The tables of all figures, with an empty line between them."""
    tables = [format_items(measured.pronouns)]
    if measured.forms:
        tables.append(format_items(measured.forms))
    if measured.source:
        tables.append(format_source(measured.source))
    if measured.pairs is not None:
        tables.append(format_pairs(measured.pairs))
    if measured.missing:
        tables.append(table(*people_gaps.cells(measured.missing)))
    tables += notes(measured)
    if measured.missing_pairs is not None:
        tables.append(format_pairs(measured.missing_pairs, title=LACKING))
    return "\n\n".join(tables)


def notes(measured: PeopleFigures) -> list[str]:
    """What is not measured, and why."""
    return [] if measured.no_missing is None else [f"{MISSING}: no figures; {measured.no_missing}"]


def page_tables(measured: PeopleFigures, shown: Mapping[str, Panel]) -> list[Table]:
    """The same tables for a page, and the points of the curves: each rater against the others."""
    raters: list[list[object]] = [
        [f"{rater}, {name}", f"{100 * precision:.1f}", f"{100 * recall:.1f}"]
        for name, panel in shown.items()
        for rater, (recall, precision) in panel.points.items()
    ]
    parts: dict[str, tuple[list[str], list[list[object]]]] = {
        "Pronouns": _items(measured.pronouns),
        "Pronouns by form": _items(measured.forms),
        "What the source adds": _source(measured.source),
        "Mended texts against the texts": ([], []) if measured.pairs is None else _pairs(measured.pairs, PAIRS),
        "Missing pronouns": people_gaps.cells(measured.missing),
        "Mended texts against texts that lack a pronoun": (
            ([], []) if measured.missing_pairs is None else _pairs(measured.missing_pairs, LACKING)
        ),
        "Each rater against the others": (["rater", "precision", "recall"], raters),
    }
    return [
        Table(title, tuple(header), tuple(tuple(map(str, row)) for row in rows))
        for title, (header, rows) in parts.items()
        if rows
    ]


def format_items(rows: Mapping[str, Figures]) -> str:
    """A table of figures in percent, a row each."""
    return table(*_items(rows))


def _items(rows: Mapping[str, Figures]) -> tuple[list[str], list[list[object]]]:
    header = ["", "pronouns", "marked", "documents", "area", "by two", "AP", *(f"P at {part:.0%}" for part in PARTS)]
    header += ["as a rater", "raters", "F1", "AC1", "raters' AC1"]
    return header, [_row(name, one) for name, one in rows.items()]


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


def format_source(rows: Mapping[str, SourceFigures]) -> str:
    """A table of what the source adds, in percent and in points, a row each."""
    return table(*_source(rows))


def _source(rows: Mapping[str, SourceFigures]) -> tuple[list[str], list[list[object]]]:
    header = ["what the source adds", "pronouns", "marked", "documents"]
    for name in ("area", "AP"):
        header += [f"{name} without", f"{name} with", "difference"]
    cells = list[list[object]]()
    for name, one in rows.items():
        parts = [(one.area, one.area_gain), (one.precision, one.precision_gain)]
        shown = [each for pair, gain in parts for each in (*map(_percent, pair), percent(gain, signed=True))]
        cells.append([name, one.pronouns, one.marked, one.documents, *shown])
    return header, cells


def format_pairs(found: PairFigures, *, title: str = PAIRS) -> str:
    """A table of the pairs in percent: by each number that decides, and by the count of pronouns."""
    return table(*_pairs(found, title))


def _pairs(found: PairFigures, title: str) -> tuple[list[str], list[list[object]]]:
    rows: list[list[object]] = []
    for by, estimate in found.accuracy.items():
        cells = [found.by_count[by].get(name) for name in COUNTS]
        rows.append(
            [by, percent(estimate), *("-" if cell is None else f"{100 * cell[1]:.1f} of {cell[0]}" for cell in cells)]
        )
    rows.append(["fewer pronouns", _percent(found.fewer), *("-",) * 3])
    rows.append(["more pronouns", _percent(found.more), *("-",) * 3])
    return [title, f"all {found.pairs}", *(f"mended has {name}" for name in COUNTS)], rows


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
