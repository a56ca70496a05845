"""`pronmetric clpp`: cross-lingual pronoun prediction, a group of commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pronmetric.alignment import parsed
from pronmetric.cli import output
from pronmetric.cli.parser import (
    Command,
    Exclusive,
    Flags,
    Group,
    UsageError,
    argument,
    flag,
    number,
    part,
    switch,
    whole,
)
from pronmetric.lab.clpp import baseline as clpp_baseline
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp import prepare as clpp_prepare
from pronmetric.lab.clpp import score as clpp_score
from pronmetric.lab.clpp.features import KINDS
from pronmetric.lab.clpp.language_models import KenLM, Ngrams
from pronmetric.output import targets
from pronmetric.report.text import table

DESCRIPTION = """Cross-lingual pronoun prediction (the shared tasks of WMT 2016 and DiscoMT 2017): predict the class of
each pronoun that was removed from a lemmatised translation, given the source.

A line of a data file has five tab-separated columns: the classes of the slots, left to right, separated by one space;
the words of the slots; the tokenised source; the target, with REPLACE_k for each slot, where k is the index of the
aligned source token, and lemma|POS for each other token; the word alignment, s-t ... All indices count from 0. A
prediction file has a line for each line of the data file; only its first column, the classes, is read."""


class PairFlags(Flags):
    """The language pair of a command."""

    pair: str = flag(required=True, choices=sorted(clpp.TASKS), help="language pair, source first")

    @property
    def task(self) -> clpp.Task:
        """The task of the pair."""
        return clpp.task(self.pair)


SCORE = """Score a prediction file as the official program does: macro-averaged recall (the official score of 2016
and 2017), macro-averaged F1 (that of 2015), accuracy, precision, recall and F1 of each class, and the confusion matrix.
All scores are in percent; higher is better. The official averages are over all classes of the pair; a class without an
instance counts as 0. The tables of Guillou et al. 2016 (section 6, footnote 8) leave such classes out; both averages
are printed."""
SCORE_EPILOG = """example:
  pronmetric clpp score --pair en-de test.data.filtered predictions.txt --to_json figures.json"""


class ScoreFlags(Flags):
    """Predictions and the gold classes."""

    gold: str = argument(metavar="GOLD_FILE", help="data file with the gold classes")
    predicted: str = argument(metavar="PRED_FILE", help="predictions, one line for each line of GOLD_FILE")
    of: PairFlags = part(PairFlags)
    to_json: str | None = flag(metavar="FILE", help="write all figures as JSON")


def run_score(given: ScoreFlags) -> None:
    """Score the predictions."""
    targets.check([given.to_json], read=[given.gold, given.predicted])
    figures = clpp_score.score(given.gold, given.predicted, given.of.task)
    output.write_json(given.to_json, clpp_score.result_json(figures))
    print("\n".join(clpp_score.lines(figures)))


PREPARE = """Make task data from a parallel corpus with tags and word alignment. Each side is a CoNLL-U file
(NAME.conllu) or a text file whose tokens are form, form|lemma|POS or form|lemma|POS|relation; the alignment has links
s-t between syntactic words, counted from 0. Documents are those of CoNLL-U (# newdoc).

Source pronouns: it, they (en); il, elle, ils, elles (fr); er, sie, es (de); for Spanish, which needs CoNLL-U, finite
verbs of the third person without a subject. If the source has dependency labels, only subjects get a slot."""
PREPARE_EPILOG = """\
Writes STEM.data (all segments), STEM.data.filtered (those with a slot) and, if the corpus has documents,
STEM.doc-ids, the document of each line of STEM.data.

example:
  pronmetric clpp prepare --pair de-en --source de.conllu --target en.conllu --alignment de-en.links -o train"""


class PrepareFlags(Flags):
    """The parallel corpus, and the files to write."""

    of: PairFlags = part(PairFlags)
    source: str = flag(required=True, metavar="FILE", help="source side")
    target: str = flag(required=True, metavar="FILE", help="target side")
    alignment: str = flag(required=True, metavar="FILE", help="links s-t, one line for each sentence pair")
    subjects: Sequence[str] = flag(
        nargs="+",
        metavar="LABEL",
        default=parsed.SUBJECTS,
        help=f"dependency labels of subjects (default: {' '.join(parsed.SUBJECTS)})",
    )
    output: str = flag("-o", "--output", required=True, metavar="STEM", help="prefix of the files to write")
    quiet: bool = switch(help="no notes on stderr")


def run_prepare(given: PrepareFlags) -> None:
    """Prepare the corpus."""
    names = [f"{given.output}{end}" for end in (".data", ".data.filtered", ".doc-ids")]
    targets.check(names, read=[given.source, given.target, given.alignment])
    counts: Counter[str] = Counter()
    corpus = parsed.read(given.source, given.target, given.alignment)
    docs = []
    with targets.AtomicFiles() as files:
        data, filtered = files.open(names[0]), files.open(names[1])
        for line, doc in clpp_prepare.prepare(corpus, given.of.task, subjects=given.subjects, counts=counts):
            data.write(f"{line}\n")
            if not line.startswith("\t"):
                filtered.write(f"{line}\n")
            docs.append(doc)
        if any(docs):
            files.open(names[2]).writelines(f"{doc}\n" for doc in docs)
    note = output.Notes(quiet=given.quiet)
    note.begin()
    if not any(name.startswith("dropped: no subject") for name in counts):
        note("no source pronoun was dropped for not being a subject; this needs dependency labels")
    print(table(("", "count"), [(name, f"{number:,}") for name, number in sorted(counts.items())]))


BASELINE = """Predict the slots with an n-gram language model of the target side. The fillers are all classes of the
pair, some frequent other words and an empty one (the last two count as OTHER); the most probable filling of all slots
of a line is chosen. --none-penalty is added to the log10 score of each empty filler; --tune chooses it on labelled
data."""
BASELINE_EPILOG = """\
The language model reads lemmas without tags. --lm needs the package kenlm (extra ngram).

examples:
  pronmetric clpp baseline --pair de-en --lm news.en.arpa --tune dev.data test.data.filtered -o predictions.txt
  pronmetric clpp baseline --pair de-en --train-lm train.data --order 3 test.data.filtered -o predictions.txt"""


_MODEL, _PENALTY = Exclusive(required=True), Exclusive()


class BaselineFlags(Flags):
    """The data, the language model, and the penalty of empty fillers."""

    data: str = argument(metavar="DATA_FILE", help="data file to predict")
    of: PairFlags = part(PairFlags)
    lm: str | None = flag(exclusive=_MODEL, metavar="FILE", help="ARPA or KenLM file")
    train_lm: str | None = flag(
        "--train-lm", exclusive=_MODEL, metavar="FILE", help="data file whose target side a model is trained on"
    )
    order: int = flag(type=whole(1), default=3, metavar="N", help="order of the model of --train-lm (default: 3)")
    none_penalty: float = flag(
        "--none-penalty", exclusive=_PENALTY, type=number(), default=0.0, metavar="X", help="default: 0"
    )
    tune: str | None = flag(
        exclusive=_PENALTY,
        metavar="FILE",
        help="labelled data file: choose the penalty with the highest macro-averaged recall on it",
    )
    output: str = flag("-o", "--output", required=True, metavar="FILE", help="predictions, in the format of the data")
    quiet: bool = switch(help="no progress and notes on stderr")


def run_baseline(given: BaselineFlags) -> None:
    """Predict the slots."""
    targets.check([given.output], read=[given.data, given.lm, given.train_lm, given.tune])
    task = given.of.task
    lines = clpp.read(given.data, task, labels=False)
    tuned_on = clpp.read(given.tune, task) if given.tune is not None else []
    if given.lm is not None:
        model: clpp_baseline.LanguageModel = KenLM(given.lm)
    else:
        assert given.train_lm is not None  # argparse has seen to it
        model = Ngrams.count(clpp_baseline.sentences(clpp.read(given.train_lm, task), task), order=given.order)
    note = output.Notes(quiet=given.quiet)
    note.begin()
    penalty, tuned = given.none_penalty, ""
    if given.tune is not None:
        scores = clpp_baseline.tune([line for line in tuned_on if line.labels], task, model)
        penalty = max(scores, key=lambda one: scores[one].macro.recall)
        tuned = clpp_baseline.format_tuned(scores)
        note(f"the penalty of the empty filler is {penalty:.1f}")
    with (
        output.bar(given.quiet, lines, total=len(lines), label="predict", unit="lines") as shown,
        targets.AtomicFile(given.output) as file,
    ):
        for line, (_, cells) in zip(shown, clpp.rows(given.data), strict=True):
            if line.slots:
                fillers = clpp_baseline.predict(line, task, model, penalty=penalty)
                cells[:2] = [" ".join(f.label for f in fillers), " ".join(f.word or clpp.NONE for f in fillers)]
            file.write("\t".join(cells) + "\n")
    if tuned:
        print(tuned)


TRAIN = """Train a classifier of pronoun slots. All classes have the same weight in the loss, as in macro-averaged
recall, the official score; --dev chooses the model with the best macro-averaged recall.

Neural networks, from which --dev chooses an epoch:
  gru        two layers of GRUs over the words and tags left and right of the slot, and over the words left and right of
             the source pronoun, 50 on each side; after TurkuNLP, the winner of WMT 2016 (default)
  attention  the same GRUs, with attention from the source pronoun to their states (after UKYOTO)
  --encoder  a Hugging Face encoder that reads the source and the target with the slot; take a multilingual one
scikit-learn classifiers over the source pronoun, nearby words and tags, preceding nouns and the scores of an n-gram
language model; --dev chooses the regularisation (C), or the minimum size of a leaf:
  maxent     logistic regression (after UEDIN and CUNI)
  svm        linear support vector machines, one against the rest (after UHELSINKI)
  two-step   two of these: OTHER or a pronoun, then which pronoun (after UU-Stymne)
  forest     a random forest (after LIMSI)
The same command resumes a stopped run of a network from last.ckpt in the folder, and gives the same model; the folder
also has best.ckpt and logs (CSV, TensorBoard)."""
TRAIN_EPILOG = """examples:
  pronmetric clpp train --pair de-en train.data.filtered --dev dev.data.filtered -o model
  pronmetric clpp train --pair de-en train.data --dev dev.data --classifier maxent -o model
  pronmetric clpp train --pair de-en train.data.filtered --dev dev.data.filtered --encoder xlm-roberta-base -o model"""
_KIND = Exclusive()


class TrainFlags(Flags):
    """The data, the kind of classifier, and its training."""

    data: str = argument(metavar="TRAIN_FILE", help="data file with labels")
    dev: str = flag(required=True, metavar="FILE", help="labelled data file that chooses the model")
    of: PairFlags = part(PairFlags)
    classifier: str | None = flag(
        exclusive=_KIND, choices=("gru", "attention", *KINDS), help="kind of classifier (default: gru)"
    )
    encoder: str | None = flag(exclusive=_KIND, metavar="NAME|FOLDER", help="train this encoder instead")
    allow_network: bool = switch("--allow-network", help="fetch --encoder from the Hugging Face hub")
    epochs: int | None = flag(type=whole(1), metavar="N", help="of networks (default: 10)")
    batch_size: int | None = flag("--batch-size", type=whole(1), metavar="N", help="slots, of networks (default: 64)")
    window: int | None = flag(
        type=whole(1), metavar="N", help="words on each side (default: 50 for networks, 4 for scikit-learn)"
    )
    learning_rate: float | None = flag(
        "--learning-rate", type=number(above=0), metavar="X", help="default: 2e-3 for GRUs, 3e-5 for an encoder"
    )
    order: int | None = flag(
        type=whole(0),
        metavar="N",
        help="of the n-gram language model, for scikit-learn classifiers; 0: none (default: 3)",
    )
    unbalanced: bool = switch(help="the same weight for all slots, not for all classes")
    seed: int = flag(type=whole(0), default=1, metavar="N", help="default: 1")
    output: str = flag("-o", "--output", required=True, metavar="DIR", help="folder of the model")
    quiet: bool = switch(help="no progress on stderr")

    def check(self) -> None:
        """Refuse flags that the kind does not read."""
        unread: dict[str, float | None] = {"--order": self.order}
        if self.classifier in KINDS:
            unread = {"--epochs": self.epochs, "--batch-size": self.batch_size, "--learning-rate": self.learning_rate}
        for name, value in unread.items():
            if value is not None:
                kind = self.classifier or ("gru" if self.encoder is None else "an encoder")
                raise UsageError(f"{name} is not read by {kind}: leave it out")


def run_train(given: TrainFlags) -> None:
    """Train the classifier."""
    targets.check([], read=[given.data, given.dev, given.encoder], folders=[given.output])
    task = given.of.task
    train, development = clpp.read(given.data, task), clpp.read(given.dev, task)
    if given.classifier in KINDS:
        _train_on_features(given, train, development)
    else:
        _train_network(given, train, development)


def _given(**options: int | None) -> dict[str, int]:
    """The options that were given; the others keep their defaults."""
    return {name: value for name, value in options.items() if value is not None}


def _train_on_features(given: TrainFlags, train: Sequence[clpp.Line], development: Sequence[clpp.Line]) -> None:
    from pronmetric.lab.clpp import feature_classifier

    assert given.classifier is not None  # `run_train` has seen to it
    options = feature_classifier.FeatureOptions(
        given.classifier,
        balanced=not given.unbalanced,
        seed=given.seed,
        **_given(window=given.window, order=given.order),
    )
    note = output.Notes(quiet=given.quiet)
    note.begin()
    made = feature_classifier.train(given.of.task, options, train, development, Path(given.output))
    print(feature_classifier.format_fitted(made, given.classifier))
    name = feature_classifier.strength(given.classifier)
    note(f"{name}={made.chosen:g} is best")
    if made.unfinished:
        note(f"the optimiser did not converge for {name}={', '.join(f'{one:g}' for one in made.unfinished)}")


def _train_network(given: TrainFlags, train: Sequence[clpp.Line], development: Sequence[clpp.Line]) -> None:
    from pronmetric.checkpoint.files import hash_file
    from pronmetric.data.pieces import Subwords
    from pronmetric.lab.clpp import classifier as classifiers
    from pronmetric.lab.clpp import training as clpp_run
    from pronmetric.training.encoders.huggingface import load_pretrained

    options = classifiers.Options(
        kind=classifiers.ENCODER if given.encoder is not None else given.classifier or classifiers.GRU,
        rate=given.learning_rate or (2e-3 if given.encoder is None else 3e-5),
        balanced=not given.unbalanced,
        seed=given.seed,
        **_given(window=given.window, batch=given.batch_size, epochs=given.epochs),
    )
    encoder = None
    if given.encoder is not None:
        body, tokenizer = load_pretrained(given.encoder, package=None, dropout=0.1, allow_network=given.allow_network)
        encoder = body, Subwords(tokenizer)
    best = clpp_run.train(
        given.of.task,
        options,
        train,
        development,
        Path(given.output),
        encoder=encoder,
        inputs={"train": hash_file(Path(given.data)), "development": hash_file(Path(given.dev))},
        progress=not given.quiet,
    )
    recall, accuracy = (best.figures[name] for name in (clpp_run.RECALL, clpp_run.ACCURACY))
    print(f"step {best.best_step} of {best.steps} is best: macro R {recall:.2f}, accuracy {accuracy:.2f}")


PREDICT = """Predict the slots of a data file with a model of `clpp train`. Predictions have the five columns of the
data, with the classes in the first two."""
PREDICT_EPILOG = """example:
  pronmetric clpp predict model test.data.filtered -o predictions.txt"""


class PredictFlags(Flags):
    """The model and the data."""

    model: str = argument(metavar="MODEL_DIR", help="folder of `clpp train`")
    data: str = argument(metavar="DATA_FILE", help="data file; its labels are not read")
    output: str = flag("-o", "--output", required=True, metavar="FILE", help="predictions")


def run_predict(given: PredictFlags) -> None:
    """Predict the slots."""
    targets.check([given.output], read=[given.data, given.model])
    from pronmetric.lab.clpp.classifier import load

    classifier = load(Path(given.model))
    rows = list(clpp.rows(given.data))
    predicted = classifier.predict(clpp.read(given.data, classifier.task, labels=False))
    with targets.AtomicFile(given.output) as file:
        for labels, (_, cells) in zip(predicted, rows, strict=True):
            file.write("\t".join((" ".join(labels), " ".join(labels), *cells[2:])) + "\n")


VERB = Group(
    "clpp",
    DESCRIPTION,
    None,
    [
        Command("score", ScoreFlags, run_score, SCORE, SCORE_EPILOG, help="score predictions as the official program"),
        Command(
            "prepare",
            PrepareFlags,
            run_prepare,
            PREPARE,
            PREPARE_EPILOG,
            help="make task data from an aligned and tagged parallel corpus",
        ),
        Command("baseline", BaselineFlags, run_baseline, BASELINE, BASELINE_EPILOG, help="predict by n-grams"),
        Command(
            "train",
            TrainFlags,
            run_train,
            TRAIN,
            TRAIN_EPILOG,
            help="train a classifier: a network, or one on features",
        ),
        Command(
            "predict",
            PredictFlags,
            run_predict,
            PREDICT,
            PREDICT_EPILOG,
            help="predict with a trained classifier",
        ),
    ],
)
