"""The gaps of a text, one before each word, and the pronouns that are missing there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from pronmetric.text.words import Word


def missing_before(
    words: Sequence[Word], places: Iterable[tuple[int, str]], unknown: Sequence[Sequence[int]] = ()
) -> tuple[str | None, ...]:
    """For each word the form that is missing before it, "" for none, None in the `unknown` spans.

    places: offsets and forms; one after the last word is left out, of two before a word the first counts.
    """
    starts = [word.start for word in words]
    found: list[str | None] = [
        None if any(start <= word.start < max(end, start + 1) for start, end in unknown) else "" for word in words
    ]
    for offset, form in places:
        at = bisect_left(starts, offset)
        if at < len(found) and not found[at]:
            found[at] = form
    return tuple(found)
