"""`pronmetric clpp baseline`: the n-gram baseline."""

from __future__ import annotations

import argparse

from pronmetric.cli import output
from pronmetric.cli.parser import add_command, any_number, whole_from_one
from pronmetric.cli.tables import table
from pronmetric.lab.clpp import baseline as clpp_baseline
from pronmetric.lab.clpp import data as clpp
from pronmetric.lab.clpp.language_models import KenLM, Nltk
from pronmetric.output import targets
from pronmetric.output.progress import progress

DESCRIPTION = """Predict each slot with an n-gram language model of the target side: all classes of the pair, some
frequent other words and an empty filler (both OTHER) are tried, all slots of a line jointly. The most probable
sentence is chosen. The penalty of the empty filler is added to the log10 score; --tune chooses it on labelled data."""
EPILOG = """The language model reads lemmas without tags. --lm needs the package kenlm, --train-lm the package nltk
(pip install "pronmetric[ngram]").

examples:
  pronmetric clpp baseline --pair de-en --lm news.en.arpa --tune dev.data test.data.filtered -o predictions.txt
  pronmetric clpp baseline --pair de-en --train-lm train.data --order 3 test.data.filtered -o predictions.txt"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(commands, "baseline", help="the n-gram baseline", description=DESCRIPTION, epilog=EPILOG)
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
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
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
                found = clpp_baseline.predict(line, task, model, penalty=penalty)
                cells[:2] = [" ".join(f.label for f in found), " ".join(f.word or clpp.NONE for f in found)]
            file.write("\t".join(cells) + "\n")
    if tuned:
        print(tuned)
    return 0
