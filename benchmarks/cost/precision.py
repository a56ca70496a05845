"""CPU time of each precision, and its score differences between batches and from fp32 (the default)."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks import corpora
from pronmetric.metric import PronounMetric
from pronmetric.scoring.comparison import TIE_THRESHOLD, decide
from pronmetric.scoring.score import SegmentScore


def measure(
    first: Sequence[Sequence[SegmentScore]], second: Sequence[Sequence[SegmentScore]], segments: int
) -> dict[str, Any]:
    """Figures over the first `segments` scored segments, and all pairs of systems over their lines.

    first, second: the segments of each system, in one precision and in the other.
    """
    both = [(x.score, y.score) for a, b in zip(first, second, strict=True) for x, y in zip(a, b, strict=True)]
    scored = [(x, y) for x, y in both if x is not None and y is not None]
    gaps = np.abs(np.subtract(*zip(*scored[:segments], strict=True)))
    decisions = {"by_sign": [], "with_tie_threshold": []}  # type: dict[str, list[bool]]
    for i, j in combinations(range(len(first)), 2):
        for w, x, y, z in zip(first[i], first[j], second[i], second[j], strict=True):
            if None in (w.score, x.score):
                continue
            decisions["by_sign"].append(decide(w, x, tie=0.0).better == decide(y, z, tie=0.0).better)
            decisions["with_tie_threshold"].append(
                decide(w, x, tie=TIE_THRESHOLD).better == decide(y, z, tie=TIE_THRESHOLD).better
            )
    return {
        "segments": len(gaps),
        "mean_absolute_difference": float(gaps.mean()),
        "maximum": float(gaps.max()),
        "percentile_99": float(np.quantile(gaps, 0.99)),
        "pairs": len(decisions["by_sign"]),
        "decisions_agree": {name: float(np.mean(same)) for name, same in decisions.items()},
    }


def largest_move(first: Sequence[SegmentScore], second: Sequence[SegmentScore]) -> float:
    """The largest difference between two scores of one pronoun."""
    moves = [
        abs(p.score - q.score)
        for x, y in zip(first, second, strict=True)
        for p, q in zip(x.pronouns, y.pronouns, strict=True)
    ]
    return max(moves, default=0.0)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    corpora.add_flags(parser)
    parser.add_argument("--segments", type=int, default=2000, help="scored segments (default: %(default)s)")
    parser.add_argument(
        "--alone", type=int, default=300, help="segments scored again one by one (default: %(default)s)"
    )
    parser.add_argument("--systems", type=int, default=3, help="systems to compare (default: %(default)s)")
    options = parser.parse_args()
    outputs = corpora.read(options)
    outputs = corpora.take(outputs, list(outputs.systems)[: options.systems])
    names, found, cost = list(outputs.systems), {}, {}
    for precision in ("32", "bf16"):
        metric = PronounMetric.from_pretrained(options.model, precision=precision, gpus=0)
        begun = time.process_time()
        found[precision] = [metric.predict(outputs.records(name), progress=True).segments for name in names]
        seconds = time.process_time() - begun
        alone = metric.predict(outputs.records(names[0])[: options.alone], batch_size=1).segments
        cost[precision] = {
            "cpu_seconds": seconds,
            "largest_move_of_a_pronoun_scored_in_batches_of_its_own": largest_move(
                found[precision][0][: options.alone], alone
            ),
            "signature": str(metric.signature(context="common")),
        }
    figures = {"outputs": outputs.name, **cost, **measure(found["32"], found["bf16"], options.segments)}
    print(json.dumps(figures, indent=1))
    if options.out is not None:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
