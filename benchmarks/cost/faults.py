"""What breaks pronmetric? Verbs that are stopped or starved and started again, and bad inputs to all verbs.

    unshare -rm python -m benchmarks.cost.faults [--parts points inputs] [--verbs VERB ...]
        [--faults FAULT ...] [--page]

`points`: a verb is killed, or its disk is full or read-only, or it has no file handles or memory left, at a given
moment; then the same command is given again. The model is tiny and its weights are random. Small disks are mounted in
a namespace of the process, which `unshare` makes. `inputs`: see `tests.tools.bad_inputs`. `--page` puts the figures
into faults.json, in place of those of the same verbs and faults, and writes docs/reliability.md from it and from
fuzz.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.cost import reliability_page
from tests.tools import bad_inputs, fault_points

POINTS, INPUTS = "points", "inputs"
JSON, FUZZ = pages.PUBLISHED / "faults.json", pages.PUBLISHED / "fuzz.json"
PAGE = pages.ROOT / "docs" / "reliability.md"
VERBS = list(
    dict.fromkeys([*(point.verb.name for point in fault_points.POINTS), *(c.verb for c in bad_inputs.cases())])
)
FAULTS = list(dict.fromkeys(point.fault for point in fault_points.POINTS))


def told(row: Mapping[str, Any]) -> None:
    """Show a row on stderr."""
    print(json.dumps(row), file=sys.stderr, flush=True)


def measure(parts: list[str], verbs: list[str], faults: list[str]) -> dict[str, Any]:
    """The figures of the parts, of these verbs and faults."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        if INPUTS in parts:
            bad_inputs.quiet()
            (Path(folder) / INPUTS).mkdir()
            rows = bad_inputs.measure(Path(folder) / INPUTS, [c for c in bad_inputs.cases() if c.verb in verbs], told)
            found[INPUTS] = bad_inputs.summary(rows)
        if POINTS in parts:
            points = [point for point in fault_points.POINTS if point.verb.name in verbs and point.fault in faults]
            found[POINTS] = fault_points.measure(Path(folder) / POINTS, points, told)
    return found


def merge(found: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of the JSON file with new ones in the place of those of the same verbs."""
    before = json.loads(JSON.read_text(encoding="utf-8")) if JSON.exists() else {}
    merged = {POINTS: [], INPUTS: [], "note": "", **before, **pages.origin("cost.faults")}
    for part, rows in found.items():
        new = {_key(row) for row in rows}
        merged[part] = [row for row in merged[part] if _key(row) not in new] + rows
    merged[POINTS].sort(key=lambda row: (VERBS.index(row["verb"]), FAULTS.index(row["fault"]), row["moment"] or 0))
    merged[INPUTS].sort(key=lambda row: VERBS.index(row["verb"]))
    return {"benchmark": "faults", **merged, "command": "unshare -rm python -m benchmarks.cost.faults --page"}


def _key(row: Mapping[str, Any]) -> tuple[str, str | None]:
    return row["verb"], row.get("fault")


def main() -> None:
    """Measure; write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="*", choices=[POINTS, INPUTS], default=[POINTS, INPUTS], help="default: both")
    parser.add_argument("--verbs", nargs="+", choices=VERBS, default=VERBS, metavar="VERB", help="default: all")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=FAULTS, metavar="FAULT", help="default: all")
    parser.add_argument("--page", action="store_true", help="write the page and its JSON")
    args = parser.parse_args()
    found = measure(args.parts, args.verbs, args.faults)
    if not args.page:
        print(json.dumps(found, indent=1))
        return
    content = merge(found)
    JSON.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    fuzzed = json.loads(FUZZ.read_text(encoding="utf-8"))
    PAGE.write_text(reliability_page.page(content, fuzzed), encoding="utf-8")


if __name__ == "__main__":
    pages.run(main)
