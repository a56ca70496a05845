"""`pronmetric bulk`: work on many files in many processes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import bulk_align, bulk_prepare, bulk_score
from pronmetric.cli.parser import group_parser, run_command

DESCRIPTION = """Work on many files in many processes, on this machine or on a Ray cluster
(pip install "pronmetric[ray]"). A run that was stopped goes on when the same command is given again."""
EPILOG = """examples:
  pronmetric bulk score corpus/*.parquet -o scores --workers 4
  pronmetric bulk align corpus/*.parquet -o links --columns source target
  pronmetric bulk prepare corpus/*.parquet -o pairs"""
COMMANDS = (bulk_score, bulk_align, bulk_prepare)


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its commands."""
    return group_parser("bulk", DESCRIPTION, EPILOG, commands=COMMANDS)


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return run_command(parser(), argv)
