"""`pronmetric report`: a result as a web page, tables or a plot."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from itertools import tee

from pronmetric.cli import output
from pronmetric.cli.report_flags import parse
from pronmetric.cli.report_flags import parser as parser
from pronmetric.cli.run import language_of_result, load_language, load_metric
from pronmetric.errors import InputError
from pronmetric.output import targets
from pronmetric.report import plots, tables, views
from pronmetric.report.content import Content, ModelView, differing
from pronmetric.report.names import short
from pronmetric.results import Result, read
from pronmetric.scoring.alternatives import THRESHOLD

Note = Callable[[str], object]


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    if argv[:1] == ["tables"]:
        from pronmetric.cli import report_tables

        return report_tables.main(argv[1:])
    args = parse(argv)
    targets.check([args.output], read=[args.result, args.model])
    note = output.Notes(quiet=args.quiet)
    output.open_stdout()
    content = _content(args, read(args.result), note)
    note.begin()
    _write(args, _render(args, content))
    return 0


def _content(args: argparse.Namespace, result: Result, note: output.Notes) -> Content:
    """The content of the report; pronouns are paired and the model is loaded only if the format shows it."""
    everything = args.format == "html" or "pronouns" in args.show
    notes: list[str] = []

    def record(line: str) -> None:
        notes.append(line)
        note(line)

    for line in result.notes:
        note(line)
    language, links = language_of_result(args, result.signature), None
    if everything or "confusion" in args.show:
        from pronmetric.report.links import link_pronouns

        links = link_pronouns(result, record, language)
        if links is None:
            record("the result has no reference: pronouns are not compared with a reference")
    found = differing(result, links)
    listed = found[: args.limit]
    found_views: dict[int, tuple[ModelView, ...]] = {}
    with_model = everything and not args.no_model and views.outputs(result, listed)
    if with_model and (own := load_language(args)) != language:
        record(
            f"the result is in {language.code} and --model scores {own.code}: attention and alternative pronouns are "
            "not shown"
        )
    elif with_model:
        found_views = _views(args, result, listed, note, record)
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
    args: argparse.Namespace, result: Result, listed: Sequence[int], note: output.Notes, record: Note
) -> dict[int, tuple[ModelView, ...]]:
    """Attention and alternative pronouns of the listed segments."""
    metric = load_metric(args, note)
    record(views.describe_model(str(metric.signature()), result.signature))
    texts = views.texts(result, listed)
    if not metric.probability:
        record("the scores of this model are not probabilities: alternative pronouns are not shown")
        with output.bar(args, total=len(texts), label="attention") as bar:
            attention = metric.attention(texts, batch_size=args.batch_size, advance=bar.update)
            return views.model_views(result, listed, attention, ((),) * len(texts), metric.language)
    below = None if args.all_alternatives else THRESHOLD
    if below is not None:
        record(f"alternatives are shown for pronouns with a probability below {below:g} (--all-alternatives: for all)")
    with output.bar(args, total=2 * len(texts), label="attention, alternatives") as bar:
        attention, again = tee(metric.attention(texts, batch_size=args.batch_size, advance=bar.update))
        scored = ([look.pronoun for look in looks] for looks in again)
        alternatives = metric.alternatives(
            texts, below=below, scored=scored, batch_size=args.batch_size, advance=bar.update
        )
        return views.model_views(result, listed, attention, alternatives, metric.language)


def _render(args: argparse.Namespace, content: Content) -> str | bytes:
    if args.format == "html":
        from pronmetric.report.page import page

        title = args.title or f"Pronouns: {', '.join(short(content.result.names))}"
        return page(content, title=title)
    if args.format in ("png", "svg"):
        return plots.plot(args.show[0], content, kind=args.format)
    made = [tables.make(name, content) for name in args.show]
    if args.columns:
        made = [tables.choose(made[0], args.columns)]
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
