"""Speed of `pronmetric score` from file to file on one core, as a share of the CPU's bf16 matrix rate.

All times are CPU seconds of this process with one thread. The matrix rate is that of a square bf16 GEMM, measured
before, between and after the runs, so that other load on the machine weighs on both. FLOPs are those of the encoder
over the real pieces of each distinct (context, text): padding, the head, tokenizing, finding pronouns, reading and
writing count as time but not as work. Start-up (imports, loading the model) is reported separately.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from benchmarks import corpora
from pronmetric.cli.main import main as pronmetric
from pronmetric.data.collate import Encoded, Example
from pronmetric.metric import PronounMetric
from pronmetric.pronouns import finder
from pronmetric.text.context import join

_SIZE = 1024
_GEMMS = 200


def gemm_rate(dtype: torch.dtype) -> float:
    """FLOPs a CPU second of a square matrix product."""
    a, b = torch.randn(_SIZE, _SIZE).to(dtype), torch.randn(_SIZE, _SIZE).to(dtype)
    count = _GEMMS if dtype == torch.bfloat16 else _GEMMS // 4
    for _ in range(count // 10):
        torch.mm(a, b)
    start = time.process_time()
    for _ in range(count):
        torch.mm(a, b)
    return 2 * _SIZE**3 * count / (time.process_time() - start)


def encoder_flops(config: Mapping[str, Any], rows: list[Encoded]) -> float:
    """Multiplications and additions of the encoder's matrix products over the rows' own pieces."""
    width, inner, layers = config["hidden_size"], config["intermediate_size"], config["num_hidden_layers"]
    lengths = [len(row.ids) for row in rows]
    weights = 2 * (4 * width**2 + 2 * width * inner)  # query, key, value, output; two feed-forward maps
    return float(layers * sum(n * weights + 4 * n * n * width for n in lengths))


def encode(metric: PronounMetric, outputs: corpora.Outputs) -> list[Encoded]:
    """The rows of the distinct (context, text) with a pronoun."""
    distinct = {(join(r["context"]), str(r["text"])) for name in outputs.systems for r in outputs.records(name)}
    examples = [Example(c, t, [(p.start, p.end) for p in finder.find(t)]) for c, t in sorted(distinct)]
    return metric.inference.collator.encode([example for example in examples if example.spans])


def score(paths: list[str], folder: Path, model: str | None, precision: str) -> float:
    """CPU seconds of one run of the command, output and JSON to files."""
    argv = ["score", "-t", *paths, "-r", str(folder / "ref.txt"), "--docids", str(folder / "docids.txt"), "--quiet"]
    argv += ["--precision", precision, "--gpus", "0", "--to_json", str(folder / "out.json")]
    argv += [] if model is None else ["--model", model]
    start = time.process_time()
    with (folder / "stdout").open("w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
        code = pronmetric(argv)
    if code:
        sys.exit(code)
    return time.process_time() - start


@torch.inference_mode()
def forward(metric: PronounMetric, rows: list[Encoded]) -> float:
    """CPU seconds of the model alone, on rows that are ready."""
    from pronmetric.data.collate import cut_batches
    from pronmetric.scoring.replicas import BATCH_PIECES, BATCH_SIZE

    batches = list(cut_batches(rows, pieces=BATCH_SIZE["cpu"] * BATCH_PIECES))
    start = time.process_time()
    for _ in metric.inference.replicas.map(batches, lambda model, collator, batch: model(collator.pad(batch))):
        pass
    return time.process_time() - start


def measure(outputs: corpora.Outputs, *, model: str | None, precision: str) -> dict[str, Any]:
    """All figures."""
    torch.set_num_threads(1)
    metric = PronounMetric.from_pretrained(model, precision=precision, gpus=0)
    parts = [corpora.take(outputs, [name]) for name in outputs.systems]
    rows = [encode(metric, part) for part in parts]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = outputs.write(folder)
        line = folder / "line"
        line.mkdir()
        (first,) = corpora.take(outputs, [next(iter(outputs.systems))], 1).write(line)
        score([first], line, model, precision)  # imports
        rates, seconds, alone, start_up = [gemm_rate(torch.bfloat16)], [], [], []
        for path, part in zip(paths, rows, strict=True):
            start_up.append(score([first], line, model, precision))
            seconds.append(score([path], folder, model, precision) - start_up[-1])
            rates.append(gemm_rate(torch.bfloat16))
            alone.append(forward(metric, part))
            rates.append(gemm_rate(torch.bfloat16))
    every = [row for part in rows for row in part]
    flops, rate = encoder_flops(metric.config["encoder"], every), mean(rates)
    texts = len({(k, row.example) for k, part in enumerate(rows) for row in part})
    return {
        "outputs": outputs.name,
        "systems": len(parts),
        "lines": sum(len(part.reference) for part in parts),
        "texts": texts,
        "pieces": sum(len(row.ids) for row in every),
        "precision": precision,
        "gemm_bf16_gflops": rate / 1e9,
        "gemm_bf16_lowest_and_highest": [min(rates) / 1e9, max(rates) / 1e9],
        "gemm_fp32_gflops": gemm_rate(torch.float32) / 1e9,
        "cpu_seconds": sum(seconds),
        "start_up_cpu_seconds": mean(start_up),
        "texts_per_cpu_second": texts / sum(seconds),
        "pieces_per_cpu_second": sum(len(row.ids) for row in every) / sum(seconds),
        "share_of_gemm": flops / sum(seconds) / rate,
        "model_alone_share_of_gemm": flops / sum(alone) / rate,
        "load_average": os.getloadavg()[0],
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, torch {torch.__version__}",
    }


def show(figures: Mapping[str, Any]) -> str:
    """The figures for a reader."""
    part = {name: f"{100 * figures[name]:.1f} %" for name in ("share_of_gemm", "model_alone_share_of_gemm")}
    return "\n".join(
        [
            f"{figures['outputs']}: {figures['texts']} distinct texts of {figures['lines']} lines",
            f"  {figures['texts_per_cpu_second']:.1f} texts, {figures['pieces_per_cpu_second']:.0f} pieces a CPU s",
            f"  {part['share_of_gemm']} of the bf16 matrix rate ({figures['gemm_bf16_gflops']:.0f} GFLOP/s)",
            f"  the model alone {part['model_alone_share_of_gemm']}",
            f"  start-up {figures['start_up_cpu_seconds']:.1f} CPU seconds; load average {figures['load_average']:.1f}",
        ]
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    corpora.add_flags(parser)
    parser.add_argument("--systems", type=int, default=4, metavar="N", help="number of systems (default: %(default)s)")
    parser.add_argument("--precision", choices=["32", "bf16", "16"], default="bf16", help="default: %(default)s")
    options = parser.parse_args()
    outputs = corpora.read(options)
    outputs = corpora.take(outputs, list(outputs.systems)[: options.systems])
    figures = measure(outputs, model=options.model, precision=options.precision)
    print(show(figures))
    if options.out is not None:
        options.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
