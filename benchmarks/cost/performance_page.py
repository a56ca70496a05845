"""The page docs/performance.md and its plot, from the figures of `performance`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import pages

JSON = pages.PUBLISHED / "performance.json"
PAGE = pages.ROOT / "docs" / "performance.md"
PLOT = pages.ROOT / "docs" / "performance.svg"
CPU_PRICE = 0.05  # dollars for a core hour
GPU_PRICE, GPU_RATE, GPU_SHARE, GPU_CORES = 2.0, 312e12, 0.4, 8  # dollars an hour, bf16 FLOP/s, share reached, cores
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


def merge(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The figures with those of the parts that were measured anew; each part keeps its origin.

    >>> merge({"help": 1, "origins": {"start_up": "May"}}, {"sizes": 2, "origins": {"sizes": "June"}})
    {'help': 1, 'origins': {'start_up': 'May', 'sizes': 'June'}, 'sizes': 2}
    """
    return {**before, **new, "origins": {**before.get("origins", {}), **new["origins"]}}


def _speed(rows: Sequence[Mapping[str, Any]]) -> str:
    head = ["metric", "parameters", "lines per CPU s", "memory (GB)"]
    body = [
        [
            metric_name(row),
            f"{row['parameters'] / 1e6:,.0f} M",
            f"{row['lines_per_cpu_second']:,.1f}",
            "-" if row["memory_bytes"] is None else f"{row['memory_bytes'] / 1e9:.2f}",
        ]
        for row in rows
    ]
    return pages.markdown([head, *body])


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
    return pages.markdown([["checkpoint or metric", *(f"s, {k} thread{'s' * (k > 1)}" for k in threads)], *body])


def _start_up(content: Mapping[str, Any]) -> str:
    def row(name: str, key: str) -> list[str]:
        return [name, f"{content[key]['cpu_seconds']:.2f}", f"{content[key]['seconds']:.2f}"]

    head = ["command", "CPU s", "s"]
    return pages.markdown(
        [head, row("`pronmetric --help`", "help"), row("`pronmetric score`, one line", "first_score")]
    )


def _reports(content: Mapping[str, Any]) -> str:
    compare, report = content["compare"], content["report"]
    times = report["cpu_seconds"] / compare["cpu_seconds"]
    return pages.markdown(
        [
            ["command", "CPU s", "s", "times `compare`"],
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
    return pages.markdown([["metric", "CPU ($)", "GPU ($, extrapolated)"], *body])


def metric_name(row: Mapping[str, Any]) -> str:
    """The metric with its precision."""
    return f"{row['name']}, {'fp32' if row['precision'] == '32' else row['precision']}"


def page(content: Mapping[str, Any]) -> str:
    """The page."""
    parts, rows = pages.template("performance"), content["speed"]
    origins = content["origins"]
    text = parts["page"].format(
        lines=origins["metrics"]["lines"],
        outputs=origins["metrics"]["outputs"],
        **{f"origin_of_{part}": _origin(origins[part], parts) for part in ("metrics", "start_up", "reports")},
        speed=_speed(rows),
        fewest=min(row["lines"] for row in rows),
        most=max(row["lines"] for row in rows),
        checkpoints=_sizes_section(content, parts) + "\n\n" if "sizes" in content else "",
        start_up=_start_up(content),
        reports=_reports(content),
        costs=_costs(rows),
        cpu_price=CPU_PRICE,
        gpu_teraflops=GPU_RATE / 1e12,
        gpu_percent=100 * GPU_SHARE,
        gpu_cores=GPU_CORES,
        gpu_price=GPU_PRICE,
    )
    return text + "\n"


def _origin(origin: Mapping[str, Any], parts: Mapping[str, str], part: str = "origin") -> str:
    """When and with which weights a part was measured."""
    return parts[part].format(**origin)


def _sizes_section(content: Mapping[str, Any], parts: Mapping[str, str]) -> str:
    """The section about `score` with each checkpoint."""
    rows = content["sizes"]["rows"]
    origin = content["origins"]["sizes"]
    return parts["checkpoints"].format(
        lines=content["sizes"]["lines"],
        outputs=origin["outputs"],
        origin=_origin(origin, parts, "origin without weights"),
        weights=", ".join(dict.fromkeys(f"{row['name']} `{row['weights']}`" for row in rows)),
        sizes=_sizes(content),
    )


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
    PAGE.write_text(page(content), encoding="utf-8")
    plot(content, PLOT)
