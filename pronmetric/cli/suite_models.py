"""The candidates of a suite scored by pronmetric itself, or by a model of Hugging Face."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence

from pronmetric.cli import output
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.run import ScoringRun, check_texts
from pronmetric.errors import PronmetricError
from pronmetric.lab.suites import score_lines
from pronmetric.lab.suites.contrastive import About, Item, Judged, Judging, Reading, Suite
from pronmetric.output import targets
from pronmetric.text.context import Text, join


def judge(args: argparse.Namespace, suite: Suite, judging: Judging, note: output.Notes) -> tuple[Judged, str]:
    """The verdicts by the model's scores, and what scored."""
    size = args.context if args.seq2seq is None else max(args.context, 1)
    needs_context = args.context > 0 or args.context_mode != "none"
    items = suite.read(args.set, Reading(args.documents, size if needs_context else 0))
    if args.seq2seq is not None:
        values, scored_by = _by_seq2seq(args, items, note)
    else:
        values, scored_by = _by_pronmetric(args, items, suite.ABOUT, note)
    return suite.judge(items, score_lines.cut(values, items, args.set), judging), scored_by


def _by_pronmetric(
    args: argparse.Namespace, items: Sequence[Item], about: About, note: output.Notes
) -> tuple[list[float], str]:
    """The mean probability of each candidate's pronouns; a candidate without one loses."""
    texts = [Text(join(one.target_context), one.target) for item in items for one in item.candidates]
    run = ScoringRun(ModelFlags.of(args), OutputFlags.of(args), note)
    metric = run.metric
    if metric.language.code not in about.targets:
        named = ", ".join(about.targets)
        note(f"the published candidates of {about.name} are in {named}; the model scores {metric.language.code}")
    check_texts({args.set: (text.text for text in texts)}, metric.language, note, strict=args.strict)
    with run.progress(len(texts)):
        scores = [segment.score for segment in run.stream(texts)]
    note.lengths(run.counts)
    without = sum(score is None for score in scores)
    if without == len(scores):
        raise PronmetricError("no candidate has a pronoun that the model knows; the targets must be in its language")
    if without:
        note(f"{without} of {len(scores)} candidates have no pronoun: they lose against any other")
    values = [-math.inf if score is None else score for score in scores]
    if args.save_scores is not None:
        with targets.AtomicFile(args.save_scores) as file:
            file.writelines(f"{value}\n" for value in values)
    signature = run.sign("common" if args.context else "none", size=args.context or None)
    return values, f"pronmetric, {args.context} sentences of context, {signature}"


def _by_seq2seq(args: argparse.Namespace, items: Sequence[Item], note: output.Notes) -> tuple[list[float], str]:
    """The log-probability of each candidate."""
    from pronmetric.lab.seq2seq import model, resumable
    from pronmetric.lab.suites.concatenation import Concatenation

    separator = "" if args.separator is None else args.separator
    made = Concatenation.of(args.context_mode, size=args.context, separator=separator)
    pairs = [made.texts(one) for item in items for one in item.candidates]
    settings = model.ModelSettings(
        precision=args.precision or "32",
        gpus=args.gpus,
        prompt=args.prompt,
        per_piece=args.per_piece,
        source_language=args.source_language,
        target_language=args.target_language,
    )
    scorer = model.TranslationModel(args.seq2seq, settings)
    scorer.check(pairs, file=args.set)
    note.begin()
    batch_size = args.batch_size or model.BATCH_SIZE
    depends = {"model": resumable.folder_digest(args.seq2seq), "texts": resumable.fingerprint(pairs)}
    depends |= {"settings": repr(settings), "batch_size": str(batch_size)}
    with resumable.open_scores(args.save_scores, depends, window=model.WINDOW) as file:
        if file.done:
            note(f"{file.done} of {len(pairs)} lines are in {file.partial} already")
        with output.bar(args.quiet, total=len(pairs), unit="lines") as bar:
            bar.update(file.done)
            values = resumable.fill(
                file, pairs, lambda window: scorer.score(window, batch_size=batch_size, advance=bar.update)
            )
    kind = "log-probability by piece" if args.per_piece else "log-probability"
    context = f"{args.context_mode} {args.context}" if args.context else args.context_mode
    return values, f"{kind} by {args.seq2seq}, context {context}"
