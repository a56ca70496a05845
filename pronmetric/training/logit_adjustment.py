"""Logit adjustment: log odds of a label given slot and form alone, added to the logits in training."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from pronmetric.training.examples import LabelledExample

STRENGTH = 50.0  # smoothing: pseudo-counts at the slot's rate added to each form


def log_odds(items: Iterable[LabelledExample]) -> dict[tuple[str, str], float]:
    """Log odds that a form in a slot is right, minus those of all forms of the slot, by (slot, form), in nats.

    Corruption cannot make all forms of a slot wrong equally often. Added to the logits during training and left out
    afterwards, the log odds keep the model from learning that a form is suspect as such (after the logit-adjusted loss
    of Menon et al. 2021, "Long-tail learning via logit adjustment", there for classes, here for forms in their slots).
    Rare forms are smoothed towards 0; shares are clipped to [0.01, 0.99].

    items: training examples of passages, with their `slots`.
    """
    right: Counter[tuple[str, str]] = Counter()
    seen: Counter[tuple[str, str]] = Counter()
    for item in items:
        for place, label in zip(item.slots, item.right, strict=True):
            if place is not None:
                seen[place] += 1
                right[place] += int(label)
    adjusted = {}
    for name in sorted({name for name, _ in seen}):
        places = sorted(place for place in seen if place[0] == name)
        whole = sum(right[place] for place in places) / sum(seen[place] for place in places)
        for place in places:
            share = (right[place] + STRENGTH * whole) / (seen[place] + STRENGTH)
            adjusted[place] = _logit(share) - _logit(whole)
    return adjusted


def adjustment(item: LabelledExample, odds: Mapping[tuple[str, str], float]) -> tuple[float, ...]:
    """The addend for each pronoun's logit, 0 if its slot is None; empty without slots."""
    return tuple(odds.get(place, 0.0) if place is not None else 0.0 for place in item.slots)


def _logit(share: float) -> float:
    share = min(max(share, 0.01), 0.99)
    return math.log(share / (1 - share))
