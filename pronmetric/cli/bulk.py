"""`pronmetric bulk`: work on many files in many processes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import bulk_score, output
from pronmetric.cli.verb_parser import verb_parser

DESCRIPTION = """Work on many files in many processes, on this machine or on a Ray cluster
(pip install "pronmetric[ray]"). A run that was stopped goes on when the same command is given again."""
EPILOG = """example:
  pronmetric bulk score corpus/*.parquet -o scores --workers 4"""
COMMANDS = (bulk_score,)


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its subcommands."""
    made = verb_parser("bulk", DESCRIPTION, EPILOG)
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return made


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = made.parse_args(argv)
    output.open_stdout()
    return args.run(args)
