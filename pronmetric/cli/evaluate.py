"""`pronmetric evaluate`: a metric's accuracy on judged pairs of texts, or its detection of wrong pronouns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.cli import flags, output
from pronmetric.cli import people as people_runs
from pronmetric.cli.endpoint import EndpointFlags, ask_labelled, ask_pairs
from pronmetric.cli.flags import ModelFlags, OutputFlags, TextFlags
from pronmetric.cli.output import Notes
from pronmetric.cli.parser import Command, Flags, UsageError, argument, flag, number, part
from pronmetric.cli.people import GROUP, Measurement, PeopleFlags
from pronmetric.cli.run import ScoringRun, load_language_model
from pronmetric.data.arrow import PEOPLE_SPLITS
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.decision import SCORE
from pronmetric.eval.detection import THRESHOLD
from pronmetric.eval.resampling import MINIMUM
from pronmetric.lab.human import judged_pairs, pair_accuracy, pair_evaluation, pair_sets, people
from pronmetric.lab.human import labelled_pronouns as labelled
from pronmetric.lab.human import pair_baselines as pair_scores
from pronmetric.lab.human.judged_pairs import PairScores
from pronmetric.lab.human.labelled_pronouns import LabelledPronoun
from pronmetric.lab.human.pair_evaluation import Scores, Settings
from pronmetric.lab.human.pair_sets import SHUFFLED, SPLITS, PairSet
from pronmetric.output import targets
from pronmetric.pronouns import languages
from pronmetric.pronouns.languages import Language
from pronmetric.results import FEW
from pronmetric.results.write import counts_entry
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, CONTEXT_SIZE, NONE, RESPECTIVE, Text
from pronmetric.text.strict_json import plain

DESCRIPTION = """Measures how often a metric prefers the better text of a pair, on pairs that differ in pronouns.

Accuracy is the share of pairs whose better text gets the higher score, in percent (higher is better), with a 95 %
interval over documents (single pairs where no documents are given). Equal scores and missing scores (null: a text
without a pronoun) count as wrong; both are reported."""
EPILOG = """pairs, one of:
  FILE.jsonl  one object per line: {"id", "context": [sentences], "text_a", "text_b", "better": "A"|"B"|"tie",
              "votes": {rater: "A"|"B"|"tie"}, "group", "doc", "pronoun_a", "pronoun_b", "reference", "system_a",
              "system_b"}; or a file of the published study ({"reference": tokens, "noisy": tokens, ...}), in which
              the reference is the better text; or preference pairs ({"prompt", "chosen", "rejected"}), in which the
              chosen text is: "context" and "source" are read if they have them, the prompt is not
  FILE.tsv    GAP: each sentence against its copy with the pronoun of the other gender
  FOLDER      of `pronmetric prepare`: reference against system output (R vs S), and reference against its copy with
              one pronoun of the system output (R vs R'), evaluated separately
  -d NAME:LP  a WMT test set; outputs are aligned with the references first
The gold answer of a pair is "better", or without it the majority of the votes. Pairs without either are excluded. Gold
ties are excluded from accuracy; with --tie, A, B and tie are compared as three classes.

context:
  common      the pair's context for both texts (default; none if the checkpoint was trained without context)
  respective  a context for each text: reference sentences for the reference, the system's own for its output (only
              WMT test sets and prepared folders)
  shuffled    the context of another document
  none        no context

people's marks and corrections:
--split people_test (or people_development) of a folder prepared with data.people measures what raters marked and
post-editors changed. The metric is a further rater: it marks as many pronouns as a rater does, those that it doubts
most; "as a rater" is the share of its marks that a given rater shares, "raters" that of the raters among each other.
Also areas under the ROC curve (marked by one or more; by two or more), average precision, precision of the most
doubted pronouns, and how often a text with its pronouns corrected is preferred to the text. Of missing pronouns: areas
of the gaps between words into which a post-editor put one, and of the texts with such a gap. Baselines are in the same
tables: the form's frequency of being marked, chrF to a human translation where there is one, and the language model of
--language_model, which doubts a form as far as it is less probable there than the most probable form.

labelled pronouns:
FILE.jsonl may also contain pronouns labelled right or wrong, as `pronmetric mqm` writes them. Reported are precision,
recall and F1 of detecting wrong pronouns (scores below --threshold), average precision and ROC AUC.

baselines:
Simple baselines are reported on the pairs that they decide, where the data allow it: the text with fewer pronouns, the
text with the higher chrF against "reference", the text whose system ("system_a", "system_b") does better in the other
documents. A useful metric outperforms them.
--also adds reference-based scores (see `pronmetric score --help`), which compare both texts with the pair's
"reference". Pairs without a reference, and pairs whose reference is one of the two texts, are left out of this table.
In a WMT test set or prepared folder, where text A is a reference, another reference of the segment is used.
--language-model reads a Hugging Face folder (safetensors), or one with a single GGUF file (extra
lm). Its score is the log-probability of a text after its context, with the end of sentence: the sum over
its pieces, and their mean. --endpoint asks a chat model which text has the better pronouns, in both orders, with the
prompt in pronmetric/lab/baselines/pair_prompt.txt, and of people's marks and labelled pronouns which are wrong
(mark_prompt.txt); a key is read from PRONMETRIC_ENDPOINT_KEY. With --endpoint-passes N the first pass takes the most
probable answer, further ones are drawn: points and marks are means over the passes, and a note has their spread.

other metrics:
--scores FILE evaluates given scores instead of a model's: one object per line, {"id", "score_a", "score_b"} for pairs,
{"id", "score"} for labelled pronouns, null for no score. --against FILE compares with such scores on the same pairs.

examples:
  pronmetric evaluate pairs.jsonl --save-scores mine.jsonl
  pronmetric evaluate pairs.jsonl --scores theirs.jsonl --against mine.jsonl
  pronmetric evaluate -d wmt22:de-en --wmt-dir wmt22-news-systems --context respective"""

PAIRS, EVALUATION = "pairs", "evaluation"


class EvaluateFlags(Flags):
    """What is evaluated, on what, and beside what."""

    pairs: str | None = argument(
        nargs="?", group=PAIRS, metavar="PAIRS", help="a JSONL or GAP file, or a prepared folder; see below"
    )
    split: str | None = flag(
        group=PAIRS,
        choices=(*SPLITS, *PEOPLE_SPLITS),
        help=f"split of a prepared folder (default: {SPLITS[0]}); those of people: see below",
    )
    texts: TextFlags = part(TextFlags, PAIRS, only=("dataset", "wmt_dir", "systems"))
    context: str | None = flag(
        group=PAIRS, choices=[COMMON, RESPECTIVE, NONE, SHUFFLED], help="see below (default: common)"
    )
    by: str | None = flags.by_flag(EVALUATION)
    tie: float | str | None = flag(
        group=EVALUATION,
        type=flags.parse_tie,
        metavar="auto|X",
        help="also compare A, B and tie as three classes: scores that differ by no more than X are a tie; auto is the "
        "tie threshold in the checkpoint's config",
    )
    seen: str | None = flag(
        group=EVALUATION,
        metavar="FILE",
        help="confusion.json of the prepared training data: report pronoun pairs seen and unseen in training",
    )
    scores: str | None = flag(group=EVALUATION, metavar="FILE", help="evaluate these scores; no model is loaded")
    against: str | None = flag(group=EVALUATION, metavar="FILE", help="compare with these scores on the same pairs")
    also: Sequence[str] | None = flags.also_flag(EVALUATION)
    language_model: str | None = flag(
        group=EVALUATION,
        metavar="FOLDER",
        help="also score the texts by a causal language model, as a baseline; see below",
    )
    judge: EndpointFlags = part(EndpointFlags, EVALUATION)
    threshold: float | None = flag(
        group=EVALUATION,
        type=number(),
        metavar="X",
        help="labelled pronouns: a score below X predicts a wrong pronoun (default: 0.5)",
    )
    model: ModelFlags = part(ModelFlags, flags.MODEL)
    of_people: PeopleFlags = part(PeopleFlags, GROUP)
    seed: int = flags.seed_flag()
    to_json: str | None = flag(group=flags.OUTPUT, metavar="FILE", help="write all figures and the scores of each pair")
    save_scores: str | None = flag(
        group=flags.OUTPUT, metavar="FILE", help="write the model's scores in the format of --scores"
    )
    out: OutputFlags = part(OutputFlags, flags.OUTPUT, only=flags.NOTES)
    strict: bool = flags.strict_flag(flags.OUTPUT)

    def check(self) -> None:
        """Refuse both inputs or none, flags of people's marks without them, and flags of a model with --scores."""
        if (self.pairs is None) == (self.texts.dataset is None):
            raise UsageError("give PAIRS or -d" + (", not both" if self.pairs is not None else ""))
        if self.texts.dataset is not None and self.split is not None:
            raise UsageError("--split needs a prepared folder; leave it out with -d")
        wish = self.of_people
        if self.split not in PEOPLE_SPLITS and (wish.plot or wish.to_html or wish.also_no_source):
            raise UsageError(f"--plot, --to_html and --also_no_source go with --split {' or '.join(PEOPLE_SPLITS[1:])}")
        if self.scores is None:
            return
        of_model = {
            "--model": self.model.model,
            "--context": self.context,
            "--by": self.by,
            "--precision": self.model.precision,
            "--gpus": self.model.gpus,
            "--batch_size": self.model.batch_size,
            "--allow_network": self.model.allow_network or None,
            "--save_scores": self.save_scores,
            "--tie auto": self.tie if self.tie == flags.AUTO else None,
        }
        if self.language_model is not None:  # which reads these too
            of_model |= dict.fromkeys(("--context", "--precision", "--gpus"))
        if self.judge.endpoint is not None:
            of_model |= {"--context": None}
        if extra := [name for name, value in of_model.items() if value is not None]:
            raise UsageError(f"--scores loads no model; leave out {' and '.join(extra)}")


def run(task: EvaluateFlags) -> None:
    """Evaluate the metric on pairs or on labelled pronouns."""
    read = (task.pairs, task.scores, task.against, task.seen, task.texts.wmt_dir, task.model.model, task.language_model)
    answers = task.judge.endpoint_answers
    targets.check((task.to_json, task.save_scores, answers, task.of_people.plot, task.of_people.to_html), read=read)
    if task.split in PEOPLE_SPLITS:
        _evaluate_people(task)
    elif task.pairs is not None and _holds_pronouns(task.pairs):
        _evaluate_pronouns(task, task.pairs)
    else:
        _evaluate_pairs(task)


def _open(task: EvaluateFlags) -> ScoringRun:
    return ScoringRun(task.model, task.out, strict=task.strict)


def _holds_pronouns(path: str) -> bool:
    """Whether a file holds labelled pronouns, judged by its first line."""
    return not Path(path).is_dir() and labelled.is_record(pair_sets.read_first_line(path))


def _evaluate_pairs(task: EvaluateFlags) -> None:
    """How often a metric prefers the better text of a pair."""
    if task.threshold is not None:
        raise PronmetricError("--threshold needs labelled pronouns, these are pairs of texts")
    run = _open(task)
    note, config = run.note, None if task.scores is not None else run.checkpoint.config
    language = languages.language(task.model.lang or languages.ENGLISH.code) if config is None else run.language
    seen = _read_seen(task.seen, config, note)
    pairs = _read_pairs(task, config, note, language)
    context = task.context or COMMON if config is None else run.choose_context(task.context, COMMON)
    texts = list(pairs.texts(context, seed=task.seed))
    by = SCORE  # scores in a file are of no model here: only a threshold of "auto" depends on it
    if config is not None or isinstance(task.tie, str):
        by = run.checkpoint.decision(task.by, sourced=any(text.source is not None for text in texts))
    threshold = run.checkpoint.tie_threshold(by=by) if isinstance(task.tie, str) else task.tie
    asked, passes = ask_pairs(pairs, texts, task.judge, note, quiet=note.quiet)
    settings = Settings(
        seed=task.seed,
        tie_threshold=threshold,
        seen=seen,
        against=None if task.against is None else _read_scores(pairs, task.against),
        baselines=None if task.also is None else pair_scores.score_pairs(task.also, pairs, source=pairs.name),
        language_model=_read_by_language_model(pairs, texts, task) | asked,
        endpoint=passes,
        language=language,
    )
    if task.scores is not None:
        scores = Scores(_read_scores(pairs, task.scores), scored_by=task.scores)
    else:
        scores = _score_pairs(pairs, texts, by, threshold, context, task, run)
    note.begin()
    if task.save_scores is not None:
        with targets.AtomicFile(task.save_scores) as file:
            file.writelines(f"{judged_pairs.score_line(pair.id, scores.by_id[pair.id])}\n" for pair in pairs)
    results = {name: pair_evaluation.evaluate(one_set, scores.by_id, settings) for name, one_set in pairs.parts.items()}
    if task.to_json is not None:
        pair_evaluation.write_json(task.to_json, pairs, scores, results, settings, against=task.against)
    for place, (name, one_set) in enumerate(pairs.parts.items()):
        title = f"{pairs.name}{name and ', '}{name}; {scores.scored_by or f'context {scores.context}'}"
        sections = pair_evaluation.format_results(
            title, one_set, results[name], settings, scored_by=scores.scored_by, against=task.against
        )
        print(("\n" if place else "") + sections)
        unit, clusters = results[name].figures.clusters
        _note_few(clusters, pair_evaluation.UNITS[unit], note)
    _note_signatures(scores, settings, note)


def _note_few(number: int, units: str, note: Notes) -> None:
    if number < MINIMUM:
        note(f"no intervals: fewer than {MINIMUM} {units}")
    elif number <= FEW:
        note(f"the intervals are based on only {number} {units}")


def _read_seen(file: str | None, config: Mapping[str, Any] | None, note: Notes) -> pair_evaluation.PronounPairs | None:
    """The pronoun pairs of the training data: from `file` (--seen), else from the checkpoint."""
    if file is not None:
        return pair_evaluation.read_seen(file)
    pairs = None if config is None else pair_evaluation.seen_by(config)
    if pairs is None:
        where = "a file of scores" if config is None else "the checkpoint"
        note.detail(
            f"{where} does not record which pronoun pairs occur in the training data; give --seen confusion.json of "
            "the prepared folder"
        )
    return pairs


def _read_pairs(task: EvaluateFlags, config: Mapping[str, Any] | None, note: Notes, language: Language) -> PairSet:
    texts = task.texts
    if texts.dataset is not None:
        from data_prep import testset_to_pairs

        assert texts.wmt_dir is not None  # checked by `TextFlags.check`
        size = CONTEXT_SIZE if config is None else config["context_size"]
        pairs = testset_to_pairs.read(
            texts.dataset,
            texts.wmt_dir,
            texts.systems,
            context_size=size,
            seed=task.seed,
            note=note,
            language=language,
        )
    else:
        assert task.pairs is not None  # checked by `EvaluateFlags.check`
        if Path(task.pairs).is_dir():
            pairs = pair_sets.read_prepared(task.pairs, task.split or SPLITS[0], note=note)
        elif task.split is not None:
            raise InputError("--split needs a prepared folder, this is a file", file=task.pairs)
        else:
            pairs = pair_sets.read_file(task.pairs, note=note)
    for one_set in pairs.parts.values():
        pair_accuracy.refuse_undecided(one_set, file=task.pairs)
    trained_on = () if config is None else pair_evaluation.training_testsets(config)
    if both := [name for name in pairs.testsets if name in trained_on]:
        note(f"the checkpoint was trained on {', '.join(both)}: these figures do not measure it on unseen data")
    return pairs


def _read_scores(pairs: PairSet, file: str) -> PairScores:
    """The scores in a file, which must contain exactly these pairs."""
    scores = judged_pairs.read_scores(file)
    judged_pairs.scores_of(pairs, scores, file=file)
    return scores


def _read_by_language_model(pairs: PairSet, texts: Sequence[Text], task: EvaluateFlags) -> dict[str, PairScores]:
    """The log-probability of both texts of each pair, summed and by piece; nothing without --language-model."""
    if task.language_model is None:
        return {}
    model = load_language_model(task.language_model, task.model)
    with output.bar(task.out.quiet, total=len(texts), label="language model") as bar:
        read = model.read(texts, advance=bar.update)
    both = [(pair.id, a, b) for pair, a, b in zip(pairs, read[::2], read[1::2], strict=True)]
    return {
        "sum": {identity: (a.total, b.total) for identity, a, b in both},
        "per piece": {identity: (a.per_piece, b.per_piece) for identity, a, b in both},
    }


def _score_pairs(
    pairs: PairSet,
    texts: Sequence[Text],
    by: str,
    threshold: float | None,
    context: str,
    task: EvaluateFlags,
    run: ScoringRun,
) -> Scores:
    """The model's numbers that decide (--by)."""
    dataset = task.texts.dataset
    run.check_texts(dataset or task.pairs or "", texts, sources=texts[::2])
    run.note_unread_sources(dataset or task.pairs or "", texts)
    with run.progress(len(texts)):
        values = [segment.value(by) for segment in run.stream(texts)]
    by_id = {pair.id: (a, b) for pair, a, b in zip(pairs, values[::2], values[1::2], strict=True)}
    size = None if dataset is None else run.checkpoint.context_size  # other pairs contain their context
    tie = None if threshold is None else f"{threshold:g}"
    signature = run.sign(context, size=size, seed=task.seed, by=by, tie=tie)
    return Scores(by_id, None, context, signature, run.counts)


def _note_signatures(scores: Scores, settings: Settings, note: Notes) -> None:
    for name, signature in (settings.baselines.signatures if settings.baselines is not None else {}).items():
        note.detail(f"signature of {name}: {signature}")
    if scores.counts is not None:
        note.lengths(scores.counts)
    if scores.signature is not None:
        note(f"signature: {scores.signature}")


def _evaluate_pronouns(task: EvaluateFlags, file: str) -> None:
    """How well low scores detect the wrong ones of the labelled pronouns in `file`."""
    respective = "--context respective" if task.context == RESPECTIVE else None
    split = task.split and "--split"
    if extra := _given(task, "by tie seen against also language_model", split, respective):
        raise InputError(f"holds labelled pronouns, but {extra} needs pairs of texts", file=file)
    pronouns = labelled.read(file)
    labelled.require_both_labels(pronouns, file=file)
    threshold, run = THRESHOLD if task.threshold is None else task.threshold, _open(task)
    context, note = None, run.note
    if task.scores is not None:
        values: Sequence[float | None] = labelled.read_scores(task.scores, pronouns)
        note.begin()
    else:
        context = run.choose_context(task.context, COMMON)
        values = _score_pronouns(pronouns, context, task, file, run)
    texts = labelled.texts(pronouns, context or task.context or COMMON, seed=task.seed)
    asked, passes = ask_labelled(pronouns, texts, task.judge, note, quiet=note.quiet)
    if task.save_scores is not None:
        with targets.AtomicFile(task.save_scores) as lines:
            for pronoun, score in zip(pronouns, values, strict=True):
                lines.write(strict_json.dump({"id": pronoun.id, "score": score}) + "\n")
    figures = labelled.evaluate(pronouns, values, threshold=threshold, seed=task.seed)
    baselines = {
        name: labelled.evaluate(pronouns, shares, threshold=THRESHOLD, seed=task.seed) for name, shares in asked.items()
    }
    content = {
        "input": task.pairs,
        "scores": task.scores,
        "signature": None if context is None else str(run.signature),
        "context": context,
        "threshold": threshold,
        "counts": None if context is None else counts_entry(run.counts),
        "endpoint": plain(passes),
        "baselines": plain(baselines),
    }
    output.write_json(task.to_json, {**content, **plain(figures)})
    unit, number = figures.resampled
    scored_by = task.scores if context is None else f"context {context}"
    print(f"{file}; {scored_by}; flagged below {threshold:g}; intervals resample {number} {unit}s")
    print(labelled.format_detection(figures))
    for name, found in baselines.items():
        print(f"\n{name}; flagged where more than half of its answers mark the pronoun")
        print(labelled.format_detection(found))
    _note_few(number, f"{unit}s", note)
    if context is not None:
        note.lengths(run.counts)
        note(f"signature: {run.signature}")


def _evaluate_people(task: EvaluateFlags) -> None:
    """How the model agrees with what people marked and corrected."""
    assert task.pairs is not None and task.split is not None  # checked by `EvaluateFlags.check`
    other = f"--context {task.context}" if task.context not in (None, COMMON, NONE) else None
    if extra := _given(task, "scores against save_scores by also tie seen threshold", other):
        raise InputError(f"{task.split} holds people's marks: leave out {extra}", file=task.pairs)
    flags.check_plot(task.of_people.plot)
    run = ScoringRun(task.model, task.out)
    people_runs.require_probabilities(run.checkpoint.config)
    measurement = Measurement(
        judged=people.read(task.pairs, task.split),
        title=f"{task.pairs}, {task.split}",
        training=people.read(task.pairs, PEOPLE_SPLITS[0], needed=False),
        model=task.model,
        wish=task.of_people,
        language_model=task.language_model,
        judge=task.judge,
        seed=task.seed,
    )
    tables, figures = people_runs.measure(measurement, run.choose_context(task.context, COMMON), run)
    output.write_json(task.to_json, {"input": task.pairs, "split": task.split, **figures})
    print(tables)


def _given(task: EvaluateFlags, names: str, *others: str | None) -> str:
    """Those of the flags `names` that are given, and `others`."""
    own = [f"--{name}" for name in names.split() if vars(task)[name] is not None]
    return " and ".join([*own, *filter(None, others)])


def _score_pronouns(
    pronouns: Sequence[LabelledPronoun], context: str, task: EvaluateFlags, file: str, run: ScoringRun
) -> list[float | None]:
    """The model's score of each pronoun; None where the finder finds none."""
    if not checkpoint_config.has_probabilities(run.checkpoint.config) and task.threshold is None:
        raise PronmetricError(
            "this checkpoint's scores are not probabilities; give the limit for wrong pronouns with --threshold X"
        )
    texts = labelled.texts(pronouns, context, seed=task.seed)
    run.check_texts(file, texts)
    run.note_unread_sources(file, texts)
    with run.progress(len(texts)):
        scored = zip(run.stream(texts), pronouns, strict=True)
        values = [labelled.score_of(pronoun, segment) for segment, pronoun in scored]
    run.sign(context, seed=task.seed)
    return values


VERB = Command(
    "evaluate",
    EvaluateFlags,
    run,
    DESCRIPTION,
    EPILOG,
    stray="give one file or folder of pairs; scores of another metric follow --scores or --against",
    usage="pronmetric evaluate [PAIRS | -d NAME:LP --wmt-dir DIR] [--scores FILE] [flags]",
)
