"""What decides between two texts with sources, chosen on pairs of texts that people judged.

A number that follows how many pronouns a text has is right where the better text has more of them, or where it has
fewer. So what counts of each kind of pairs is the worst of the accuracies on those whose better text has more, as many
and fewer pronouns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pronmetric.data import arrow
from pronmetric.eval.decision import DECISIONS
from pronmetric.metric import PronounMetric
from pronmetric.output.progress import progress
from pronmetric.scoring import judged
from pronmetric.scoring.judged import MARKED, MENDED
from pronmetric.scoring.score import SegmentScore

COUNTS = {"more": 1, "as many": 0, "fewer": -1}  # pronouns of the better text, and the sign of the difference
FEWEST = 30  # pairs


class Choice(NamedTuple):
    """What decides, and for each number the accuracy by kind of pair and count of pronouns; pairs: how many."""

    by: str
    accuracy: dict[str, dict[str, float]]
    pairs: dict[str, int]


def choose(checkpoint: Path, folder: Path, *, show: bool) -> Choice | None:
    """The choice on the development texts of a prepared folder, scored by a checkpoint with its reader.

    None with fewer than `FEWEST` pairs. show: the progress on stderr.
    """
    split = arrow.PEOPLE_SPLITS[1]
    if split not in arrow.read_manifest(folder)["splits"]:
        return None
    texts = [text for row in arrow.read_people(folder, split) if (text := arrow.to_judged(row)).source]
    found = judged.pairs(texts)
    if len(found) < FEWEST:
        return None
    metric = PronounMetric.from_pretrained(checkpoint, precision="bf16")
    given = judged.to_score(texts, "respective")
    scored = metric.stream(given)
    shown = progress(scored, label="pairs that people judged", total=len(given), unit="texts") if show else scored
    return _choose(found, list(shown))


def _choose(pairs: Sequence[judged.Pair], scores: Sequence[SegmentScore]) -> Choice:
    given = [by for by in DECISIONS if any(score.value(by) is not None for score in scores)]
    accuracy = {by: dict(_accuracies(pairs, scores, by)) for by in given}
    counts = {kind: sum(pair.kind == kind for pair in pairs) for kind in (MENDED, MARKED)}
    worst = {by: sum(_worst(each, kind) for kind in (MENDED, MARKED)) for by, each in accuracy.items()}
    return Choice(max(worst, key=lambda by: worst[by]), accuracy, counts)


def _worst(accuracy: Mapping[str, float], kind: str) -> float:
    """The worst accuracy of the pairs of this kind, by count; 0 where there is none."""
    return min((value for name, value in accuracy.items() if name.startswith(kind)), default=0.0)


def _accuracies(pairs: Sequence[judged.Pair], scores: Sequence[SegmentScore], by: str) -> Iterator[tuple[str, float]]:
    """The share of pairs that are right, by kind and count; nulls and equal numbers are wrong."""
    for kind in (MENDED, MARKED):
        own = [(scores[pair.better], scores[pair.worse]) for pair in pairs if pair.kind == kind]
        for name, sign in COUNTS.items():
            right = [_right(a.value(by), b.value(by)) for a, b in own if _sign(a, b) == sign]
            if right:
                yield f"{kind}, {name}", float(np.mean(right))


def _right(better: float | None, worse: float | None) -> bool:
    return better is not None and worse is not None and better > worse


def _sign(a: SegmentScore, b: SegmentScore) -> int:
    return int(np.sign(len(a.pronouns) - len(b.pronouns)))
