"""`pronmetric suite build`: new test suites."""

from __future__ import annotations

import argparse

from pronmetric.cli import suite_build_contrastive, suite_build_wmt

COMMANDS = (suite_build_wmt, suite_build_contrastive)


def add(commands: argparse._SubParsersAction) -> None:
    """Add `build` to the group `suite`."""
    made = commands.add_parser("build", help="build a new suite", description="Build a new test suite.")
    kinds = made.add_subparsers(title="kinds", metavar="KIND", required=True)
    for command in COMMANDS:
        command.add(kinds)
