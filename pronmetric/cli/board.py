"""`pronmetric board`: a static site of systems and their pronouns."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import board_build, output
from pronmetric.cli.verb_parser import verb_parser

DESCRIPTION = "Build a static site that shows the pronoun scores of all systems of test sets."
EPILOG = """example:
  pronmetric board build --wmt wmt -o site"""
COMMANDS = (board_build,)


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its subcommands."""
    made = verb_parser("board", DESCRIPTION, EPILOG)
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return made


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parser().parse_args(argv)
    output.open_stdout()
    return args.run(args)
