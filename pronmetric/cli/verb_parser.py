"""The argument parser of a verb or of a command: texts keep their line breaks, flags cannot be abbreviated."""

from __future__ import annotations

import argparse


def verb_parser(verb: str, description: str, epilog: str | None = None) -> argparse.ArgumentParser:
    """A parser for `pronmetric VERB`."""
    return argparse.ArgumentParser(
        prog=f"pronmetric {verb}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


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
