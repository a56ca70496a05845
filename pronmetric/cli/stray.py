"""Arguments without a flag where a verb expects none."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def parse(made: argparse.ArgumentParser, argv: Sequence[str], *, cure: str) -> argparse.Namespace:
    """The parsed flags; a surplus argument is a usage error (exit code 2), with its `cure`."""
    args, rest = made.parse_known_args(argv)
    if stray := [argument for argument in rest if not argument.startswith("-")]:
        made.error(f"unexpected argument {stray[0]!r}: {cure}")
    if rest:
        made.error(f"unrecognized arguments: {' '.join(rest)}")
    return args
