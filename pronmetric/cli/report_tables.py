"""`pronmetric report tables`: the paper's tables from finished cells and from figures of `agree` and `evaluate`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pronmetric.cli import output
from pronmetric.cli.parser import format_of, verb_parser
from pronmetric.output import targets
from pronmetric.report import page, paper, tables

DESCRIPTION = """Make tables in the form of Tables 1, 4 and 5 of Jwalapuram et al. 2019, with the published figures for
comparison where they are known.

Table 4 is read from the folder of `pronmetric train --multirun experiment=table4 out=DIR`, Tables 1 and 5 from the
result files of `agree` and `evaluate` (--to_json). For a result file that is named `tables`, use `report ./tables`."""
SUFFIXES = {".md": "md", ".tex": "latex", ".html": "html", ".htm": "html"}
TITLE = "The paper's tables"


def main(argv: Sequence[str]) -> int:
    """Run it; the exit code."""
    parser = verb_parser("report tables", DESCRIPTION)
    parser.add_argument("paths", nargs="+", metavar="DIR_OR_JSON", help="result files, or folders that contain them")
    parser.add_argument("-o", "--output", metavar="FILE", help="output file (default: stdout)")
    parser.add_argument(
        "--format", choices=tuple(dict.fromkeys(SUFFIXES.values())), help="default: the suffix of FILE; md for stdout"
    )
    args = parser.parse_args(argv)
    args.format = format_of(parser, args.output, args.format, SUFFIXES, default="md")
    targets.check([args.output], read=paper.files(args.paths))
    output.open_stdout()
    found = paper.read(args.paths)
    made, notes = paper.tables(found), paper.notes(found)
    if args.format == "html":
        text = page.tables_page(made, notes, title=TITLE)
    else:
        text = (tables.markdown if args.format == "md" else tables.latex)(made, notes)
    if args.output is None:
        sys.stdout.write(text)
    else:
        with targets.AtomicFile(args.output) as file:
            file.write(text)
    return 0
