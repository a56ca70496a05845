"""Sums of a system's documents, which can be merged, whatever the order of rows and their number.

Intervals are over documents, of which an input may have more than fit in memory. Up to `MOST` documents are kept one
by one. Beyond that their hashes divide them into `MOST` random groups, and the groups take their place: the spread of
the groups' sums estimates the same variance (the method of random groups, Wolter 2007, chapter 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from pronmetric.eval.ratio_sums import RatioSums
from pronmetric.scoring.score import Tally

MOST = 1024


class DocumentSum(NamedTuple):
    """The sums of a document's segments, or of a group of documents."""

    score: float
    pronouns: int
    errors: float
    words: int
    preference: float
    preferences: int

    def plus(self, other: DocumentSum) -> DocumentSum:
        """The sums of both."""
        return DocumentSum(
            self.score + other.score,
            self.pronouns + other.pronouns,
            self.errors + other.errors,
            self.words + other.words,
            self.preference + other.preference,
            self.preferences + other.preferences,
        )


@dataclass(frozen=True, slots=True)
class DocumentSums:
    """The sums of documents by name, or of groups of documents by number."""

    sums: Mapping[str, DocumentSum]
    grouped: bool = False

    @classmethod
    def of(cls, tally: Tally) -> DocumentSums | None:
        """The sums of a tally's documents; None where a segment has none."""
        codes = np.array(tally.docs, dtype=np.int64)
        if (codes < 0).any():
            return None
        names = [str(name) for name in tally.documents]

        def add(values: object) -> list[float]:
            return np.bincount(codes, np.nan_to_num(np.array(values, dtype=float)), len(names)).tolist()

        preferences = np.array(tally.preferences, dtype=float)
        whole = [add(tally.counts), add(tally.words), add(~np.isnan(preferences))]
        pronouns, words, known = ([int(value) for value in values] for values in whole)
        rows = zip(add(tally.sums), pronouns, add(tally.errors), words, add(preferences), known, strict=True)
        return cls(dict(zip(names, (DocumentSum(*row) for row in rows), strict=True)))._within(MOST)

    def merge(self, other: DocumentSums) -> DocumentSums:
        """The sums of both."""
        if self.grouped != other.grouped:
            return self._group().merge(other._group())
        merged = dict(self.sums)
        for name, sums in other.sums.items():
            merged[name] = merged[name].plus(sums) if name in merged else sums
        return DocumentSums(merged, self.grouped)._within(MOST)

    def ratio(self, numerator: str, denominator: str) -> RatioSums:
        """The sums of a ratio of two fields of `DocumentSum`, by document."""
        values = [(getattr(one, numerator), getattr(one, denominator)) for one in self.sums.values()]
        return RatioSums.of(*zip(*values, strict=True)) if values else RatioSums()

    def _within(self, most: int) -> DocumentSums:
        return self if self.grouped or len(self.sums) <= most else self._group()

    def _group(self) -> DocumentSums:
        return self if self.grouped else DocumentSums(_add_up(self.sums), grouped=True)

    @classmethod
    def read(cls, record: Mapping[str, object]) -> DocumentSums:
        """The sums that `dataclasses.asdict` wrote."""
        sums = record["sums"]
        assert isinstance(sums, Mapping)
        return cls({name: DocumentSum(*one) for name, one in sums.items()}, bool(record["grouped"]))


def _add_up(sums: Mapping[str, DocumentSum]) -> dict[str, DocumentSum]:
    groups: dict[str, DocumentSum] = {}
    for number, one in _numbered(sums.items()):
        groups[number] = groups[number].plus(one) if number in groups else one
    return groups


def _numbered(sums: Iterable[tuple[str, DocumentSum]]) -> Iterable[tuple[str, DocumentSum]]:
    for name, one in sums:
        digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        yield str(int.from_bytes(digest, "big") % MOST), one
