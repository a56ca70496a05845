"""The flags and the course that the commands of `pronmetric bulk` share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from pronmetric.bulk import cluster, inputs, rows, storage
from pronmetric.bulk.counted import CountedRows
from pronmetric.bulk.inputs import Source, Surveyed
from pronmetric.bulk.rows import Form
from pronmetric.bulk.run import Planned, Track, Work
from pronmetric.bulk.shards import Statistics
from pronmetric.bulk.storage import Place
from pronmetric.cli import bulk_progress, flags, output
from pronmetric.cli.parser import whole_from_one
from pronmetric.output import targets

SHARDS = """A shard is a range of rows of one file, and is written completely or not at all. A run that was stopped goes
on at the first unfinished shard if the same command is given again. A folder of other inputs, or of another signature,
is refused."""


def add(made: argparse.ArgumentParser) -> None:
    """The inputs, the output, and what happens to bad rows."""
    made.add_argument("inputs", nargs="+", metavar="INPUT", help="files, patterns, folders or URLs")
    made.add_argument("-o", "--output", required=True, metavar="OUT", help="the folder to write, or its URL")
    flags.both(made, "on-error", choices=["fail", "skip"], default="fail", help="bad rows (default: fail)")
    flags.both(made, "shard-rows", type=whole_from_one, metavar="N", help="rows of a shard (default: by all rows)")


def add_workers(made: argparse.ArgumentParser) -> argparse._ActionsContainer:
    """The processes; the group, for further flags."""
    workers = made.add_argument_group("workers")
    workers.add_argument("--address", metavar="auto|HOST:PORT|ray://...", help="a Ray cluster (default: a local Ray)")
    workers.add_argument(
        "--workers", type=whole_from_one, metavar="N", help="processes (default: cores, or what the cluster gives)"
    )
    made.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    made.set_defaults(gpus_per_worker=None)
    return workers


def find(args: argparse.Namespace, note: output.Notes, *, read: list[str | None]) -> tuple[Place, list[Source]]:
    """The output folder and the input files. read: files that the run reads besides.

    Raises:
        PronmetricError: Ray is not installed, or an input or the output cannot be used.
    """
    folder = storage.place(args.output)
    targets.check([], read=[*args.inputs, *read], folders=[folder.path] if storage.is_local(folder) else [])
    cluster.require(args.address)
    sources, ignored = inputs.find(args.inputs, output=folder)
    if ignored:
        note(f"{ignored} files of the input folders have another suffix and are not read")
    return folder, sources


def survey(args: argparse.Namespace, sources: list[Source], form: Form[Any]) -> list[Surveyed]:
    """Read the inputs once, with progress; unless bad rows are skipped, the first of each file must be good."""
    with output.bar(args.quiet, total=len(sources), label="read", unit="files", short=True) as bar:
        found = inputs.survey(sources, form.columns, advance=bar.update)
    if args.on_error == "fail":
        rows.check_first(found, form)
    return found


def connection(
    args: argparse.Namespace, planned: Planned[Any], note: output.Notes
) -> tuple[Callable[[], AbstractContextManager[Work]], Track]:
    """What starts or joins a Ray, and what shows the progress."""
    pool = cluster.Pool(args.address, args.workers, args.gpus_per_worker or 0.0)
    if done := len(planned.shards) - len(planned.unfinished):
        note(f"{done} of {len(planned.shards)} shards are finished")
    if args.address is not None and planned.unfinished:
        note(f"Ray cluster: {args.address}")
    return partial(cluster.connect, pool), partial(bulk_progress.track, args, planned.shards)


def report(found: CountedRows, note: output.Notes) -> None:
    """Print the counts."""
    print(f"rows\t{found.rows}")
    for name, count in sorted(found.counts.items()):
        print(f"{name.replace('_', ' ')}\t{count}")
    note_skipped(found, note)


def note_skipped(found: Statistics, note: output.Notes) -> None:
    """Note how many rows were skipped."""
    if found.skipped:
        note(f"bad rows skipped, see errors.parquet: {found.skipped} of {found.rows}")
