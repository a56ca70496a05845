"""The flags of `report`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric.cli import flags
from pronmetric.cli.parser import format_of, parse_flags, verb_parser, whole_from_one
from pronmetric.report import plots, tables
from pronmetric.scoring.alternatives import THRESHOLD

DESCRIPTION = """Show a result of `score` or `compare` (written with --to_json) as a web page, tables or a plot.

The report contains the system scores, the system pronouns compared with the reference pronouns, and the segments that
differ, with the attention of the model and its preferred pronouns. The web page is a single self-contained file that
works offline.

`pronmetric report tables DIR` makes the tables of the paper (see `pronmetric report tables --help`)."""
SUFFIXES = {".html": "html", ".htm": "html", ".md": "md", ".tsv": "tsv", ".tex": "latex", ".png": "png", ".svg": "svg"}
EPILOG = f"""formats:
  html         web page with everything: search, sorting, filters, a link to each segment
  md, latex    tables; default: systems, pairs, confusion
  tsv          one table; default: pronouns (one row for each pronoun of a segment that differs)
  png, svg     one plot; default: systems; needs pip install "pronmetric[plots]"
Without --format, the suffix of the output file decides: {", ".join(SUFFIXES)}.

LaTeX tables need the package booktabs. Tables have the columns of --columns, or all; in LaTeX those that fit a page.

Which system is better in a segment is decided as by `compare`: by the decision in its result, in that of `score` by
the one that the checkpoint's config names, with the default tie threshold. A segment differs if the pronouns of the
systems differ, if one system is better than another, or if a pronoun differs from the reference. Segments are sorted by
the difference of what decides, largest first, and --limit N keeps the first N. Pronouns are paired with those of the
reference by an automatic word aligner, which makes errors.

The web page and the table of pronouns show attention and alternative pronouns, for which the model is loaded. Each
alternative form of a pronoun with a probability below {THRESHOLD:g} is scored in its place; the most probable of those
that agree are shown. --all-alternatives scores those of every pronoun, which takes several times as long. Use
--no-model to leave all of this out.

examples:
  pronmetric score -t sysA.txt sysB.txt -r ref.txt --docids ids.txt --to_json result.json
  pronmetric report result.json -o report.html
  pronmetric report result.json --no-model --format md --show systems confusion"""
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
_DEFAULT = {"md": ("systems", "pairs", "confusion"), "tsv": ("pronouns",), "png": ("systems",), "svg": ("systems",)}
_DEFAULT["latex"] = _DEFAULT["md"]
_TABLES = ("md", "latex", "tsv")


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = verb_parser("report", DESCRIPTION, EPILOG)
    parser.add_argument("result", metavar="RESULT.json", help="result file of score or compare (--to_json)")
    parser.add_argument("-o", "--output", metavar="FILE", help="output file (default for tables: stdout)")
    parser.add_argument("--format", choices=FORMATS, help="output format; see below")
    names = dict.fromkeys([*tables.TABLES, *plots.PLOTS])
    parser.add_argument("--show", nargs="+", choices=names, metavar="NAME", help=f"tables or plots: {', '.join(names)}")
    parser.add_argument(
        "--columns",
        nargs="+",
        metavar="COLUMN",
        help="columns of one table (--show NAME), in this order: e.g. system score errors_per_100_pronouns; a wrong "
        "name lists all (default: all; latex: those that fit a page)",
    )
    parser.add_argument("--limit", type=whole_from_one, metavar="N", help="show at most N segments (default: all)")
    parser.add_argument("--title", metavar="TEXT", help="title of the web page (default: the system names)")
    parser.add_argument(
        "--no-model", "--no_model", action="store_true", help="do not show attention and alternative pronouns"
    )
    flags.both(
        parser,
        "all-alternatives",
        action="store_true",
        help=f"show alternatives of every pronoun (default: of those with a probability below {THRESHOLD:g}); slow",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")
    flags.add_model(parser, seed=False)
    return parser


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The parsed flags; flags that cannot be combined are a usage error (exit code 2)."""
    made = parser()
    args = parse_flags(made, argv, cure="give one result file, and the output file with -o FILE")
    args.format = format_of(made, args.output, args.format, SUFFIXES, default="html")
    if args.output is None and args.format in ("html", "png", "svg"):
        made.error(f"-o FILE is needed with --format {args.format}; tables (--format md, latex, tsv) go to stdout")
    if args.format == "html" and args.show:
        made.error("--show is for tables and plots; the web page shows everything")
    if args.columns and (args.format not in _TABLES or len(args.show or _DEFAULT[args.format]) > 1):
        made.error(f"--columns is for one table: give --show NAME and --format {', '.join(_TABLES)}")
    if args.format != "html" and args.title is not None:
        made.error("--title is for the web page (--format html)")
    if args.no_model and (args.model is not None or args.allow_network or args.all_alternatives):
        made.error("--no-model cannot be used with --model, --allow_network or --all-alternatives")
    args.show = tuple(dict.fromkeys(args.show or _DEFAULT.get(args.format, ())))
    if args.format in ("png", "svg", "tsv") and len(args.show) > 1:
        made.error(f"expected one name with --format {args.format}, got --show {' '.join(args.show)}")
    if args.format in ("png", "svg") and args.show[0] not in plots.PLOTS:
        made.error(f"{args.show[0]} is a table, not a plot; plots: {', '.join(plots.PLOTS)}")
    return args
