"""What `prepare` made, as tables of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pronmetric.report.text import table

_TOP = 12  # pairs of forms that the table shows, the most frequent first
_PAIRS = ("train", "development", "test")
_COUNTS = {
    "systems": ("read", "systems"),
    "outputs": ("compared", "outputs"),
    "R vs S": ("kept", "system with a pronoun mismatch"),
    "R vs R'": ("kept", "noisy"),
}


def summary(content: Mapping[str, Any], confusions: Mapping[str, Mapping[str, float]]) -> str:
    """The pairs of each test set (Table 3 of the paper), the splits, the most frequent confusions.

    content: of manifest.json. confusions: of confusion.json.
    """
    rows = []
    totals: Counter[str] = Counter()
    for name, counts in content["counts"]["testsets"].items():
        named = [split for split in _PAIRS if name in content["splits"][split]["testsets"]]
        numbers = {column: counts[stage][key] for column, (stage, key) in _COUNTS.items()}
        totals.update(numbers)
        rows.append((name, "+".join(named) or "-", *(f"{number:,}" for number in numbers.values())))
    rows.append(("total", "", *(f"{totals[column]:,}" for column in _COUNTS)))
    testsets = table(("test set", "split", *_COUNTS), rows, left=(0, 1))
    splits = table(("split", "rows"), [(split, f"{rows_of['rows']:,}") for split, rows_of in content["splits"].items()])
    flat = [(n, form, wrong) for form, row in confusions.items() for wrong, n in row.items()]
    top = sorted(flat, key=lambda entry: (-entry[0], *entry[1:]))[:_TOP]
    frequent = table(("reference", "system", "pairs (train)"), [(f, w, f"{n:,}") for n, f, w in top], left=(0, 1))
    return f"{testsets}\n\n{splits}\n\n{frequent}"
