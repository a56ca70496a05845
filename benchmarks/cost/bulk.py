"""Speed and memory of `bulk score` on this machine: workers, overhead against `score`, growth with the number of rows.

    python -m benchmarks.cost.bulk --folder WORK [--rows 10000 100000 1000000] [--compared 100000] [--repeats 2]
                              [--parts compared growth]

Rows are short texts that are all different. Each run is a process of its own with one thread for each worker, from
start to end, Ray's start included; the speed without the start is that from the moment at which each worker has
finished a shard. Memory is the sum of the proportional set sizes of the driver, of Ray's own processes and of the
workers, every ten seconds: to read them takes CPU time. Each part replaces its figures in the JSON. `--page` writes
bulk.md and its plot from the JSON of an earlier run, and extrapolates it, with performance.json, to a billion rows.

The machine must be otherwise idle, with as many free cores as workers.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from benchmarks import pages
from benchmarks.cost import performance_page
from benchmarks.cost.performance_page import gpu_hours, metric_name
from pronmetric.checkpoint import locate

JSON = pages.PUBLISHED / "bulk.json"
PAGE = pages.PUBLISHED / "bulk.md"
PLOT = pages.PUBLISHED / "bulk.svg"
SUBJECTS = ("Maria", "The teacher", "My brother", "The company", "Their dog", "The committee")
VERBS = ("sold", "found", "kept", "painted", "lost", "described")
PRONOUNS = ("it", "them", "this", "hers")
PARTS = ("compared", "growth")
POLL = 10.0  # seconds
_BILLION = 10**9


def text(number: int) -> str:
    """A text of five or six words with one pronoun, another one for each number.

    >>> text(0)
    'Maria sold it in 0.'
    """
    drawn = random.Random(number) if number else None
    parts = (SUBJECTS, VERBS, PRONOUNS)
    subject, verb, pronoun = (names[0] if drawn is None else drawn.choice(names) for names in parts)
    return f"{subject} {verb} {pronoun} in {number}."


def make(path: Path, rows: int) -> None:
    """Write records."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            file.write(json.dumps({"id": number, "text": text(number), "system": f"S{number % 4}"}) + "\n")


def watch(command: Sequence[str], *, shards: Path | None) -> dict[str, Any]:
    """Run a command: seconds, the greatest memory in MiB; memory over time, and when shards were finished."""
    start = time.time()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {**os.environ, "OMP_NUM_THREADS": "1"}}
    process = subprocess.Popen(command, **quiet)
    memory: list[tuple[float, int]] = []
    while process.poll() is None:
        memory.append((round(time.time() - start, 1), _memory(process.pid)))
        with suppress(subprocess.TimeoutExpired):
            process.wait(POLL)
    seconds = time.time() - start
    if process.returncode:
        sys.exit(f"failed: {' '.join(command)}")
    usage: dict[str, Any] = {"seconds": round(seconds, 1), "memory_mib": max(mib for _, mib in memory)}
    if shards is None:
        return usage
    finished = sorted(round(path.stat().st_mtime - start, 1) for path in shards.glob("part-*"))
    return {**usage, "finished": finished, "over_time": memory[:: max(1, len(memory) // 200)]}


def _memory(pid: int) -> int:
    """MiB of a process and those that it has started, shared pages divided."""
    total = 0
    with suppress(psutil.Error):
        driver = psutil.Process(pid)
        for process in (driver, *driver.children(recursive=True)):
            with suppress(psutil.Error):
                total += process.memory_full_info().pss
    return total // 2**20


def plain(source: Path, folder: Path) -> dict[str, Any]:
    """One run of `score --jsonl`, from file to file."""
    command = [sys.executable, "-m", "pronmetric", "score", "--jsonl", str(source), "--precision", "32", "--gpus", "0"]
    return watch([*command, "--quiet", "--to_json", str(folder / "plain.json"), "--only_system"], shards=None)


def bulk(source: Path, folder: Path, *, workers: int) -> dict[str, Any]:
    """One run of `bulk score` into a new folder."""
    out = folder / "bulk"
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "pronmetric", "bulk", "score", str(source), "-o", str(out), "--precision", "32"]
    return watch([*command, "--quiet", "--workers", str(workers)], shards=out / "scores")


def compare(folder: Path, *, rows: int, repeats: int) -> dict[str, Any]:
    """`score`, one worker and two; the runs alternate, so that other load weighs on each of them."""
    source = folder / "compared.jsonl"
    make(source, rows)
    runs: dict[str, list[dict[str, Any]]] = {"score": [], "1": [], "2": []}
    for _ in range(repeats):
        runs["score"].append(plain(source, folder))
        for workers in (1, 2):
            runs[str(workers)].append(bulk(source, folder, workers=workers))
        print(json.dumps({name: each[-1] | {"over_time": None} for name, each in runs.items()}), flush=True)
    return {"rows": rows, "runs": runs}


def grow(folder: Path, rows: Sequence[int]) -> dict[str, Any]:
    """Two workers with more and more rows."""
    runs = []
    for number in rows:
        make(folder / "rows.jsonl", number)
        runs.append({"rows": number, **bulk(folder / "rows.jsonl", folder, workers=2)})
        print(json.dumps(runs[-1] | {"over_time": None}), flush=True)
    return {"runs": runs}


def figures(content: Mapping[str, Any]) -> dict[str, float]:
    """Speed-up of two workers, overhead of bulk against `score`, rows per second of a worker.

    Medians of the repeats, of whole runs. `steady_speedup` leaves out the start and the first shard.
    """
    runs, rows = content["compared"]["runs"], content["compared"]["rows"]
    seconds = {name: median(run["seconds"] for run in runs[name]) for name in runs}
    steady = {name: median(_steady(run["finished"], int(name)) for run in runs[name]) for name in ("1", "2")}
    return {
        "speedup": seconds["1"] / seconds["2"],
        "steady_speedup": steady["1"] / steady["2"],
        "overhead": seconds["1"] / seconds["score"] - 1,
        "rows_per_second": rows / seconds["1"],
    }


def _steady(finished: Sequence[float], workers: int) -> float:
    """Seconds for a shard, from the moment at which each worker has finished one; NaN with too few shards.

    >>> _steady([10.0, 10.0, 12.0, 12.0, 14.0, 14.0], 2)
    1.0
    """
    left = len(finished) - workers
    return (finished[-1] - finished[workers - 1]) / left if left > 0 else math.nan


def billion(largest: Mapping[str, Any], speed: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Core and GPU hours of 1,000,000,000 rows, from the largest run and from the speed of `score`.

    speed: the rows of pronmetric in performance.json. GPU hours are None without a figure for the matrix products.
    """
    core_hours = 2 * _BILLION / (largest["rows"] / largest["seconds"]) / 3600
    rows: list[dict[str, Any]] = [{"rows": "the rows above, fp32", "core_hours": core_hours, "gpu_hours": None}]
    for each in speed:
        name = f"{metric_name(each)}: texts with context, {each['pieces_a_line']:.0f} pieces"
        core_hours = _BILLION / each["lines_per_cpu_second"] / 3600
        rows.append({"rows": name, "core_hours": core_hours, "gpu_hours": gpu_hours(each, lines=_BILLION)})
    return rows


def page(content: Mapping[str, Any]) -> str:
    """The page of figures."""
    value, compared, growth = figures(content), content["compared"], content["growth"]
    rows = "\n".join(
        f"| {run['rows']:,} | {run['seconds']:,.0f} | {run['rows'] / run['seconds']:,.0f} | {run['memory_mib']:,} |"
        for run in growth["runs"]
    )
    machine = "{cores} cores ({processor})".format(**content["machine"])
    return pages.fill(
        "bulk",
        weights=content["weights"],
        machine=machine,
        compared_command=compared["command"],
        compared_date=compared["date"],
        compared_rows=compared["rows"],
        speedup=value["speedup"],
        steady_speedup=value["steady_speedup"],
        overhead=100 * value["overhead"],
        rows_per_second=value["rows_per_second"],
        growth_command=growth["command"],
        growth_date=growth["date"],
        rows=rows,
        billion=_billion_table(content["billion"]),
    )


def _billion_table(rows: Sequence[Mapping[str, Any]]) -> str:
    def hours(value: float | None) -> str:
        return "-" if value is None else f"{value:,.0f}"

    cells = [[row["rows"], hours(row["core_hours"]), hours(row["gpu_hours"])] for row in rows]
    return pages.markdown([["rows", "core hours", "GPU hours"], *cells])


def plot(content: Mapping[str, Any], path: Path) -> None:
    """Time by rows, and memory over time, of the runs with two workers."""
    import matplotlib.pyplot as plt

    drawing, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    runs = content["growth"]["runs"]
    left.loglog([run["rows"] for run in runs], [run["seconds"] for run in runs], "o-")
    left.set(xlabel="rows", ylabel="seconds")
    for run in runs:
        times, mib = zip(*run["over_time"], strict=True)
        right.plot([100 * at / run["seconds"] for at in times], mib, label=f"{run['rows']:,} rows")
    right.set(xlabel="% of the run", ylabel="memory (MiB)", ylim=(0, None))
    right.legend()
    drawing.savefig(path)
    plt.close(drawing)


def main() -> None:
    """Measure and write the JSON, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where inputs and outputs are written")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--compared", type=int, default=100_000, help="rows of the runs that are compared")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="default: both")
    parser.add_argument("--json", type=Path, default=JSON)
    parser.add_argument("--page", action="store_true", help="write page and plot from --json, and measure nothing")
    args = parser.parse_args()
    if args.page:
        content = json.loads(args.json.read_text(encoding="utf-8"))
        speed = json.loads(performance_page.JSON.read_text(encoding="utf-8"))["speed"]
        content["billion"] = billion(content["growth"]["runs"][-1], [row for row in speed if row["kind"] == "ours"])
        args.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(page(content), encoding="utf-8")
        plot(content, PLOT)
        return
    if args.folder is None:
        parser.error("give --folder")
    args.folder.mkdir(parents=True, exist_ok=True)
    weights = pages.weights_hash(locate.locate().folder)
    content: dict[str, Any] = json.loads(args.json.read_text(encoding="utf-8")) if args.json.exists() else {}
    if content.get("weights") != weights:
        content = {}
    machine = {"cores": os.cpu_count(), "processor": platform.processor() or platform.machine()}
    content |= {**pages.origin("cost.bulk"), "weights": weights, "machine": machine}
    if "compared" in args.parts:
        content["compared"] = {
            **pages.origin("cost.bulk"),
            **compare(args.folder, rows=args.compared, repeats=args.repeats),
        }
        content["figures"] = figures(content)
    if "growth" in args.parts:
        content["growth"] = {**pages.origin("cost.bulk"), **grow(args.folder, args.rows)}
    args.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(content.get("figures"), indent=1))


if __name__ == "__main__":
    main()
