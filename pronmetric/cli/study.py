"""`pronmetric study`: an annotation study, from the sample to the table that `prepare` reads."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import study_exchange, study_page, study_report, study_sample, study_serve, study_simulate
from pronmetric.cli.parser import group_parser, run_command

DESCRIPTION = """Plan, run and evaluate an annotation study: people see a sentence in two versions that
differ in a pronoun, and choose. Pronoun pairs on which they agree become training data (Jwalapuram et al. 2019)."""
EPILOG = """example:
  pronmetric study sample runs/data -o study --items 60 --annotators 3
  pronmetric study report study answers-*.json --table table.tsv
  pronmetric prepare data.wmt=wmt filter.agreement=table.tsv out=runs/agreed"""
COMMANDS = (study_sample, study_page, study_serve, study_simulate, study_report, study_exchange)


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its commands."""
    return group_parser("study", DESCRIPTION, EPILOG, commands=COMMANDS)


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return run_command(parser(), argv)
