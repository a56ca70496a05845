"""What verbs write to the terminal: notes and progress on stderr, UTF-8 on stdout."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from pronmetric.output.display import visible
from pronmetric.output.progress import progress

if TYPE_CHECKING:
    from pronmetric.scoring.score import Counts


class Notes:
    """Lines on stderr, silent with --quiet; held back until `begin`, so that bad input gives its error alone."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self._held: list[str] | None = []

    def __call__(self, message: str) -> None:
        """Say one line, now or at the beginning."""
        if self._held is not None:
            self._held.append(message)
        elif not self.quiet:
            print(f"pronmetric: {visible(message)}", file=sys.stderr)

    def begin(self) -> None:
        """Say what was held back; the input is good."""
        held, self._held = self._held or [], None
        for message in held:
            self(message)

    def lengths(self, counts: Counts) -> None:
        """Say what the encoder's length cut."""
        if counts.cut:
            self(f"context cut on the left to fit the encoder: {counts.cut} of {counts.encoded} distinct texts")
        if counts.windowed:
            self(
                f"longer than the encoder, read in windows, every pronoun scored: {counts.windowed} of "
                f"{counts.encoded} distinct texts"
            )
        if counts.surplus:
            self(
                f"more pronouns than the head has slots, the surplus without weight in the segment's score: "
                f"{counts.surplus} of {counts.encoded} distinct texts"
            )
        if counts.unread:
            self(
                f"words longer than the encoder reads, their ends left out: in {counts.unread} of {counts.encoded} "
                "distinct texts"
            )


def bar(
    args: argparse.Namespace,
    items: Iterable[Any] | None = None,
    *,
    total: int | None,
    label: str = "score",
    unit: str = "texts",
    short: bool = False,
) -> tqdm:
    """Progress on stderr, see `progress`; none with --quiet or --disable_bar."""
    if getattr(args, "quiet", False) or getattr(args, "disable_bar", False):
        return tqdm(items, disable=True)
    return progress(items, label=label, total=total, unit=unit, short=short)


def open_stdout() -> None:
    """Write UTF-8 whatever the locale; bytes of file names that are none pass unchanged."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
