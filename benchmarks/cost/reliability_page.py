"""The page docs/reliability.md: what was tried and what happened, from the figures of `faults` and `fuzz`."""

from __future__ import annotations

import signal
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from benchmarks import pages
from tests.tools.bad_inputs import CALLS

Rows = Sequence[Mapping[str, Any]]
EXITS = {-signal.SIGKILL: "killed", 130: "130", 143: "143"}


def page(faults: Mapping[str, Any], fuzzed: Mapping[str, Any]) -> str:
    """The page."""
    parts = pages.template("reliability")
    points, inputs = faults["points"], faults["inputs"]
    others = [row for verb in inputs for row in verb["other"]]
    text = parts["page"].format(
        faults=faults,
        fuzzed=fuzzed,
        runs=len(points),
        verbs=_verbs(points),
        points=_points(points),
        same=sum(row["same"] for row in points),
        half=sum(bool(row["half"]) for row in points),
        traced=sum(row["traceback"] is not None for row in points),
        cases=sum(row["cases"] for row in inputs),
        refused=sum(row["exit 1"] + row["exit 2"] for row in inputs),
        missing=_missing(inputs, CALLS, parts),
        others=parts["otherwise"].format(cases=_others(others, parts)) if others else parts["as expected"],
        parsers=_fuzz(fuzzed["rows"]),
        fuzz_faults=sum(len(row["faults"]) for row in fuzzed["rows"]),
    )
    return text + "\n"


def _points(points: Rows) -> str:
    """A row for each fault; the single runs are in the JSON."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in points:
        groups.setdefault(row["fault"], []).append(row)
    head = "| fault | runs | exit | half-written | same bytes | left |\n|---|---:|---|---:|---:|---:|\n"
    return head + "\n".join(
        f"| {fault} | {len(rows)} | {', '.join(dict.fromkeys(_exit(row) for row in rows))} | "
        f"{sum(len(row['half']) for row in rows)} | {sum(row['same'] for row in rows)} | "
        f"{sum(len(row['left']) for row in rows)} |"
        for fault, rows in groups.items()
    )


def _verbs(points: Rows) -> str:
    """The verbs that were stopped, as a list in a sentence."""
    *names, last = (f"`{verb}`" for verb in dict.fromkeys(row["verb"] for row in points))
    return f"{', '.join(names)} or {last}" if names else last


def _exit(row: Mapping[str, Any]) -> str:
    return EXITS.get(row["exit"], str(row["exit"]))


def _missing(rows: Rows, verbs: Collection[str], parts: Mapping[str, str]) -> str:
    """The verbs without figures."""
    names = [verb for verb in verbs if verb not in {row["verb"] for row in rows}]
    return parts["verbs without figures"].format(names=", ".join(names)) if names else parts["all verbs"]


def _others(others: Rows, parts: Mapping[str, str]) -> str:
    """The cases that did not end as expected."""
    case = parts["otherwise, a case"]
    return "\n".join(case.format(**row, input=row["name"] or "flags") for row in others)


def _fuzz(parsers: Rows) -> str:
    """The files that each parser read."""
    return ", ".join(f"{row['parser']} {row['files']:,}" for row in parsers)
