"""The argument parsers of verbs and commands, and the types of numeric flags; each type names its range in its error.

Help texts keep their line breaks, flags cannot be abbreviated.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pronmetric.cli import output

_REFUSED = {
    "--num_workers": "a single process reads and prepares the texts; for several GPUs use --gpus N",
    "--accelerator": "the GPUs share the batches of one process; set their number with --gpus N",
    "--mc_dropout": "scores are computed without dropout and have no variance",
    "--print_cache_info": "the number of distinct encoded texts is in the --to_json output, under counts",
    "--enable-context": "every text is scored in its context; choose the kind with --context",
    "--sacrebleu_dataset": "nothing is downloaded; give -d NAME:LP with --wmt-dir DIR",
}
_REFUSED_BY_COMPARE = {
    "--sample_ratio": "nothing is drawn from the documents: the interval is that of Student's t, the randomisation "
    "swaps the outputs of all of them",
    "--t_test_alternative": "the tests are two-sided",
}
AddCommand = Callable[[argparse._SubParsersAction], None]
"""Adds a command with its flags to a group; they set `run`, which takes the arguments and gives the exit code."""


def verb_parser(verb: str, description: str, epilog: str | None = None) -> argparse.ArgumentParser:
    """A parser for `pronmetric VERB`."""
    return argparse.ArgumentParser(
        prog=f"pronmetric {verb}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def group_parser(
    verb: str, description: str, epilog: str | None = None, *, commands: Sequence[AddCommand]
) -> argparse.ArgumentParser:
    """A parser for `pronmetric VERB COMMAND`."""
    made = verb_parser(verb, description, epilog)
    added = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in commands:
        add(added)
    return made


def run_command(made: argparse.ArgumentParser, argv: Sequence[str]) -> int:
    """Run the command of `group_parser` that the arguments name; the exit code."""
    args = made.parse_args(argv)
    output.open_stdout()
    return args.run(args)


def add_command(
    commands: argparse._SubParsersAction, name: str, *, help: str, description: str, epilog: str | None = None
) -> argparse.ArgumentParser:
    """Add the command `name` to a group; its parser."""
    return commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def parse_flags(made: argparse.ArgumentParser, argv: Sequence[str], *, cure: str) -> argparse.Namespace:
    """The parsed flags; a surplus argument is a usage error (exit code 2), with its `cure`."""
    args, rest = made.parse_known_args(argv)
    if stray := [argument for argument in rest if not argument.startswith("-")]:
        made.error(f"unexpected argument {stray[0]!r}: {cure}")
    if rest:
        made.error(f"unrecognized arguments: {' '.join(rest)}")
    return args


def format_of(
    made: argparse.ArgumentParser, output: str | None, given: str | None, suffixes: Mapping[str, str], *, default: str
) -> str:
    """The format to write: `given` (--format), else that of the suffix of `output`, else `default` for stdout.

    An unknown suffix without --format, and a suffix that contradicts --format, are usage errors (exit code 2).
    """
    if output is None:
        return given or default
    suffix = Path(output).suffix.lower()
    named = suffixes.get(suffix)
    if given is None and named is None:
        got = f"got {suffix}" if suffix else "got none"
        made.error(f"-o {output}: expected one of the suffixes {', '.join(suffixes)}, {got}; or choose with --format")
    if given is not None and named not in (None, given):
        made.error(f"-o {output}: the suffix {suffix} means {named}, but --format is {given}; change one of them")
    return given or named or default


def whole_from_zero(text: str) -> int:
    """A whole number from 0."""
    if not re.fullmatch(r"[0-9]+", text):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0, got {text!r}")
    return int(text)


def whole_from_one(text: str) -> int:
    """A whole number from 1."""
    if whole_from_zero(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


def any_number(text: str) -> float:
    """Any number."""
    return _number(text, lambda value: True, "a number")


def number_from_zero(text: str, *, other: str = "") -> float:
    """A number from 0; `other` names another valid value of the flag, for the error."""
    return _number(text, lambda value: value >= 0, f"{other}a number from 0")


def number_above_zero(text: str) -> float:
    """A number above 0."""
    return _number(text, lambda value: value > 0, "a number above 0")


def number_up_to_one(text: str) -> float:
    """A number from 0 to 1."""
    return _number(text, lambda value: 0 <= value <= 1, "a number from 0 to 1")


def _number(text: str, fits: Callable[[float], bool], expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and fits(value)):
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return value


class _Refusal(argparse.Action):
    """A usage error that gives the reason."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Refuse the flag."""
        parser.error(f"{option} of COMET has no meaning here: {self.const}")


def add_comet_flags(made: argparse.ArgumentParser, *, compare: bool) -> None:
    """The supported flags of `comet-score` or `comet-compare`; the others are refused with the reason."""
    group = made.add_argument_group("as in COMET")
    group.add_argument(
        "--model_storage_path", metavar="DIR", help="folder for a --model of the hub (default: the hub's cache)"
    )
    group.add_argument(
        "--disable_cache",
        action="store_true",
        help="encode repeated texts again: slower, less memory, same scores",
    )
    group.add_argument(
        "--disable_length_batching",
        action="store_true",
        help="make batches in the order of the texts: slower, same scores",
    )
    group.add_argument("--disable_bar", action="store_true", help="no progress bar; notes are still printed on stderr")
    if not compare:
        group.add_argument(
            "--seed",
            "--seed_everything",
            type=whole_from_zero,
            metavar="N",
            help="accepted and not used: nothing is drawn",
        )
    for flag, reason in (_REFUSED | (_REFUSED_BY_COMPARE if compare else {})).items():
        made.add_argument(flag, nargs="?", action=_Refusal, const=reason, help=argparse.SUPPRESS)


class CometParser(argparse.ArgumentParser):
    """A parser whose error for a stray file name names the flag that it belongs to."""

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Parse; surplus arguments are a usage error (exit code 2)."""
        found, rest = self.parse_known_args(args, namespace)
        if rest and not any(word.startswith("-") for word in rest):
            self.error(f"system outputs follow -t; expected -t {' '.join(rest)}")
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return found
