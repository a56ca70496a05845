"""`pronmetric clpp score`: the official figures of a prediction file."""

from __future__ import annotations

import argparse

from pronmetric.cli.parser import add_command
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp import score as clpp_score
from pronmetric.output import targets
from pronmetric.text import strict_json

DESCRIPTION = """Score a prediction file with the official figures: macro-averaged recall (the official score of 2016
and 2017), macro-averaged F1 (of 2015), accuracy, figures of each class, confusion matrix. All are in percent; higher
is better. The official averages are over all classes of the pair, also those without an instance, whose recall counts
as 0. The tables of the task's paper (Guillou et al. 2016, section 6, footnote 8) leave those out; both are given."""
EPILOG = """example:
  pronmetric clpp score --pair en-de test.data.filtered predictions.txt --to_json figures.json"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(
        commands, "score", help="the official figures of a prediction file", description=DESCRIPTION, epilog=EPILOG
    )
    made.add_argument("gold", metavar="GOLD_FILE", help="data file with the right classes")
    made.add_argument("predicted", metavar="PRED_FILE", help="predictions, one line for each line of GOLD_FILE")
    made.add_argument("--pair", required=True, choices=sorted(clpp.TASKS), help="language pair, source first")
    made.add_argument("--to_json", "--to-json", dest="to_json", metavar="FILE", help="write all figures as JSON")
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score the predictions; the exit code."""
    targets.check([args.to_json], read=[args.gold, args.predicted])
    found = clpp_score.score(args.gold, args.predicted, clpp.task(args.pair))
    if args.to_json is not None:
        with targets.AtomicFile(args.to_json) as file:
            file.write(strict_json.dump(clpp_score.result_json(found), indent=1) + "\n")
    print("\n".join(clpp_score.lines(found)))
    return 0
