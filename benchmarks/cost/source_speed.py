"""Time of scoring with the source over that of the checkpoint alone, on one core.

    python -m benchmarks.cost.source_speed [--model NAME|FOLDER] [--systems N] [--lines N] [--out FILE.json]

CPU seconds of this process with one thread, from texts in memory to scores; each way twice, in turn, the quicker one
counts. A reader with a head for gaps reads every text that has a source, the checkpoint only those with a pronoun: the
second ratio is on these alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from benchmarks import corpora, pages
from pronmetric.errors import PronmetricError
from pronmetric.metric import PronounMetric
from pronmetric.scoring.score import Counts
from pronmetric.text.context import Source, Text, in_context, join

ROUNDS = 2


def texts(outputs: corpora.Outputs, language: str | None) -> list[Text]:
    """All systems' lines in the reference's context, with their sources."""
    sources = [
        Source(record["text"], tuple(record["context"]), language)
        for record in in_context(outputs.source, docs=outputs.docs)
    ]
    return [
        Text(join(record["context"]), str(record["text"]), source)  # type: ignore[arg-type]
        for name in outputs.systems
        for record, source in zip(outputs.records(name), sources, strict=True)
    ]


def seconds(metric: PronounMetric, given: Sequence[Text]) -> tuple[float, float]:
    """The CPU seconds without sources and with them."""
    bare = [text._replace(source=None) for text in given]
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for own, its in zip(found, (bare, given), strict=True):
            start = time.process_time()
            for _ in metric.stream(its):
                pass
            own.append(time.process_time() - start)
    return min(found[0]), min(found[1])


def measure(metric: PronounMetric, given: Sequence[Text]) -> dict[str, Any]:
    """The times and ratios of all texts and of those with a pronoun.

    Raises:
        PronmetricError: the checkpoint reads no source.
    """
    counts = Counts()
    segments = metric.stream(given, counts=counts)
    scored = [text for text, segment in zip(given, segments, strict=True) if segment.pronouns]
    if not counts.with_source:
        raise PronmetricError("this checkpoint has no reader of sources")
    parts = {"all": seconds(metric, given), "with_pronoun": seconds(metric, scored)}
    return {
        "texts": len(given),
        "texts_with_pronoun": len(scored),
        **{
            name: {"without": without, "with": with_source, "ratio": with_source / without}
            for name, (without, with_source) in parts.items()
        },
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    corpora.add_flags(parser)
    parser.add_argument("--systems", type=int, default=1, metavar="N", help="number of systems (default: %(default)s)")
    parser.add_argument("--lines", type=int, default=500, metavar="N", help="first lines (default: %(default)s)")
    parser.add_argument("--precision", choices=["32", "bf16"], default="32", help="default: %(default)s")
    options = parser.parse_args()
    torch.set_num_threads(1)
    outputs = corpora.read(options)
    outputs = corpora.take(outputs, list(outputs.systems)[: options.systems], options.lines)
    metric = PronounMetric.from_pretrained(options.model, precision=options.precision, gpus=0)
    language = options.dataset.partition(":")[2].partition("-")[0] or None
    figures = {
        **pages.origin("cost.source_speed"),
        "outputs": outputs.name,
        "weights": metric.hash,
        "precision": options.precision,
        **measure(metric, texts(outputs, language)),
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, torch {torch.__version__}",
    }
    for name in ("all", "with_pronoun"):
        own = figures[name]
        print(f"{name}: {own['without']:.1f} CPU s without the source, {own['with']:.1f} with it, {own['ratio']:.2f} x")
    if options.out is not None:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    pages.run(main)
