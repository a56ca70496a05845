"""`pronmetric nmt`: translation models without and with context, a group of commands."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from pronmetric.cli import output
from pronmetric.cli.hydra import hydra_parser, run_verb
from pronmetric.cli.parser import add_command, group_parser, number_from_zero, run_command, whole_from_one
from pronmetric.errors import InputError
from pronmetric.lab.nmt.settings import NmtTrain
from pronmetric.output import targets

DESCRIPTION = """Train and run translation models without and with context, small: the published systems that the test
suites were made for. `pronmetric suite score --seq2seq FOLDER` scores a suite with them."""
TRAIN = """Train a translation model on line-parallel text, whose documents are named by data.docids=FILE.

The context is chosen by one of
  nmt.context=concat21|concat22|concatN     previous sentences in the same text (Tiedemann and Scherrer 2017)
  nmt.context_encoder=shared_gate           a context encoder and a gate (Voita et al. 2018)
  nmt.context_encoder=thumt                 context attention in each layer (Zhang et al. 2018); with init=FOLDER
                                            frozen=true the second of its two stages
  nmt.context_encoder=s-hier|s-t-hier|s-hier-to-2
                                            attention over attentions (Bawden et al. 2018); nmt.cell=gru, nmt.tied=false
  nmt.cadec=true init=FOLDER frozen=true    a second decoder that corrects drafts (Voita et al. 2019)
  nmt.bert_fused=FOLDER                     a frozen encoder, in each layer (Zhu et al. 2020)
and nmt=tiny or nmt=base chooses the sizes.

Writes to out=DIR: the model (nmt.yaml, model.safetensors, tokenizer.json), logs (CSV, TensorBoard), best.ckpt,
last.ckpt, and the weights of the last validations (snapshots/). The same command resumes a stopped run from
last.ckpt."""


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its commands."""
    return group_parser("nmt", DESCRIPTION, commands=(add_train, add_translate))


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    if argv and argv[0] == "train":
        return run_verb("nmt train", argv[1:], _train, settings=NmtTrain, description=TRAIN)
    return run_command(parser(), argv)


def add_train(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group; Hydra reads its arguments."""
    commands.add_parser(
        "train", help="train a model", parents=[hydra_parser("nmt train", TRAIN)], add_help=False, allow_abbrev=False
    )


def _train(settings: NmtTrain) -> None:
    data, out = settings.data, Path(settings.out)
    bert = settings.nmt.bert_fused
    if bert is not None and not Path(bert).is_dir():
        raise InputError("no such folder: expected an encoder of Hugging Face for nmt.bert_fused", file=bert)
    read = [data.source, data.target, data.docids, data.set, data.documents, settings.init, bert]
    targets.check([], read=read, folders=[out])
    from pronmetric.checkpoint.files import hash_file
    from pronmetric.data.pieces import Subwords
    from pronmetric.lab.nmt import data as texts
    from pronmetric.lab.nmt import training
    from pronmetric.lab.nmt.translator import WEIGHTS, Translator
    from pronmetric.training.encoders import load_pretrained

    note = output.Notes(quiet=not settings.trainer.progress)
    documents = texts.read_documents(data.source, data.target, data.docids)
    files = {"source": data.source, "target": data.target, "docids": data.docids, "set": data.set}
    inputs = {name: hash_file(Path(file)) for name, file in files.items() if file is not None}
    base = None
    if settings.init is not None:
        base = Translator.load(settings.init)
        inputs["init"] = hash_file(Path(settings.init) / WEIGHTS)
    encoder = None
    if bert is not None:
        body, tokenizer = load_pretrained(bert, package=None, dropout=0.0, allow_network=False)
        encoder = body, Subwords(tokenizer)
    result = training.train(settings, documents, inputs=inputs, base=base, encoder=encoder)
    if result is None:  # the first process of several prints it
        return
    note(f"{len(documents)} documents; " + ", ".join(f"{name}: {n}" for name, n in result.counts.items() if n))
    for name, value in sorted(result.figures.items()):
        print(f"{name}\t{value:.4f}")
    averaged = result.record["averaged"]
    chosen = f"the average of the last {averaged} validations" if averaged else f"step {result.record['best_step']}"
    note(f"{out}: {settings.nmt.system}, {chosen} of {result.record['steps']} steps")


TRANSLATE = """Translate line-parallel documents, from the first sentence of each to the last, by beam search. A model
that reads previous target sentences reads its own translations. An empty line stays empty."""
TRANSLATE_EPILOG = """example:
  pronmetric nmt translate MODEL news.de --docids news.docids -o news.en"""


def add_translate(commands: argparse._SubParsersAction) -> None:
    """Add the command to the group."""
    made = add_command(
        commands, "translate", help="translate documents", description=TRANSLATE, epilog=TRANSLATE_EPILOG
    )
    made.add_argument("model", metavar="FOLDER", help="folder of `nmt train`")
    made.add_argument("source", metavar="SOURCE_FILE", help="one sentence on each line")
    made.add_argument("--docids", metavar="FILE", help="a document id on each line; without it all lines are one")
    made.add_argument("--beam", type=whole_from_one, default=4, metavar="N", help="hypotheses kept (default: 4)")
    made.add_argument(
        "--length-penalty",
        type=number_from_zero,
        default=1.0,
        metavar="X",
        help="log-probabilities are divided by length to this power (default: 1)",
    )
    made.add_argument(
        "--batch-size", type=whole_from_one, default=32, metavar="N", help="documents at a time (default: 32)"
    )
    made.add_argument("--precision", choices=("32", "bf16", "16"), default="32", help="default: %(default)s")
    made.add_argument("--gpus", type=int, choices=(0, 1), metavar="N", help="0 or 1 (default: 1 if there is one)")
    made.add_argument("-o", "--output", required=True, metavar="FILE", help="one translation on each line")
    made.add_argument("--quiet", action="store_true", help="no progress on stderr")
    made.set_defaults(run=run_translate)


def run_translate(args: argparse.Namespace) -> int:
    """Translate; the exit code."""
    targets.check([args.output], read=[args.model, args.source, args.docids])
    from pronmetric.lab.nmt.data import read_documents
    from pronmetric.lab.nmt.translator import Translator

    documents = [source for source, _ in read_documents(args.source, None, args.docids)]
    model = Translator.load(args.model, precision=args.precision, gpus=args.gpus)
    with output.bar(args.quiet, total=sum(map(len, documents)), label="translate", unit="lines") as bar:
        made = model.translate(
            documents,
            beam=args.beam,
            penalty=args.length_penalty,
            batch_size=args.batch_size,
            advance=bar.update,
        )
    with targets.AtomicFile(args.output) as file:
        file.writelines(f"{line}\n" for document in made for line in document)
    return 0
