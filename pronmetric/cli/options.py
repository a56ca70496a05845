"""The flags that several verbs share, and the checks of flags that do not go together."""

from __future__ import annotations

import argparse
import re

from pronmetric.checkpoint import locate
from pronmetric.cli import comet_flags, numbers
from pronmetric.eval.resampling import SEED
from pronmetric.output import targets
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE


def parser(verb: str, description: str, epilog: str, *, jsonl: bool) -> argparse.ArgumentParser:
    """A parser with the flags that both verbs take; `jsonl`: and with --jsonl."""
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
        help="reference: its sentences are the common context; of several, each is one, and scores are their means",
    )
    texts.add_argument(
        "-s", "--sources", metavar="FILE", help="source: length checked, shown in reports, scores unchanged"
    )
    texts.add_argument("--docids", metavar="FILE", help="one document id a line; context never crosses documents")
    add_dataset(texts)
    texts.add_argument("--refs", nargs="+", metavar="NAME", help="references of -d (default: the first)")
    if jsonl:
        texts.add_argument("--jsonl", metavar="FILE|-", help="records instead, one JSON object a line; - is stdin")
    texts.add_argument("--context", choices=[COMMON, RESPECTIVE, NONE, *([GIVEN] if jsonl else [])], help="see below")
    add_model(made)
    output = made.add_argument_group("output")
    both(output, "to-json", metavar="FILE", help="write everything: signature, systems, segments, pronouns, intervals")
    both(output, "to-tsv", metavar="FILE", help="write a flat table, one pronoun a line")
    both(output, "only-system", action="store_true", help="print no segments")
    output.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    comet_flags.add(made, compare=verb == "compare")
    return made


def add_dataset(texts: argparse._ActionsContainer) -> None:
    """The flags that name a WMT test set."""
    texts.add_argument("-d", "--dataset", metavar="NAME:LP", help="a WMT test set instead, e.g. wmt22:de-en")
    both(
        texts,
        "wmt-dir",
        metavar="DIR",
        help="where -d is read: wmtNN-news-systems checkouts or any layout of `prepare`",
    )
    texts.add_argument("--systems", nargs="+", metavar="NAME", help="of -d; all by default")


def add_model(made: argparse.ArgumentParser, *, seed: bool = True) -> None:
    """The flags that say which model scores, and how; `seed`: and that of the resampling."""
    model = made.add_argument_group("model")
    model.add_argument(
        "--model", metavar="NAME|FOLDER", help="a shipped name, a folder, or a hub name (default: shipped)"
    )
    both(model, "allow-network", action="store_true", help="fetch --model from the Hugging Face hub")
    both(
        model,
        "batch-size",
        type=numbers.positive,
        metavar="N",
        help="32 pieces a batch for each (default: 32, on a GPU 1024)",
    )
    model.add_argument(
        "--gpus", type=numbers.count, metavar="N", help="number of GPUs, 0 for the CPU (default: one if there is one)"
    )
    model.add_argument(
        "--precision",
        choices=["32", "bf16", "16"],
        help="of the model (default: 32, exact to 1e-5; bf16 and 16 are faster, their scores move by up to 0.01 "
        "with the batch, the other texts and the hardware)",
    )
    if seed:
        model.add_argument(
            "--seed",
            "--seed_everything",
            type=numbers.count,
            default=SEED,
            metavar="N",
            help="of the resampling (default: %(default)s)",
        )


def check_flags(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Flags that do not go together: a usage error, exit code 2."""
    jsonl = getattr(args, "jsonl", None)
    given = {"-t": args.translations, "-d": args.dataset, "--jsonl": jsonl}
    chosen = [flag for flag, value in given.items() if value is not None]
    if len(chosen) != 1:
        flags = [flag for flag in given if hasattr(args, "jsonl") or flag != "--jsonl"]
        made.error(f"give one of {', '.join(flags)}" + (f"; got {' and '.join(chosen)}" if chosen else ""))
    of_files = {"-r": args.references, "-s": args.sources, "--docids": args.docids}
    extra = [flag for flag, value in of_files.items() if value is not None]
    if chosen != ["-t"] and extra:
        made.error(f"{' and '.join(extra)} go with -t, not with {chosen[0]}")
    check_dataset(made, args)
    if args.model_storage_path is not None and not locate.of_hub(args.model):
        made.error("--model_storage_path is where a model of the hub is kept; give --model OWNER/NAME too")
    if args.refs is not None and args.dataset is None:
        made.error("--refs names references of -d; those of -t are files: give -r")
    if args.refs is not None and args.context not in (None, COMMON):
        made.error(f"--refs names the common context, which --context {args.context} does not use")
    if args.context == COMMON and args.translations and args.references is None:
        made.error("--context common is the reference's context: give -r")
    check_given(made, args)


def check_given(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """A context that lines have and records of --jsonl bring, or the other way round: a usage error."""
    if getattr(args, "jsonl", None) is not None and args.context in (COMMON, RESPECTIVE):
        made.error(f"--context {args.context} needs lines of text (-t); a record of --jsonl brings its own context")
    if getattr(args, "jsonl", None) is None and args.context == GIVEN:
        made.error("--context given is that of the records of --jsonl")


def check_dataset(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """A test set that is not named as it must be: a usage error."""
    if args.dataset is None and (args.wmt_dir or args.systems):
        made.error("--wmt-dir and --systems go with -d")
    if args.dataset is not None:
        if not re.fullmatch(r"[^:\s]+:[a-z]{2,3}-[a-z]{2,3}", args.dataset):
            made.error(f"-d: expected NAME:LP such as wmt22:de-en, got {args.dataset!r}")
        if args.wmt_dir is None:
            made.error("-d needs --wmt-dir DIR; nothing is downloaded")


def check_targets(args: argparse.Namespace) -> None:
    """Refuse an output file that could not be written or is read as well, before any work is done."""
    files = [*(args.translations or []), *(args.references or [])]
    texts = [*files, args.sources, args.docids, getattr(args, "jsonl", None)]
    outputs = (getattr(args, name, None) for name in ("to_json", "to_tsv"))
    targets.check(outputs, read=[*texts, getattr(args, "wmt_dir", None), args.model])


def both(group: argparse._ActionsContainer, name: str, **options: object) -> None:
    """A flag that may be spelled with hyphens or, as COMET does, with underscores."""
    spellings = dict.fromkeys([f"--{name.replace('-', '_')}", f"--{name}"])
    group.add_argument(*spellings, dest=name.replace("-", "_"), **options)  # type: ignore[arg-type]
