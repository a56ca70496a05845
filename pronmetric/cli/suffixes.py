"""The format of an output file: its suffix or --format, which must not contradict each other."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path


def format_of(
    made: argparse.ArgumentParser, output: str | None, given: str | None, suffixes: Mapping[str, str], *, default: str
) -> str:
    """The format to write: `given` (--format), else that of the suffix of `output`, else `default` for stdout.

    An unknown suffix without --format, and a suffix that contradicts --format, are usage errors (exit code 2).
    """
    if output is None:
        return given or default
    suffix = Path(output).suffix.lower()
    named = suffixes.get(suffix)
    if given is None and named is None:
        got = f"got {suffix}" if suffix else "got none"
        made.error(f"-o {output}: expected one of the suffixes {', '.join(suffixes)}, {got}; or choose with --format")
    if given is not None and named not in (None, given):
        made.error(f"-o {output}: the suffix {suffix} means {named}, but --format is {given}; change one of them")
    return given or named or default
