"""`pronmetric nmt`: translation models without and with context, a group of commands."""

from __future__ import annotations

from pathlib import Path

from pronmetric.cli import output
from pronmetric.cli.hydra import HydraCommand
from pronmetric.cli.parser import Command, Flags, Group, argument, flag, number, switch, whole
from pronmetric.errors import InputError
from pronmetric.lab.nmt.settings import NmtTrain
from pronmetric.output import targets

DESCRIPTION = """Train and run small translation models with and without context: the published systems that the test
suites were made for. `pronmetric suite score --seq2seq FOLDER` scores a suite with such a model."""
TRAIN = """Train a translation model on line-parallel text, whose documents are named by data.docids=FILE.

One of these settings chooses the context (default: none):
  nmt.context=concat21|concat22|concatN     previous sentences in the same text (Tiedemann and Scherrer 2017)
  nmt.context_encoder=shared_gate           a context encoder and a gate (Voita et al. 2018)
  nmt.context_encoder=thumt                 context attention in each layer (Zhang et al. 2018); with init=FOLDER
                                            frozen=true, the second stage of its training
  nmt.context_encoder=s-hier|s-t-hier|s-hier-to-2
                                            attention over attentions (Bawden et al. 2018); the paper's models have
                                            nmt.cell=gru nmt.tied=false
  nmt.cadec=true init=FOLDER frozen=true    a second decoder that corrects drafts (Voita et al. 2019)
  nmt.bert_fused=FOLDER                     attention to a frozen encoder in each layer (Zhu et al. 2020)
nmt=tiny (default) or nmt=base sets the sizes.

Writes the model (nmt.yaml, model.safetensors, tokenizer.json), logs (CSV, TensorBoard), best.ckpt, last.ckpt and the
weights of the last validations (snapshots/) to out=DIR. The same command resumes a stopped run from last.ckpt."""


def run_train(settings: NmtTrain) -> None:
    """Train, print the development figures, and note the numbers of documents and sentences."""
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
    from pronmetric.training.encoders.huggingface import load_pretrained

    note = output.Notes(quiet=False)
    documents = texts.read_documents(data.source, data.target, data.docids, note)
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
    note.begin()
    note(f"{len(documents)} documents; " + ", ".join(f"{name}: {n}" for name, n in result.counts.items() if n))
    for name, value in sorted(result.figures.items()):
        print(f"{name}\t{value:.4f}")
    averaged = result.record["averaged"]
    chosen = f"the average of the last {averaged} validations" if averaged else f"step {result.record['best_step']}"
    note(f"{out}: {settings.nmt.system}, {chosen} of {result.record['steps']} steps")


TRANSLATE = """Translate documents by beam search, each from its first sentence to its last. A model that reads previous
target sentences reads its own translations. An empty line stays empty."""
TRANSLATE_EPILOG = """example:
  pronmetric nmt translate MODEL news.de --docids news.docids -o news.en"""


class TranslateFlags(Flags):
    """The model, the text, and the search."""

    model: str = argument(metavar="FOLDER", help="folder of `nmt train`")
    source: str = argument(metavar="SOURCE_FILE", help="one sentence on each line")
    docids: str | None = flag(metavar="FILE", help="a document id on each line (default: one document)")
    beam: int = flag(type=whole(1), default=4, metavar="N", help="hypotheses kept (default: %(default)s)")
    length_penalty: float = flag(
        "--length-penalty",
        type=number(0),
        default=1.0,
        metavar="X",
        help="log-probabilities are divided by length to this power (default: %(default)s)",
    )
    batch_size: int = flag(type=whole(1), default=32, metavar="N", help="documents at a time (default: %(default)s)")
    precision: str = flag(choices=("32", "bf16", "16"), default="32", help="default: %(default)s")
    gpus: int | None = flag(type=int, choices=(0, 1), metavar="N", help="0 or 1 (default: 1 if there is one)")
    output: str = flag("-o", "--output", required=True, metavar="FILE", help="one translation on each line")
    quiet: bool = switch(help="no progress on stderr")


def run_translate(task: TranslateFlags) -> None:
    """Translate, and write the translations."""
    targets.check([task.output], read=[task.model, task.source, task.docids])
    from pronmetric.lab.nmt.data import read_documents
    from pronmetric.lab.nmt.translator import Translator

    note = output.Notes(quiet=task.quiet)
    documents = [source for source, _ in read_documents(task.source, None, task.docids, note)]
    model = Translator.load(task.model, precision=task.precision, gpus=task.gpus)
    model.check_sources(documents, file=task.source)
    note.begin()
    with output.bar(task.quiet, total=sum(map(len, documents)), label="translate", unit="lines") as bar:
        made = model.translate(
            documents,
            beam=task.beam,
            penalty=task.length_penalty,
            batch_size=task.batch_size,
            advance=bar.update,
        )
    with targets.AtomicFile(task.output) as file:
        file.writelines(f"{line}\n" for document in made for line in document)


TRAIN_COMMAND = HydraCommand("nmt train", run_train, NmtTrain, TRAIN, help="train a model")
VERBS = (
    Group(
        "nmt",
        DESCRIPTION,
        None,
        [
            TRAIN_COMMAND,
            Command(
                "translate", TranslateFlags, run_translate, TRANSLATE, TRANSLATE_EPILOG, help="translate documents"
            ),
        ],
    ),
    TRAIN_COMMAND,
)
