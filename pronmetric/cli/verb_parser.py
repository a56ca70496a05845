"""The argument parser of a verb: texts keep their line breaks, flags cannot be abbreviated."""

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
