"""The accuracy of metrics on pairs of texts, as tables of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pronmetric.eval.accuracy import Accuracy
from pronmetric.lab.baselines.tables import OURS
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.pair_accuracy import DOC, PAIR, Figures, MetricComparison
from pronmetric.lab.human.pair_evaluation import Results, Settings
from pronmetric.lab.human.simple_baselines import BaselineComparison
from pronmetric.report.text import percent, table

UNITS = {DOC: "documents", PAIR: "pairs"}
LANGUAGE_MODEL = (
    "language models, zero-shot: the log-probability of the text after its context, or the answer when asked"
)
_PRONOUN_PAIRS, _ERRORS = 20, 15


def format_results(
    title: str,
    pairs: Sequence[JudgedPair],
    results: Results,
    settings: Settings,
    *,
    scored_by: str | None,
    against: str | None,
) -> str:
    """All tables of one part; scored_by, against: the files of scores."""
    sections = [format_figures(title, results.figures)]
    if results.against is not None:
        sections.append(format_comparison(results.against, scored_by or "model", against or ""))
    if settings.baselines is not None:
        left_out = settings.baselines.count_left_out(pairs)
        sections.append(format_reference_based(results.baselines, metric=scored_by or OURS, left_out=left_out))
    if results.language_model:
        compared = _difference_table(results.language_model, metric=scored_by or OURS)
        sections.append(f"{LANGUAGE_MODEL}\n{compared}")
    if results.simple:
        sections.append(format_baselines(results.simple))
    return "\n\n".join(sections)


def format_figures(title: str, figures: Figures) -> str:
    """The figures of one part: answers, accuracies, the most frequent errors, ties."""
    lines = [title, _format_labels(figures), _format_accuracies(figures)]
    if (number := len(figures.by_pronouns)) > _PRONOUN_PAIRS:
        lines.append(f"... the {_PRONOUN_PAIRS} most frequent of {number} pronoun pairs; --to_json writes all of them")
    errors = [[f"{c.reference} -> {c.system}", c.wrong, c.pairs] for c in figures.confusions[:_ERRORS] if c.wrong]
    if errors:
        lines += ["", table(["most errors", "wrong", "of"], errors)]
    return "\n".join([*lines, *_format_ties(figures)])


def _format_labels(figures: Figures) -> str:
    labels, (resampled, units) = figures.labels, figures.clusters
    judges = ", ".join(f"{judge}: {count}" for judge, count in labels.judges.items())
    line = (
        f"gold answers: {labels.better} given{judges and f' ({judges})'}, {labels.votes} by majority vote; "
        f"excluded: {labels.ties} ties, {labels.open} without an answer; intervals over {units} {UNITS[resampled]}"
    )
    if labels.against_votes:
        line += f"\nin {labels.against_votes} pairs the given answer differs from the raters' majority vote"
    return line


def _format_accuracies(figures: Figures) -> str:
    by_frequency = sorted(figures.by_pronouns.items(), key=lambda named: (-named[1].pairs, named[0]))
    rows = [
        _row("all", figures.accuracy),
        *(_row(*named) for named in figures.by_group.items()),
        *(_row(*named) for named in (figures.by_seen or {}).items()),
        *(_row(*named) for named in figures.by_count.items() if len(figures.by_count) > 1),
        *(_row(*named) for named in figures.by_kind.items()),
        *(_row(*named) for named in by_frequency[:_PRONOUN_PAIRS]),
    ]
    return table(["", "pairs", "accuracy", "equal", "null"], rows)


def _row(name: str, found: Accuracy) -> list[object]:
    return [name, found.pairs, percent(found), found.equal, found.null]


def _format_ties(figures: Figures) -> list[str]:
    lines = []
    if figures.people_ties is not None:
        rate = f"{100 * figures.people_ties:.1f} %"
        matching = figures.matching_threshold
        same = "" if matching is None else f"; a tie threshold of {matching:.4g} gives the metric the nearest tie rate"
        lines += ["", f"gold tie rate: {rate}{same}"]
    if figures.ties is not None:
        ties = figures.ties
        head = [f"tie threshold {ties.threshold:g}", *ties.table["A"]]
        lines += [
            "",
            f"same answer (A, B or tie) in {percent(ties.accuracy)} % of {ties.pairs} pairs; "
            f"tie rate: gold {100 * ties.people_ties:.1f} %, metric {100 * ties.metric_ties:.1f} %",
            table(head, [[f"gold {answer}", *row.values()] for answer, row in ties.table.items()]),
        ]
    return lines


def format_comparison(comparison: MetricComparison, first: str, second: str) -> str:
    """Two metrics on the same pairs, and the tests of their difference."""
    tests = {
        "approximate randomisation": comparison.p_randomisation,
        "t test": comparison.p_t,
    }
    p_values = [f"{test} p = {p:.4f}" for test, p in tests.items() if p is not None]
    rows = [
        [first, percent(comparison.first), comparison.only_first],
        [second, percent(comparison.second), comparison.only_second],
    ]
    difference = percent(comparison.difference, signed=True)
    return (
        f"{table(['', 'accuracy', 'correct in this one only'], rows)}\n"
        f"difference {difference}; {'; '.join(p_values) or 'no test: too few clusters'}"
    )


def format_baselines(comparisons: Mapping[str, BaselineComparison]) -> str:
    """Each simple baseline and the metric, on the pairs that the baseline decides."""
    rows = [
        [
            name,
            found.pairs,
            found.decided,
            percent(found.baseline),
            percent(found.metric),
            percent(found.difference, signed=True),
        ]
        for name, found in comparisons.items()
    ]
    header = ["simple baseline", "pairs", "decided", "its accuracy", "metric's accuracy", "metric - baseline"]
    return table(header, rows)


def format_reference_based(
    comparisons: Mapping[str, MetricComparison], *, metric: str, left_out: Mapping[str, int]
) -> str:
    """The accuracy of each baseline on the same pairs, and the difference between the metric and it."""
    reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items() if count)
    title = "pairs with an independent reference" + (f"; left out: {reasons}" if reasons else "")
    return f"{title}\n{_difference_table(comparisons, metric=metric)}" if comparisons else f"{title}; no pairs are left"


def _difference_table(comparisons: Mapping[str, MetricComparison], *, metric: str) -> str:
    """The accuracy of the metric and of each other score on the same pairs, and the differences."""
    own = next(iter(comparisons.values())).first
    rows: list[list[object]] = [[metric, *_cells(own), "-"]]
    rows += [[name, *_cells(c.second), percent(c.difference, signed=True)] for name, c in comparisons.items()]
    return table(["", "pairs", "accuracy", "equal", "null", "metric - baseline"], rows)


def _cells(found: Accuracy) -> list[object]:
    return [found.pairs, percent(found), found.equal, found.null]
