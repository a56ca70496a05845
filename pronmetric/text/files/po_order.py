"""Whether the entries of a PO file stand in the order in which its references (`#:`) say that a program has them."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from pronmetric.text.lines import iter_lines

_REFERENCE = re.compile(r"#:\s*(\S+?):(\d+)(?:\s|$)")


def has_reference_order(path: str | Path) -> bool:
    """Whether each entry has a reference, and those of a file stand together, by line.

    Only then what stands before an entry is likely near it in the program. The header needs none.
    """
    found: list[tuple[str, int]] = []
    entries = before = 0
    for line in iter_lines(path):
        if (match := _REFERENCE.match(line)) and len(found) == before:
            found.append((match[1], int(match[2])))
        if line.startswith("msgid "):
            if len(found) == before and (entries or line != 'msgid ""'):
                return False
            entries, before = entries + 1, len(found)
    files = [file for file, _ in found]
    together = sum(a != b for a, b in pairwise(files)) + 1 == len(set(files))
    return together and all(a[1] <= b[1] for a, b in pairwise(found) if a[0] == b[0])
