"""What `evaluate` tells of the floors: a table of each beside the metric, on the pairs that the floor decides."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.baselines import simple
from pronmetric.baselines.simple import Floor
from pronmetric.cli.tables import percent, table
from pronmetric.suites.judged_pairs import JudgedPair
from pronmetric.suites.pair_accuracy import Scores


def found(pairs: Sequence[JudgedPair], scores: Scores, *, seed: int) -> dict[str, Floor]:
    """The floors that decide a pair, beside the metric."""
    held = {name: simple.beside(pairs, scores, floor, seed=seed) for name, floor in simple.floors(pairs).items()}
    return {name: floor for name, floor in held.items() if floor is not None}


def shown(held: dict[str, Floor]) -> str:
    """The table."""
    rows = [
        [
            name,
            floor.pairs,
            floor.decided,
            percent(floor.floor),
            percent(floor.metric),
            percent(floor.difference, signed=True),
        ]
        for name, floor in held.items()
    ]
    head = ["floor", "pairs", "it decides", "it gets right", "the metric there", "metric - floor"]
    return table(head, rows)
