"""`pronmetric suite score ALL`: metrics and baselines on several sets, in one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pronmetric.cli import output
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.output import Notes
from pronmetric.cli.parser import Flags, flag
from pronmetric.cli.run import ScoringRun, check_texts
from pronmetric.errors import InputError, PronmetricError
from pronmetric.lab.baselines.comet import Comet, Translation
from pronmetric.lab.baselines.reference_based import BLEU, CHRF, ReferenceBaseline, SegmentWords, get_baseline
from pronmetric.lab.suites import overview
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrastive import About, Item, Judged, Judging, Reading, Scores, Suite, for_pronouns
from pronmetric.lab.suites.export import cut
from pronmetric.lab.suites.overview import SetFile
from pronmetric.output import targets
from pronmetric.text.context import Source, Text, join

if TYPE_CHECKING:
    from pronmetric.lab.seq2seq.model import LanguageModel

ALL = "ALL"
Metric = Callable[[Sequence[Item], str], list[float] | None]
"""The score of each candidate of a set's items, higher is better; None where the items lack what it needs."""


class BaselineFlags(Flags):
    """The baselines of ALL besides BLEU and chrF."""

    language_model: str | None = flag(
        "--language-model", metavar="FOLDER", help="a causal language model, as in `pronmetric evaluate`"
    )
    comet: str | None = flag(metavar="FILE", help="a checkpoint of COMET (.ckpt), where unbabel-comet is installed")


def texts_of(items: Sequence[Item]) -> list[Text]:
    """The candidates in their contexts, with the source where there is one."""
    return [
        Text(join(one.target_context), one.target, Source(one.source, one.source_context) if one.source else None)
        for item in items
        for one in item.candidates
    ]


def choose_items(items: Sequence[Item], about: About, code: str, file: str, note: Notes) -> tuple[Item, ...]:
    """The items that a metric of pronouns in the language `code` judges; the others are noted."""
    kept = for_pronouns(items, about, code)
    if len(kept) < len(items):
        note(f"{file}: {len(items) - len(kept)} of {len(items)} items are left out: not in {code}, or not of pronouns")
    return kept


def score_pronouns(scoring: ScoringRun, items: Sequence[Item], file: str, note: Notes, *, strict: bool) -> list[float]:
    """The mean probability of each candidate's pronouns; a candidate without one loses.

    Raises:
        PronmetricError: no candidate has a pronoun.
    """
    texts = texts_of(items)
    check_texts({file: (text.text for text in texts)}, scoring.metric.language, note, strict=strict)
    with scoring.progress(len(texts)):
        scores = [segment.score for segment in scoring.stream(texts)]
    without = sum(score is None for score in scores)
    if without == len(scores):
        message = "no candidate has a pronoun that the model knows; the targets must be in its language"
        raise PronmetricError(f"{file}: {message}")
    if without:
        note(f"{file}: {without} of {len(scores)} candidates have no pronoun: they lose against any other")
    return [-math.inf if score is None else score for score in scores]


def run(
    file: str, context: int, model: ModelFlags, baselines: BaselineFlags, out: OutputFlags, *, strict: bool
) -> None:
    """Judge by all metrics on all sets that `file` lists; print the table and write the figures."""
    models = [path for path in (model.model, baselines.language_model, baselines.comet) if path and Path(path).exists()]
    targets.check((out.to_json,), read=[file, *models])
    sets = overview.read_sets(file, SUITES)
    targets.check((out.to_json,), read=[path for one in sets for path in (one.path, one.documents)])
    note = out.notes()
    items = [one.suite.read(one.path, Reading(one.documents, context)) for one in sets]
    metrics: dict[str, Metric] = {}
    scoring = None if model.model is None else ScoringRun(model, out, note)
    if scoring is not None:
        metrics[scoring.metric.name] = partial(score_pronouns, scoring, note=note, strict=strict)
    metrics |= _baselines(baselines, model, note)
    if scoring is None:
        note.begin()
    judged = []
    for one, read in zip(sets, items, strict=True):
        code = None if scoring is None else scoring.metric.language.code
        kept = read if code is None else choose_items(read, one.suite.ABOUT, code, one.path, note)
        if kept:
            by_metric = {name: _judge(one, kept, metric) for name, metric in metrics.items()}
            judged.append(overview.Judgments(one, len(kept), len(read) - len(kept), by_metric))
    if not judged:
        raise PronmetricError(f"{file}: the model judges no item of these sets; give sets in its language")
    signature = None
    if scoring is not None:
        signature = scoring.sign("common" if context else "none", size=context or None)
        scoring.finish()
    output.write_json(out.to_json, overview.to_record(judged, {"context": context, "signature": signature}))
    print(overview.format_overview(judged))


def _judge(one: SetFile, items: Sequence[Item], metric: Metric) -> Judged | None:
    values = metric(items, one.path)
    if values is None:
        return None
    return judge(one.suite, items, cut(values, items, one.path), Judging(), file=one.path)


def judge(suite: Suite, items: Sequence[Item], scores: Sequence[Scores], judging: Judging, *, file: str) -> Judged:
    """The suite's verdicts; an error names the set's file."""
    try:
        return suite.judge(items, scores, judging)
    except InputError as error:
        raise error if error.file else InputError(str(error), file=file) from None


def _baselines(given: BaselineFlags, model: ModelFlags, note: Notes) -> dict[str, Metric]:
    """BLEU and chrF, where sacreBLEU is installed, and those that the flags name."""
    metrics: dict[str, Metric] = {}
    if find_spec("sacrebleu") is None:
        note('BLEU and chrF are left out: sacrebleu is not installed: pip install "pronmetric[peers]"')
    else:
        named = {"BLEU": BLEU, "chrF": CHRF}
        metrics |= {shown: partial(_score_by_reference, get_baseline(name)) for shown, name in named.items()}
    if given.language_model is not None:
        from pronmetric.lab.seq2seq.model import LanguageModel

        precision = "32" if model.precision == "int8" else model.precision or "32"
        reader = LanguageModel(given.language_model, precision=precision, gpus=model.gpus)
        metrics["language model"] = partial(_score_by_language_model, reader, quiet=note.quiet)
    if given.comet is not None:
        metrics["COMET"] = partial(_score_by_comet, Comet(given.comet, gpus=model.gpus))
    return metrics


def _score_by_reference(baseline: ReferenceBaseline, items: Sequence[Item], file: str) -> list[float] | None:
    """BLEU or chrF of each candidate; None where an item has no reference beside its candidates."""
    if not all(item.reference for item in items):
        return None
    segments = [SegmentWords(item.reference, one.target, (), (), ()) for item in items for one in item.candidates]
    return [baseline.segment(baseline.count(segment)) or 0.0 for segment in segments]


def _score_by_language_model(reader: LanguageModel, items: Sequence[Item], file: str, *, quiet: bool) -> list[float]:
    """The log-probability of each candidate after its context."""
    texts = texts_of(items)
    with output.bar(quiet, total=len(texts), label="language model") as bar:
        return [found.total for found in reader.read(texts, advance=bar.update)]


def _score_by_comet(comet: Comet, items: Sequence[Item], file: str) -> list[float] | None:
    """The scores of COMET; None where an item has no source, or no reference that the checkpoint needs."""
    rows = [Translation(one.source, one.target, item.reference) for item in items for one in item.candidates]
    if not all(row.source and (row.reference or not comet.needs_reference) for row in rows):
        return None
    return comet.score(rows)
