"""How a checkpoint agrees with what people marked and corrected: what `evaluate` and `mqm` share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.cli import output
from pronmetric.cli.endpoint import EndpointFlags, ask_marks
from pronmetric.cli.flags import ModelFlags
from pronmetric.cli.parser import Flags, flag, switch
from pronmetric.cli.run import ScoringRun, load_language_model
from pronmetric.errors import PronmetricError
from pronmetric.lab.human import form_places, people, people_figures
from pronmetric.lab.human.people import Items
from pronmetric.lab.human.people_figures import Said, Values
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

    title: of the texts. by_form: the name of the baseline, and the doubts of pronouns by their form alone.
    language_model: its folder. judge: a chat model that is asked.
    """

    judged: Sequence[JudgedText]
    title: str
    by_form: tuple[str, Callable[[Items], Items]]
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
    with run.progress(len(texts) + len(bare)):
        items, pairs = people.items(task.judged, run.stream(texts))
        without = people.items(task.judged, run.stream(bare, counted=False)) if bare else None
    name, doubt = task.by_form
    baselines = {name: doubt(items)}
    decisions: dict[str, Values] = {}
    if task.language_model is not None:
        doubts, decisions = _read_by_language_model(task, task.language_model, texts, context, run)
        baselines[LANGUAGE_MODEL] = items.doubted(doubts)
    for name, shares in ask_marks(task.judged, texts, task.judge, run.note, quiet=run.note.quiet).items():
        baselines[name] = items.doubted(shares)
    said = Said(task.judged, items, pairs, without, baselines, decisions)
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
        made = tables_page(shown, [title, f"signature: {signature}"], title=f"{PAGE}: {task.title}", plot=plot)
        with targets.AtomicFile(task.wish.to_html) as file:
            file.write(made)
    run.note.lengths(run.counts)
    run.note(f"signature: {signature}")
    return f"{title}\n{people_figures.format_measured(measured)}", {
        "signature": signature,
        "context": context,
        "counts": counts_entry(run.counts),
        **plain(measured),
    }


def _read_by_language_model(
    task: Measurement, folder: str, texts: Sequence[Text], context: str, run: ScoringRun
) -> tuple[list[float], dict[str, Values]]:
    """What a language model doubts: of each judged pronoun, and by which texts of the mended pairs."""
    from pronmetric.lab.seq2seq.forms import doubts

    model = load_language_model(folder, task.model)
    places = list(form_places.places(task.judged, context, run.language))
    mended = people.mended(texts, task.judged)
    with output.bar(run.note.quiet, total=len(places) + len(mended), label="language model", unit="readings") as bar:
        doubted = doubts(model, places, advance=bar.update)
        read = model.read(mended, advance=bar.update)
    both = list(zip(read[::2], read[1::2], strict=True))
    decisions: dict[str, Values] = {
        f"{LANGUAGE_MODEL}, sum": [(a.total, b.total) for a, b in both],
        f"{LANGUAGE_MODEL}, per piece": [(a.per_piece, b.per_piece) for a, b in both],
    }
    return doubted, decisions if both else {}
