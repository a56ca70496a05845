"""`pronmetric agree`: agreement between raters, and between a metric and each rater."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from pronmetric.cli import agreement_figures as figures
from pronmetric.cli import numbers, options, output, stray
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.decision import decide
from pronmetric.eval.ratings import Formula, Variant, agreement
from pronmetric.eval.resampling import SEED
from pronmetric.output import targets
from pronmetric.suites import judged_pairs, rating_table, votes
from pronmetric.suites.judged_pairs import JudgedPair
from pronmetric.suites.votes import Preferences
from pronmetric.text import strict_json

DESCRIPTION = """Chance-corrected agreement: Gwet's AC1 with standard error and interval, Cohen's and Fleiss' kappa,
Krippendorff's alpha; and raw agreement.

PAIRS.jsonl has judged pairs, {"id", "text_a", "text_b", "votes": {rater: "A"|"B"|"tie"}, "better", "group", "doc"},
or the samples of the published study. The output gives the agreement between raters, with ties as a third category and
without ties; how often raters prefer the better text (text A if the pairs do not name one), on average, by group and by
rater; and with --scores the agreement of a metric with each rater. With --ratings, a table of items and raters is read
instead."""
EPILOG = """The standard error of AC1 is that of a square table (variance divided by N) if there are two raters and both
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


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = _arguments(argv)
    targets.check([args.to_json], read=[args.pairs, args.ratings, args.scores])
    output.open_stdout()
    content, text = _of_table(args) if args.ratings is not None else _of_pairs(args)
    if args.to_json is not None:
        with targets.AtomicFile(args.to_json) as file:
            file.write(strict_json.dump(content, indent=1) + "\n")
    print(text)
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = argparse.ArgumentParser(
        prog="pronmetric agree",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("pairs", nargs="?", metavar="PAIRS.jsonl", help="judged pairs, one JSON object a line")
    parser.add_argument(
        "--ratings",
        metavar="TABLE.csv",
        help="instead of pairs: item,rater1,rater2,... with any categories; an empty field is a missing rating",
    )
    parser.add_argument(
        "--categories", nargs="+", metavar="C", help="with --ratings: categories that count even if unused"
    )
    parser.add_argument(
        "--variant", choices=("gwet", "published"), default="gwet", help="variant of AC1 (default: %(default)s)"
    )
    parser.add_argument(
        "--se", choices=("auto", "ratings"), default="auto", help="formula of the standard error (default: %(default)s)"
    )
    options.both(parser, "to-json", metavar="FILE", help="write all figures as JSON, including each pair of raters")
    metric = parser.add_argument_group("a metric")
    metric.add_argument(
        "--scores", metavar="FILE", help='scores of a metric, {"id", "score_a", "score_b"} a line; null: no score'
    )
    metric.add_argument(
        "--tie",
        type=numbers.from_zero,
        metavar="X",
        help="tie threshold: scores that differ by at most X are a tie (default: 0)",
    )
    parser.add_argument(
        "--seed", type=numbers.count, default=SEED, help="seed of the resampling (default: %(default)s)"
    )
    return parser


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    made = parser()
    args = stray.parse(made, argv, cure="give one file of pairs; scores of a metric follow --scores")
    if (args.pairs is None) == (args.ratings is None):
        made.error("give either PAIRS.jsonl or --ratings TABLE.csv")
    for flag, value, wanted in (
        ("--categories", args.categories, args.ratings),
        ("--scores", args.scores, args.pairs),
        ("--tie", args.tie, args.scores),
    ):
        if value is not None and wanted is None:
            needs = {"--categories": "--ratings", "--scores": "PAIRS.jsonl", "--tie": "--scores"}[flag]
            made.error(f"{flag} goes with {needs}")
    if args.categories is not None:
        args.categories = [name for given in args.categories for part in given.split(",") if (name := part.strip())]
    return args


def _of_table(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    ratings = rating_table.read(args.ratings, categories=args.categories or ())
    try:
        found = agreement(ratings, variant=args.variant, formula=args.se)
    except PronmetricError as error:
        raise InputError(str(error), file=args.ratings) from None
    names = ", ".join(found.categories)
    head = f"{found.ac1.items} items, {len(found.raters)} raters, {found.ac1.categories} categories: {names}"
    return {
        **figures.agreement_json(found, args.variant),
        "names": {"raters": list(found.raters), "categories": list(found.categories)},
    }, f"{head}\n{figures.figures(found, args.variant)}"


def _of_pairs(args: argparse.Namespace) -> tuple[dict[str, Any], str]:
    pairs = judged_pairs.read(args.pairs)
    decisions = None
    if args.scores is not None:
        scores = judged_pairs.scores_of(pairs, judged_pairs.read_scores(args.scores), file=args.scores)
        decisions = [decide(a, b, tie=args.tie or 0.0) for a, b in scores]
    elif not any(pair.votes for pair in pairs):
        raise InputError(
            'no pair has "votes"; add votes, or give --scores of a metric to compare with "better"', file=args.pairs
        )
    try:
        return of_decisions(
            pairs, decisions, tie=args.tie or 0.0, variant=args.variant, formula=args.se, seed=args.seed
        )
    except PronmetricError as error:
        raise InputError(str(error), file=args.pairs) from None


def of_decisions(
    pairs: Sequence[JudgedPair],
    decisions: Sequence[str | None] | None,
    *,
    tie: float = 0.0,
    variant: Variant = "gwet",
    formula: Formula = "auto",
    seed: int = SEED,
) -> tuple[dict[str, Any], str]:
    """All figures of judged pairs, as JSON content and as text.

    decisions: a metric's "A", "B" or "tie" for each pair, None where it has no score; None for no metric.

    Raises:
        PronmetricError: no pair with two votes, and no metric.
    """
    raters = votes.votes(pairs)
    how: dict[str, Any] = {"variant": variant, "formula": formula, "seed": seed}
    people = votes.between(pairs, raters, **how) if len(raters) > 1 else None
    if decisions is None and (people is None or people.with_ties is None):
        raise PronmetricError(
            f"no pair has votes of two raters (raters: {', '.join(raters)}); add votes, or give --scores of a metric"
        )
    content: dict[str, Any] = {"pairs": len(pairs), "raters": list(raters)}
    text = [f"{len(pairs)} pairs, {len(raters)} raters" + (f": {', '.join(raters)}" if raters else "")]
    if people is not None and people.with_ties is not None:
        content |= figures.tie_json(people, variant)
        text += figures.tie_text("between the raters", people, variant)
    judges: dict[str, Any] = {**raters, **votes.given(pairs)}
    answers: dict[str, Any] = dict(raters)
    if decisions is not None:
        if not judges:
            raise PronmetricError('no pair has "votes" or "better" to compare the metric with')
        against = votes.against(pairs, decisions, judges, **how)
        answers[votes.METRIC] = {pair.id: decision for pair, decision in zip(pairs, decisions, strict=True)}
        unscored = sum(decision is None for decision in decisions)
        content["metric"] = {
            "tie": tie,
            "unscored": unscored,
            "raters": {rater: figures.tie_json(found, variant) for rater, found in against.items()},
        }
        text += ["", f"the metric, ties within {tie:g}" + (f", {unscored} pairs without a score" if unscored else "")]
        for rater, found in against.items():
            text += figures.tie_text(f"the metric against {rater}", found, variant)
    shares, table = _preferences(pairs, raters, answers, how)
    return content | {"preference": shares}, "\n".join([*text, "", table])


def _preferences(
    pairs: Sequence[JudgedPair], raters: Mapping[str, Any], answers: Mapping[str, Any], how: Mapping[str, Any]
) -> tuple[dict[str, Any], str]:
    """The rows of the paper's Tables 1 and 5: all pairs and each group, each rater, the metric."""
    target = "the better text" if votes.oriented(pairs) else "text A"
    groups = sorted({pair.group for pair in pairs if pair.group is not None})
    parts = {"all": list(pairs)} | {f"group {name}": [p for p in pairs if p.group == name] for name in groups}
    rows, found = [], {}
    for name, part in parts.items():
        own = {rater: {i: v for i, v in told.items() if i in {p.id for p in part}} for rater, told in raters.items()}
        own = {rater: told for rater, told in own.items() if told}
        agreed = votes.between(part, own, **how) if len(own) > 1 else None
        people = votes.preferences(part, own)
        each = votes.preferences(part, answers)
        found[name] = {
            "pairs": len(part),
            "average": people.average,
            "average_without_ties": people.average_without_ties,
            "ac1": None if agreed is None or agreed.with_ties is None else agreed.with_ties.ac1.ac1,
            "ac1_without_ties": None if agreed is None or agreed.without_ties is None else agreed.without_ties.ac1.ac1,
            "by_rater": {rater: figures.share_json(share) for rater, share in each.by_rater.items()},
        }
        rows += _share_rows(name, len(part), people, each, found[name])
    head = (f"preferring {target}", "pairs", "with ties", "without ties", "ties", "AC1", "AC1 without ties")
    return {"of": target, **found}, figures.table(head, rows)


def _share_rows(
    name: str, pairs: int, people: Preferences, each: Preferences, found: Mapping[str, Any]
) -> list[Sequence[object]]:
    rows: list[Sequence[object]] = []
    if people.by_rater:
        tied = _tied(people)
        shares = figures.percent(people.average), figures.percent(people.average_without_ties), figures.percent(tied)
        rows.append(
            (
                f"{name}: average of raters",
                pairs,
                *shares,
                *map(figures.five, (found["ac1"], found["ac1_without_ties"])),
            )
        )
    for rater, own in each.by_rater.items():
        shares = (
            figures.percent(own.share),
            figures.percent(own.share_without_ties),
            figures.percent(own.tied / own.answers),
        )
        rows.append((f"{name}: {rater}", own.answers, *shares, "", ""))
    return rows


def _tied(found: Preferences) -> float:
    shares = [own.tied / own.answers for own in found.by_rater.values()]
    return sum(shares) / len(shares)
