"""Links of a word aligner against a gold alignment of two English translations.

Gold: MultiMWA-MTRef, development part (800 pairs). P = |A and (S or P)| / |A|, R = |A and S| / |S| over all links A of
the aligner, sure S and possible P of the gold; "pron": links that touch a pronoun form on either side; "ppdiff": links
of two different pronoun forms.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from data_prep.wmt import discovery
from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.links import Link
from pronmetric.pronouns.finder import FORMS
from pronmetric.schema import Alignment
from pronmetric.text.words import words

KINDS = ("all", "pron", "ppdiff")


@dataclass(frozen=True, slots=True)
class Gold:
    """One pair of the gold."""

    a: Sequence[str]
    b: Sequence[str]
    sure: Collection[Link]
    possible: Collection[Link]

    def of_kind(self, links: Collection[Link], kind: str) -> set[Link]:
        """The links that a kind counts."""
        return {link for link in links if kind == "all" or self._counts(link, kind)}

    def _counts(self, link: Link, kind: str) -> bool:
        left, right = self.a[link[0]], self.b[link[1]]
        pronouns = (left in FORMS) + (right in FORMS)
        return pronouns == 2 and left != right if kind == "ppdiff" else pronouns > 0


@dataclass(frozen=True, slots=True)
class Figures:
    """Precision, recall and F1 in percent."""

    precision: float
    recall: float
    f1: float


def read_gold(path: Path) -> list[Gold]:
    """The pairs of a gold file."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [
        Gold(row["tokens_a"], row["tokens_b"], set(map(tuple, row["sure"])), set(map(tuple, row["possible"])))
        for row in rows
    ]


def measure(gold: Sequence[Gold], found: Sequence[Alignment]) -> dict[str, Figures]:
    """The figures of each kind, over all links together."""
    figures = {}
    for kind in KINDS:
        good = right = links = sure = 0
        for pair, alignment in zip(gold, found, strict=True):
            of_system, of_gold = pair.of_kind(alignment.links, kind), pair.of_kind(pair.sure, kind)
            right += len(of_system & (of_gold | pair.of_kind(pair.possible, kind)))
            good += len(of_system & of_gold)
            links += len(of_system)
            sure += len(of_gold)
        precision, recall = 100 * right / max(links, 1), 100 * good / max(sure, 1)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        figures[kind] = Figures(precision, recall, f1)
    return figures


def wmt21_lines(folder: Path, number: int, seed: int) -> list[TokenPair]:
    """(First reference, output) lines of WMT21 as words, drawn by seed; equal ones left out."""
    texts = []
    for testset in discovery.discover(folder, years=[21], exclude=[]).testsets:
        for document in discovery.read(testset):
            for segment in document.segments:
                reference = next(iter(segment.refs.values()), "")
                texts += [(reference, output) for output in segment.hyps.values() if reference and output != reference]
    drawn = random.Random(seed).sample(texts, number)
    return [([word.text for word in words(a)], [word.text for word in words(b)]) for a, b in drawn]
