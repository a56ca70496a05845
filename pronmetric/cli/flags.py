"""The flags that several verbs share, and the checks of their combinations."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from typing import Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.cli.parser import CometParser, add_comet_flags, number_from_zero, whole_from_one, whole_from_zero
from pronmetric.eval.decision import DECISIONS, SCORE
from pronmetric.eval.resampling import SEED
from pronmetric.output import targets
from pronmetric.signature import Signature
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE

AUTO = "auto"
"""The value of --tie that takes the checkpoint's tie threshold."""
BY_HELP = (
    "what decides between two texts: score, the mean probability of their pronouns; errors, the expected number of "
    "wrong pronouns (fewer is better); preference, the pair head's number (default: the one that the checkpoint's "
    "config names, which was chosen on development data; score if it names none)"
)
CONTEXT_SIZE_HELP = """The number of previous sentences is that of the checkpoint's training (2 for the shipped one). A
checkpoint that was trained without context scores without it by default."""


def scoring_parser(verb: str, description: str, epilog: str, *, jsonl: bool) -> argparse.ArgumentParser:
    """A parser with the flags of both `score` and `compare`; `jsonl`: also --jsonl."""
    made = CometParser(
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
    add_strict(output)
    add_comet_flags(made, compare=verb == "compare")
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


def add_strict(group: argparse._ActionsContainer) -> None:
    """The flag --strict."""
    group.add_argument(
        "--strict", action="store_true", help="an error instead of a note where texts do not look like their language"
    )


def add_model(made: argparse.ArgumentParser, *, seed: bool = True, gpus: bool = True) -> None:
    """The flags of the model and its hardware; `seed`: also that of what is drawn; `gpus`: also --gpus."""
    model = made.add_argument_group("model")
    model.add_argument(
        "--model", metavar="NAME|FOLDER", help="a shipped name, a folder, or a hub name (default: shipped)"
    )
    both(model, "allow-network", action="store_true", help="download --model from the Hugging Face hub")
    both(
        model,
        "batch-size",
        type=whole_from_one,
        metavar="N",
        help="pieces per batch, in units of 32 (default: 32, on a GPU 1024)",
    )
    if gpus:
        model.add_argument(
            "--gpus",
            type=whole_from_zero,
            metavar="N",
            help="number of GPUs, 0 for the CPU (default: 1 of CUDA if available; 1 also means Apple's)",
        )
    model.add_argument(
        "--precision",
        choices=["32", "bf16", "16", "int8"],
        help=f"precision of the model (default: 32{', on a GPU of CUDA bf16' if gpus else ''}; 32 is exact to 1e-5; "
        "bf16 and 16 are faster, their scores vary by up to 0.01 with the batch, the other texts and the hardware; "
        "int8: on the CPU, faster still once the model is quantised, which takes some seconds, needs the extra int8)",
    )
    if seed:
        model.add_argument(
            "--seed",
            "--seed_everything",
            type=whole_from_zero,
            default=SEED,
            metavar="N",
            help="seed of what is drawn (default: %(default)s)",
        )


def both(group: argparse._ActionsContainer, name: str, **options: object) -> None:
    """A flag that may be spelled with hyphens or, as COMET does, with underscores."""
    spellings = dict.fromkeys([f"--{name.replace('-', '_')}", f"--{name}"])
    group.add_argument(*spellings, dest=name.replace("-", "_"), **options)  # type: ignore[arg-type]


def check_flags(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Flags that do not go together: a usage error, exit code 2."""
    jsonl = getattr(args, "jsonl", None)
    given = {"-t": args.translations, "-d": args.dataset}
    chosen = require_one(made, given | ({"--jsonl": jsonl} if hasattr(args, "jsonl") else {}))
    of_files = {"-r": args.references, "-s": args.sources, "--docids": args.docids}
    extra = [flag for flag, value in of_files.items() if value is not None]
    if chosen != "-t" and extra:
        made.error(f"{' and '.join(extra)} go with -t, not with {chosen}")
    check_dataset(made, args)
    check_source_lang(made, args)
    if args.model_storage_path is not None and not locate.of_hub(args.model):
        made.error("--model_storage_path needs a model of the hub; give --model OWNER/NAME too")
    if args.refs is not None and args.dataset is None:
        made.error("--refs names references of -d; with -t give reference files with -r")
    if args.refs is not None and args.context not in (None, COMMON):
        made.error(f"--refs names the common context, which --context {args.context} does not use")
    if args.context == COMMON and args.translations and args.references is None:
        made.error("--context common needs a reference: give -r")
    check_given(made, args)


def require_one(made: argparse.ArgumentParser, given: Mapping[str, object]) -> str:
    """The one flag that is given; a usage error if there are more or none."""
    chosen = [flag for flag, value in given.items() if value is not None]
    if len(chosen) != 1:
        made.error(f"give one of {', '.join(given)}" + (f"; got {' and '.join(chosen)}" if chosen else ""))
    return chosen[0]


def check_given(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """A context of lines with records of --jsonl, or the other way round: a usage error."""
    if getattr(args, "jsonl", None) is not None and args.context in (COMMON, RESPECTIVE):
        made.error(f"--context {args.context} needs lines of text (-t); records of --jsonl contain their context")
    if getattr(args, "jsonl", None) is None and args.context == GIVEN:
        made.error("--context given needs records (--jsonl), which contain their context")


def check_source_lang(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """A source language without a source: a usage error."""
    lines = getattr(args, "jsonl", None) is None and getattr(args, "dataset", None) is None
    if args.source_lang is not None and lines and args.sources is None:
        made.error("--source-lang needs the source: give -s")


def check_dataset(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """An invalid name of a test set, or flags of one without -d: a usage error."""
    if args.dataset is None and (args.wmt_dir or args.systems):
        made.error("--wmt-dir and --systems go with -d")
    if args.dataset is not None:
        if not re.fullmatch(r"[^:\s]+:[a-z]{2,3}-[a-z]{2,3}", args.dataset):
            made.error(f"-d: expected NAME:LP such as wmt22:de-en, got {args.dataset!r}")
        if args.wmt_dir is None:
            made.error("-d needs --wmt-dir DIR; nothing is downloaded")


def check_targets(args: argparse.Namespace) -> None:
    """Refuse an output file that cannot be written or is also an input, before any work."""
    files = [*(args.translations or []), *(args.references or [])]
    texts = [*files, args.sources, args.docids, getattr(args, "jsonl", None)]
    outputs = (getattr(args, name, None) for name in ("to_json", "to_tsv"))
    targets.check(outputs, read=[*texts, getattr(args, "wmt_dir", None), args.model])


def add_by(parser: argparse._ActionsContainer) -> None:
    """Add the flag."""
    parser.add_argument("--by", choices=DECISIONS, help=BY_HELP)


def choose_decision(args: argparse.Namespace, config: Mapping[str, Any]) -> str:
    """What decides: the flag's value, else what the checkpoint's config names.

    Raises:
        PronmetricError: the checkpoint does not give it.
    """
    return checkpoint_config.decision_of(config, args.by, name=_model_name(args))


def default_decision(args: argparse.Namespace, config: Mapping[str, Any]) -> str:
    """What decides by default, for a verb without the flag: what the checkpoint's config names."""
    return checkpoint_config.decision_of(config, None, name=_model_name(args))


def _model_name(args: argparse.Namespace) -> str:
    return args.model or locate.DEFAULT


def parse_tie(text: str) -> float | str:
    """The value of the flag: "auto", or a number from 0."""
    return AUTO if text == AUTO else number_from_zero(text, other="auto or ")


def tie_threshold(
    tie: float | str,
    model: str | None,
    *,
    by: str | None = SCORE,
    allow_network: bool = False,
    storage: str | None = None,
) -> float:
    """The tie threshold; "auto" is that of the checkpoint `model` for what decides; by None: what its config names.

    Raises:
        PronmetricError: there is no such checkpoint, or it has no tie threshold.
    """
    if isinstance(tie, str):
        place = locate.locate(model, allow_network=allow_network, storage=storage)
        found = checkpoint_config.read(place.folder / locate.CONFIG)
        return checkpoint_config.tie_threshold(
            found, name=place.name, by=checkpoint_config.decision_of(found, by, name=place.name)
        )
    return tie


def add_tie(signature: Signature, threshold: float | None) -> Signature:
    """The signature with the tie threshold, if there is one."""
    return signature if threshold is None else signature.plus(tie=f"{threshold:g}")
