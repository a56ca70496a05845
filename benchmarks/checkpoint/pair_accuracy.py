"""Pair accuracy on a prepared split: reference against system (R vs S) and against noisy reference (R vs R').

    python -m benchmarks.checkpoint.pair_accuracy --model FOLDER --data PREPARED --split test
        [--contexts all] [--out FILE.json]

R vs S contains the pairs in which an aligned pronoun differs from the system's pronoun; pairs that differ only in a
pronoun against another word or nothing are a part of their own, measured with `--others`. Contexts as in `pronmetric
compare`: common (the reference's for both), respective (each its own), crossed (both texts in the reference's and both
in the system's, averaged, as in a comparison without a reference), none, and shuffled (another document's). Intervals
resample documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import pages
from benchmarks.checkpoint import prepared, scoring
from benchmarks.checkpoint.prepared import RESPECTIVE, SYSTEM
from benchmarks.checkpoint.scoring import COMMON, NONE, SHUFFLED, Judged, Result, Scorer
from pronmetric.eval import accuracy as evaluation
from pronmetric.schema import Pair
from pronmetric.scoring.comparison import mean

CROSSED = "crossed"
KINDS = (COMMON, RESPECTIVE, CROSSED, NONE, SHUFFLED)
PARTS = {"system": "R vs S", "noisy": "R vs R'", "system other": "R vs S, word or nothing"}


def measure(score: Scorer, pairs: Sequence[Pair], kinds: Sequence[str] = (COMMON,), *, seed: int = 0) -> dict[str, Any]:
    """All figures of a scorer on pairs, from one call of `score`; `kinds` must contain common."""
    scored = dict.fromkeys(own for kind in kinds for own in ((COMMON, SYSTEM) if kind == CROSSED else (kind,)))
    judged = scoring.judge(
        score, prepared.contrasts(pairs), prepared.contexts(pairs, list(scored), seed=seed), seed=seed
    )
    if CROSSED in kinds:
        judged[CROSSED] = _average_contexts(judged[COMMON], judged[SYSTEM])
    judged = {kind: judged[kind] for kind in kinds}
    groups = {name: [i for i, pair in enumerate(pairs) if part(pair) == name] for name in PARTS}
    return {
        name: _figures([pairs[i] for i in numbers], scoring.pick(judged, numbers))
        for name, numbers in groups.items()
        if numbers
    }


def part(pair: Pair) -> str:
    """The one of PARTS that a pair belongs to."""
    if pair.kind != "system" or any(m.kind == "pronoun" for m in pair.mismatches):
        return pair.kind
    return "system other"


def _average_contexts(first: Judged, second: Judged) -> Judged:
    """Scores averaged over two contexts; null where one of them is."""

    def averaged(results: Sequence[Result], others: Sequence[Result]) -> list[Result]:
        return [
            Result(
                score=mean([a["score"], b["score"]]),
                pronouns=a["pronouns"],
            )
            for a, b in zip(results, others, strict=True)
        ]

    return scoring.judged_of(averaged(first.better, second.better), averaged(first.worse, second.worse))


def _figures(pairs: Sequence[Pair], judged: Mapping[str, Judged]) -> dict[str, Any]:
    units = prepared.units(pairs)
    common = judged[COMMON]

    def by(groups: Sequence[str]) -> dict[str, evaluation.Accuracy]:
        return evaluation.accuracy_by(groups, common.decisions, units)

    figures = {
        "contexts": {kind: evaluation.accuracy(found.decisions, units) for kind, found in judged.items()},
        "by_count": evaluation.accuracy_by_count(
            scoring.counts(common.better), scoring.counts(common.worse), common.decisions, units
        ),
        "by_testset": by([f"{pair.testset}.{pair.lp}" for pair in pairs]),
        "by_person": by([prepared.person(pair) for pair in pairs]),
    }
    if pairs[0].kind == "system":
        return figures | {"by_mismatches": by(["one" if len(pair.mismatches) == 1 else "several" for pair in pairs])}
    references = [pair.mismatches[0].ref_form for pair in pairs]
    wrongs = [pair.mismatches[0].hyp_form for pair in pairs]
    return figures | {
        "by_agreement": by(["verb agrees" if pair.agrees else "verb does not agree" for pair in pairs]),
        "confusions": evaluation.confusions(references, wrongs, common.decisions)[:50],
    }


def show(figures: Mapping[str, Any]) -> str:
    """The figures as a short table, and the most frequent errors."""
    rows = []
    for name, found in figures.items():
        for kind, value in found["contexts"].items():
            rows.append([f"{PARTS[name]}, {kind}", value.pairs, pages.percent(value), value.equal, value.null])
        split = found["by_count"]
        for group, value in (("as many pronouns", split.equal), ("not as many", split.unequal)):
            if value is not None:
                rows.append([f"  {group}", value.pairs, pages.percent(value), value.equal, value.null])
        rows.append(["  not as many: won by fewer", "", pages.percent(split.fewer_won), "", ""])
        for grouping in ("by_testset", "by_person", "by_agreement", "by_mismatches"):
            for group, value in found.get(grouping, {}).items():
                rows.append([f"  {group}", value.pairs, pages.percent(value), value.equal, value.null])
    text = pages.table(["pairs", "number", "accuracy", "equal", "null"], rows)
    if "noisy" not in figures:
        return text
    wrong = [[f"{c.reference} -> {c.system}", c.wrong, c.pairs] for c in figures["noisy"]["confusions"][:15]]
    return text + "\n\n" + pages.table(["most errors, R vs R'", "wrong", "of"], wrong)


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    scoring.add_data(parser)
    parser.add_argument("--contexts", choices=("common", "all"), default="common")
    parser.add_argument("--others", action="store_true", help="also pairs without a pronoun against a pronoun")
    options = parser.parse_args()
    pages.weights_hash(options.model)
    pairs = prepared.read(options, lambda pair: options.others or part(pair) != "system other")
    scorer = scoring.load(options)
    kinds = KINDS if options.contexts == "all" else (COMMON,)
    figures = measure(scorer, pairs, kinds, seed=options.seed)
    scoring.report("pair_accuracy", options, scorer, {"split": options.split, **figures})
    print(show(figures))


if __name__ == "__main__":
    pages.run(main)
