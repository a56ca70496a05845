"""`pronmetric suite score ALL`: a metric and baselines on all sets that a file lists."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pronmetric.cli import output
from pronmetric.cli.flags import ModelFlags
from pronmetric.cli.run import ScoringRun, load_language_model
from pronmetric.cli.suite_flags import BaselineFlags, ScoreFlags
from pronmetric.cli.suite_model import choose_items, score_pronouns
from pronmetric.errors import PronmetricError
from pronmetric.installation import pip_install
from pronmetric.lab.baselines.comet import Comet
from pronmetric.lab.baselines.reference_based import BLEU, CHRF, get_baseline
from pronmetric.lab.suites import overview
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrastive import Item, Reading, texts_of
from pronmetric.lab.suites.overview import Metric
from pronmetric.output import targets

if TYPE_CHECKING:
    from pronmetric.lab.seq2seq.model import LanguageModel


def score_all(task: ScoreFlags) -> None:
    """Judge by all metrics on all sets that the file lists; print the table and write the figures."""
    file, context, model, baselines, out = task.set, task.context, task.model, task.baselines, task.out
    models = [path for path in (model.model, baselines.language_model, baselines.comet) if path and Path(path).exists()]
    targets.check((out.to_json,), read=[file, *models])
    sets = overview.read_sets(file, SUITES)
    targets.check((out.to_json,), read=[path for suite_set in sets for path in (suite_set.path, suite_set.documents)])
    note = out.notes()
    items = [suite_set.suite.read(suite_set.path, Reading(suite_set.documents, context)) for suite_set in sets]
    metrics: dict[str, Metric] = {}
    run = None if model.model is None else ScoringRun(model, out, note, strict=task.strict)
    if run is not None:
        metrics[run.metric.name] = partial(score_pronouns, run)
    metrics |= _baselines(baselines, model, note)
    if run is None:
        note.begin()
    judged = []
    for suite_set, read in zip(sets, items, strict=True):
        code = None if run is None else run.language.code
        chosen = read if code is None else choose_items(read, suite_set.suite.ABOUT, code, suite_set.path, note)
        if chosen:
            by_metric = {name: overview.judge(suite_set, chosen, metric) for name, metric in metrics.items()}
            judged.append(overview.Judgments(suite_set, len(chosen), len(read) - len(chosen), by_metric))
    if not judged:
        raise PronmetricError(f"{file}: the model judges no item of these sets; give sets in its language")
    signature = None
    if run is not None:
        signature = run.sign("common" if context else "none", size=context or None)
        run.finish()
    output.write_json(out.to_json, overview.to_record(judged, {"context": context, "signature": signature}))
    print(overview.format_overview(judged))


def _baselines(given: BaselineFlags, model: ModelFlags, note: output.Notes) -> dict[str, Metric]:
    """BLEU and chrF, where sacreBLEU is installed, and those that the flags name."""
    metrics: dict[str, Metric] = {}
    if find_spec("sacrebleu") is None:
        note(f"BLEU and chrF are left out: sacrebleu is not installed: {pip_install('peers', 'sacrebleu')}")
    else:
        named = {"BLEU": BLEU, "chrF": CHRF}
        metrics |= {shown: partial(overview.by_reference, get_baseline(name)) for shown, name in named.items()}
    if given.language_model is not None:
        reader = load_language_model(given.language_model, model)
        metrics["language model"] = partial(_score_by_language_model, reader, quiet=note.quiet)
    if given.comet is not None:
        metrics["COMET"] = partial(overview.by_comet, Comet(given.comet, gpus=model.gpus))
    return metrics


def _score_by_language_model(reader: LanguageModel, items: Sequence[Item], file: str, *, quiet: bool) -> list[float]:
    """The log-probability of each candidate after its context."""
    texts = texts_of(items)
    with output.bar(quiet, total=len(texts), label="language model") as bar:
        return [found.total for found in reader.read(texts, advance=bar.update)]
