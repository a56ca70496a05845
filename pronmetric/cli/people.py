"""How a checkpoint agrees with what people marked and corrected: what `evaluate` and `mqm` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.cli import output
from pronmetric.cli.endpoint import EndpointFlags, ask_marks
from pronmetric.cli.flags import ModelFlags
from pronmetric.cli.parser import Flags, flag, switch
from pronmetric.cli.run import ScoringRun, load_language_model
from pronmetric.errors import PronmetricError
from pronmetric.lab.human import form_places, people, people_figures, people_gaps
from pronmetric.lab.human.people_figures import PeopleScores, Values
from pronmetric.lab.human.people_gaps import TextGaps
from pronmetric.output import targets
from pronmetric.report import plots
from pronmetric.report.page import tables_page
from pronmetric.results.write import counts_entry
from pronmetric.schema import JudgedText
from pronmetric.scoring import judged
from pronmetric.text.context import Text
from pronmetric.text.strict_json import plain

LANGUAGE_MODEL = "language model"
PAGE = "People's marks and corrections"
PLOT = "precision against recall, with each rater against the others as a point"
GROUP = "people's marks and corrections"
IN_TRAINING, ELSEWHERE = (f"frequency of the form's marks in {where}" for where in ("training", "other documents"))


class PeopleFlags(Flags):
    """What is measured and shown beside the checkpoint's own figures."""

    plot: str | None = flag(
        metavar="FILE",
        help=f"plot {PLOT} (.png or .svg)",
    )
    to_html: str | None = flag(
        metavar="FILE", help="write a web page with all tables and this plot; needs the extra plots"
    )
    also_no_source: bool = switch(
        help="measure the scores without the source too, and what the source adds by set and language, which "
        "takes twice the time"
    )

    @property
    def files(self) -> tuple[str | None, str | None]:
        """The files that are written."""
        return self.plot, self.to_html


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is measured, by which model, and beside what.

    title: of the texts. training: texts that baselines count the marks of forms and the insertions before words in.
    language_model: its folder. judge: a chat model that is asked.
    """

    judged: Sequence[JudgedText]
    title: str
    training: Sequence[JudgedText]
    model: ModelFlags
    wish: PeopleFlags
    language_model: str | None
    judge: EndpointFlags
    seed: int


def require_probabilities(config: Mapping[str, Any]) -> None:
    """Refuse a checkpoint whose scores cannot be compared with marks.

    Raises:
        PronmetricError: its scores are no probabilities.
    """
    if not checkpoint_config.has_probabilities(config):
        raise PronmetricError("this checkpoint's scores are no probabilities, which people's marks are compared with")


def measure(task: Measurement, context: str, run: ScoringRun) -> tuple[str, dict[str, object]]:
    """Score the texts, write the plot; the tables to print, and the figures for JSON."""
    texts = judged.to_score(task.judged, context)
    for part, sources in people.sources(task.judged).items():
        run.check_sources(f"{task.title}, {part}", sources)
    bare = [text._replace(source=None) for text in texts] if task.wish.also_no_source else []
    gaps: list[TextGaps] = []
    with run.progress(len(texts) + len(bare)):
        scored = people_gaps.keep(task.judged, run.stream(texts, every_gap=True), run.language, gaps)
        items, pairs = people.items(task.judged, scored)
        without = people.items(task.judged, run.stream(bare, counted=False)) if bare else None
    rates = people.form_rates(task.training)
    baselines = (
        {IN_TRAINING: people.by_form(items, rates)} if len(rates) > 1 else {ELSEWHERE: people.by_form_elsewhere(items)}
    )
    decisions: dict[str, Values] = {}
    inserted = people_gaps.word_rates(task.training, run.language)
    gap_baselines = {people_gaps.BY_WORD: people_gaps.by_word(gaps, inserted)} if inserted else {}
    if task.language_model is not None:
        read = _read_by_language_model(task, task.language_model, texts, context, gaps, run)
        baselines[LANGUAGE_MODEL] = items.doubted(read.doubts)
        if read.gaps:
            gap_baselines[LANGUAGE_MODEL] = people_gaps.doubted(gaps, read.gaps)
        decisions = read.decisions
    asked, passes = ask_marks(task.judged, texts, task.judge, run.note, quiet=run.note.quiet)
    baselines |= {name: items.doubted(shares) for name, shares in asked.items()}
    said = PeopleScores(task.judged, items, pairs, without, baselines, decisions, gaps, gap_baselines)
    measured = people_figures.measure(said, seed=task.seed)
    signature = run.sign(context, seed=task.seed)
    documents = measured.pronouns[people.ALL].documents
    title = f"{task.title}; context {context}; in percent; intervals resample {documents} documents"
    panels = people_figures.panels(said)
    if task.wish.plot is not None:
        with targets.AtomicFile(task.wish.plot) as file:
            file.buffer.write(plots.precision_recall(panels, kind=Path(task.wish.plot).suffix[1:]))
    if task.wish.to_html is not None:
        shown = people_figures.page_tables(measured, panels)
        plot = plots.precision_recall(panels, kind="svg"), f"{PLOT}, in percent"
        about = [title, *people_figures.notes(measured), f"signature: {signature}"]
        made = tables_page(shown, about, title=f"{PAGE}: {task.title}", plot=plot)
        with targets.AtomicFile(task.wish.to_html) as file:
            file.write(made)
    run.note.lengths(run.counts)
    run.note(f"signature: {signature}")
    return f"{title}\n{people_figures.format_measured(measured)}", {
        "signature": signature,
        "context": context,
        "counts": counts_entry(run.counts),
        "endpoint": plain(passes),
        **plain(measured),
    }


class _Read(NamedTuple):
    """What a language model doubts: of each judged pronoun, of each gap, and by which texts of the mended pairs."""

    doubts: list[float]
    gaps: list[float]
    decisions: dict[str, Values]


def _read_by_language_model(
    task: Measurement, folder: str, texts: Sequence[Text], context: str, gaps: Sequence[TextGaps], run: ScoringRun
) -> _Read:
    from pronmetric.lab.seq2seq.forms import doubts, insertions

    model = load_language_model(folder, task.model)
    places = list(form_places.places(task.judged, context, run.language))
    of_gaps = [] if people_gaps.reason(gaps) else list(form_places.gaps(gaps, context, run.language))
    mended = people.mended(texts, task.judged)
    total = len(places) + len(of_gaps) + len(mended)
    with output.bar(run.note.quiet, total=total, label="language model", unit="readings") as bar:
        doubted = doubts(model, places, advance=bar.update)
        missing = insertions(model, of_gaps, advance=bar.update)
        read = model.read(mended, advance=bar.update)
    both = list(zip(read[::2], read[1::2], strict=True))
    decisions: dict[str, Values] = {
        f"{LANGUAGE_MODEL}, sum": [(a.total, b.total) for a, b in both],
        f"{LANGUAGE_MODEL}, per piece": [(a.per_piece, b.per_piece) for a, b in both],
    }
    return _Read(doubted, missing, decisions if both else {})
