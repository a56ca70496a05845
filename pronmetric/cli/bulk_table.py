"""The alignment table of `pronmetric bulk align` and `bulk prepare`: flags, its training and its signature."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.aligner import TokenPair
from pronmetric.bulk import storage, table
from pronmetric.bulk.rows import Reader
from pronmetric.bulk.run import Planned
from pronmetric.cli import output
from pronmetric.cli.parser import whole_from_one, whole_from_zero

LINES, SEED = 100_000, 1
R = TypeVar("R")


def add(made: argparse.ArgumentParser) -> None:
    """The flags."""
    group = made.add_argument_group("alignment table")
    group.add_argument("--table", metavar="FILE", help="a table written by `align --save-table`, or by an earlier run")
    group.add_argument(
        "--sample",
        type=whole_from_one,
        metavar="N",
        help=f"train the table on at most N rows, drawn from all (default: {LINES:,})",
    )
    group.add_argument("--seed", type=whole_from_zero, metavar="N", help=f"seed of the sample (default: {SEED})")


def check(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Refuse flags that exclude each other."""
    if args.table is not None and (args.sample is not None or args.seed is not None):
        made.error("--table replaces training: leave out --sample and --seed")


def fields(args: argparse.Namespace) -> Mapping[str, object]:
    """The fields of the signature: the given table, or how it is trained.

    Raises:
        InputError: the given table is missing or broken.
    """
    if args.table is None:
        return _sample(args)
    AgreementAligner.load(args.table)
    with open(args.table, "rb") as file:
        return {"table": hashlib.file_digest(file, "sha256").hexdigest()[:16]}


def provide(
    args: argparse.Namespace,
    planned: Planned[Any],
    reader: Reader[R],
    tokens: Callable[[R], TokenPair | None],
    note: output.Notes,
) -> None:
    """Put the table into the folder of the run, unless it is there or no shard is left: the given one, or a new one.

    tokens: the words of a row; None for a row that the table is not trained on.
    """
    if not planned.unfinished or storage.exists(planned.folder / table.FILE):
        return
    if args.table is not None:
        table.take(planned.folder, args.table)
        return
    drawn = list(table.draw(planned.shards, **_sample(args)))
    total = sum(shard.stop - shard.start for shard, _ in drawn)
    with output.bar(args.quiet, total=total, label="sample", unit="rows", short=True) as bar:
        found = [pair for row in table.rows(reader, drawn, advance=bar.update) if (pair := tokens(row)) is not None]
    reader.close()
    note(f"training the alignment table on {len(found):,} rows")
    with output.bar(args.quiet, total=len(found) * AgreementAligner().iterations, label="learn", unit="rows") as bar:
        table.train(planned.folder, found, advance=bar.update)


def _sample(args: argparse.Namespace) -> dict[str, int]:
    return {
        "sample": LINES if args.sample is None else args.sample,
        "seed": SEED if args.seed is None else args.seed,
    }
