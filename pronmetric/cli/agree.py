"""`pronmetric agree`: agreement between raters, and between a metric and each rater."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pronmetric.cli import output
from pronmetric.cli.parser import Command, Flags, UsageError, argument, flag, number, part, switch, whole
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.decision import decide
from pronmetric.eval.ratings import Formula, Variant, agreement
from pronmetric.eval.resampling import SEED
from pronmetric.lab.human import judged_pairs, rater_agreement, rating_table
from pronmetric.output import targets

DESCRIPTION = """Chance-corrected agreement: Gwet's AC1 with standard error and interval, Cohen's and Fleiss' kappa,
Krippendorff's alpha; and raw agreement.

PAIRS.jsonl has judged pairs, {"id", "text_a", "text_b", "votes": {rater: "A"|"B"|"tie"}, "better", "group", "doc"},
or the samples of the published study. The output gives the agreement between raters, with ties as a third category and
without ties; how often raters prefer the better text (text A if the pairs do not name one), on average, by group and by
rater; and with --scores the agreement of a metric with each rater. With --ratings, a table of items and raters is read
instead."""
EPILOG = """An empty field of a table is a missing rating. So are NA, N/A, NaN, None, null and - in any case, if two
other categories are used and --categories does not name them; a note counts them. --missing names other values, or
none.

The standard error of AC1 is that of a square table (variance divided by N) if there are two raters and both
rated every item, else that of single ratings (variance divided by N - 1). --se ratings always uses the latter.
Intervals by document are from 2000 resamples of whole documents ("doc").

--variant published computes chance agreement as in the files of Jwalapuram et al. 2019: from shares of a single item
(the last one), divided by the number of items. These figures are not exact AC1 values and depend on the order of the
items; they have no standard error. Use the variant only for comparison with those files.

In figures without ties, a tie is a missing answer. With more than two raters, Cohen's kappa is the mean over pairs of
raters. A dash means 0/0: if only one category was used, kappa and alpha are undefined and AC1 is 1 without interval.

Agreement with "the reference is better" is not human agreement: it shows how often the reference is preferred.

examples:
  pronmetric agree pairs.jsonl
  pronmetric agree pairs.jsonl --scores bleu.jsonl --tie 0.5 --to_json agreement.json
  pronmetric agree --ratings table.csv --categories yes no unsure"""


class MetricFlags(Flags):
    """The scores of a metric."""

    scores: str | None = flag(
        metavar="FILE", help='scores of a metric, {"id", "score_a", "score_b"} a line; null: no score'
    )
    tie: float | None = flag(
        type=number(0), metavar="X", help="tie threshold: scores that differ by at most X are a tie (default: 0)"
    )


class AgreeFlags(Flags):
    """What raters and a metric said, and how their agreement is measured."""

    pairs: str | None = argument(nargs="?", metavar="PAIRS.jsonl", help="judged pairs, one JSON object per line")
    ratings: str | None = flag(
        metavar="TABLE.csv",
        help="instead of pairs: item,rater1,rater2,... with any categories; an empty field is a missing rating",
    )
    categories: Sequence[str] | None = flag(
        nargs="+", metavar="C", help="with --ratings: categories that count even if unused"
    )
    missing: Sequence[str] | None = flag(
        nargs="*",
        metavar="VALUE",
        help="with --ratings: values that are missing ratings, as they are written; without a value only empty fields",
    )
    variant: Variant = flag(choices=("gwet", "published"), default="gwet", help="variant of AC1 (default: %(default)s)")
    se: Formula = flag(
        choices=("auto", "ratings"), default="auto", help="formula of the standard error (default: %(default)s)"
    )
    to_json: str | None = flag(metavar="FILE", help="write all figures as JSON, including each pair of raters")
    metric: MetricFlags = part(MetricFlags, "a metric")
    seed: int = flag(type=whole(0), default=SEED, help="seed of the resampling (default: %(default)s)")
    quiet: bool = switch(help="no notes on stderr")

    def check(self) -> None:
        """Refuse both inputs or none, and flags of the other one."""
        if (self.pairs is None) == (self.ratings is None):
            raise UsageError("give either PAIRS.jsonl or --ratings TABLE.csv")
        for name, value, wanted, needs in (
            ("--categories", self.categories, self.ratings, "--ratings"),
            ("--missing", self.missing, self.ratings, "--ratings"),
            ("--scores", self.metric.scores, self.pairs, "PAIRS.jsonl"),
            ("--tie", self.metric.tie, self.metric.scores, "--scores"),
        ):
            if value is not None and wanted is None:
                raise UsageError(f"{name} goes with {needs}")

    @property
    def named_categories(self) -> list[str]:
        """The categories of --categories, which may also be separated by commas."""
        return [name for given in self.categories or () for word in given.split(",") if (name := word.strip())]


def run(task: AgreeFlags) -> None:
    """Measure the agreement, print and write it."""
    targets.check([task.to_json], read=[task.pairs, task.ratings, task.metric.scores])
    note = output.Notes(quiet=task.quiet)
    content, text = _of_pairs(task, task.pairs) if task.pairs is not None else _of_table(task, note)
    note.begin()
    output.write_json(task.to_json, content)
    print(text)


def _of_table(task: AgreeFlags, note: output.Notes) -> tuple[dict[str, Any], str]:
    assert task.ratings is not None  # checked by `AgreeFlags.check`
    table = rating_table.read(task.ratings, categories=task.named_categories, missing=task.missing)
    if table.missing:
        counts = ", ".join(f"{value} ({number})" for value, number in table.missing.items())
        cure = "" if task.missing is not None else "; to count one as a category, name it in --categories"
        note(f"missing ratings, besides empty fields: {counts}{cure}")
    for group in table.alike:
        note(f"categories that differ in case only are different ones: {', '.join(group)}; write them alike")
    try:
        measured = agreement(table.ratings, variant=task.variant, formula=task.se)
    except PronmetricError as error:
        raise InputError(str(error), file=task.ratings) from None
    return {
        **rater_agreement.agreement_json(measured, task.variant),
        "names": {"raters": list(measured.raters), "categories": list(measured.categories)},
        "missing": dict(table.missing),
    }, rater_agreement.format_table(measured, task.variant)


def _of_pairs(task: AgreeFlags, file: str) -> tuple[dict[str, Any], str]:
    pairs = judged_pairs.read(file)
    decisions = None
    if task.metric.scores is not None:
        scores = judged_pairs.scores_of(pairs, judged_pairs.read_scores(task.metric.scores), file=task.metric.scores)
        decisions = [decide(a, b, tie=task.metric.tie or 0.0) for a, b in scores]
    elif not any(pair.votes for pair in pairs):
        raise InputError(
            'no pair has "votes"; add votes, or give --scores of a metric to compare with "better"', file=file
        )
    try:
        measured = rater_agreement.measure(pairs, decisions, variant=task.variant, formula=task.se, seed=task.seed)
    except PronmetricError as error:
        raise InputError(str(error), file=file) from None
    tie = task.metric.tie or 0.0
    content = rater_agreement.pairs_json(measured, task.variant, tie=tie)
    return content, rater_agreement.format_pairs(measured, task.variant, tie=tie)


VERB = Command(
    "agree", AgreeFlags, run, DESCRIPTION, EPILOG, stray="give one file of pairs; scores of a metric follow --scores"
)
