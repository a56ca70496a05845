"""Speed of the ELMo encoder on one core, at the size of the published weights (2x4096_512) by default.

Weights and words are random: each word is another one, so nothing is gained where equal words are computed once. Each
figure is words per CPU second of the whole encoder, markers of sentences left out of the count, the best of the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from pronmetric.data import characters
from pronmetric.nn.elmo import Elmo, Shape

PUBLISHED = Shape(
    characters=262,
    character_width=16,
    filters=((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)),
    highway=2,
    activation="relu",
    layers=2,
    cell=4096,
    projection=512,
    cell_clip=3.0,
    projection_clip=3.0,
    residual=True,
)


def random_words(count: int, rng: np.random.Generator) -> list[str]:
    """`count` words of 1 to 9 letters, hardly two the same."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return ["".join(rng.choice(letters, size)) for size in rng.integers(1, 10, count)]


@torch.inference_mode()
def rate(elmo: Elmo, *, batch: int, words: int, runs: int) -> float:
    """Words per CPU second, the best of `runs`, in batches of `batch` sentences of `words` words."""
    rng = np.random.default_rng(0)
    ids = torch.from_numpy(characters.ids(random_words(batch * words, rng))).view(batch, words, -1)
    mask = torch.ones(batch, words, dtype=torch.bool)
    seconds = []
    for _ in range(1 + runs):  # the first warms up
        start = time.process_time()
        elmo(ids, mask)
        seconds.append(time.process_time() - start)
    return batch * words / min(seconds[1:])


def measure(shape: Shape, *, batches: list[int], words: int, runs: int, precision: str) -> dict[str, Any]:
    """All figures."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    elmo = Elmo(shape).eval().to({"32": torch.float32, "bf16": torch.bfloat16}[precision])
    return {
        "size": f"{shape.layers}x{shape.cell}_{shape.projection}",
        "precision": precision,
        "words_of_a_sentence": words,
        "words_per_cpu_second": {batch: rate(elmo, batch=batch, words=words, runs=runs) for batch in batches},
        "load_average": os.getloadavg()[0],
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, torch {torch.__version__}",
    }


def show(figures: dict[str, Any]) -> str:
    """The figures for a reader."""
    lines = [f"  batch {batch:>3}: {words:.0f}" for batch, words in figures["words_per_cpu_second"].items()]
    head = f"ELMo {figures['size']}, words per CPU second ({figures['precision']}, one thread)"
    return "\n".join([head, *lines, f"  load average {figures['load_average']:.1f}; {figures['machine']}"])


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8, 32], metavar="N", help="sentences of a batch")
    parser.add_argument("--words", type=int, default=25, metavar="N", help="words of a sentence (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="the best of N runs (default: %(default)s)")
    parser.add_argument("--precision", choices=["32", "bf16"], default="32")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="also write the figures there")
    options = parser.parse_args()
    figures = measure(
        PUBLISHED, batches=options.batches, words=options.words, runs=options.runs, precision=options.precision
    )
    print(show(figures))
    if options.out is not None:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
