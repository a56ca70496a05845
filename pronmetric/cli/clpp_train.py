"""`pronmetric clpp train`: a classifier of pronoun slots."""

from __future__ import annotations

import argparse
from pathlib import Path

from pronmetric.cli.parser import add_command, number_above_zero, whole_from_one, whole_from_zero
from pronmetric.lab.clpp import data as clpp
from pronmetric.output import targets

DESCRIPTION = """Train a classifier of pronoun slots. Every class counts alike in the loss, as in the official score,
macro-averaged recall. Two kinds:
  gru      two layers of GRUs over the words and tags left and right of the slot and of the source pronoun, 50 words on
           each side, after TurkuNLP, the winner of WMT 2016
  encoder  a Hugging Face encoder (--encoder) that reads the source and the target with the slot;
           take a multilingual one
The model of the epoch with the best macro-averaged recall on --dev is written at the end. The same command resumes a
stopped run from last.ckpt in the folder, and reaches the same model; the folder also has best.ckpt and logs (CSV,
TensorBoard)."""
EPILOG = """examples:
  pronmetric clpp train --pair de-en train.data.filtered --dev dev.data.filtered -o model
  pronmetric clpp train --pair de-en train.data.filtered --dev dev.data.filtered --encoder xlm-roberta-base -o model"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(
        commands, "train", help="a classifier: GRUs or an encoder", description=DESCRIPTION, epilog=EPILOG
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
    made.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
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
