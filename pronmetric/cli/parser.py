"""Flags of `comet-score` and `comet-compare`: those that are supported, and why the others are not."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from pronmetric.cli import numbers

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


class _Refusal(argparse.Action):
    """A usage error that gives the reason."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Refuse the flag."""
        parser.error(f"{option} of COMET has no meaning here: {self.const}")


def add(made: argparse.ArgumentParser, *, compare: bool) -> None:
    """The flags, for `score` or for `compare`."""
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
            type=numbers.count,
            metavar="N",
            help="accepted and not used: nothing is drawn",
        )
    for flag, reason in (_REFUSED | (_REFUSED_BY_COMPARE if compare else {})).items():
        made.add_argument(flag, nargs="?", action=_Refusal, const=reason, help=argparse.SUPPRESS)


class Parser(argparse.ArgumentParser):
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
