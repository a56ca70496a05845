"""`pronmetric suite`: published test suites of pronouns and discourse: list, show, export, score, compare, build."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import suite_build, suite_compare, suite_export, suite_list, suite_score_flags
from pronmetric.cli.parser import group_parser, run_command

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
    """The flags of the verb and of its commands."""
    return group_parser("suite", DESCRIPTION, EPILOG, commands=COMMANDS)


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return run_command(parser(), argv)
