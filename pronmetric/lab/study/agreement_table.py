"""The table of pronoun pairs that `prepare filter.agreement=FILE` and `suite build wmt --agreement FILE` read."""

from __future__ import annotations

from collections.abc import Iterator

from pronmetric.lab.study.answers import OTHER, REFERENCE
from pronmetric.lab.study.findings import Cell, Findings, tied

COLUMNS = ("ref_pronoun", "noisy_pronoun", "entry", "ac1", "ref", "tie", "sys")
SUM = "sum"


def lines(found: Findings) -> Iterator[str]:
    """The lines of the table: for each pronoun pair one entry a source language, then their sum.

    ac1: Gwet's AC1 of the entry's items, also in the sum (not a mean of the entries). ref, tie, sys: answers for the
    reference's pronoun, for both or neither, and for the other pronoun. Entries without an item that was answered twice
    have no AC1 and are left out.
    """
    yield "\t".join(COLUMNS) + "\n"
    for pair, cell in found.pairs.items():
        for entry, one in [*found.pairs_by_language[pair].items(), (SUM, cell)]:
            if one.ac1 is not None:
                yield "\t".join((*pair, entry, *_figures(one))) + "\n"


def without_agreement(found: Findings) -> int:
    """The number of pronoun pairs that the table cannot have: no item has two answers."""
    return sum(cell.ac1 is None for cell in found.pairs.values())


def _figures(cell: Cell) -> tuple[str, ...]:
    assert cell.ac1 is not None
    counts = cell.counts.get(REFERENCE, 0), tied(cell.counts), cell.counts.get(OTHER, 0)
    return f"{cell.ac1.ac1:.4f}", *map(str, counts)
