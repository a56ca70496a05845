"""What decides between two texts with sources, fitted and chosen on pairs of texts that people judged.

A number that follows how many pronouns a text has is right where the better text has more of them, or where it has
fewer. So each kind of pairs counts by groups, pairs whose better text has more, as many and fewer pronouns: groups
weigh the same in the fit of the preference, and the choice goes by the worst one. In the choice, the preference of a
pair is the one that was fitted on pairs of other documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from pronmetric.checkpoint.model_config import PeoplePreference
from pronmetric.data import arrow
from pronmetric.eval.decision import DECISIONS
from pronmetric.metric import PronounMetric
from pronmetric.output.progress import progress
from pronmetric.schema import JudgedText
from pronmetric.scoring import judged
from pronmetric.scoring.judged import MARKED, MENDED
from pronmetric.scoring.preference import mean_logit, prefer
from pronmetric.scoring.score import SegmentScore

COUNTS = {"more": 1, "as many": 0, "fewer": -1}  # pronouns of the better text, and the sign of the difference
FEWEST = 30  # pairs
FOLDS = 10  # parts of the documents; the pairs of one are held out
RIDGE = 1e-3  # penalty of the squared weights, of differences of variance 1
_BOUNDS = {"own": (0, None), "logit": (0, None), "missing": (None, 0), "empty": (None, None)}


class Choice(NamedTuple):
    """What decides, and for each number the accuracy by kind of pair and count of pronouns; pairs: how many.

    judged: the weights of the preference, fitted on all pairs; None for a checkpoint without a pair head.
    """

    by: str
    accuracy: dict[str, dict[str, float]]
    pairs: dict[str, int]
    judged: PeoplePreference | None


class PairScores(NamedTuple):
    """A pair with the scores of its better and its worse text."""

    kind: str
    doc: str
    better: SegmentScore
    worse: SegmentScore

    @property
    def group(self) -> str:
        """Its kind, and whether the better text has more, as many or fewer pronouns."""
        sign = int(np.sign(len(self.better.pronouns) - len(self.worse.pronouns)))
        return f"{self.kind}, {next(name for name, each in COUNTS.items() if each == sign)}"


def choose(checkpoint: Path, folder: Path, *, show: bool) -> Choice | None:
    """The choice on the development texts of a prepared folder, scored by a checkpoint with its reader.

    None with fewer than `FEWEST` pairs. The reader's preference must not be fitted yet. show: the progress on stderr.
    """
    texts = development(folder)
    if len(judged.pairs(texts)) < FEWEST:
        return None
    metric = PronounMetric.from_pretrained(checkpoint, precision="bf16")
    return choose_among(compare(metric, texts, show=show))


def development(folder: Path) -> list[JudgedText]:
    """The development texts with sources of a prepared folder that people judged."""
    split = arrow.PEOPLE_SPLITS[1]
    if split not in arrow.read_manifest(folder)["splits"]:
        return []
    return [text for row in arrow.read_people(folder, split) if (text := arrow.to_judged(row)).source]


def compare(metric: PronounMetric, texts: Sequence[JudgedText], *, show: bool) -> list[PairScores]:
    """The scored pairs among judged texts; show: the progress on stderr."""
    given = judged.to_score(texts, "respective")
    scored = metric.stream(given)
    shown = progress(scored, label="pairs that people judged", total=len(given), unit="texts") if show else scored
    scores = list(shown)
    docs = [f"{text.testset}:{text.lp}:{text.doc}" for text in texts for _ in range(1 + bool(text.mended))]
    return [PairScores(p.kind, docs[p.better], scores[p.better], scores[p.worse]) for p in judged.pairs(texts)]


def choose_among(pairs: Sequence[PairScores]) -> Choice:
    """The choice on these pairs; a preference is fitted if texts have one."""
    weights, held_out = None, list(pairs)
    if any(pair.better.preference is not None for pair in pairs):
        weights, held_out = fit_preference(pairs), _held_out(pairs)
    given = [by for by in DECISIONS if any(pair.better.value(by) is not None for pair in held_out)]
    accuracy = {by: dict(_accuracies(held_out, by)) for by in given}
    counts = {kind: sum(pair.kind == kind for pair in pairs) for kind in (MENDED, MARKED)}
    worst = {by: sum(_worst(each, kind) for kind in (MENDED, MARKED)) for by, each in accuracy.items()}
    return Choice(max(worst, key=lambda by: worst[by]), accuracy, counts, weights)


def fit_preference(pairs: Sequence[PairScores]) -> PeoplePreference:
    """The weights of the preference by logistic regression of which text of a pair is better; groups weigh the same.

    own + logit is 1, so that the number keeps about the scale of the pair head's, whose tie threshold it has; with both
    0, the weights are as they were fitted.
    """
    differences = np.array([_features(pair.better) - _features(pair.worse) for pair in pairs])
    groups = [pair.group for pair in pairs]
    shares = np.array([1 / (groups.count(group) * len(set(groups))) for group in groups])
    scale = np.sqrt(shares @ differences**2)
    scale[scale == 0] = 1
    scaled = differences / scale

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = scaled @ weights
        wrong = -shares / (1 + np.exp(margins))
        value = shares @ np.logaddexp(0, -margins) + RIDGE * weights @ weights
        return float(value), wrong @ scaled + 2 * RIDGE * weights

    optimum = minimize(loss, np.zeros(len(_BOUNDS)), jac=True, bounds=list(_BOUNDS.values()), method="L-BFGS-B")
    weights = dict(zip(_BOUNDS, (optimum.x / scale).tolist(), strict=True))
    unit = weights["own"] + weights["logit"] or 1.0
    return PeoplePreference(**{name: value / unit for name, value in weights.items()})


def _features(score: SegmentScore) -> np.ndarray:
    """What the weights of `PeoplePreference` multiply (4,)."""
    logit = mean_logit(score) if score.pronouns else 0.0
    return np.array([score.preference or 0.0, logit, score.missing or 0.0, float(not score.pronouns)])


def _held_out(pairs: Sequence[PairScores]) -> list[PairScores]:
    """The pairs with the preferences that were fitted on the pairs of other documents."""
    docs = sorted({pair.doc for pair in pairs})
    fold = {doc: k % FOLDS for k, doc in enumerate(np.random.default_rng(0).permutation(docs).tolist())}
    weights = {}
    for part in set(fold.values()):
        others = [pair for pair in pairs if fold[pair.doc] != part]
        weights[part] = (
            fit_preference(others) if others else PeoplePreference(own=1.0, logit=0.0, missing=0.0, empty=0.0)
        )
    return [
        pair._replace(
            better=prefer(pair.better, weights[fold[pair.doc]]), worse=prefer(pair.worse, weights[fold[pair.doc]])
        )
        for pair in pairs
    ]


def _worst(accuracy: Mapping[str, float], kind: str) -> float:
    """The worst accuracy of the pairs of this kind, by count; 0 where there is none."""
    return min((value for name, value in accuracy.items() if name.startswith(kind)), default=0.0)


def _accuracies(pairs: Sequence[PairScores], by: str) -> Iterator[tuple[str, float]]:
    """The share of pairs that are right, by kind and count; nulls and equal numbers are wrong."""
    for kind in (MENDED, MARKED):
        for name in COUNTS:
            group = f"{kind}, {name}"
            right = [_right(pair.better.value(by), pair.worse.value(by)) for pair in pairs if pair.group == group]
            if right:
                yield group, float(np.mean(right))


def _right(better: float | None, worse: float | None) -> bool:
    return better is not None and worse is not None and better > worse
