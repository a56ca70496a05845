"""`pronmetric agree`: agreement between raters, and between a metric and each rater."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pronmetric.cli import flags, output
from pronmetric.cli.parser import number_from_zero, parse_flags, verb_parser, whole_from_zero
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


@dataclass(frozen=True)
class AgreeFlags:
    """What raters and a metric said, and how their agreement is measured."""

    pairs: str | None
    ratings: str | None
    categories: Sequence[str] | None
    missing: Sequence[str] | None
    variant: Variant
    se: Formula
    scores: str | None
    tie: float | None
    seed: int
    to_json: str | None

    @classmethod
    def of(cls, made: argparse.ArgumentParser, args: argparse.Namespace) -> AgreeFlags:
        """The record; flags that do not go together are a usage error (exit code 2)."""
        if (args.pairs is None) == (args.ratings is None):
            made.error("give either PAIRS.jsonl or --ratings TABLE.csv")
        for flag, value, wanted in (
            ("--categories", args.categories, args.ratings),
            ("--missing", args.missing, args.ratings),
            ("--scores", args.scores, args.pairs),
            ("--tie", args.tie, args.scores),
        ):
            if value is not None and wanted is None:
                needs = {"--scores": "PAIRS.jsonl", "--tie": "--scores"}.get(flag, "--ratings")
                made.error(f"{flag} goes with {needs}")
        return flags.read(cls, args)

    @property
    def named_categories(self) -> list[str]:
        """The categories of --categories, which may also be separated by commas."""
        return [name for given in self.categories or () for part in given.split(",") if (name := part.strip())]


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = parse_flags(made, argv, cure="give one file of pairs; scores of a metric follow --scores")
    task = AgreeFlags.of(made, args)
    targets.check([task.to_json], read=[task.pairs, task.ratings, task.scores])
    note = output.Notes(quiet=args.quiet)
    output.open_stdout()
    content, text = _of_pairs(task, task.pairs) if task.pairs is not None else _of_table(task, note)
    note.begin()
    output.write_json(task.to_json, content)
    print(text)
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = verb_parser("agree", DESCRIPTION, EPILOG)
    parser.add_argument("pairs", nargs="?", metavar="PAIRS.jsonl", help="judged pairs, one JSON object per line")
    parser.add_argument(
        "--ratings",
        metavar="TABLE.csv",
        help="instead of pairs: item,rater1,rater2,... with any categories; an empty field is a missing rating",
    )
    parser.add_argument(
        "--categories", nargs="+", metavar="C", help="with --ratings: categories that count even if unused"
    )
    parser.add_argument(
        "--missing",
        nargs="*",
        metavar="VALUE",
        help="with --ratings: values that are missing ratings, as they are written; without a value only empty fields",
    )
    parser.add_argument(
        "--variant", choices=("gwet", "published"), default="gwet", help="variant of AC1 (default: %(default)s)"
    )
    parser.add_argument(
        "--se", choices=("auto", "ratings"), default="auto", help="formula of the standard error (default: %(default)s)"
    )
    flags.both(parser, "to-json", metavar="FILE", help="write all figures as JSON, including each pair of raters")
    metric = parser.add_argument_group("a metric")
    metric.add_argument(
        "--scores", metavar="FILE", help='scores of a metric, {"id", "score_a", "score_b"} a line; null: no score'
    )
    metric.add_argument(
        "--tie",
        type=number_from_zero,
        metavar="X",
        help="tie threshold: scores that differ by at most X are a tie (default: 0)",
    )
    parser.add_argument(
        "--seed", type=whole_from_zero, default=SEED, help="seed of the resampling (default: %(default)s)"
    )
    parser.add_argument("--quiet", action="store_true", help="no notes on stderr")
    return parser


def _of_table(task: AgreeFlags, note: output.Notes) -> tuple[dict[str, Any], str]:
    assert task.ratings is not None  # `AgreeFlags.of` has seen to it
    table = rating_table.read(task.ratings, categories=task.named_categories, missing=task.missing)
    if table.missing:
        counts = ", ".join(f"{value} ({number})" for value, number in table.missing.items())
        cure = "" if task.missing is not None else "; to count one as a category, name it in --categories"
        note(f"missing ratings, besides empty fields: {counts}{cure}")
    for group in table.alike:
        note(f"categories that differ in case only are different ones: {', '.join(group)}; write them alike")
    try:
        found = agreement(table.ratings, variant=task.variant, formula=task.se)
    except PronmetricError as error:
        raise InputError(str(error), file=task.ratings) from None
    names = ", ".join(found.categories)
    head = f"{found.ac1.items} items, {len(found.raters)} raters, {found.ac1.categories} categories: {names}"
    return {
        **rater_agreement.agreement_json(found, task.variant),
        "names": {"raters": list(found.raters), "categories": list(found.categories)},
        "missing": dict(table.missing),
    }, f"{head}\n{rater_agreement.format_coefficients(found, task.variant)}"


def _of_pairs(task: AgreeFlags, file: str) -> tuple[dict[str, Any], str]:
    pairs = judged_pairs.read(file)
    decisions = None
    if task.scores is not None:
        scores = judged_pairs.scores_of(pairs, judged_pairs.read_scores(task.scores), file=task.scores)
        decisions = [decide(a, b, tie=task.tie or 0.0) for a, b in scores]
    elif not any(pair.votes for pair in pairs):
        raise InputError(
            'no pair has "votes"; add votes, or give --scores of a metric to compare with "better"', file=file
        )
    try:
        found = rater_agreement.measure(pairs, decisions, variant=task.variant, formula=task.se, seed=task.seed)
    except PronmetricError as error:
        raise InputError(str(error), file=file) from None
    tie = task.tie or 0.0
    content = rater_agreement.pairs_json(found, task.variant, tie=tie)
    return content, rater_agreement.format_pairs(found, task.variant, tie=tie)
