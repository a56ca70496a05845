"""`pronmetric clpp`: cross-lingual pronoun prediction, a group of commands."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pronmetric.alignment import parsed
from pronmetric.cli import output
from pronmetric.cli.parser import (
    add_command,
    any_number,
    group_parser,
    number_above_zero,
    run_command,
    whole_from_one,
    whole_from_zero,
)
from pronmetric.lab.clpp import baseline as clpp_baseline
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp import prepare as clpp_prepare
from pronmetric.lab.clpp import score as clpp_score
from pronmetric.lab.clpp.language_models import KenLM, Nltk
from pronmetric.output import targets
from pronmetric.output.progress import progress
from pronmetric.report.text import table
from pronmetric.text import strict_json

DESCRIPTION = """Cross-lingual pronoun prediction (the shared tasks of WMT 2016 and DiscoMT 2017): predict the class of
each pronoun that was removed from a lemmatised translation, given the source.

A line of a data file has five tab-separated columns: the classes of the slots, left to right, separated by one space;
the words of the slots; the source, tokenised; the target with REPLACE_k for each slot, k the index of the source token
from 0, and lemma|POS for each other token; the word alignment s-t ..., from 0. A prediction file has as many lines;
only its first column, the classes, is read."""


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its commands."""
    return group_parser("clpp", DESCRIPTION, commands=(add_score, add_prepare, add_baseline, add_train, add_predict))


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return run_command(parser(), argv)


SCORE = """Score a prediction file with the official figures: macro-averaged recall (the official score of 2016
and 2017), macro-averaged F1 (of 2015), accuracy, figures of each class, confusion matrix. All are in percent; higher
is better. The official averages are over all classes of the pair, also those without an instance, whose recall counts
as 0. The tables of the task's paper (Guillou et al. 2016, section 6, footnote 8) leave those out; both are given."""
SCORE_EPILOG = """example:
  pronmetric clpp score --pair en-de test.data.filtered predictions.txt --to_json figures.json"""


def add_score(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(
        commands, "score", help="the official figures of a prediction file", description=SCORE, epilog=SCORE_EPILOG
    )
    made.add_argument("gold", metavar="GOLD_FILE", help="data file with the right classes")
    made.add_argument("predicted", metavar="PRED_FILE", help="predictions, one line for each line of GOLD_FILE")
    made.add_argument("--pair", required=True, choices=sorted(clpp.TASKS), help="language pair, source first")
    made.add_argument("--to_json", "--to-json", dest="to_json", metavar="FILE", help="write all figures as JSON")
    made.set_defaults(run=run_score)


def run_score(args: argparse.Namespace) -> int:
    """Score the predictions; the exit code."""
    targets.check([args.to_json], read=[args.gold, args.predicted])
    figures = clpp_score.score(args.gold, args.predicted, clpp.task(args.pair))
    if args.to_json is not None:
        with targets.AtomicFile(args.to_json) as file:
            file.write(strict_json.dump(clpp_score.result_json(figures), indent=1) + "\n")
    print("\n".join(clpp_score.lines(figures)))
    return 0


PREPARE = """Make data of the task from a parallel corpus with tags and word alignment. Each side is a CoNLL-U file
(NAME.conllu) or a file of lines with tokens form, form|lemma|POS or form|lemma|POS|relation; the alignment has links
s-t from 0, of syntactic words. Documents are those of CoNLL-U (# newdoc).

Source pronouns: it, they (en); il, elle, ils, elles (fr); er, sie, es (de); finite verbs of the third person without a
subject (es, which needs CoNLL-U). If the source has dependency labels, only subjects get a slot."""
PREPARE_EPILOG = """\
Writes STEM.data (all segments), STEM.data.filtered (those with a slot) and, if the corpus has documents,
STEM.doc-ids, a document for each line of STEM.data.

example:
  pronmetric clpp prepare --pair de-en --source de.conllu --target en.conllu --alignment de-en.links -o train"""


def add_prepare(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(
        commands,
        "prepare",
        help="data of the task from an aligned and tagged parallel corpus",
        description=PREPARE,
        epilog=PREPARE_EPILOG,
    )
    made.add_argument("--pair", required=True, choices=sorted(clpp.TASKS), help="language pair, source first")
    made.add_argument("--source", required=True, metavar="FILE", help="source side")
    made.add_argument("--target", required=True, metavar="FILE", help="target side")
    made.add_argument("--alignment", required=True, metavar="FILE", help="links s-t, one line for each sentence pair")
    made.add_argument(
        "--subjects",
        nargs="+",
        metavar="LABEL",
        default=parsed.SUBJECTS,
        help=f"dependency labels of subjects (default: {' '.join(parsed.SUBJECTS)})",
    )
    made.add_argument("-o", "--output", required=True, metavar="STEM", help="prefix of the files to write")
    made.add_argument("--quiet", action="store_true", help="no notes on stderr")
    made.set_defaults(run=run_prepare)


def run_prepare(args: argparse.Namespace) -> int:
    """Prepare the corpus; the exit code."""
    names = [f"{args.output}{end}" for end in (".data", ".data.filtered", ".doc-ids")]
    targets.check(names, read=[args.source, args.target, args.alignment])
    counts: Counter[str] = Counter()
    corpus = parsed.read(args.source, args.target, args.alignment)
    docs = []
    with targets.AtomicFiles() as files:
        data, filtered = files.open(names[0]), files.open(names[1])
        for line, doc in clpp_prepare.prepare(corpus, clpp.task(args.pair), subjects=args.subjects, counts=counts):
            data.write(f"{line}\n")
            if not line.startswith("\t"):
                filtered.write(f"{line}\n")
            docs.append(doc)
        if any(docs):
            files.open(names[2]).writelines(f"{doc}\n" for doc in docs)
    note = output.Notes(quiet=args.quiet)
    note.begin()
    if not any(name.startswith("dropped: no subject") for name in counts):
        note("no source pronoun was dropped as no subject; without dependency labels none can be")
    print(table(("", "count"), [(name, f"{number:,}") for name, number in sorted(counts.items())]))
    return 0


BASELINE = """Predict each slot with an n-gram language model of the target side: all classes of the pair, some
frequent other words and an empty filler (both OTHER) are tried, all slots of a line jointly. The most probable
sentence is chosen. The penalty of the empty filler is added to the log10 score; --tune chooses it on labelled data."""
BASELINE_EPILOG = """\
The language model reads lemmas without tags. --lm needs the package kenlm, --train-lm the package nltk
(pip install "pronmetric[ngram]").

examples:
  pronmetric clpp baseline --pair de-en --lm news.en.arpa --tune dev.data test.data.filtered -o predictions.txt
  pronmetric clpp baseline --pair de-en --train-lm train.data --order 3 test.data.filtered -o predictions.txt"""


def add_baseline(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(commands, "baseline", help="the n-gram baseline", description=BASELINE, epilog=BASELINE_EPILOG)
    made.add_argument("data", metavar="DATA_FILE", help="data file to predict")
    made.add_argument("--pair", required=True, choices=sorted(clpp.TASKS), help="language pair, source first")
    model = made.add_mutually_exclusive_group(required=True)
    model.add_argument("--lm", metavar="FILE", help="ARPA or KenLM file")
    model.add_argument("--train-lm", metavar="FILE", help="data file; a model is trained on its target side")
    made.add_argument(
        "--order", type=whole_from_one, default=3, metavar="N", help="order of the model of --train-lm (default: 3)"
    )
    penalty = made.add_mutually_exclusive_group()
    penalty.add_argument("--none-penalty", type=any_number, default=0.0, metavar="X", help="default: 0")
    penalty.add_argument(
        "--tune", metavar="FILE", help="data file with labels: choose the penalty with the highest macro recall on it"
    )
    made.add_argument("-o", "--output", required=True, metavar="FILE", help="predictions, in the format of the data")
    made.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    made.set_defaults(run=run_baseline)


def run_baseline(args: argparse.Namespace) -> int:
    """Predict; the exit code."""
    targets.check([args.output], read=[args.data, args.lm, args.train_lm, args.tune])
    task = clpp.task(args.pair)
    lines = clpp.read(args.data, task)
    tuned_on = clpp.read(args.tune, task) if args.tune is not None else []
    if args.lm is not None:
        model: clpp_baseline.LanguageModel = KenLM(args.lm)
    else:
        model = Nltk(clpp_baseline.sentences(clpp.read(args.train_lm, task), task), order=args.order)
    note = output.Notes(quiet=args.quiet)
    note.begin()
    penalty, tuned = args.none_penalty, ""
    if args.tune is not None:
        scores = clpp_baseline.tune([line for line in tuned_on if line.labels], task, model)
        penalty = max(scores, key=lambda one: scores[one].macro.recall)
        rows = [(f"{one:.1f}", f"{got.macro.recall:.2f}", f"{got.accuracy:.2f}") for one, got in scores.items()]
        tuned = table(("none penalty", "macro R", "accuracy"), rows)
        note(f"the penalty of the empty filler is {penalty:.1f}")
    shown = lines if args.quiet else progress(lines, label="predict", total=len(lines), unit="lines")
    with targets.AtomicFile(args.output) as file:
        for line, (_, cells) in zip(shown, clpp.rows(args.data), strict=True):
            if line.slots:
                fillers = clpp_baseline.predict(line, task, model, penalty=penalty)
                cells[:2] = [" ".join(f.label for f in fillers), " ".join(f.word or clpp.NONE for f in fillers)]
            file.write("\t".join(cells) + "\n")
    if tuned:
        print(tuned)
    return 0


TRAIN = """Train a classifier of pronoun slots. Every class counts alike in the loss, as in the official score,
macro-averaged recall. Two kinds:
  gru      two layers of GRUs over the words and tags left and right of the slot and of the source pronoun, 50 words on
           each side, after TurkuNLP, the winner of WMT 2016
  encoder  a Hugging Face encoder (--encoder) that reads the source and the target with the slot;
           take a multilingual one
The model of the epoch with the best macro-averaged recall on --dev is written at the end. The same command resumes a
stopped run from last.ckpt in the folder, and reaches the same model; the folder also has best.ckpt and logs (CSV,
TensorBoard)."""
TRAIN_EPILOG = """examples:
  pronmetric clpp train --pair de-en train.data.filtered --dev dev.data.filtered -o model
  pronmetric clpp train --pair de-en train.data.filtered --dev dev.data.filtered --encoder xlm-roberta-base -o model"""


def add_train(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(
        commands, "train", help="a classifier: GRUs or an encoder", description=TRAIN, epilog=TRAIN_EPILOG
    )
    made.add_argument("data", metavar="TRAIN_FILE", help="data file with labels")
    made.add_argument("--dev", required=True, metavar="FILE", help="data file that chooses the epoch")
    made.add_argument("--pair", required=True, choices=sorted(clpp.TASKS), help="language pair, source first")
    made.add_argument("--encoder", metavar="NAME|FOLDER", help="an encoder instead of GRUs")
    made.add_argument("--allow-network", action="store_true", help="fetch --encoder from the Hugging Face hub")
    made.add_argument("--epochs", type=whole_from_one, default=10, metavar="N", help="default: 10")
    made.add_argument("--batch-size", type=whole_from_one, default=64, metavar="N", help="slots (default: 64)")
    made.add_argument("--window", type=whole_from_one, default=50, metavar="N", help="words a side (default: 50)")
    made.add_argument(
        "--learning-rate", type=number_above_zero, metavar="X", help="default: 2e-3 for GRUs, 3e-5 for an encoder"
    )
    made.add_argument("--unbalanced", action="store_true", help="every slot counts alike, not every class")
    made.add_argument("--seed", type=whole_from_zero, default=1, metavar="N", help="default: 1")
    made.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the model")
    made.add_argument("--quiet", action="store_true", help="no progress on stderr")
    made.set_defaults(run=run_train)


def run_train(args: argparse.Namespace) -> int:
    """Train; the exit code."""
    targets.check([], read=[args.data, args.dev, args.encoder], folders=[args.output])
    task = clpp.task(args.pair)
    train, development = clpp.read(args.data, task), clpp.read(args.dev, task)
    from pronmetric.checkpoint.files import hash_file
    from pronmetric.data.pieces import Subwords
    from pronmetric.lab.clpp import classifier as classifiers
    from pronmetric.lab.clpp import training as clpp_run
    from pronmetric.training.encoders import load_pretrained

    options = classifiers.Options(
        kind=classifiers.GRU if args.encoder is None else classifiers.ENCODER,
        window=args.window,
        rate=args.learning_rate or (2e-3 if args.encoder is None else 3e-5),
        batch=args.batch_size,
        epochs=args.epochs,
        balanced=not args.unbalanced,
        seed=args.seed,
    )
    encoder = None
    if args.encoder is not None:
        body, tokenizer = load_pretrained(args.encoder, package=None, dropout=0.1, allow_network=args.allow_network)
        encoder = body, Subwords(tokenizer)
    best = clpp_run.train(
        task,
        options,
        train,
        development,
        Path(args.output),
        encoder=encoder,
        inputs={"train": hash_file(Path(args.data)), "development": hash_file(Path(args.dev))},
        progress=not args.quiet,
    )
    recall, accuracy = (best.figures[name] for name in (clpp_run.RECALL, clpp_run.ACCURACY))
    print(f"step {best.best_step} of {best.steps} is best: macro R {recall:.2f}, accuracy {accuracy:.2f}")
    return 0


PREDICT = """Predict the slots of a data file with a model of `clpp train`. Predictions have the five columns of the
data, with the classes in the first two."""
PREDICT_EPILOG = """example:
  pronmetric clpp predict model test.data.filtered -o predictions.txt"""


def add_predict(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(
        commands,
        "predict",
        help="the classes that a trained classifier predicts",
        description=PREDICT,
        epilog=PREDICT_EPILOG,
    )
    made.add_argument("model", metavar="MODEL_DIR", help="folder of `clpp train`")
    made.add_argument("data", metavar="DATA_FILE", help="data file; its labels are not read")
    made.add_argument("-o", "--output", required=True, metavar="FILE", help="predictions")
    made.set_defaults(run=run_predict)


def run_predict(args: argparse.Namespace) -> int:
    """Predict; the exit code."""
    targets.check([args.output], read=[args.data, args.model])
    from pronmetric.lab.clpp.classifier import load

    classifier = load(Path(args.model))
    rows = list(clpp.rows(args.data))
    predicted = classifier.predict(clpp.read(args.data, classifier.task))
    with targets.AtomicFile(args.output) as file:
        for labels, (_, cells) in zip(predicted, rows, strict=True):
            file.write("\t".join((" ".join(labels), " ".join(labels), *cells[2:])) + "\n")
    return 0
