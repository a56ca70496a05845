"""Damaged files for each parser, for some minutes, and the figures of docs/reliability.md (see `tests.tools.fuzz`).

python -m benchmarks.cost.fuzz [--minutes M] [--seed N] [--parsers NAME ...] [--out FILE.json]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import pages
from pronmetric.errors import PronmetricError
from tests.tools.fuzz import NAMES, measure

MINUTES, SEED = 10.0, 18


def main() -> None:
    """Fuzz; write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="for each parser (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="default: %(default)s")
    parser.add_argument("--parsers", nargs="+", choices=NAMES, default=NAMES, help="default: all")
    parser.add_argument(
        "--out", type=Path, metavar="FILE.json", help="write the figures there; those of other parsers are kept"
    )
    args = parser.parse_args()
    there = args.out is not None and args.out.exists()
    rows = {row["parser"]: row for row in json.loads(args.out.read_text(encoding="utf-8"))["rows"]} if there else {}

    def keep(row: Mapping[str, Any]) -> None:
        print(row, file=sys.stderr)
        rows[row["parser"]] = row
        if args.out is not None:
            ordered = [rows[name] for name in NAMES if name in rows]
            content = {"benchmark": "fuzz", **pages.origin("cost.fuzz"), "rows": ordered}
            args.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    found = measure(args.parsers, minutes=args.minutes, seed=args.seed, told=keep)
    if any(row["faults"] for row in found):
        raise PronmetricError("a parser raised something else than an error of its input, or a page had elements of it")


if __name__ == "__main__":
    pages.run(main)
