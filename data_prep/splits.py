"""Splits by test set and document, without copies across splits."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pronmetric.schema import Document

TRAIN, DEVELOPMENT, TEST = "train", "development", "test"
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_GRAM = 5  # words of an n-gram; chosen by hand, not tuned, like the two below
_FEWEST_GRAMS = 4  # of the shorter text; one with fewer says too little to be compared
_SHARED = 0.5  # of the shorter text's n-grams; more: near copies pass, fewer: quotations are copies


Unit = tuple[str, str, str]
"""The unit of splitting: test set, lp and document (or block of segments, where documents are unknown)."""


@dataclass(frozen=True, slots=True)
class SplitRule:
    """The assignment of test sets to splits: entries NAME, NAME:LP, wmtYY or wmtYY:LP; test before development.

    Test sets without an entry go to train. If train or development is then empty, the documents of the other one are
    divided: `development_share` of them, drawn by `seed`, go to development. Without document boundaries, runs of
    `block` segments are used instead.
    """

    development: tuple[str, ...]
    test: tuple[str, ...]
    development_share: float
    block: int
    seed: int

    def of(self, name: str, year: int | None, lp: str) -> str:
        """The split of a test set by its name, year and language pair only."""
        names = {name, f"{name}:{lp}"}
        if year is not None:
            names |= {f"wmt{year % 100:02d}", f"wmt{year % 100:02d}:{lp}"}
        for split, entries in ((TEST, self.test), (DEVELOPMENT, self.development)):
            if names.intersection(entries):
                return split
        return TRAIN


def divide(by_name: Mapping[Unit, str], rule: SplitRule) -> dict[Unit, str] | None:
    """The units with new splits if train or development has none, else None."""
    holds = set(by_name.values())
    if (TRAIN in holds) == (DEVELOPMENT in holds):
        return None
    whole = [unit for unit, split in by_name.items() if split != TEST]
    held_out = draw(whole, rule.development_share, rule.seed)
    return dict(by_name) | {unit: DEVELOPMENT if unit in held_out else TRAIN for unit in whole}


def unit_of(document: Document, index: int, block: int) -> Unit:
    """The unit of a segment, by its index in its document."""
    doc = document.doc if document.exact else f"{document.doc}#{index // block + 1}"
    return document.testset, document.lp, doc


def draw(units: Collection[tuple[str, ...]], share: float, seed: int) -> set[tuple[str, ...]]:
    """About `share` of the units, at least one where there are two or more, chosen by a hash of seed and name."""
    ranked = sorted(units, key=lambda unit: hashlib.sha256("\t".join((str(seed), *unit)).encode()).digest())
    count = round(share * len(ranked))
    return set(ranked[: max(count, 1) if len(ranked) > 1 and share > 0 else count])


def tokens(text: str) -> list[str]:
    """The text in normal form: lower-cased words; each Chinese or Japanese character is a word."""
    return _TOKEN.findall(text.lower())


class Copies:
    """Texts of one split, to find copies and near copies in another.

    A copy is equal in normal form. A near copy shares at least half of the word 5-grams of the shorter text, which must
    have eight words.
    """

    def __init__(self) -> None:
        self._exact: set[tuple[str, ...]] = set()
        self._sizes: list[int] = []
        self._where: dict[int, list[int]] = defaultdict(list)

    def add(self, text: str) -> None:
        """Add one text."""
        normal = tuple(tokens(text))
        if not normal or normal in self._exact:
            return
        self._exact.add(normal)
        grams = _grams(normal)
        for gram in grams:
            self._where[gram].append(len(self._sizes))
        self._sizes.append(len(grams))

    def exact(self, text: str) -> bool:
        """Whether a text is a copy."""
        return tuple(tokens(text)) in self._exact

    def near(self, text: str) -> bool:
        """Whether a text is a copy or a near copy."""
        normal = tuple(tokens(text))
        if normal in self._exact:
            return True
        grams = _grams(normal)
        shared = Counter(number for gram in grams for number in self._where.get(gram, ()))
        shorter = {number: min(len(grams), self._sizes[number]) for number in shared}
        return any(shorter[n] >= _FEWEST_GRAMS and count >= _SHARED * shorter[n] for n, count in shared.items())


def _grams(normal: Sequence[str]) -> set[int]:
    return {hash(tuple(normal[i : i + _GRAM])) for i in range(len(normal) - _GRAM + 1)}
