"""The displayed names of systems: the parts of their paths that distinguish them."""

from __future__ import annotations

import re
from collections.abc import Sequence


def short(names: Sequence[str]) -> list[str]:
    """For each name the shortest part of its path that distinguishes it; repeated names are unchanged.

    >>> short(["/runs/a/out.txt", "/runs/b/out.txt"]), short(["runs/a.txt", "b.txt"]), short(["/runs/a.txt"])
    (['a', 'b'], ['a.txt', 'b.txt'], ['a.txt'])
    """
    if len(set(names)) < len(names):
        return list(names)
    paths = [tuple(part for part in re.split(r"[/\\]", name) if part) or (name,) for name in names]
    if len(set(paths)) < len(paths):
        return list(names)
    tails = [_tail(path, [other for other in paths if other is not path]) for path in paths]
    while len(names) > 1 and all(len(tail) > 1 for tail in tails) and len({tail[-1] for tail in tails}) == 1:
        tails = [tail[:-1] for tail in tails]
    return ["/".join(tail) for tail in tails]


def _tail(path: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The shortest unique suffix of a path."""
    sizes = range(1, len(path) + 1)
    return next((path[-k:] for k in sizes if all(other[-k:] != path[-k:] for other in others)), path)
