"""Checks of flags that several verbs share: combinations, and files that cannot be written."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping

from pronmetric.checkpoint import locate
from pronmetric.output import targets
from pronmetric.text.context import COMMON, GIVEN, RESPECTIVE


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
