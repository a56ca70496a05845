"""The flags that several verbs share, as frozen records, and the checks of their combinations.

A verb turns its `argparse.Namespace` into records once, in its entry function; whatever it calls takes the records.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.cli.output import Notes
from pronmetric.cli.parser import CometParser, add_comet_flags, number_from_zero, whole_from_one, whole_from_zero
from pronmetric.eval.decision import DECISIONS
from pronmetric.eval.resampling import SEED
from pronmetric.output import targets
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R", bound="DataclassInstance")
AUTO = "auto"
"""The value of --tie that takes the checkpoint's tie threshold."""
BY_HELP = (
    "what decides between two texts: score, the mean probability of their pronouns; errors, the expected number of "
    "wrong pronouns (fewer is better); preference, the pair head's number (default: the one that the checkpoint's "
    "config names, which was chosen on development data; score if it names none)"
)
CONTEXT_SIZE_HELP = """The number of previous sentences is that of the checkpoint's training (2 for the shipped ones). A
checkpoint that was trained without context scores without it by default."""


def read(record: type[R], args: argparse.Namespace) -> R:
    """The flags of a verb as a record: each field is the flag of its name, or its default if the verb has no such flag.

    A field without a default must be a flag of the verb.
    """
    given = vars(args)
    return record(**{field.name: given[field.name] for field in fields(record) if field.name in given})


@dataclass(frozen=True)
class TextFlags:
    """The texts of a verb, as files of lines, a WMT test set or records, and their context."""

    translations: Sequence[str] | None = None
    references: Sequence[str] | None = None
    sources: str | None = None
    source_lang: str | None = None
    docids: str | None = None
    dataset: str | None = None
    wmt_dir: str | None = None
    systems: Sequence[str] | None = None
    refs: Sequence[str] | None = None
    jsonl: str | None = None
    context: str | None = None
    strict: bool = False

    @staticmethod
    def add(made: argparse.ArgumentParser, *, jsonl: bool) -> None:
        """Add the flags of `score` and `compare`; `jsonl`: also --jsonl."""
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
            "-s",
            "--sources",
            metavar="FILE",
            help="source: shown in reports; counts if the model has a reader of sources, or with --source-lang",
        )
        add_source_lang(texts)
        texts.add_argument("--docids", metavar="FILE", help="one document id per line; context never crosses documents")
        add_dataset(texts)
        texts.add_argument("--refs", nargs="+", metavar="NAME", help="references of -d (default: the first)")
        if jsonl:
            texts.add_argument("--jsonl", metavar="FILE|-", help="records, one JSON object per line; - is stdin")
        texts.add_argument(
            "--context", choices=[COMMON, RESPECTIVE, NONE, *([GIVEN] if jsonl else [])], help="see below"
        )

    @classmethod
    def of(cls, made: argparse.ArgumentParser, args: argparse.Namespace) -> TextFlags:
        """The record; flags that do not go together are a usage error (exit code 2)."""
        texts = read(cls, args)
        _check_dataset(made, texts)
        if texts.source_lang is not None and texts.jsonl is None and texts.dataset is None and texts.sources is None:
            made.error("--source-lang needs the source: give -s")
        if texts.refs is not None and texts.dataset is None:
            made.error("--refs names references of -d; with -t give reference files with -r")
        if texts.refs is not None and texts.context not in (None, COMMON):
            made.error(f"--refs names the common context, which --context {texts.context} does not use")
        if texts.context == COMMON and texts.translations and texts.references is None:
            made.error("--context common needs a reference: give -r")
        if texts.jsonl is not None and texts.context in (COMMON, RESPECTIVE):
            made.error(f"--context {texts.context} needs lines of text (-t); records of --jsonl contain their context")
        if texts.jsonl is None and texts.context == GIVEN:
            made.error("--context given needs records (--jsonl), which contain their context")
        return texts


@dataclass(frozen=True)
class ModelFlags:
    """The model of a verb and how it runs."""

    model: str | None = None
    allow_network: bool = False
    batch_size: int | None = None
    gpus: int | None = None
    precision: str | None = None
    model_storage_path: str | None = None
    source_lang: str | None = None
    no_source: bool = False
    disable_cache: bool = False
    disable_length_batching: bool = False

    @staticmethod
    def add(made: argparse.ArgumentParser, *, seed: bool = True, gpus: bool = True) -> None:
        """Add the flags; `seed`: also that of what is drawn; `gpus`: also --gpus."""
        model = made.add_argument_group("model")
        model.add_argument(
            "--model", metavar="NAME|FOLDER", help="a shipped name, a folder, or a hub name (default: base)"
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
            help=f"precision of the model (default: 32{', on a GPU of CUDA bf16' if gpus else ''}; 32 is exact to "
            "1e-5; bf16 and 16 are faster, their scores vary by up to 0.01 with the batch, the other texts and the "
            "hardware; int8: on the CPU, faster still once the model is quantised, which takes some seconds, needs "
            "the extra int8)",
        )
        both(model, "no-source", action="store_true", help="do not use the model's reader of sources, if it has one")
        if seed:
            model.add_argument(
                "--seed",
                "--seed_everything",
                type=whole_from_zero,
                default=SEED,
                metavar="N",
                help="seed of what is drawn (default: %(default)s)",
            )

    @classmethod
    def of(cls, args: argparse.Namespace) -> ModelFlags:
        """The record."""
        return read(cls, args)


@dataclass(frozen=True)
class OutputFlags:
    """What a verb writes besides its result, and what it tells on stderr."""

    to_json: str | None = None
    to_tsv: str | None = None
    only_system: bool = False
    quiet: bool = False
    verbose: bool = False
    disable_bar: bool = False

    @staticmethod
    def add(made: argparse.ArgumentParser) -> None:
        """Add the flags of `score` and `compare`."""
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

    @classmethod
    def of(cls, args: argparse.Namespace) -> OutputFlags:
        """The record."""
        return read(cls, args)

    def notes(self) -> Notes:
        """The notes on stderr, as many as the flags want."""
        return Notes(quiet=self.quiet, verbose=self.verbose)


def scoring_parser(verb: str, description: str, epilog: str, *, jsonl: bool) -> argparse.ArgumentParser:
    """A parser with the flags of both `score` and `compare`; `jsonl`: also --jsonl."""
    made = CometParser(
        prog=f"pronmetric {verb}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    TextFlags.add(made, jsonl=jsonl)
    ModelFlags.add(made, seed=verb == "compare")
    OutputFlags.add(made)
    add_comet_flags(made, compare=verb == "compare")
    return made


def scoring_flags(made: argparse.ArgumentParser, args: argparse.Namespace) -> tuple[TextFlags, ModelFlags, OutputFlags]:
    """The records of `score` or `compare`; flags that do not go together are a usage error (exit code 2)."""
    jsonl = {"--jsonl": args.jsonl} if "jsonl" in args else {}
    chosen = require_one(made, {"-t": args.translations, "-d": args.dataset, **jsonl})
    of_files = {"-r": args.references, "-s": args.sources, "--docids": args.docids}
    extra = [flag for flag, value in of_files.items() if value is not None]
    if chosen != "-t" and extra:
        made.error(f"{' and '.join(extra)} go with -t, not with {chosen}")
    texts, model = TextFlags.of(made, args), ModelFlags.of(args)
    if model.model_storage_path is not None and not locate.of_hub(model.model):
        made.error("--model_storage_path needs a model of the hub; give --model OWNER/NAME too")
    return texts, model, OutputFlags.of(args)


def check_targets(texts: TextFlags, model: ModelFlags, out: OutputFlags) -> None:
    """Refuse an output file that cannot be written or is also an input, before any work."""
    lines = [*(texts.translations or ()), *(texts.references or ()), texts.sources, texts.docids, texts.jsonl]
    targets.check((out.to_json, out.to_tsv), read=[*lines, texts.wmt_dir, model.model])


def require_one(made: argparse.ArgumentParser, given: Mapping[str, object]) -> str:
    """The one flag that is given; a usage error if there are more or none."""
    chosen = [flag for flag, value in given.items() if value is not None]
    if len(chosen) != 1:
        made.error(f"give one of {', '.join(given)}" + (f"; got {' and '.join(chosen)}" if chosen else ""))
    return chosen[0]


def _check_dataset(made: argparse.ArgumentParser, texts: TextFlags) -> None:
    """An invalid name of a test set, or flags of one without -d: a usage error."""
    if texts.dataset is None and (texts.wmt_dir or texts.systems):
        made.error("--wmt-dir and --systems go with -d")
    if texts.dataset is not None:
        if not re.fullmatch(r"[^:\s]+:[a-z]{2,3}-[a-z]{2,3}", texts.dataset):
            made.error(f"-d: expected NAME:LP such as wmt22:de-en, got {texts.dataset!r}")
        if texts.wmt_dir is None:
            made.error("-d needs --wmt-dir DIR; nothing is downloaded")


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
    """The flag that makes sources count by a table."""
    both(
        texts,
        "source-lang",
        metavar="LANG|FILE",
        help="language of the source (of -s, -d, or of the records), which then counts by the table of this language, "
        "or by one that `pronmetric train-source` wrote; the model's reader of sources is not used",
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


def add_by(group: argparse._ActionsContainer) -> None:
    """The flag --by."""
    group.add_argument("--by", choices=DECISIONS, help=BY_HELP)


def both(group: argparse._ActionsContainer, name: str, **options: object) -> None:
    """A flag that may be spelled with hyphens or, as COMET does, with underscores."""
    spellings = dict.fromkeys([f"--{name.replace('-', '_')}", f"--{name}"])
    group.add_argument(*spellings, dest=name.replace("-", "_"), **options)  # type: ignore[arg-type]


def parse_tie(text: str) -> float | str:
    """The value of --tie: "auto", or a number from 0."""
    return AUTO if text == AUTO else number_from_zero(text, other="auto or ")


def tie_threshold(tie: float | str, model: ModelFlags, *, by: str | None) -> float:
    """The tie threshold; "auto" is that of the checkpoint for what decides; by None: what its config names.

    Raises:
        PronmetricError: there is no such checkpoint, or it has no tie threshold.
    """
    if not isinstance(tie, str):
        return tie
    place = locate.locate(model.model, allow_network=model.allow_network, storage=model.model_storage_path)
    config = checkpoint_config.read(place.folder / locate.CONFIG)
    decision = checkpoint_config.decision_of(config, by, name=place.name)
    return checkpoint_config.tie_threshold(config, name=place.name, by=decision)


def choose_decision(by: str | None, model: ModelFlags, config: Mapping[str, Any]) -> str:
    """What decides between two texts: `by` (--by), else what the checkpoint's config names.

    Raises:
        PronmetricError: the checkpoint does not give it.
    """
    return checkpoint_config.decision_of(config, by, name=model.model or locate.DEFAULT)
