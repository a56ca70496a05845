"""`pronmetric suite`: published test suites of pronouns and discourse: list, show, export, score, compare, build."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import output, suite_build, suite_compare, suite_export, suite_list, suite_score_flags
from pronmetric.cli.verb_parser import verb_parser

DESCRIPTION = """Run published test suites of pronouns and discourse in translation on scores, on translations, on a
translation model, or on pronmetric itself. Nothing is downloaded: a suite is read from the file of its authors."""
EPILOG = """examples:
  pronmetric suite show contrapro
  pronmetric suite export contrapro --set contrapro.json --documents documents --context 2 -o lines
  pronmetric suite score contrapro --set contrapro.json --scores nmt.scores --to_json nmt.json
  pronmetric suite score consistency --set deixis_test.json --seq2seq my-marian --context-mode concat22
  pronmetric suite compare nmt.json other.json"""
COMMANDS = (suite_list, suite_export, suite_score_flags, suite_compare, suite_build)


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its subcommands."""
    made = verb_parser("suite", DESCRIPTION, EPILOG)
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return made


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parser().parse_args(argv)
    output.open_stdout()
    return args.run(args)
