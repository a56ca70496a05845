"""Pairs of a prepared folder as contrasts: their contexts, and the units that an interval resamples."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from benchmarks.checkpoint import scoring
from benchmarks.checkpoint.scoring import COMMON, NONE, SHUFFLED, Contexts, Contrast
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.schema import Pair

RESPECTIVE, SYSTEM = "respective", "system"
BLOCK = 20
"""Segments taken as one document where a test set's files give no boundaries."""


def read(options: argparse.Namespace, wanted: Callable[[Pair], bool] = lambda pair: True) -> list[Pair]:
    """The pairs that the flags choose; `--limit` draws whole sentences until there are that many pairs."""
    rows = arrow.read_pairs(options.data, options.split)
    chosen = options.testsets
    pairs = [pair for pair in map(arrow.to_pair, rows) if wanted(pair) and (chosen is None or pair.testset in chosen)]
    if not pairs:
        raise InputError(f"no pair to measure in split {options.split}; prepare more data", file=options.data)
    if options.limit is None or options.limit >= len(pairs):
        return pairs
    drawn: list[int] = []
    places = defaultdict(list)
    for number, pair in enumerate(pairs):
        places[sentence(pair)].append(number)
    for chosen in np.random.default_rng(options.seed).permutation(len(places)):
        drawn += list(places.values())[chosen]
        if len(drawn) >= options.limit:
            break
    return [pairs[number] for number in sorted(drawn)]


def contrasts(pairs: Sequence[Pair]) -> list[Contrast]:
    """The two texts of each pair."""
    return [Contrast(pair.better, pair.worse) for pair in pairs]


def sentence(pair: Pair) -> Hashable:
    """The reference sentence of a pair."""
    return pair.testset, pair.lp, pair.ref, pair.seg


def units(pairs: Sequence[Pair]) -> list[Hashable]:
    """The document of each pair; where the files give none, a block of segments."""
    return [
        (pair.testset, pair.lp, pair.seg // BLOCK if pair.doc == f"{pair.testset}.{pair.lp}" else pair.doc)
        for pair in pairs
    ]


def contexts(pairs: Sequence[Pair], kinds: Sequence[str], *, seed: int = 0) -> dict[str, Contexts]:
    """The contexts of these kinds.

    common: the reference's, for both. none. shuffled: that of another document's reference, for both.
    respective: each text's own. system: the system's, for both.
    """
    made: dict[str, Callable[[], Contexts]] = {
        COMMON: lambda: scoring.same([pair.context for pair in pairs]),
        NONE: lambda: scoring.same([() for _ in pairs]),
        SHUFFLED: lambda: scoring.same(
            scoring.shuffle_contexts(
                [pair.context for pair in pairs],
                items=[sentence(pair) for pair in pairs],
                groups=units(pairs),
                seed=seed,
            )
        ),
        RESPECTIVE: lambda: [(pair.context, pair.system_context) for pair in pairs],
        SYSTEM: lambda: scoring.same([pair.system_context for pair in pairs]),
    }
    return {kind: made[kind]() for kind in kinds}


def person(pair: Pair) -> str:
    """Whether the pronouns of a mismatch are he, she, it, they (in any case): "both third", "reference third", "other".

    "both third": in some mismatch both are; "reference third": the reference's is, the system's is none of them.
    """
    found = [m for m in pair.mismatches if m.kind == "pronoun" and m.ref_form in scoring.THIRD_PERSON]
    if any(m.hyp_form in scoring.THIRD_PERSON for m in found):
        return "both third"
    return "reference third" if found else "other"
