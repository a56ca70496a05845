"""The effect of context: reference against noisy reference in common, no and shuffled context.

    python -m benchmarks.checkpoint.context_gain --model FOLDER --data PREPARED
        [--split development|test] [--out FILE.json]

"third" are the pairs whose two pronouns are both third-person personal, possessive or reflexive ones (he/it, his/her,
them/it ...), where the sentence alone says least; "third against any" those whose reference pronoun is one. Differences
are on the same pairs, intervals resample documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import pages
from benchmarks.checkpoint import prepared, scoring
from benchmarks.checkpoint.scoring import COMMON, NONE, SHUFFLED, Judged, Scorer
from pronmetric.eval import accuracy as evaluation
from pronmetric.schema import Pair

KINDS = (COMMON, NONE, SHUFFLED)


def measure(score: Scorer, pairs: Sequence[Pair], *, seed: int = 0) -> dict[str, Any]:
    """All figures of a scorer on noisy pairs, from one call of `score`."""
    judged = scoring.judge(score, prepared.contrasts(pairs), prepared.contexts(pairs, KINDS, seed=seed), seed=seed)
    persons = [prepared.person(pair) for pair in pairs]
    groups = {
        "third": [i for i, p in enumerate(persons) if p == "both third"],
        "third against any": [i for i, p in enumerate(persons) if p != "other"],
        "all": list(range(len(pairs))),
    }
    for form in sorted({m.ref_form for i in groups["third"] for m in pairs[i].mismatches}):
        groups[f"third, {form}"] = [i for i in groups["third"] if pairs[i].mismatches[0].ref_form == form]
    return {name: _gain([pairs[i] for i in part], scoring.pick(judged, part)) for name, part in groups.items() if part}


def _gain(pairs: Sequence[Pair], judged: Mapping[str, Judged]) -> dict[str, Any]:
    units = prepared.units(pairs)
    return {
        **{kind: evaluation.accuracy(found.decisions, units) for kind, found in judged.items()},
        "context_gain": scoring.difference(judged[COMMON], judged[NONE], units),
        "shuffled_gain": scoring.difference(judged[SHUFFLED], judged[NONE], units),
    }


def show(figures: Mapping[str, Any]) -> str:
    """The figures as a short table."""
    rows = [
        [
            name,
            part[COMMON].pairs,
            *(f"{100 * part[kind].accuracy:.1f}" for kind in KINDS),
            pages.percent(part["context_gain"], signed=True),
            pages.percent(part["shuffled_gain"], signed=True),
        ]
        for name, part in figures.items()
    ]
    return pages.table(["R vs R'", "pairs", *KINDS, "common - none", "shuffled - none"], rows)


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    scoring.add_data(parser)
    options = parser.parse_args()
    pages.weights_hash(options.model)
    pairs = prepared.read(options, lambda pair: pair.kind == "noisy")
    scorer = scoring.load(options)
    figures = measure(scorer, pairs, seed=options.seed)
    scoring.report("context_gain", options, scorer, figures)
    print(show(figures))


if __name__ == "__main__":
    pages.run(main)
