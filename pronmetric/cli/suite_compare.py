"""`pronmetric suite compare`: several systems on the same set."""

from __future__ import annotations

import argparse

from pronmetric.cli import flags, output
from pronmetric.cli.parser import add_command, whole_from_one, whole_from_zero
from pronmetric.cli.tables import plain, table
from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import SEED
from pronmetric.lab.suites import ctxpro
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites import result as suite_result
from pronmetric.output import targets

DESCRIPTION = """Compare systems that were judged on the same items: difference of accuracy with its 95 % interval
(Student's t over items), and p of the approximate randomisation, adjusted for all pairs by Holm's method."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    made = add_command(
        commands, "compare", help="compare systems by their results on the same set", description=DESCRIPTION
    )
    made.add_argument("results", nargs="+", metavar="RESULT.json", help="results of `suite score --to_json`")
    made.add_argument("--by-document", action="store_true", help="intervals and tests over documents instead of items")
    made.add_argument(
        "--subsample",
        type=whole_from_one,
        metavar="K",
        help="also as ctxpro's program: wins over the first system on K items drawn without replacement, 1000 times",
    )
    made.add_argument(
        "--seed", type=whole_from_zero, default=SEED, metavar="N", help="of the test (default: %(default)s)"
    )
    flags.both(made, "to-json", metavar="FILE", help="write all figures")
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the comparison, and write it where asked for."""
    targets.check([args.to_json], read=args.results)
    if len(args.results) < 2:
        raise PronmetricError("give the results of two or more systems")
    if len(set(args.results)) < len(args.results):
        raise PronmetricError("a result is given twice")
    read = {path: suite_result.read(path) for path in args.results}
    if len(suites := sorted({suite for suite, _ in read.values()})) > 1:
        raise PronmetricError(f"the results are of different suites: {', '.join(suites)}")
    systems = {path: verdicts for path, (_, verdicts) in read.items()}
    differences = suite_figures.compare(systems, by_document=args.by_document, seed=args.seed)
    shares = {name: suite_figures.share(verdicts) for name, verdicts in systems.items()}
    rows = [(name, f"{100 * one.accuracy:.1f}", one.correct, one.total) for name, one in shares.items()]
    header = ("A", "B", "A - B, points", "95 % interval", "p", "p, Holm", "A alone", "B alone")
    tables = [table(("system", "accuracy, %", "correct", "total"), rows)]
    tables.append(table(header, [_row(one) for one in differences], left=(0, 1)))
    content = {"suite": suites[0], "systems": plain(shares), "differences": plain(differences)}
    if args.subsample is not None:
        wins = ctxpro.subsampled_wins(systems, size=args.subsample, seed=args.seed)
        title = f"{args.subsample} items, 1000 draws: p that a system beats {args.results[0]}"
        tables.append(f"{title}\n{table(('system', 'p'), [(name, f'{p:.3f}') for name, p in wins.items()])}")
        content["subsampled"] = wins
    output.write_json(args.to_json, content)
    print("\n\n".join(tables))
    return 0


def _row(one: suite_figures.Difference) -> tuple[object, ...]:
    ends = "-" if one.low is None or one.high is None else f"{100 * one.low:+.1f} to {100 * one.high:+.1f}"
    p, adjusted = ("-" if value is None else f"{value:.4f}" for value in (one.p, one.holm))
    return one.a, one.b, f"{100 * one.difference:+.1f}", ends, p, adjusted, one.only_a, one.only_b
