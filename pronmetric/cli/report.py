"""`pronmetric report`: a result to look at, as a page, as tables, as a plot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from pronmetric.cli import load, numbers, options, output, stray
from pronmetric.cli.suffixes import format_of
from pronmetric.errors import InputError
from pronmetric.output import targets
from pronmetric.report import plots, tables
from pronmetric.report.content import Content, Said, differing
from pronmetric.report.names import short
from pronmetric.results import Output, Result, read
from pronmetric.signature import Signature
from pronmetric.text.context import Text
from pronmetric.text.words import words as split

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

A segment differs if the pronouns of the systems differ, if their scores differ by more than the tie threshold, or if a
pronoun differs from the reference. Segments are sorted by score difference, largest first, and --limit N keeps the
first N. Pronouns are paired with those of the reference by an automatic word aligner, which makes errors.

The web page and the table of pronouns show attention and alternative pronouns, for which the model is loaded and every
possible alternative is scored. This takes about ten times as long as `score`. Use --no-model to leave them out.

examples:
  pronmetric score -t sysA.txt sysB.txt -r ref.txt --docids ids.txt --to_json result.json
  pronmetric report result.json -o report.html
  pronmetric report result.json --no-model --format md --show systems confusion"""
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
_DEFAULT = {"md": ("systems", "pairs", "confusion"), "tsv": ("pronouns",), "png": ("systems",), "svg": ("systems",)}
_DEFAULT["latex"] = _DEFAULT["md"]

Note = Callable[[str], object]


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    if argv[:1] == ["tables"]:
        from pronmetric.cli import report_tables

        return report_tables.main(argv[1:])
    args = _arguments(argv)
    targets.check([args.output], read=[args.result, args.model])
    note = output.Notes(quiet=args.quiet)
    output.open_stdout()
    content = _content(args, read(args.result), note)
    note.begin()
    _write(args, _rendered(args, content))
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = argparse.ArgumentParser(
        prog="pronmetric report",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("result", metavar="RESULT.json", help="result file of score or compare (--to_json)")
    parser.add_argument("-o", "--output", metavar="FILE", help="output file (default for tables: stdout)")
    parser.add_argument("--format", choices=FORMATS, help="output format; see below")
    names = dict.fromkeys([*tables.TABLES, *plots.PLOTS])
    parser.add_argument("--show", nargs="+", choices=names, metavar="NAME", help=f"tables or plots: {', '.join(names)}")
    parser.add_argument("--limit", type=numbers.positive, metavar="N", help="show at most N segments (default: all)")
    parser.add_argument("--title", metavar="TEXT", help="title of the web page (default: the system names)")
    parser.add_argument(
        "--no-model", "--no_model", action="store_true", help="do not show attention and alternative pronouns"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no notes on stderr")
    options.add_model(parser, seed=False)
    return parser


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    made = parser()
    args = stray.parse(made, argv, cure="give one result file, and the output file with -o FILE")
    args.format = format_of(made, args.output, args.format, SUFFIXES, default="html")
    if args.output is None and args.format in ("html", "png", "svg"):
        made.error(f"-o FILE is needed with --format {args.format}; tables (--format md, latex, tsv) go to stdout")
    if args.format == "html" and args.show:
        made.error("--show is for tables and plots; the web page shows everything")
    if args.format != "html" and args.title is not None:
        made.error("--title is for the web page (--format html)")
    if args.no_model and (args.model is not None or args.allow_network):
        made.error("--no-model cannot be used with --model or --allow_network")
    args.show = tuple(dict.fromkeys(args.show or _DEFAULT.get(args.format, ())))
    if args.format in ("png", "svg", "tsv") and len(args.show) > 1:
        made.error(f"expected one name with --format {args.format}, got --show {' '.join(args.show)}")
    if args.format in ("png", "svg") and args.show[0] not in plots.PLOTS:
        made.error(f"{args.show[0]} is a table, not a plot; plots: {', '.join(plots.PLOTS)}")
    return args


def _content(args: argparse.Namespace, result: Result, note: output.Notes) -> Content:
    """What is shown; links and the model only where they are asked for."""
    everything = args.format == "html" or "pronouns" in args.show
    notes: list[str] = []

    def tell(line: str) -> None:
        notes.append(line)
        note(line)

    for line in result.notes:
        note(line)
    links = None
    if everything or "confusion" in args.show:
        from pronmetric.cli.aligned import aligned

        links = aligned(result, tell)
        if links is None:
            tell("the result has no reference: pronouns are not compared with one")
    found = differing(result, links)
    listed = found[: args.limit]
    said: dict[int, tuple[Said, ...]] = {}
    if everything and not args.no_model and any(_texts(result, listed)):
        said = _ask(args, result, listed, note, tell)
    elif everything:
        tell("no model was loaded: attention and alternative pronouns are not shown")
    return Content(result=result, links=links, listed=listed, differing=len(found), said=said, notes=notes)


def _texts(result: Result, listed: Sequence[int]) -> list[Text]:
    """The outputs of the listed segments, as the model reads them."""
    return [Text(output.context, output.text) for place in listed for output in result.segments[place].outputs]


def _ask(
    args: argparse.Namespace, result: Result, listed: Sequence[int], note: output.Notes, tell: Note
) -> dict[int, tuple[Said, ...]]:
    """What the model attends to in the listed segments, and what it would rather see there."""
    metric = load.metric(args, note)
    tell(_compared(str(metric.signature()), result.signature))
    texts = _texts(result, listed)
    looks = metric.attention(texts, batch_size=args.batch_size)
    if not metric.probability:
        tell("the scores of this model are not probabilities: alternative pronouns are not shown")
    outputs = [each for place in listed for each in result.segments[place].outputs]
    answers = []
    with output.bar(args, total=len(texts), label="attention, alternatives") as bar:
        places = (
            metric.alternatives(texts, batch_size=args.batch_size, advance=bar.update)
            if metric.probability
            else ((),) * len(texts)
        )
        for each, look, found in zip(outputs, looks, places, strict=True):
            weights = {item.start: item.weights for item in look}
            others = {p.pronoun.start: tuple((o.form, o.probability) for o in p.others) for p in found}
            answers.append(_said(each, weights, others))
    size = len(result.systems)
    return {place: tuple(answers[k * size : (k + 1) * size]) for k, place in enumerate(listed)}


def _said(
    output: Output, weights: Mapping[int, np.ndarray | None], others: dict[int, tuple[tuple[str, float], ...]]
) -> Said:
    """Of the result's pronouns; one that this checkpoint does not score has neither attention nor others."""
    words = len(split(output.context)) + len(split(output.text))
    rows = [weights.get(p.start) for p in output.pronouns]
    known = any(row is not None for row in rows)
    attention = tuple((0.0,) * words if row is None else tuple(row.tolist()) for row in rows) if known else None
    return Said(attention, tuple(others.get(p.start, ()) for p in output.pronouns))


def _compared(mine: str, theirs: str) -> str:
    """Where attention and alternatives come from, and whether the scores come from there too."""
    own = Signature.parse(mine)
    try:
        differences = Signature.parse(theirs).differences(own)
    except ValueError:
        differences = {"model": (theirs, mine)}
    if not differences.keys() & {"model", "weights", "settings"}:
        return f"attention and alternative pronouns are from the model that produced the scores, {own['model']}"
    return (
        f"attention and alternative pronouns are from a different model ({own['model']}, weights {own['weights']}, "
        f"settings {own['settings']}) than the scores (see the signature); choose that model with --model"
    )


def _rendered(args: argparse.Namespace, content: Content) -> str | bytes:
    if args.format == "html":
        from pronmetric.report.page import page

        title = args.title or f"Pronouns: {', '.join(short(content.result.names))}"
        return page(content, title=title)
    if args.format in ("png", "svg"):
        return plots.plot(args.show[0], content, kind=args.format)
    made = [tables.make(name, content) for name in args.show]
    if args.format == "tsv":
        return tables.tsv(made[0])
    full = [table for table in made if table.rows]
    if not full:
        raise InputError(f"contains nothing to show for {', '.join(args.show)}", file=args.result)
    notes = [*content.result.notes, *content.notes, f"signature: {content.result.signature}"]
    return (tables.markdown if args.format == "md" else tables.latex)(full, notes)


def _write(args: argparse.Namespace, made: str | bytes) -> None:
    if args.output is None:
        assert isinstance(made, str)
        sys.stdout.write(made)
        return
    with targets.AtomicFile(args.output) as file:
        file.buffer.write(made if isinstance(made, bytes) else made.encode())
