"""What `suite build wmt --source drop` made of WMT test sets: errors and source contexts by language after each filter.

/usr/bin/time -v -o TIME.txt pronmetric suite build wmt --wmt-dir WMT --source drop --to_json COUNTS.json
python -m benchmarks.cost.source_suite --counts COUNTS.json --time TIME.txt --commit HASH [--page FILE.md]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.cost import prepare

PAGE = pages.PUBLISHED / "source-suite.md"
FILTERS = {"none": "all", "agreement": "agreement", "source": "agreement and source"}


def page(content: Mapping[str, Any]) -> str:
    """The page of the figures."""
    found = content["figures"]
    header = ["source", "filter", "test sets", "source contexts", "errors", "pronoun pairs"]
    rows = [header]
    for one in found["counts"]:
        numbers = (one[name] for name in ("testsets", "contexts", "entries", "pronoun_pairs"))
        rows.append([one["language"], FILTERS[one["filter"]], *(f"{number:,}" for number in numbers)])
    cost = found["cost"]
    return pages.fill(
        "source-suite",
        date=content["date"],
        command=content["command"],
        cpu_seconds=cost["cpu_seconds"],
        memory_mb=cost["memory_mb"],
        commit=content["commit"],
        table=pages.markdown(rows),
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--counts", type=Path, required=True, metavar="FILE.json", help="--to_json of `suite build wmt`"
    )
    parser.add_argument("--time", type=Path, required=True, metavar="FILE", help="what /usr/bin/time -v wrote")
    parser.add_argument("--page", type=Path, default=PAGE, metavar="FILE.md", help=f"default: {PAGE.name}")
    parser.add_argument("--commit", required=True, help="of the version that built the suite")
    options = parser.parse_args()
    found = json.loads(options.counts.read_text(encoding="utf-8"))
    cost = prepare.cost(options.time.read_text(encoding="utf-8"))
    content = {**pages.origin("cost.source_suite"), "commit": options.commit, "figures": {**found, "cost": cost}}
    pages.write_page(options.page, page(content), content)


if __name__ == "__main__":
    pages.run(main)
