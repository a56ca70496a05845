"""`pronmetric report tables`: the paper's tables from finished cells and from figures of `agree` and `evaluate`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pronmetric.cli import exports, scoring
from pronmetric.report import page, paper, tables

DESCRIPTION = """Tables like the paper's 1, 4 and 5, the paper's figure beside ours where we know it.

Table 4 is of the cells that `pronmetric train --multirun experiment=table4 out=DIR` left in DIR; tables 1 and 5 are of
what `agree` and `evaluate` wrote with --to_json. A result file called `tables` is shown by `report ./tables`."""
TITLE = "The paper's tables"


def main(argv: Sequence[str]) -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(
        prog="pronmetric report tables",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("paths", nargs="+", metavar="DIR_OR_JSON", help="folders of cells or JSON files, JSON files")
    parser.add_argument("-o", "--output", metavar="FILE", help="the file to write (default: stdout)")
    parser.add_argument("--format", choices=("md", "latex", "html"), default="md", help="default: md")
    args = parser.parse_args(argv)
    exports.check_targets([args.output], read=args.paths)
    scoring.open_stdout()
    found = paper.read(args.paths)
    made, notes = paper.tables(found), paper.notes(found)
    if args.format == "html":
        text = page.tables_page(made, notes, title=TITLE)
    else:
        text = (tables.markdown if args.format == "md" else tables.latex)(made, notes)
    if args.output is None:
        sys.stdout.write(text)
    else:
        with exports.AtomicFile(args.output) as file:
            file.write(text)
    return 0
