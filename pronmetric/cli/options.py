"""The flags that several verbs share."""

from __future__ import annotations

import argparse

from pronmetric.cli import comet_flags, numbers, target_language
from pronmetric.eval.resampling import SEED
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE


def parser(verb: str, description: str, epilog: str, *, jsonl: bool) -> argparse.ArgumentParser:
    """A parser with the flags of both `score` and `compare`; `jsonl`: also --jsonl."""
    made = comet_flags.Parser(
        prog=f"pronmetric {verb}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    texts = made.add_argument_group("texts (UTF-8, also gzip; one segment a line)")
    texts.add_argument(
        "-t",
        "--translations",
        nargs="+",
        metavar="FILE",
        help="system outputs; - is stdin; at most 100,000 characters a line",
    )
    texts.add_argument(
        "-r",
        "--references",
        nargs="+",
        metavar="FILE",
        help="reference, used as context; with several, scores are the means over them",
    )
    texts.add_argument(
        "-s", "--sources", metavar="FILE", help="source: shown in reports; affects scores with --source-lang"
    )
    add_source_lang(texts)
    texts.add_argument("--docids", metavar="FILE", help="one document id per line; context never crosses documents")
    add_dataset(texts)
    texts.add_argument("--refs", nargs="+", metavar="NAME", help="references of -d (default: the first)")
    if jsonl:
        texts.add_argument("--jsonl", metavar="FILE|-", help="records, one JSON object per line; - is stdin")
    texts.add_argument("--context", choices=[COMMON, RESPECTIVE, NONE, *([GIVEN] if jsonl else [])], help="see below")
    add_model(made, seed=verb == "compare")
    output = made.add_argument_group("output")
    both(
        output,
        "to-json",
        metavar="FILE",
        help="write all results as JSON: signature, systems, segments, pronouns, intervals",
    )
    both(output, "to-tsv", metavar="FILE", help="write a table with one pronoun per line")
    both(output, "only-system", action="store_true", help="print only system scores")
    add_notes(output)
    target_language.add_strict(output)
    comet_flags.add(made, compare=verb == "compare")
    return made


def add_notes(output: argparse._ActionsContainer) -> None:
    """The flags of the notes on stderr."""
    amount = output.add_mutually_exclusive_group()
    amount.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    amount.add_argument(
        "--verbose",
        action="store_true",
        help="more notes on stderr: kind of context, numbers and intervals, other signatures (default: the signature "
        "and warnings)",
    )


def add_source_lang(texts: argparse._ActionsContainer) -> None:
    """The flag that makes sources count."""
    both(
        texts,
        "source-lang",
        metavar="LANG|FILE",
        help="language of the source, which then counts in the score: that of -s, -d, or of the records; or a table "
        "that `pronmetric train-source` wrote",
    )


def add_dataset(texts: argparse._ActionsContainer) -> None:
    """The flags that name a WMT test set."""
    texts.add_argument("-d", "--dataset", metavar="NAME:LP", help="a WMT test set, e.g. wmt22:de-en")
    both(
        texts,
        "wmt-dir",
        metavar="DIR",
        help="folder of the test sets: wmtNN-news-systems checkouts, mt-metrics-eval's folders, or any layout of "
        "`prepare`",
    )
    texts.add_argument(
        "--systems", nargs="+", metavar="NAME", help="systems of -d, also references (default: all systems)"
    )


def add_model(made: argparse.ArgumentParser, *, seed: bool = True, gpus: bool = True) -> None:
    """The flags of the model and its hardware; `seed`: also that of what is drawn; `gpus`: also --gpus."""
    model = made.add_argument_group("model")
    model.add_argument("--model", metavar="NAME|FOLDER", help="a shipped name, a folder, or a hub name (default: base)")
    both(model, "allow-network", action="store_true", help="download --model from the Hugging Face hub")
    both(
        model,
        "batch-size",
        type=numbers.positive,
        metavar="N",
        help="pieces per batch, in units of 32 (default: 32, on a GPU 1024)",
    )
    if gpus:
        model.add_argument(
            "--gpus",
            type=numbers.count,
            metavar="N",
            help="number of GPUs, 0 for the CPU (default: 1 of CUDA if available; 1 also means Apple's)",
        )
    model.add_argument(
        "--precision",
        choices=["32", "bf16", "16", "int8"],
        help="precision of the model (default: 32, exact to 1e-5; bf16 and 16 are faster, their scores vary by up to "
        "0.01 with the batch, the other texts and the hardware; int8: on the CPU, faster still once the model is "
        "quantised, which takes some seconds, needs the extra int8)",
    )
    if seed:
        model.add_argument(
            "--seed",
            "--seed_everything",
            type=numbers.count,
            default=SEED,
            metavar="N",
            help="seed of what is drawn (default: %(default)s)",
        )


def both(group: argparse._ActionsContainer, name: str, **options: object) -> None:
    """A flag that may be spelled with hyphens or, as COMET does, with underscores."""
    spellings = dict.fromkeys([f"--{name.replace('-', '_')}", f"--{name}"])
    group.add_argument(*spellings, dest=name.replace("-", "_"), **options)  # type: ignore[arg-type]
