"""`pronmetric board`: a static site of systems and their pronouns."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import board_build
from pronmetric.cli.parser import group_parser, run_command

DESCRIPTION = "Build a static site that shows the pronoun scores of all systems of test sets."
EPILOG = """example:
  pronmetric board build --wmt wmt -o site"""
COMMANDS = (board_build,)


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its commands."""
    return group_parser("board", DESCRIPTION, EPILOG, commands=COMMANDS)


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return run_command(parser(), argv)
