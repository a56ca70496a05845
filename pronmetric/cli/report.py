"""`pronmetric report`: a result as a web page, tables or a plot; the tables of the paper."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import tee
from pathlib import Path

from pronmetric.alignment.parallel import check_sources
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.cli import flags
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.output import Notes
from pronmetric.cli.parser import Command, Flags, UsageError, argument, flag, part, switch, whole
from pronmetric.cli.run import ScoringRun, locate_model
from pronmetric.errors import PronmetricError
from pronmetric.output import targets
from pronmetric.pronouns import languages
from pronmetric.pronouns.languages import Language
from pronmetric.pronouns.tables import codes
from pronmetric.report import formats, page, paper, plots, tables
from pronmetric.report.content import (
    Content,
    ModelView,
    differing,
    is_model_of,
    link_pronouns,
    listed_outputs,
    listed_texts,
    model_views,
    reads_as,
    result_sources,
)
from pronmetric.results import Result, read
from pronmetric.results.read import language_code, model_name
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.scoring.score import Counts

DESCRIPTION = """Show a result of `score` or `compare` (written with --to_json) as a web page, tables or a plot.

The report begins with what the result says in one sentence, the expected errors of each system by kind, and the ten
worst pronouns with their sentences. Below are the scores, the pronouns of each system by form, document, length of the
sentence and distance to the word attended to most, the system pronouns compared with the reference pronouns, and the
lines that differ, with the attention of the model and more probable pronouns. The web page is a single self-contained
file that works offline. It numbers lines from 1; the files of results number segments from 0.

`pronmetric report tables DIR` makes the tables of the paper (see `pronmetric report tables --help`)."""
EPILOG = f"""formats:
  html         web page with everything: search, sorting, filters that the address keeps, a link to each segment
  md, latex    tables; default: systems, pairs, confusion
  tsv          one table; default: pronouns (one row for each pronoun of a segment that differs)
  png, svg     one plot; default: systems; needs the extra plots
Without --format, the suffix of the output file decides: {", ".join(formats.SUFFIXES)}.

LaTeX tables need the package booktabs. Tables have the columns of --columns, or all; in LaTeX those that fit a page.

Which system is better in a segment is decided as by `compare`: by the decision in its result, in that of `score` by
the one that the checkpoint's config names, with the default tie threshold. A segment differs if the pronouns of the
systems differ, if one system is better than another, or if a pronoun differs from the reference. Segments are sorted by
the difference of what decides, largest first, and --limit N keeps the first N. Pronouns are paired with those of the
reference by an automatic word aligner, which makes errors.

The web page and the table of pronouns show attention and alternative pronouns, for which the model that made the
result is loaded, by its name or from the folder of --model; no other model is used. Each alternative form of a pronoun
with a probability below {THRESHOLD:g} is scored in its place; shown are those that agree and are more probable than the
pronoun, those of the same person first. --all-alternatives scores those of every pronoun, which takes several times as
long. Use --no-model to leave all of this out.

examples:
  pronmetric score -t sysA.txt sysB.txt -r ref.txt --docids ids.txt --to_json result.json
  pronmetric report result.json -o report.html
  pronmetric report result.json --no-model --format md --show systems confusion"""
PAPER_HELP = """Make tables in the form of Tables 1, 4 and 5 of Jwalapuram et al. 2019, with the published figures for
comparison where they are known.

Table 4 is read from the folder of `pronmetric train --multirun experiment=table4 out=DIR`, Tables 1 and 5 from the
result files of `agree` and `evaluate` (--to_json). For a result file that is named `tables`, use `report ./tables`."""
PAPER_SUFFIXES = {".md": "md", ".tex": "latex", ".html": "html", ".htm": "html"}
PAPER_TITLE = "The paper's tables"


def format_of(path: str | None, given: str | None, suffixes: Mapping[str, str], *, default: str) -> str:
    """The format to write: `given` (--format), else that of the suffix of `path` (-o), else `default` for stdout.

    Raises:
        UsageError: an unknown suffix without --format, or one that contradicts it.
    """
    if path is None:
        return given or default
    suffix = Path(path).suffix.lower()
    named = suffixes.get(suffix)
    if given is None and named is None:
        got = f"got {suffix}" if suffix else "got none"
        raise UsageError(
            f"-o {path}: expected one of the suffixes {', '.join(suffixes)}, {got}; or choose with --format"
        )
    if given is not None and named not in (None, given):
        raise UsageError(f"-o {path}: the suffix {suffix} means {named}, but --format is {given}; change one of them")
    return given or named or default


class ReportFlags(Flags):
    """What is shown of which result, and where."""

    result: str = argument(metavar="RESULT.json", help="result file of score or compare (--to_json)")
    output: str | None = flag("-o", "--output", metavar="FILE", help="output file (default for tables: stdout)")
    format: str | None = flag(choices=formats.FORMATS, help="output format; see below")
    show: Sequence[str] | None = flag(
        nargs="+", choices=formats.NAMES, metavar="NAME", help=f"tables or plots: {', '.join(formats.NAMES)}"
    )
    columns: Sequence[str] | None = flag(
        nargs="+",
        metavar="COLUMN",
        help="columns of one table (--show NAME), in this order: e.g. system score errors_per_100_pronouns; a wrong "
        "name lists all (default: all; latex: those that fit a page)",
    )
    limit: int | None = flag(type=whole(1), metavar="N", help="show at most N segments (default: all)")
    title: str | None = flag(metavar="TEXT", help="title of the web page (default: the system names)")
    no_model: bool = switch("--no-model", "--no_model", help="do not show attention and alternative pronouns")
    all_alternatives: bool = switch(
        help=f"show alternatives of every pronoun (default: of those with a probability below {THRESHOLD:g}); slow"
    )
    quiet: bool = switch(help="no progress bar and no notes on stderr")
    model: ModelFlags = part(ModelFlags, flags.MODEL)
    out: OutputFlags = part(OutputFlags, only=())

    @property
    def kind(self) -> str:
        """The format."""
        return format_of(self.output, self.format, formats.SUFFIXES, default="html")

    @property
    def shown(self) -> Sequence[str]:
        """The names of --show, or what the format shows by default."""
        return tuple(dict.fromkeys(self.show or formats.DEFAULT.get(self.kind, ())))

    def check(self) -> None:
        """Refuse what the format does not show."""
        kind, shown = self.kind, self.shown
        if self.output is None and kind in ("html", "png", "svg"):
            raise UsageError(f"-o FILE is needed with --format {kind}; tables (--format md, latex, tsv) go to stdout")
        if kind == "html" and self.show:
            raise UsageError("--show is for tables and plots; the web page shows everything")
        if self.columns and (kind not in formats.TABLES or len(self.show or shown) > 1):
            raise UsageError(f"--columns is for one table: give --show NAME and --format {', '.join(formats.TABLES)}")
        if kind != "html" and self.title is not None:
            raise UsageError("--title is for the web page (--format html)")
        if self.no_model and (self.model.model is not None or self.model.allow_network or self.all_alternatives):
            raise UsageError("--no-model cannot be used with --model, --allow_network or --all-alternatives")
        if kind in ("png", "svg", "tsv") and len(shown) > 1:
            raise UsageError(f"expected one name with --format {kind}, got --show {' '.join(shown)}")
        if kind in formats.PLOTS and shown[0] not in plots.PLOTS:
            raise UsageError(f"{shown[0]} is a table, not a plot; plots: {', '.join(plots.PLOTS)}")


def run(task: ReportFlags) -> None:
    """Show the result."""
    targets.check([task.output], read=[task.result, task.model.model])
    note = task.out.notes()
    content = _content(task, read(task.result), note)
    note.begin()
    _write(
        formats.render(content, task.kind, task.shown, title=task.title, columns=task.columns, file=task.result),
        task.output,
    )


def _content(task: ReportFlags, result: Result, note: Notes) -> Content:
    """The content of the report; pronouns are paired and the model is loaded only if the format shows it."""
    everything = task.kind == "html" or bool({"pronouns", "distances"} & set(task.shown))
    notes: list[str] = []

    def record(line: str) -> None:
        notes.append(line)
        note(line)

    for line in result.notes:
        note(line)
    without = "no model was loaded: attention and alternative pronouns are not shown"
    if not task.no_model and (everything or task.model.model is not None):
        try:
            task = replace(task, model=_of_result(task.model, result.signature))
        except PronmetricError as error:
            if task.model.model is not None:  # no such checkpoint
                raise
            task, without = replace(task, no_model=True), str(error)
    run = ScoringRun(task.model, task.out, note)
    language, links = _language_of_result(run, result.signature), None
    if everything or "confusion" in task.shown:
        links = link_pronouns(result, record, language)
        if links is None:
            record("the result has no reference: pronouns are not compared with a reference")
    check_sources("the source", result_sources(result), language, record, strict=False)
    segments = differing(result, links)
    listed = segments[: task.limit]
    model_views: dict[int, tuple[ModelView, ...]] = {}
    with_model = everything and not task.no_model and listed_outputs(result, listed)
    if with_model and (own := run.language) != language:
        record(
            f"the result is in {language.code} and --model scores {own.code}: attention and alternative pronouns are "
            "not shown"
        )
    elif with_model:
        model_views = _views(task, result, listed, run, record)
    elif everything:
        record(without)
    return Content(
        result=result,
        links=links,
        listed=listed,
        differing=len(segments),
        views=model_views,
        notes=notes,
        language=language,
        genders=run.genders(language) if model_views and task.kind == "html" else None,
    )


def _of_result(model: ModelFlags, signature: str) -> ModelFlags:
    """The flags with the model of a result and its language, by its signature, where they name none.

    A result is shown with the model that made it, in its own language, whatever other languages the model has.

    Raises:
        PronmetricError: the model is not found by its name.
    """
    if model.model is None:
        model = replace(model, model=model_name(signature))
        try:
            locate_model(model)
        except PronmetricError:
            raise PronmetricError(
                f"{model.model}, the model that made the result, is not found by this name: attention and alternative "
                "pronouns are not shown; give its folder with `model=`"
            ) from None
    if model.lang is not None:
        return model
    config, code = checkpoint_config.read(locate_model(model).folder / locate.CONFIG), language_code(signature)
    return replace(model, lang=code) if len(checkpoint_config.languages_of(config)) > 1 else model


def _language_of_result(run: ScoringRun, signature: str) -> Language:
    """The language of a result's texts, by its signature; its table is that of --model, else the package's.

    Raises:
        PronmetricError: neither has a table of this language.
    """
    code = language_code(signature)
    if code == languages.ENGLISH.code:
        return languages.ENGLISH
    if run.language.code == code:
        return run.language
    if code in codes():
        return languages.language(code)
    raise PronmetricError(
        f"the result is in {code}, of which there is no table of pronouns here: give --model the checkpoint that "
        "scored it"
    )


def _views(
    task: ReportFlags, result: Result, listed: Sequence[int], run: ScoringRun, record: Callable[[str], object]
) -> dict[int, tuple[ModelView, ...]]:
    """Attention and alternative pronouns of the listed segments."""
    metric, batch_size = run.metric, task.model.batch_size
    if not is_model_of(own := metric.signature(counts=Counts(with_source=1)), result.signature):
        record(
            f"{own['model']} has other weights ({own['weights']}) or settings than the model that made the result: "
            "attention and alternative pronouns are not shown; give that model with `model=`"
        )
        return {}
    record(f"attention and alternative pronouns are from the model that made the result, {own['model']}")
    texts = listed_texts(result, listed, with_source=reads_as(own, result.signature))
    if not metric.probability:
        record("the scores of this model are not probabilities: alternative pronouns are not shown")
        with run.progress(len(texts), label="attention"):
            attention = metric.attention(texts, batch_size=batch_size, advance=run.advance)
            return model_views(result, listed, attention, ((),) * len(texts), metric.language)
    below = None if task.all_alternatives else THRESHOLD
    if below is not None:
        record(f"alternatives are shown for pronouns with a probability below {below:g} (--all-alternatives: for all)")
    with run.progress(2 * len(texts), label="attention, alternatives"):
        attention, again = tee(metric.attention(texts, batch_size=batch_size, advance=run.advance))
        scored = ([look.pronoun for look in looks] for looks in again)
        alternatives = metric.alternatives(
            texts, below=below, agreeing=True, scored=scored, batch_size=batch_size, advance=run.advance
        )
        return model_views(result, listed, attention, alternatives, metric.language)


def _write(content: str | bytes, path: str | None) -> None:
    if path is None:
        assert isinstance(content, str)
        sys.stdout.write(content)
        return
    with targets.AtomicFile(path) as file:
        file.buffer.write(content if isinstance(content, bytes) else content.encode())


class PaperFlags(Flags):
    """The results for the paper's tables, and where they are written."""

    paths: Sequence[str] = argument(nargs="+", metavar="DIR_OR_JSON", help="result files, or folders that contain them")
    output: str | None = flag("-o", "--output", metavar="FILE", help="output file (default: stdout)")
    format: str | None = flag(
        choices=tuple(dict.fromkeys(PAPER_SUFFIXES.values())), help="default: the suffix of FILE; md for stdout"
    )

    @property
    def kind(self) -> str:
        """The format."""
        return format_of(self.output, self.format, PAPER_SUFFIXES, default="md")

    def check(self) -> None:
        """Refuse a suffix that is no format."""
        _ = self.kind


def run_paper(task: PaperFlags) -> None:
    """Make the paper's tables."""
    targets.check([task.output], read=paper.files(task.paths))
    results = paper.read(task.paths)
    named, notes = paper.tables(results), paper.notes(results)
    if task.kind == "html":
        text = page.tables_page(named, notes, title=PAPER_TITLE)
    else:
        text = (tables.markdown if task.kind == "md" else tables.latex)(named, notes)
    _write(text, task.output)


VERBS = (
    Command(
        "report", ReportFlags, run, DESCRIPTION, EPILOG, stray="give one result file, and the output file with -o FILE"
    ),
    Command("report tables", PaperFlags, run_paper, PAPER_HELP),
)
