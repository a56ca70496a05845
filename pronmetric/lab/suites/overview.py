"""Several metrics on several sets: accuracy by phenomenon with intervals, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronmetric.eval.estimates import Estimate
from pronmetric.lab.baselines.comet import Comet, Translation
from pronmetric.lab.baselines.reference_based import ReferenceBaseline, SegmentWords
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites.contrastive import Item, Judging, Suite, SuiteVerdicts, judge_file
from pronmetric.lab.suites.export import cut
from pronmetric.lab.suites.figures import Figures, Share
from pronmetric.report.text import percent, table
from pronmetric.text.entry import read_table

ALL = "all"
SUITE, SET, DOCUMENTS = "suite", "set", "documents"
_EXPECTED = "a TSV file of sets"
Metric = Callable[[Sequence[Item], str], list[float] | None]
"""The score of each candidate of a set's items, higher is better; None where the items lack what it needs."""


@dataclass(frozen=True, slots=True)
class SetFile:
    """A set of a suite, and its documents where it does not hold its context."""

    suite: Suite
    path: str
    documents: str | None = None

    @property
    def label(self) -> tuple[str, str]:
        """The suite's name and the file's."""
        return self.suite.ABOUT.name, Path(self.path).name


@dataclass(frozen=True, slots=True)
class Judgments:
    """The verdicts of each metric on the items of a set; None where the items lack what the metric needs.

    left_out: the number of other items, which the metric of pronouns does not judge.
    """

    of: SetFile
    items: int
    left_out: int
    by_metric: Mapping[str, SuiteVerdicts | None]


def read_sets(path: str | Path, suites: Mapping[str, Suite]) -> list[SetFile]:
    """The sets that a TSV file lists: suite, set and, where needed, documents; files are relative to its folder.

    Raises:
        InputError: with the line, where a column is missing or a suite is unknown.
    """
    folder = Path(path).parent
    sets = []
    for row in read_table(path, (SUITE, SET), expected=_EXPECTED):
        suite = suites[row.one_of(SUITE, tuple(suites))]
        if not row.string(SET):
            row.fail(f'"{SET}" is empty; expected the file of the set')
        documents = row.get(DOCUMENTS)
        sets.append(SetFile(suite, str(folder / row.string(SET)), str(folder / documents) if documents else None))
    return sets


def by_reference(baseline: ReferenceBaseline, items: Sequence[Item], file: str) -> list[float] | None:
    """BLEU or chrF of each candidate; None where an item has no reference beside its candidates."""
    if not all(item.reference for item in items):
        return None
    segments = [SegmentWords(item.reference, one.target, (), (), ()) for item in items for one in item.candidates]
    return [baseline.segment(baseline.count(segment)) or 0.0 for segment in segments]


def by_comet(comet: Comet, items: Sequence[Item], file: str) -> list[float] | None:
    """The scores of COMET; None where an item has no source, or no reference that the checkpoint needs."""
    rows = [Translation(one.source, one.target, item.reference) for item in items for one in item.candidates]
    if not all(row.source and (row.reference or not comet.needs_reference) for row in rows):
        return None
    return comet.score(rows)


def judge(one: SetFile, items: Sequence[Item], metric: Metric) -> SuiteVerdicts | None:
    """The verdicts by the metric on the items of a set; None where they lack what it needs."""
    values = metric(items, one.path)
    if values is None:
        return None
    return judge_file(one.suite, items, cut(values, items, one.path), Judging(), file=one.path)


def format_overview(judged: Sequence[Judgments]) -> str:
    """The table: a line for each phenomenon of each set, after one for all of them where there are several.

    A cell is the accuracy in percent with its 95 % interval over documents, "-" where a metric does not apply.
    """
    names = list(judged[0].by_metric)
    rows = [
        (*one.of.label, phenomenon, items, *(percent(_estimate(shares.get(name))) for name in names))
        for one in judged
        for phenomenon, items, shares in _lines(one)
    ]
    return table((SUITE, SET, "phenomenon", "items", *names), rows, left=range(3))


def _lines(one: Judgments) -> list[tuple[str, int, dict[str, Share]]]:
    """Each phenomenon, the number of its items, and the share of each metric that applies."""
    found = _figures(one)
    if not found:
        return [(ALL, one.items, {})]
    by = one.of.suite.ABOUT.by
    groups = list(dict.fromkeys(group for each in found.values() for group in each.by.get(by, {})))
    whole = {name: each.overall for name, each in found.items()}
    lines = [(group, {name: each.by[by][group] for name, each in found.items()}) for group in groups]
    counted = [
        (group, max(share.total for share in shares.values()), shares) for group, shares in [(ALL, whole), *lines]
    ]
    return counted[1:] if len(counted) == 2 and counted[0][1] == counted[1][1] else counted


def _figures(one: Judgments) -> dict[str, Figures]:
    return {
        name: suite_figures.figures(judged.verdicts) for name, judged in one.by_metric.items() if judged is not None
    }


def _estimate(share: Share | None) -> Estimate | None:
    return None if share is None else Estimate(share.accuracy, share.low, share.high)


def to_record(judged: Sequence[Judgments], settings: Mapping[str, Any]) -> dict[str, Any]:
    """All figures for JSON: for each set, those of each metric as `figures.to_json` gives them."""
    return {
        **settings,
        "sets": [
            {
                SUITE: one.of.suite.ABOUT.name,
                SET: one.of.path,
                "items": one.items,
                "left_out": one.left_out,
                "metrics": {
                    name: None if judged is None else _record(one.of, name, judged)
                    for name, judged in one.by_metric.items()
                },
            }
            for one in judged
        ],
    }


def _record(of: SetFile, metric: str, judged: SuiteVerdicts) -> dict[str, Any]:
    figures = suite_figures.figures(judged.verdicts)
    return suite_figures.to_json(of.suite.ABOUT.name, judged, figures, {"set": of.path, "judged": metric})
