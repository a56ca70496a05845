"""Models that score the items of a suite: a metric of pronouns, a translation or language model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pronmetric.cli import output
from pronmetric.cli.run import ScoringRun
from pronmetric.cli.suite_flags import ScoreFlags
from pronmetric.errors import PronmetricError
from pronmetric.lab.nmt.settings import is_model
from pronmetric.lab.suites.contrastive import About, Item, Reading, for_pronouns, texts_of
from pronmetric.lab.suites.export import NONE, Concatenation
from pronmetric.output import targets

if TYPE_CHECKING:
    from pronmetric.lab.nmt.translator import Translator
    from pronmetric.lab.seq2seq.model import TranslationModel


def by_pronmetric(task: ScoreFlags, note: output.Notes) -> tuple[Sequence[Item], list[float], str]:
    """The items that the model judges, the mean probability of each candidate's pronouns, and what scored."""
    read = task.suite.read(task.set, Reading(task.documents, task.context))
    run, about = ScoringRun(task.model, task.out, note, strict=task.strict), task.suite.ABOUT
    code = run.metric.language.code
    items = choose_items(read, replace(about, targets=()), code, task.set, note)
    if not items:
        raise PronmetricError(f"{task.set}: no item is in {code} and of pronouns; give a model of the set's language")
    if task.save_scores is not None and len(items) < len(read):
        raise PronmetricError(
            f"--save_scores: the model judges {len(items)} of {len(read)} items, and a file of scores is of all: "
            "leave it out, or give a set of the model's language"
        )
    if not items[0].language and about.targets and code not in about.targets:
        named = ", ".join(about.targets)
        note(f"the published candidates of {about.name} are in {named}; the model scores {code}")
    values = score_pronouns(run, items, task.set)
    note.lengths(run.counts)
    if task.save_scores is not None:
        with targets.AtomicFile(task.save_scores) as file:
            file.writelines(f"{value}\n" for value in values)
    signature = run.sign("common" if task.context else "none", size=task.context or None)
    return items, values, f"pronmetric, {task.context} sentences of context, {signature}"


def choose_items(items: Sequence[Item], about: About, code: str, file: str, note: output.Notes) -> tuple[Item, ...]:
    """The items that a metric of pronouns in the language `code` judges; the others are noted."""
    kept = for_pronouns(items, about, code)
    if len(kept) < len(items):
        note(f"{file}: {len(items) - len(kept)} of {len(items)} items are left out: not in {code}, or not of pronouns")
    return kept


def score_pronouns(run: ScoringRun, items: Sequence[Item], file: str) -> list[float]:
    """The mean probability of each candidate's pronouns; a candidate without one loses.

    Raises:
        PronmetricError: no candidate has a pronoun.
    """
    texts = texts_of(items)
    first = texts_of([replace(item, candidates=item.candidates[:1]) for item in items])
    run.check_texts(file, texts, sources=first)
    with run.progress(len(texts)):
        scores = [segment.score for segment in run.stream(texts)]
    without = sum(score is None for score in scores)
    if without == len(scores):
        message = "no candidate has a pronoun that the model knows; the targets must be in its language"
        raise PronmetricError(f"{file}: {message}")
    if without:
        run.note(f"{file}: {without} of {len(scores)} candidates have no pronoun: they lose against any other")
    return [-math.inf if score is None else score for score in scores]


def by_seq2seq(task: ScoreFlags, folder: str, note: output.Notes) -> tuple[Sequence[Item], list[float], str]:
    """The items, the log-probability of each candidate, and what scored."""
    from pronmetric.lab.seq2seq import model, resumable

    of_model = _own_model if is_model(folder) else _hugging_face_model
    scorer, concatenation, context, settings = of_model(task, folder)
    items = task.suite.read(task.set, Reading(task.documents, max(concatenation.source, concatenation.target)))
    pairs = [concatenation.texts(one) for item in items for one in item.candidates]
    scorer.check(pairs, file=task.set)
    note.begin()
    batch_size = task.model.batch_size or model.BATCH_SIZE
    depends = {"model": resumable.folder_digest(folder), "texts": resumable.fingerprint(pairs)}
    depends |= {"settings": settings, "batch_size": str(batch_size)}
    with resumable.open_scores(task.save_scores, depends, window=model.WINDOW) as file:
        if file.done:
            note(f"{file.done} of {len(pairs)} lines are in {file.partial} already")
        with output.bar(note.quiet, total=len(pairs), unit="lines") as bar:
            bar.update(file.done)
            values = resumable.fill(
                file, pairs, lambda window: scorer.score(window, batch_size=batch_size, advance=bar.update)
            )
    kind = "log-probability by piece" if task.by_seq2seq.per_piece else "log-probability"
    return items, values, f"{kind} by {folder}, context {context}"


class Scorer(NamedTuple):
    """A translation model, the context that it reads, its name, and the settings that its scores depend on."""

    model: TranslationModel | Translator
    concatenation: Concatenation
    context: str
    settings: str


def _hugging_face_model(task: ScoreFlags, folder: str) -> Scorer:
    from pronmetric.lab.seq2seq import model

    given, mode, separator = task.by_seq2seq, task.by_seq2seq.context_mode, task.judging.separator or ""
    settings = model.ModelSettings(
        precision=task.model.precision or "32",
        gpus=task.model.gpus,
        prompt=given.prompt,
        per_piece=given.per_piece,
        source_language=given.source_language,
        target_language=given.target_language,
    )
    context = f"{mode} {task.context}" if task.context else mode
    concatenation = Concatenation.of(mode, size=task.context, separator=separator)
    return Scorer(model.TranslationModel(folder, settings), concatenation, context, repr(settings))


def _own_model(task: ScoreFlags, folder: str) -> Scorer:
    """A model of `nmt train`, which brings its context."""
    given = {
        "--context-mode": task.by_seq2seq.context_mode != NONE,
        "--context": task.context,
        "--prompt": task.by_seq2seq.prompt is not None,
        "--separator": task.judging.separator is not None,
        "--source-language": task.by_seq2seq.source_language,
        "--target-language": task.by_seq2seq.target_language,
    }
    if extra := [name for name, value in given.items() if value]:
        raise PronmetricError(f"{folder}: the model has a context of its own; leave {' and '.join(extra)} out")
    from pronmetric.lab.nmt.translator import Translator

    precision, per_piece = task.model.precision or "32", task.by_seq2seq.per_piece
    model = Translator.load(folder, precision=precision, gpus=task.model.gpus, per_piece=per_piece)
    settings = f"{precision} {per_piece}"
    return Scorer(model, model.shape.reads.concatenation, model.shape.system, settings)
