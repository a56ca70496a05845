"""`pronmetric suite score`: what scores, translations and models reach on a suite, or on several."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pronmetric.cli import flags, output
from pronmetric.cli.parser import Command
from pronmetric.cli.suite_all import score_all
from pronmetric.cli.suite_flags import ALL, ScoreFlags
from pronmetric.cli.suite_model import by_pronmetric, by_seq2seq
from pronmetric.errors import PronmetricError
from pronmetric.lab.suites import bleu, cai_xiong
from pronmetric.lab.suites import export as suite_export
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites.contrastive import Reading, SuiteVerdicts, judge_file
from pronmetric.output import targets

if TYPE_CHECKING:
    pass


SCORE = """Judge scores, translations or a model on a suite, and report accuracy with 95 % intervals, overall and
by the suite's break-downs. `pronmetric suite show NAME` describes the suite's files and rules."""
SCORE_EPILOG = """what is judged, one of:
  --scores FILE        one number on each line of `suite export`; lower is better unless --maximize
  --translations FILE  a system's translations, where the suite judges them
  --humans FILE        human judgments (cai-xiong); with --translations, both are compared
  --model NAME|FOLDER  pronmetric itself, for targets in its language; `default` is `base`. Its score of
                       a candidate is the mean probability of its pronouns, in the --context previous target sentences
  --seq2seq FOLDER     a Hugging Face encoder-decoder or causal language model (safetensors, or one GGUF file with
                       the extra lm), or a model of `pronmetric nmt train`, by the log-probability of
                       each candidate given its source

context of --seq2seq (--context-mode); a model of `nmt train` reads the one that it was trained with:
  none      the sentence alone (default)
  concat21  one previous source sentence before the source
  concat22  one previous sentence before the source and before the target
  concatN   --context previous sentences before each
The sentences are joined by --separator. The log-probability is that of the whole target text.

ALL judges --model and baselines on several sets, in one table: accuracy by phenomenon with 95 % intervals.
  --set FILE             the sets, a TSV file whose first line names the columns suite, set (a file) and, where there
                         are any, documents; files are relative to its folder
  --language-model DIR   log-probability of a candidate after its --context
  --comet FILE           COMET, where the items have a source (and a reference)
BLEU and chrF are there too (extra peers), for items with a reference beside their candidates. All
are judged on the items that --model judges: of pronouns, in its language.

With --save_scores FILE a run of --seq2seq that was stopped is continued by the same command; the scores so far are in
FILE.partial. The scores of --model and --seq2seq are higher for better: read them again with --scores FILE
--maximize."""


def run_score(task: ScoreFlags) -> None:
    """Judge, print the figures, and write the files that are asked for."""
    if task.name == ALL:
        score_all(task)
        return
    model, given = task.model.model, task.judged
    inputs = (
        task.set,
        task.documents,
        given.scores,
        given.translations,
        given.humans,
        task.judging.alignment,
        task.bleu,
    )
    read = [*inputs, given.seq2seq, None if model is None or not Path(model).exists() else model]
    targets.check((task.to_json, task.save_scores, task.plot), read=read)
    flags.check_plot(task.plot)
    further: dict[str, object] = {}
    if task.bleu is not None:
        items = task.suite.read(task.set, Reading())
        language = task.judging.language or bleu.language_of(items, task.suite.ABOUT)
        further = bleu.bleu(items, task.bleu, language=language)
    judged, scored_by = _judge(task, task.out.notes())
    judged = replace(judged, further={**judged.further, **further})
    figures = suite_figures.figures(judged.verdicts)
    settings = {"set": task.set, "judged": scored_by, "compat": task.judging.compat}
    output.write_json(task.to_json, suite_figures.to_json(task.name, judged, figures, settings))
    if task.plot is not None:
        with targets.AtomicFile(task.plot) as file:
            file.buffer.write(suite_figures.plot(figures, title=task.name, kind=Path(task.plot).suffix[1:]))
    print(suite_figures.format_figures(f"{task.name}: {task.set}; {scored_by}", judged, figures))


def _judge(task: ScoreFlags, note: output.Notes) -> tuple[SuiteVerdicts, str]:
    """The verdicts, and by what they are judged."""
    if task.model.model is not None or task.judged.seq2seq is not None:
        return _judge_by_model(task, note)
    note.begin()
    file = task.judged.scores
    if file is None:
        return _judge_translations(task)
    suite, compat = task.suite, task.judging.compat
    items = suite.read(task.set, Reading(task.documents, task.context, texts=False))
    surplus = compat and suite.ABOUT.ignores_surplus
    scores = suite_export.read_scores(file, items, maximize=task.judging.maximize, compat=compat, surplus=surplus)
    return judge_file(suite, items, scores, task.judging.judging, file=task.set), f"scores {file}"


def _judge_translations(task: ScoreFlags) -> tuple[SuiteVerdicts, str]:
    translations, humans = task.judged.translations, task.judged.humans
    automatic = None
    if translations is not None:
        automatic = task.suite.judge_translations(task.set, translations, task.judging.judging)
    if humans is None:
        assert automatic is not None
        return automatic, f"translations {translations}"
    if task.suite is not cai_xiong:
        raise PronmetricError(f"--humans: the suite {task.name} has no human judgments; cai-xiong has")
    return cai_xiong.judge_humans(task.set, humans, automatic), f"human judgments {humans}"


def _judge_by_model(task: ScoreFlags, note: output.Notes) -> tuple[SuiteVerdicts, str]:
    """The verdicts by the model's scores, and what scored."""
    folder = task.judged.seq2seq
    items, values, scored_by = by_pronmetric(task, note) if folder is None else by_seq2seq(task, folder, note)
    scores = suite_export.cut(values, items, task.set)
    return judge_file(task.suite, items, scores, task.judging.judging, file=task.set), scored_by


COMMAND = Command("score", ScoreFlags, run_score, SCORE, SCORE_EPILOG, help="judge scores, translations or a model")
