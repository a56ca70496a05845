"""`pronmetric report`: a result as a web page, tables or a plot; the tables of the paper."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import tee

from pronmetric.cli import flags, output
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.parser import format_of, parse_flags, verb_parser, whole_from_one
from pronmetric.cli.run import ScoringRun, language_of_result, load_language
from pronmetric.errors import InputError
from pronmetric.output import targets
from pronmetric.report import buckets, page, paper, plots, tables, views
from pronmetric.report.content import Content, ModelView, differing
from pronmetric.report.names import short
from pronmetric.results import Result, read
from pronmetric.scoring.alternatives import THRESHOLD

DESCRIPTION = """Show a result of `score` or `compare` (written with --to_json) as a web page, tables or a plot.

The report contains the system scores, the system pronouns compared with the reference pronouns, and the segments that
differ, with the attention of the model and its preferred pronouns. The web page is a single self-contained file that
works offline.

`pronmetric report tables DIR` makes the tables of the paper (see `pronmetric report tables --help`)."""
SUFFIXES = {".html": "html", ".htm": "html", ".md": "md", ".tsv": "tsv", ".tex": "latex", ".png": "png", ".svg": "svg"}
EPILOG = f"""formats:
  html         web page with everything: search, sorting, filters that the address keeps, a link to each segment
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
PAPER_HELP = """Make tables in the form of Tables 1, 4 and 5 of Jwalapuram et al. 2019, with the published figures for
comparison where they are known.

Table 4 is read from the folder of `pronmetric train --multirun experiment=table4 out=DIR`, Tables 1 and 5 from the
result files of `agree` and `evaluate` (--to_json). For a result file that is named `tables`, use `report ./tables`."""
PAPER_SUFFIXES = {".md": "md", ".tex": "latex", ".html": "html", ".htm": "html"}
PAPER_TITLE = "The paper's tables"

Note = Callable[[str], object]


@dataclass(frozen=True)
class ReportFlags:
    """What is shown of which result, and where."""

    result: str
    output: str | None
    format: str
    show: Sequence[str]
    columns: Sequence[str] | None
    limit: int | None
    title: str | None
    no_model: bool
    all_alternatives: bool

    @classmethod
    def of(cls, made: argparse.ArgumentParser, args: argparse.Namespace) -> ReportFlags:
        """The record, with the format and what it shows by default; wrong combinations are a usage error (code 2)."""
        kind = format_of(made, args.output, args.format, SUFFIXES, default="html")
        if args.output is None and kind in ("html", "png", "svg"):
            made.error(f"-o FILE is needed with --format {kind}; tables (--format md, latex, tsv) go to stdout")
        if kind == "html" and args.show:
            made.error("--show is for tables and plots; the web page shows everything")
        if args.columns and (kind not in _TABLES or len(args.show or _DEFAULT[kind]) > 1):
            made.error(f"--columns is for one table: give --show NAME and --format {', '.join(_TABLES)}")
        if kind != "html" and args.title is not None:
            made.error("--title is for the web page (--format html)")
        if args.no_model and (args.model is not None or args.allow_network or args.all_alternatives):
            made.error("--no-model cannot be used with --model, --allow_network or --all-alternatives")
        show = tuple(dict.fromkeys(args.show or _DEFAULT.get(kind, ())))
        if kind in ("png", "svg", "tsv") and len(show) > 1:
            made.error(f"expected one name with --format {kind}, got --show {' '.join(show)}")
        if kind in ("png", "svg") and show[0] not in plots.PLOTS:
            made.error(f"{show[0]} is a table, not a plot; plots: {', '.join(plots.PLOTS)}")
        return replace(flags.read(cls, args), format=kind, show=show)


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = verb_parser("report", DESCRIPTION, EPILOG)
    parser.add_argument("result", metavar="RESULT.json", help="result file of score or compare (--to_json)")
    parser.add_argument("-o", "--output", metavar="FILE", help="output file (default for tables: stdout)")
    parser.add_argument("--format", choices=FORMATS, help="output format; see below")
    names = dict.fromkeys([*tables.TABLES, *buckets.TABLES, *plots.PLOTS])
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
    ModelFlags.add(parser, seed=False)
    return parser


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    if argv[:1] == ["tables"]:
        return _main_of_tables(argv[1:])
    made = parser()
    args = parse_flags(made, argv, cure="give one result file, and the output file with -o FILE")
    shown, model, out = ReportFlags.of(made, args), ModelFlags.of(args), OutputFlags.of(args)
    targets.check([shown.output], read=[shown.result, model.model])
    note = out.notes()
    output.open_stdout()
    content = _content(shown, model, out, read(shown.result), note)
    note.begin()
    _write(_render(shown, content), shown.output)
    return 0


def _content(shown: ReportFlags, model: ModelFlags, out: OutputFlags, result: Result, note: output.Notes) -> Content:
    """The content of the report; pronouns are paired and the model is loaded only if the format shows it."""
    everything = shown.format == "html" or bool({"pronouns", "distances"} & set(shown.show))
    notes: list[str] = []

    def record(line: str) -> None:
        notes.append(line)
        note(line)

    for line in result.notes:
        note(line)
    language, links = language_of_result(model, result.signature), None
    if everything or "confusion" in shown.show:
        from pronmetric.report.links import link_pronouns

        links = link_pronouns(result, record, language)
        if links is None:
            record("the result has no reference: pronouns are not compared with a reference")
    found = differing(result, links)
    listed = found[: shown.limit]
    found_views: dict[int, tuple[ModelView, ...]] = {}
    with_model = everything and not shown.no_model and views.outputs(result, listed)
    if with_model and (own := load_language(model)) != language:
        record(
            f"the result is in {language.code} and --model scores {own.code}: attention and alternative pronouns are "
            "not shown"
        )
    elif with_model:
        found_views = _views(shown, model, out, result, listed, note, record)
    elif everything:
        record("no model was loaded: attention and alternative pronouns are not shown")
    return Content(
        result=result,
        links=links,
        listed=listed,
        differing=len(found),
        views=found_views,
        notes=notes,
        language=language,
    )


def _views(
    shown: ReportFlags,
    model: ModelFlags,
    out: OutputFlags,
    result: Result,
    listed: Sequence[int],
    note: output.Notes,
    record: Note,
) -> dict[int, tuple[ModelView, ...]]:
    """Attention and alternative pronouns of the listed segments."""
    run = ScoringRun(model, out, note)
    metric = run.metric
    record(views.describe_model(str(metric.signature()), result.signature))
    texts = views.texts(result, listed)
    if not metric.probability:
        record("the scores of this model are not probabilities: alternative pronouns are not shown")
        with run.progress(len(texts), label="attention"):
            attention = metric.attention(texts, batch_size=model.batch_size, advance=run.advance)
            return views.model_views(result, listed, attention, ((),) * len(texts), metric.language)
    below = None if shown.all_alternatives else THRESHOLD
    if below is not None:
        record(f"alternatives are shown for pronouns with a probability below {below:g} (--all-alternatives: for all)")
    with run.progress(2 * len(texts), label="attention, alternatives"):
        attention, again = tee(metric.attention(texts, batch_size=model.batch_size, advance=run.advance))
        scored = ([look.pronoun for look in looks] for looks in again)
        alternatives = metric.alternatives(
            texts, below=below, scored=scored, batch_size=model.batch_size, advance=run.advance
        )
        return views.model_views(result, listed, attention, alternatives, metric.language)


def _render(shown: ReportFlags, content: Content) -> str | bytes:
    if shown.format == "html":
        title = shown.title or f"Pronouns: {', '.join(short(content.result.names))}"
        return page.page(content, title=title)
    if shown.format in ("png", "svg"):
        return plots.plot(shown.show[0], content, kind=shown.format)
    made = [(buckets if name in buckets.TABLES else tables).make(name, content) for name in shown.show]
    if shown.columns:
        made = [tables.choose(made[0], shown.columns)]
    if shown.format == "tsv":
        return tables.tsv(made[0])
    full = [table for table in made if table.rows]
    if not full:
        raise InputError(f"contains nothing to show for {', '.join(shown.show)}", file=shown.result)
    notes = [*content.result.notes, *content.notes, f"signature: {content.result.signature}"]
    return (tables.markdown if shown.format == "md" else tables.latex)(full, notes)


def _write(made: str | bytes, path: str | None) -> None:
    if path is None:
        assert isinstance(made, str)
        sys.stdout.write(made)
        return
    with targets.AtomicFile(path) as file:
        file.buffer.write(made if isinstance(made, bytes) else made.encode())


def _main_of_tables(argv: Sequence[str]) -> int:
    """Run `report tables`; the exit code."""
    parser = verb_parser("report tables", PAPER_HELP)
    parser.add_argument("paths", nargs="+", metavar="DIR_OR_JSON", help="result files, or folders that contain them")
    parser.add_argument("-o", "--output", metavar="FILE", help="output file (default: stdout)")
    parser.add_argument(
        "--format",
        choices=tuple(dict.fromkeys(PAPER_SUFFIXES.values())),
        help="default: the suffix of FILE; md for stdout",
    )
    args = parser.parse_args(argv)
    kind = format_of(parser, args.output, args.format, PAPER_SUFFIXES, default="md")
    targets.check([args.output], read=paper.files(args.paths))
    output.open_stdout()
    found = paper.read(args.paths)
    made, notes = paper.tables(found), paper.notes(found)
    if kind == "html":
        text = page.tables_page(made, notes, title=PAPER_TITLE)
    else:
        text = (tables.markdown if kind == "md" else tables.latex)(made, notes)
    _write(text, args.output)
    return 0
