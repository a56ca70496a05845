"""The argument parser of a verb or of a command: texts keep their line breaks, flags cannot be abbreviated."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from pronmetric.cli import output

AddCommand = Callable[[argparse._SubParsersAction], None]
"""Adds a command with its flags to a group; they set `run`, which takes the arguments and gives the exit code."""


def verb_parser(verb: str, description: str, epilog: str | None = None) -> argparse.ArgumentParser:
    """A parser for `pronmetric VERB`."""
    return argparse.ArgumentParser(
        prog=f"pronmetric {verb}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def group_parser(
    verb: str, description: str, epilog: str | None = None, *, commands: Sequence[AddCommand]
) -> argparse.ArgumentParser:
    """A parser for `pronmetric VERB COMMAND`."""
    made = verb_parser(verb, description, epilog)
    added = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in commands:
        add(added)
    return made


def run_command(made: argparse.ArgumentParser, argv: Sequence[str]) -> int:
    """Run the command of `group_parser` that the arguments name; the exit code."""
    args = made.parse_args(argv)
    output.open_stdout()
    return args.run(args)


def add_command(
    commands: argparse._SubParsersAction, name: str, *, help: str, description: str, epilog: str | None = None
) -> argparse.ArgumentParser:
    """Add the command `name` to a group; its parser."""
    return commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
