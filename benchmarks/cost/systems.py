"""Time saved by encoding each distinct text once: one run of many systems against one run for each system."""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import corpora
from pronmetric.metric import PronounMetric
from pronmetric.scoring.score import Counts
from pronmetric.text.context import text_of


def measure(metric: PronounMetric, outputs: corpora.Outputs) -> dict[str, Any]:
    """CPU seconds, texts encoded and the largest difference between the scores of both ways."""
    texts = {name: [text_of(record) for record in outputs.records(name)] for name in outputs.systems}
    list(metric.stream(next(iter(texts.values()))[:50]))  # warm
    alone, together = Counts(), Counts()
    start = time.process_time()
    one_by_one = [s.score for part in texts.values() for s in metric.stream(part, counts=alone)]
    middle = time.process_time()
    rows = zip(*texts.values(), strict=True)  # as `score -t` reads them: segment by segment
    at_once = [s.score for s in metric.stream((text for row in rows for text in row), counts=together)]
    end = time.process_time()
    lines = len(outputs.reference)
    turned = [at_once[i * len(texts) + k] for k in range(len(texts)) for i in range(lines)]
    gaps = [abs(a - b) for a, b in zip(one_by_one, turned, strict=True) if a is not None and b is not None]
    return {
        "outputs": outputs.name,
        "systems": len(texts),
        "segments": lines,
        "encoded_alone": alone.encoded,
        "encoded_together": together.encoded,
        "cpu_seconds_alone": middle - start,
        "cpu_seconds_together": end - middle,
        "together_to_alone": (end - middle) / (middle - start),
        "largest_difference": max(gaps),
        "signature": str(metric.signature(context="common")),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    corpora.add_flags(parser)
    parser.set_defaults(dataset="wmt21:de-en")
    parser.add_argument("--systems", type=int, default=16, help="number of systems (default: %(default)s)")
    parser.add_argument("--lines", type=int, help="only the first N segments")
    parser.add_argument("--precision", choices=["32", "bf16", "16"], default="32")
    options = parser.parse_args()
    outputs = corpora.read(options)
    outputs = corpora.take(outputs, list(outputs.systems)[: options.systems], options.lines)
    metric = PronounMetric.from_pretrained(options.model, precision=options.precision, gpus=0)
    figures = measure(metric, outputs)
    print(json.dumps(figures, indent=1))
    if options.out is not None:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
