"""`pronmetric study simulate`: answers of simulated annotators with known error rates."""

from __future__ import annotations

import argparse
from pathlib import Path

from pronmetric.cli.parser import add_command, number_up_to_one, whole_from_zero
from pronmetric.errors import InputError
from pronmetric.lab.study import answers, folder, simulation
from pronmetric.output import targets

DESCRIPTION = """Answer a study by simulated annotators: to try a design, and see how wide its intervals are, before
people answer. Each item has a true answer (the reference in 75 %, both in 15 %, the other version and neither in 5 %
each, in proportion to the answers that the study offers). An annotator errs with a known probability, independent of
the others. Prints the AC1 that infinitely many items would have."""
EPILOG = """example:
  pronmetric study simulate study -o answers --errors 0.05 0.1 0.2"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = add_command(
        commands, "simulate", help="answer a study by simulated annotators", description=DESCRIPTION, epilog=EPILOG
    )
    made.add_argument("study", metavar="STUDY", help="the folder that `study sample` wrote")
    made.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the answers, new or empty")
    made.add_argument(
        "--errors",
        nargs="+",
        type=number_up_to_one,
        metavar="X",
        help="error rate of each annotator, or one for all (default: 0.1)",
        default=[0.1],
    )
    made.add_argument("--seed", type=whole_from_zero, default=1, metavar="N", help="of the answers (default: 1)")
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write one file of answers for each annotator; the exit code."""
    place = Path(args.output)
    targets.check([], read=[args.study], folders=[args.output])
    if place.is_dir() and any(place.iterdir()):
        raise InputError("is not empty; give a new folder", file=place)
    study = folder.read(args.study)
    errors = args.errors * study.design.annotators if len(args.errors) == 1 else args.errors
    found = simulation.simulate(study, errors, seed=args.seed)
    expected = simulation.expected_ac1(study, errors)
    place.mkdir(parents=True, exist_ok=True)
    for name, given in found.items():
        with targets.AtomicFile(place / f"answers-{name}.json") as file:
            file.write(answers.dump(study, name, given))
    print(f"{sum(map(len, found.values()))} answers of {len(found)} annotators; expected AC1: {expected:.5f}")
    return 0
