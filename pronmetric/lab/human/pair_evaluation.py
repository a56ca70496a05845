"""A metric on one part of a set of judged pairs, compared with others and with baselines; as tables and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pronmetric.eval.accuracy import Accuracy
from pronmetric.lab.baselines.corpus_scores import OURS
from pronmetric.lab.baselines.endpoint import Passes
from pronmetric.lab.human import pair_accuracy
from pronmetric.lab.human import pair_baselines as simple
from pronmetric.lab.human.judged_pairs import JudgedPair, PairScores
from pronmetric.lab.human.pair_accuracy import DOC, PAIR, Figures, MetricComparison, human_answer
from pronmetric.lab.human.pair_baselines import BaselineComparison, PairBaselines
from pronmetric.lab.human.pair_sets import PairSet
from pronmetric.output import targets
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.report.text import percent, table
from pronmetric.results.write import counts_entry
from pronmetric.scoring.score import Counts
from pronmetric.text import strict_json
from pronmetric.text.strict_json import plain

UNITS = {DOC: "documents", PAIR: "pairs"}
LANGUAGE_MODEL = (
    "language models, zero-shot: the log-probability of the text after its context, or the answer when asked"
)
_PRONOUN_PAIRS, _ERRORS = 20, 15  # rows that are printed, the most frequent first
PronounPairs = frozenset[tuple[str, str]]
"""(correct form, wrong form)."""
ONLY = "pairs"
"""The name of the single part of a file."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How scores are evaluated.

    seed: of tests. tie_threshold: scores that differ by no more are a tie; None leaves ties out. seen: the pronoun
    pairs of the training data; None where they are not known. against: another metric's scores. baselines:
    reference-based ones. language_model: the scores of language models, by how they are taken. endpoint: the passes
    of a chat model among these, if there is one. language: of the texts.
    """

    seed: int
    tie_threshold: float | None = None
    seen: PronounPairs | None = None
    against: PairScores | None = None
    baselines: PairBaselines | None = None
    language_model: Mapping[str, PairScores] = field(default_factory=dict)
    endpoint: Passes | None = None
    language: Language = ENGLISH


@dataclass(frozen=True, slots=True)
class Results:
    """The results of one part. against: None without another metric; baselines, language_model, simple: by name."""

    figures: Figures
    against: MetricComparison | None
    baselines: dict[str, MetricComparison]
    language_model: dict[str, MetricComparison]
    simple: dict[str, BaselineComparison]


def evaluate(pairs: Sequence[JudgedPair], scores: PairScores, settings: Settings) -> Results:
    """Evaluate a metric's scores of these pairs.

    Raises:
        PronmetricError: no pair has an answer A or B.
    """
    own, seed, language = [scores[pair.id] for pair in pairs], settings.seed, settings.language
    other = None if settings.against is None else [settings.against[pair.id] for pair in pairs]
    return Results(
        pair_accuracy.evaluate(pairs, own, seen=settings.seen, tie_threshold=settings.tie_threshold, language=language),
        None if other is None else pair_accuracy.compare_metrics(pairs, own, other, seed=seed),
        {} if settings.baselines is None else settings.baselines.compare(pairs, scores, seed=seed),
        {
            name: pair_accuracy.compare_metrics(pairs, own, [its[pair.id] for pair in pairs], seed=seed)
            for name, its in settings.language_model.items()
        },
        simple.compare_with_baselines(pairs, own, language=language),
    )


def read_seen(path: str) -> PronounPairs:
    """The pronoun pairs of a confusion.json of `pronmetric prepare`."""
    return _with_counts(ConfusionTable.load(path).to_dict())


def seen_by(config: Mapping[str, object]) -> PronounPairs | None:
    """The pronoun pairs in a checkpoint's config (training: confusion: form -> wrong form -> count), if it has any."""
    training = config.get("training")
    table = training.get("confusion") if isinstance(training, Mapping) else None
    return _with_counts(table) if isinstance(table, Mapping) else None


def training_testsets(config: Mapping[str, Any]) -> Sequence[str]:
    """The WMT test sets that a checkpoint was trained on, as far as its config names them."""
    try:
        return tuple(config["training"]["data"]["splits"]["train"]["testsets"])
    except (KeyError, TypeError):
        return ()


def _with_counts(table: Mapping[str, Mapping[str, float]]) -> PronounPairs:
    return frozenset((form, wrong) for form, row in table.items() for wrong, count in row.items() if count > 0)


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
        lines.append(f"... the {_PRONOUN_PAIRS} most frequent of {number} pronoun pairs; the JSON has all of them")
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


def _row(name: str, accuracy: Accuracy) -> list[object]:
    return [name, accuracy.pairs, percent(accuracy), accuracy.equal, accuracy.null]


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
            comparison.pairs,
            comparison.decided,
            percent(comparison.baseline),
            percent(comparison.metric),
            percent(comparison.difference, signed=True),
        ]
        for name, comparison in comparisons.items()
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


def _cells(accuracy: Accuracy) -> list[object]:
    return [accuracy.pairs, percent(accuracy), accuracy.equal, accuracy.null]


class Scores(NamedTuple):
    """The scores of all pairs: of a file, or of a model with context, signature and counts of cut texts."""

    by_id: PairScores
    scored_by: str | None
    context: str | None = None
    signature: str | None = None
    counts: Counts | None = None


def write_json(
    path: str,
    pairs: PairSet,
    scores: Scores,
    results: Mapping[str, Results],
    settings: Settings,
    *,
    against: str | None,
) -> None:
    """Write every figure, and the scores of each pair; `against` is the file of the other metric's scores."""

    def by_part(part: Callable[[Results], Any]) -> dict[str, Any]:
        return {name or ONLY: part(one) for name, one in results.items()}

    baselines = settings.baselines
    content = {
        "input": pairs.name,
        "scores": scores.scored_by,
        "signature": scores.signature,
        "context": scores.context,
        "tie": settings.tie_threshold,
        "counts": None if scores.counts is None else counts_entry(scores.counts),
        "parts": by_part(lambda one: plain(one.figures)),
        "against": None if against is None else {"scores": against, "parts": by_part(lambda one: plain(one.against))},
        "also": None
        if baselines is None
        else {**baselines.describe(), "parts": by_part(lambda one: plain(one.baselines))},
        "language_model": by_part(lambda one: plain(one.language_model)) if settings.language_model else None,
        "endpoint": plain(settings.endpoint),
        "baselines": by_part(lambda one: plain(one.simple)),
        "pairs": list(_scored_pairs(pairs, scores, settings)),
    }
    with targets.AtomicFile(path) as file:
        file.write(strict_json.dump(content, indent=1) + "\n")


def _scored_pairs(pairs: PairSet, scores: Scores, settings: Settings) -> Iterator[dict[str, Any]]:
    """Each pair: its answer, the metric's scores, and the scores of both texts by baselines and language model."""
    for name, part in pairs.parts.items():
        for pair in part:
            a, b = scores.by_id[pair.id]
            also: dict[str, Any] = {}
            if settings.baselines is not None:
                also["also"] = settings.baselines.scores_of(pair.id)
            if settings.language_model:
                also["language_model"] = {how: its[pair.id] for how, its in settings.language_model.items()}
            yield {
                "id": pair.id,
                "part": name or ONLY,
                "better": human_answer(pair),
                "score_a": a,
                "score_b": b,
                **also,
            }
