"""`pronmetric clpp predict`: the classes that a trained classifier predicts."""

from __future__ import annotations

import argparse
from pathlib import Path

from pronmetric.cli.parser import add_command
from pronmetric.lab.clpp import data as clpp
from pronmetric.output import targets

DESCRIPTION = """Predict the slots of a data file with a model of `clpp train`. Predictions have the five columns of the
data, with the classes in the first two."""
EPILOG = """example:
  pronmetric clpp predict model test.data.filtered -o predictions.txt"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(
        commands,
        "predict",
        help="the classes that a trained classifier predicts",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    made.add_argument("model", metavar="MODEL_DIR", help="folder of `clpp train`")
    made.add_argument("data", metavar="DATA_FILE", help="data file; its labels are not read")
    made.add_argument("-o", "--output", required=True, metavar="FILE", help="predictions")
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Predict; the exit code."""
    targets.check([args.output], read=[args.data, args.model])
    from pronmetric.lab.clpp import classifier as training

    classifier = training.load(Path(args.model))
    rows = list(clpp.rows(args.data))
    found = classifier.predict(clpp.read(args.data, classifier.task))
    with targets.AtomicFile(args.output) as file:
        for labels, (_, cells) in zip(found, rows, strict=True):
            file.write("\t".join((" ".join(labels), " ".join(labels), *cells[2:])) + "\n")
    return 0
