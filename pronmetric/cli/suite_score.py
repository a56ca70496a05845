"""`pronmetric suite score`: what scores, translations and models reach on a suite, or on several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pronmetric.cli import flags, output
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.parser import (
    Command,
    Flags,
    UsageError,
    argument,
    flag,
    number,
    part,
    require_one,
    switch,
    unset,
    whole,
)
from pronmetric.cli.run import ScoringRun, load_language_model
from pronmetric.errors import PronmetricError
from pronmetric.installation import pip_install
from pronmetric.lab.baselines.comet import Comet
from pronmetric.lab.baselines.reference_based import BLEU, CHRF, get_baseline
from pronmetric.lab.nmt.settings import is_model
from pronmetric.lab.suites import bleu, cai_xiong, overview
from pronmetric.lab.suites import export as suite_export
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrapro import PRONOUNS
from pronmetric.lab.suites.contrastive import (
    About,
    Item,
    Judging,
    Reading,
    Suite,
    SuiteVerdicts,
    for_pronouns,
    judge_file,
    texts_of,
)
from pronmetric.lab.suites.export import MANY, MODES, NONE, Concatenation
from pronmetric.lab.suites.overview import Metric
from pronmetric.output import targets

if TYPE_CHECKING:
    from pronmetric.lab.nmt.translator import Translator
    from pronmetric.lab.seq2seq.model import LanguageModel, TranslationModel

ALL = "ALL"
"""The name of all sets of a file."""


class SetFlags(Flags):
    """Which set is read, and with which context."""

    name: str = argument(choices=list(SUITES), metavar="NAME", help=", ".join(SUITES))
    set: str = flag(required=True, metavar="FILE", help="the set, a file of the suite's authors")
    documents: str | None = flag(metavar="DIR|FILE", help="the documents, where the set does not contain them")
    context: int = flag(type=whole(0), default=0, metavar="N", help="previous sentences of each line (default: 0)")

    @property
    def suite(self) -> Suite:
        """The suite that NAME names."""
        return SUITES[self.name]


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


class JudgedFlags(Flags):
    """What is judged, besides a model of pronmetric."""

    scores: str | None = flag(metavar="FILE", help="scores of the candidates")
    translations: str | None = flag(metavar="FILE", help="translations of a system")
    humans: str | None = flag(metavar="FILE", help="human judgments of a system's translations")
    seq2seq: str | None = flag(metavar="FOLDER", help="a translation or language model")


class JudgingFlags(Flags):
    """How scores and translations are judged."""

    maximize: bool = switch(help="higher numbers in --scores are better")
    compat: bool = switch(help="as the original program where it is odd")
    pronouns: Sequence[str] | None = flag(
        nargs="*", metavar="FORM", help=f"contrapro: these reference pronouns ({' '.join(PRONOUNS)})"
    )
    distance: Sequence[int] | None = flag(
        nargs=2, type=whole(0), metavar=("MIN", "MAX"), help="contrapro --translations: distances"
    )
    proportional: float | None = flag(
        type=number(above=0),
        metavar="X",
        help="contrapro --translations: search X times the source sentence's share of the tokens, from the end",
    )
    language: str | None = flag(metavar="CODE", help="of the translations, for the tokenizer or splitter")
    alignment: str | None = flag(metavar="FILE", help="cai-xiong --translations: word alignments")
    separator: str | None = flag(
        metavar="TEXT", help="between sentences (default: <eos> in translations, a blank in --seq2seq)"
    )

    def check(self) -> None:
        """Refuse an empty range."""
        if self.distance is not None and self.distance[0] > self.distance[1]:
            raise UsageError(f"--distance: expected MIN <= MAX, got {self.distance[0]} and {self.distance[1]}")

    @property
    def judging(self) -> Judging:
        """The rules for the suite."""
        return Judging(
            compat=self.compat,
            pronouns=None if self.pronouns is None else tuple(form.lower() for form in self.pronouns) or PRONOUNS,
            language=self.language,
            distance=None if self.distance is None else (self.distance[0], self.distance[1]),
            separator="<eos>" if self.separator is None else self.separator,
            proportional=self.proportional,
            alignment=self.alignment,
        )


class Seq2seqFlags(Flags):
    """How a translation or language model reads the items."""

    context_mode: str = flag("--context-mode", choices=MODES, default=NONE, help="see below (default: %(default)s)")
    per_piece: bool = switch("--per-piece", help="divide log-probabilities by the number of pieces")
    prompt: str | None = flag(metavar="TEXT", help="text with {source}: what a model reads before the target")
    source_language: str | None = flag("--source-language", metavar="CODE", help="of the model's tokenizer")
    target_language: str | None = flag("--target-language", metavar="CODE", help="of the model's tokenizer")

    def check(self) -> None:
        """Refuse a prompt without the source."""
        if self.prompt is not None and "{source}" not in self.prompt and self.prompt:
            raise UsageError("--prompt: expected {source} in it; an empty prompt scores the target alone")


class BaselineFlags(Flags):
    """The baselines of ALL besides BLEU and chrF."""

    language_model: str | None = flag(
        "--language-model", metavar="FOLDER", help="a causal language model, as in `pronmetric evaluate`"
    )
    comet: str | None = flag(metavar="FILE", help="a checkpoint of COMET (.ckpt), where unbabel-comet is installed")


class ScoreFlags(SetFlags):
    """The set, what is judged on it, and what is written."""

    name: str = argument(choices=[*SUITES, ALL], metavar="NAME", help=f"{', '.join(SUITES)}; {ALL}: see below")
    judged: JudgedFlags = part(JudgedFlags, "what is judged (see below)")
    judging: JudgingFlags = part(JudgingFlags, "judging")
    by_seq2seq: Seq2seqFlags = part(Seq2seqFlags, "--seq2seq")
    baselines: BaselineFlags = part(BaselineFlags, "baselines of ALL")
    model: ModelFlags = part(ModelFlags, flags.MODEL)
    unused_seed: int = flags.seed_flag()
    bleu: str | None = flag(
        group="judging",
        metavar="FILE",
        help="also BLEU of a system's translations, one line for each item (`suite export --right-only`), against the "
        "right candidates",
    )
    to_json: str | None = flag(
        group=flags.OUTPUT, metavar="FILE", help="write all figures and the verdict on each item"
    )
    save_scores: str | None = flag(
        group=flags.OUTPUT, metavar="FILE", help="write the model's scores, one on each line"
    )
    plot: str | None = flag(group=flags.OUTPUT, metavar="FILE", help="plot accuracy by distance (.png or .svg)")
    quiet: bool = switch(group=flags.OUTPUT, help="no progress and notes on stderr")
    strict: bool = flags.strict_flag(flags.OUTPUT)
    out: OutputFlags = part(OutputFlags, only=())

    def check(self) -> None:
        """Refuse several things to judge or none, and flags of another one."""
        if self.name == ALL:
            self._check_all()
            return
        if self.baselines != unset(BaselineFlags):
            raise UsageError("--language-model and --comet go with ALL; a model of one set follows --seq2seq")
        judged, seq2seq = self.judged, self.by_seq2seq
        given = {
            "--scores": judged.scores,
            "--translations": judged.translations,
            "--humans": judged.humans,
            "--model": self.model.model,
            "--seq2seq": judged.seq2seq,
        }
        if [name for name, value in given.items() if value is not None] != ["--translations", "--humans"]:
            require_one(given)
        if self.judging.maximize and judged.scores is None:
            raise UsageError("--maximize goes with --scores")
        if self.save_scores is not None and self.model.model is None and judged.seq2seq is None:
            raise UsageError("--save_scores goes with --model or --seq2seq")
        of_model = {
            "--context-mode": seq2seq.context_mode != NONE,
            "--per-piece": seq2seq.per_piece,
            "--prompt": seq2seq.prompt,
            "--source-language": seq2seq.source_language,
            "--target-language": seq2seq.target_language,
        }
        if judged.seq2seq is None and (extra := [name for name, value in of_model.items() if value]):
            raise UsageError(f"{' and '.join(extra)} goes with --seq2seq")
        if seq2seq.context_mode == MANY and not self.context:
            raise UsageError("--context-mode concatN needs --context N")
        if judged.seq2seq is not None and self.context and seq2seq.context_mode != MANY:
            raise UsageError("--context goes with --context-mode concatN")

    def _check_all(self) -> None:
        """Refuse flags of a single set."""
        parts: tuple[Flags, ...] = self.judged, self.judging, self.by_seq2seq
        given = {name: value != vars(unset(type(one)))[name] for one in parts for name, value in vars(one).items()}
        given |= {name: vars(self)[name] is not None for name in ("documents", "save_scores", "plot")}
        if extra := [f"--{name.replace('_', '-')}" for name, is_given in given.items() if is_given]:
            raise UsageError(f"ALL scores by --model and baselines; {' and '.join(extra)} goes with a single set")


def run_score(task: ScoreFlags) -> None:
    """Judge, print the figures, and write the files that are asked for."""
    if task.name == ALL:
        _score_all(task)
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
    items, values, scored_by = _by_pronmetric(task, note) if folder is None else _by_seq2seq(task, folder, note)
    scores = suite_export.cut(values, items, task.set)
    return judge_file(task.suite, items, scores, task.judging.judging, file=task.set), scored_by


def _by_pronmetric(task: ScoreFlags, note: output.Notes) -> tuple[Sequence[Item], list[float], str]:
    """The items that the model judges, the mean probability of each candidate's pronouns, and what scored."""
    read = task.suite.read(task.set, Reading(task.documents, task.context))
    run, about = ScoringRun(task.model, task.out, note, strict=task.strict), task.suite.ABOUT
    code = run.metric.language.code
    items = _choose_items(read, replace(about, targets=()), code, task.set, note)
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
    values = _score_pronouns(run, items, task.set)
    note.lengths(run.counts)
    if task.save_scores is not None:
        with targets.AtomicFile(task.save_scores) as file:
            file.writelines(f"{value}\n" for value in values)
    signature = run.sign("common" if task.context else "none", size=task.context or None)
    return items, values, f"pronmetric, {task.context} sentences of context, {signature}"


def _choose_items(items: Sequence[Item], about: About, code: str, file: str, note: output.Notes) -> tuple[Item, ...]:
    """The items that a metric of pronouns in the language `code` judges; the others are noted."""
    kept = for_pronouns(items, about, code)
    if len(kept) < len(items):
        note(f"{file}: {len(items) - len(kept)} of {len(items)} items are left out: not in {code}, or not of pronouns")
    return kept


def _score_pronouns(run: ScoringRun, items: Sequence[Item], file: str) -> list[float]:
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


def _by_seq2seq(task: ScoreFlags, folder: str, note: output.Notes) -> tuple[Sequence[Item], list[float], str]:
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


def _score_all(task: ScoreFlags) -> None:
    """Judge by all metrics on all sets that the file lists; print the table and write the figures."""
    file, context, model, baselines, out = task.set, task.context, task.model, task.baselines, task.out
    models = [path for path in (model.model, baselines.language_model, baselines.comet) if path and Path(path).exists()]
    targets.check((out.to_json,), read=[file, *models])
    sets = overview.read_sets(file, SUITES)
    targets.check((out.to_json,), read=[path for one in sets for path in (one.path, one.documents)])
    note = out.notes()
    items = [one.suite.read(one.path, Reading(one.documents, context)) for one in sets]
    metrics: dict[str, Metric] = {}
    run = None if model.model is None else ScoringRun(model, out, note, strict=task.strict)
    if run is not None:
        metrics[run.metric.name] = partial(_score_pronouns, run)
    metrics |= _baselines(baselines, model, note)
    if run is None:
        note.begin()
    judged = []
    for one, read in zip(sets, items, strict=True):
        code = None if run is None else run.language.code
        kept = read if code is None else _choose_items(read, one.suite.ABOUT, code, one.path, note)
        if kept:
            by_metric = {name: overview.judge(one, kept, metric) for name, metric in metrics.items()}
            judged.append(overview.Judgments(one, len(kept), len(read) - len(kept), by_metric))
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


COMMAND = Command("score", ScoreFlags, run_score, SCORE, SCORE_EPILOG, help="judge scores, translations or a model")
