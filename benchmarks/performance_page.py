"""The page docs/performance.md and its plot, from the figures of `performance`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import scoring
from benchmarks.prepare import as_table

JSON, INT8 = scoring.BENCHMARKS / "performance.json", scoring.BENCHMARKS / "int8.json"
PAGE = scoring.ROOT / "docs" / "performance.md"
PLOT = scoring.ROOT / "docs" / "performance.svg"
CPU_PRICE = 0.05  # dollars for a core hour
GPU_PRICE, GPU_RATE, GPU_SHARE, GPU_CORES = 2.0, 312e12, 0.4, 8  # dollars an hour, bf16 FLOP/s, share reached, cores
SETS = {"study": "the study set", "gap": "GAP"}
BARS = {"help": 0.3, "first_score": 3.0}
_MILLION = 1_000_000


def cpu_cost(row: Mapping[str, Any]) -> float:
    """Dollars for a million lines on a CPU.

    >>> round(cpu_cost({"lines_per_cpu_second": 100.0}), 3)
    0.139
    """
    return _MILLION / row["lines_per_cpu_second"] / 3600 * CPU_PRICE


def gpu_cost(row: Mapping[str, Any]) -> float | None:
    """Dollars for a million lines on a GPU, extrapolated."""
    hours = gpu_hours(row, lines=_MILLION)
    return None if hours is None else hours * GPU_PRICE


def gpu_hours(row: Mapping[str, Any], *, lines: int) -> float | None:
    """Hours of a GPU, extrapolated: the model on the card or the preparation on its cores, whichever takes longer."""
    if row["flops_a_line"] is None:
        return None
    model = lines * row["flops_a_line"] / (GPU_RATE * GPU_SHARE)
    preparation = lines * (row["preparing_seconds_a_line"] or 0.0) / GPU_CORES
    return max(model, preparation) / 3600


def tables(content: Mapping[str, Any]) -> str:
    """The tables for a terminal, in Markdown; those of parts that were measured."""
    found = []
    if "speed" in content:
        found += [_speed(content["speed"]), _costs(content["speed"])]
    if "sizes" in content:
        found.append(_sizes(content))
    if "help" in content:
        found.append(_start_up(content))
    if "compare" in content:
        found.append(_reports(content))
    return "\n\n".join(found)


def _speed(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["metric", "parameters", "lines per CPU s", "pieces per CPU s", "pieces a line", "memory (GB)"]
    body = [
        [
            metric_name(row),
            f"{row['parameters'] / 1e6:,.0f} M",
            f"{row['lines_per_cpu_second']:,.1f}",
            f"{row['pieces_per_cpu_second']:,.0f}",
            f"{row['pieces_a_line']:.0f}",
            "-" if row["memory_bytes"] is None else f"{row['memory_bytes'] / 1e9:.2f}",
        ]
        for row in rows
    ]
    return as_table([head, *body])


def _sizes(content: Mapping[str, Any]) -> str:
    """Seconds of `score` by number of threads, and those of a COMET as large as the published one, on one thread."""
    rows, lines = content["sizes"]["rows"], content["sizes"]["lines"]
    threads = sorted({row["threads"] for row in rows})
    seconds: dict[str, dict[int, float]] = {}
    for row in rows:
        seconds.setdefault(metric_name(row), {})[row["threads"]] = row["seconds"]
    for row in content.get("speed", ()):
        if row["kind"] == "comet":
            seconds[metric_name(row)] = {1: lines / row["lines_per_cpu_second"]}
    body = [[name, *(f"{each[k]:,.1f}" if k in each else "-" for k in threads)] for name, each in seconds.items()]
    return as_table([["checkpoint or metric", *(f"s, {k} thread{'s' * (k > 1)}" for k in threads)], *body])


def _start_up(content: Mapping[str, Any]) -> str:
    def row(name: str, key: str) -> list[str]:
        return [name, f"{BARS[key]:g} s", f"{content[key]['cpu_seconds']:.2f}", f"{content[key]['seconds']:.2f}"]

    head = ["command", "bar", "CPU s", "s"]
    return as_table([head, row("`pronmetric --help`", "help"), row("`pronmetric score`, one line", "first_score")])


def _reports(content: Mapping[str, Any]) -> str:
    compare, report = content["compare"], content["report"]
    times = report["cpu_seconds"] / compare["cpu_seconds"]
    return as_table(
        [
            ["command", "CPU s", "s", "times `compare` (bar: 2)"],
            [
                f"`pronmetric compare`, two systems of {content['segments']} segments",
                f"{compare['cpu_seconds']:.1f}",
                f"{compare['seconds']:.1f}",
                "",
            ],
            [
                "`pronmetric report` of its result",
                f"{report['cpu_seconds']:.1f}",
                f"{report['seconds']:.1f}",
                f"{times:.2f}",
            ],
        ]
    )


def _costs(rows: Sequence[Mapping[str, Any]]) -> str:
    body = []
    for row in rows:
        gpu = gpu_cost(row)
        body.append([metric_name(row), f"{cpu_cost(row):,.2f}", "-" if gpu is None else f"{gpu:,.3f}"])
    return as_table([["metric", "CPU ($)", "GPU ($, extrapolated)"], *body])


def metric_name(row: Mapping[str, Any]) -> str:
    """The metric with its precision."""
    return f"{row['name']}, {'fp32' if row['precision'] == '32' else row['precision']}"


def _preparing(row: Mapping[str, Any]) -> str:
    return f"{100 * row['preparing_seconds_a_line'] * row['lines_per_cpu_second']:.0f} %"


def page(content: Mapping[str, Any], int8: Mapping[str, Any] | None = None) -> str:
    """The page, with the figures of `int8` if there are any."""
    rows = content["speed"]
    ours, bf16 = rows[0], rows[1]
    prepared = 1 / bf16["preparing_seconds_a_line"]
    shares = "; ".join(f"{metric_name(row)}: {row['lines']}" for row in rows)
    load = " and ".join(f"{value:.1f}" for value in content["load_average"])
    return f"""# Performance

Written by `{content["command"]}` ({content["date"]}), figures in `benchmarks/performance.json`; weights
`{content["weights"]}` (`{content["model"]}`). One thread of {content["machine"]}; load average at start and end {load}.
Other machines give other figures: `make bench` prints these tables on yours.

## Metrics side by side

{content["lines"]} lines of a system of {content["outputs"]}, from texts in memory to scores, start-up left out:

{_speed(rows)}

![Lines per CPU second](performance.svg)

- pronmetric reads a line together with its context, and only lines with a pronoun. COMET reads source, translation and
  reference, each by itself. Pieces are those of the checkpoint's tokenizer; for ELMo they are words.
- The other metrics have the sizes that were published, and random weights: an XLM-R large of 24 layers with COMET's
  estimator (Rei et al. 2022), and this project's ELMo with the sizes of the published one (Peters et al. 2018) under
  the paper's head. The reference stands in for COMET's source. The figures show what a metric of this size costs, not
  how good it is.
- CPU seconds are the best of the runs; the rate of pieces of the lines that were scored is applied to all lines.
  Lines scored: {shares}.
- Memory is the greatest resident set of the process, Python and PyTorch included.

{_sizes_section(content)}## Start-up and reports

    {content["command"]}

Each command is a process of its own with one thread; the best of the runs. Elapsed seconds contain the wait for other
work on the machine, CPU seconds do not. `score` loads this checkpoint; in
`report` most time is spent on attention and alternative pronouns.

{_start_up(content)}

{_reports(content)}

`make bench` also measures the share of the CPU's matrix rate, the precisions and many systems in one run
(`benchmarks/scoring.md`).

## Cost of a million lines

{_costs(rows)}

CPU: measured speed at ${CPU_PRICE:.2f} a core hour (an assumption: put in your own price). No GPU was measured. The GPU
column is extrapolated from the matrix products of a line: a card with {GPU_RATE / 1e12:.0f} TFLOP/s in bf16, used to
{100 * GPU_SHARE:.0f} %, with {GPU_CORES} cores, at ${GPU_PRICE:.2f} an hour. Finding pronouns and cutting text into
pieces stay on the CPU: a core does that for {prepared:,.0f} lines a second ({_preparing(ours)} of the time of
scoring in fp32, {_preparing(bf16)} in bf16). For pronmetric the column is the longer of the two, model and preparation.
{"" if int8 is None else chr(10) + int8_section(int8)}"""


def _sizes_section(content: Mapping[str, Any]) -> str:
    """The section about `score` with each checkpoint; empty where it was not measured."""
    if "sizes" not in content:
        return ""
    rows, lines = content["sizes"]["rows"], content["sizes"]["lines"]
    weights = ", ".join(dict.fromkeys(f"{row['name']} `{row['weights']}`" for row in rows))
    return f"""## Checkpoints

Seconds of `pronmetric score` for {lines:,} lines of a system of {content["outputs"]} with their reference, from files
to files, start-up included. Weights: {weights}. Those of COMET follow from the rate above, without start-up.

{_sizes(content)}

"""


def int8_section(content: Mapping[str, Any]) -> str:
    """The section about int8, from the figures of `int8`."""
    names = [name for name in SETS if name in content["items"]]
    head = ["encoder", "pieces per CPU s", "times bf16", "mean difference", "largest"]
    body = [
        [
            f"{each['engine']}, {'fp32' if each['precision'] == '32' else each['precision']}",
            f"{each['pieces_per_cpu_second']:,.0f}",
            f"{each['times_bf16']:.2f}",
            f"{each['mean_difference']:.5f}",
            f"{each['largest_difference']:.4f}",
            *(f"{100 * each['accuracy'][name]['accuracy']:.1f}" for name in names),
            "yes" if each["meets_the_bar"] else "no",
        ]
        for each in content["engines"]
    ]
    items = " and ".join(f"{content['items'][name]} items of {SETS[name]}" for name in names)
    accuracy = f", and accuracy at most {100 * content['bar']['accuracy']:.1f} points lower" if names else ""
    test = f" Accuracy is in percent, on\n{items}: test data, by which nothing is chosen." if names else ""
    left_out = f"\nNot installed, so left out: {', '.join(content['left_out'])}.\n" if content["left_out"] else ""
    versions = ", ".join(f"{name} {version}" for name, version in content["versions"].items())
    good = [f"{each['engine']}, {each['precision']}" for each in content["engines"] if each["meets_the_bar"]]
    return f"""## int8

    {content["command"]}

{content["lines"]} lines of {content["outputs"]} from file to file ({content["date"]}, figures in
`benchmarks/int8.json`), one thread of a CPU with {", ".join(content["cpu"])}; load average
{content["load_average"]:.1f}; {versions}. Each runtime computes the encoder, pronmetric the rest. Differences are those
of segment scores from fp32. The bar for a precision `int8`: {content["bar"]["times_bf16"]} times bf16, a mean
difference below {content["bar"]["mean_difference"]}{accuracy}.{test}

{as_table([[*head, *(SETS[name] for name in names), "meets the bar"], *body])}
{left_out}
{f"{', '.join(good)}: meets the bar." if good else "In this run none meets the bar."} {_flag(content)}
"""


def _flag(content: Mapping[str, Any]) -> str:
    seconds = content["quantisation_cpu_seconds"]
    took = "" if seconds is None else f" (here {seconds:.0f} CPU seconds)"
    return f"""`--precision int8` (extra `int8`) is the row
"OpenVINO, int8"; its speed varies with the load of the machine. The encoder is quantised with English sentences of the
package each time it is loaded{took}; the figures above leave this out. Other versions of
OpenVINO and NNCF and other CPUs may change a score by as much as int8 does here."""


def plot(content: Mapping[str, Any], path: Path) -> None:
    """Lines per CPU second and memory of each metric, as an SVG; the same figures give the same bytes."""
    import matplotlib
    from matplotlib.figure import Figure

    rows = list(reversed(content["speed"]))
    names = [metric_name(row) for row in rows]
    with matplotlib.rc_context({"svg.hashsalt": "pronmetric", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(8, 2.4), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        left.barh(names, [row["lines_per_cpu_second"] for row in rows], color="#0b57d0")
        left.set(xlabel="lines per CPU second", xscale="log", xlim=(0.5, None))
        right.barh(names, [(row["memory_bytes"] or 0) / 1e9 for row in rows], color="0.6")
        right.set(xlabel="memory (GB)")
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, format="svg", metadata={"Date": None})


def write() -> None:
    """Write page and plot from the JSON files."""
    content = json.loads(JSON.read_text(encoding="utf-8"))
    int8 = json.loads(INT8.read_text(encoding="utf-8")) if INT8.exists() else None
    PAGE.write_text(page(content, int8), encoding="utf-8")
    plot(content, PLOT)
