"""How near bf16 scores are to fp32 ones: segment scores, and the decisions between two systems."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks import corpora
from pronmetric.comparison import decide
from pronmetric.metric import PronounMetric
from pronmetric.score import SegmentScore

TIE = 0.01


def measure(
    first: Sequence[Sequence[SegmentScore]], second: Sequence[Sequence[SegmentScore]], segments: int
) -> dict[str, Any]:
    """Figures over the first `segments` scored segments, and all pairs of systems over their lines.

    first, second: the segments of each system, in one precision and in the other.
    """
    both = [(x.score, y.score) for a, b in zip(first, second, strict=True) for x, y in zip(a, b, strict=True)]
    scored = [(x, y) for x, y in both if x is not None and y is not None]
    gaps = np.abs(np.subtract(*zip(*scored[:segments], strict=True)))
    decisions = {"by_sign": [], "with_tie_band": []}  # type: dict[str, list[bool]]
    for i, j in combinations(range(len(first)), 2):
        for w, x, y, z in zip(first[i], first[j], second[i], second[j], strict=True):
            if None in (w.score, x.score):
                continue
            decisions["by_sign"].append(decide(w, x, tie=0.0).better == decide(y, z, tie=0.0).better)
            decisions["with_tie_band"].append(decide(w, x, tie=TIE).better == decide(y, z, tie=TIE).better)
    return {
        "segments": len(gaps),
        "mean_absolute_difference": float(gaps.mean()),
        "maximum": float(gaps.max()),
        "percentile_99": float(np.quantile(gaps, 0.99)),
        "pairs": len(decisions["by_sign"]),
        "decisions_agree": {name: float(np.mean(same)) for name, same in decisions.items()},
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    corpora.add_flags(parser)
    parser.add_argument("--segments", type=int, default=2000, help="scored segments (default: %(default)s)")
    parser.add_argument("--systems", type=int, default=3, help="systems to compare (default: %(default)s)")
    options = parser.parse_args()
    outputs = corpora.read(options)
    outputs = corpora.take(outputs, list(outputs.systems)[: options.systems])
    found = {}
    for precision in ("32", "bf16"):
        metric = PronounMetric.from_pretrained(options.model, precision=precision, gpus=0)
        found[precision] = [metric.predict(outputs.records(name), progress=True).segments for name in outputs.systems]
    figures = {"outputs": outputs.name, **measure(found["32"], found["bf16"], options.segments)}
    figures["signature"] = str(metric.signature(context="common"))
    print(json.dumps(figures, indent=1))
    if options.out is not None:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
