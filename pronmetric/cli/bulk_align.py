"""`pronmetric bulk align`: align the words of the rows of many files, each row once."""

from __future__ import annotations

import argparse
from functools import partial

from pronmetric import __version__
from pronmetric.alignment.links import METHODS
from pronmetric.bulk import align, run
from pronmetric.bulk.align import Aligning
from pronmetric.bulk.job import Job
from pronmetric.bulk.rows import Reader
from pronmetric.cli import bulk_flags, bulk_table, output
from pronmetric.cli.parser import add_command
from pronmetric.signature import Signature

DESCRIPTION = """Align the words of two columns of Parquet and JSONL files (.parquet, .jsonl, .jsonl.gz, .jsonl.zst) on
Ray: on all cores of this machine, or on a cluster. INPUT is a file, a pattern, a folder, or a URL of fsspec or Arrow
(s3://...).

Both columns hold tokenized text, as the lines of `align`: tokens separated by spaces. "id" is optional. The links are
those of `align` with the same table, which is trained on a sample of the rows, or given."""
EPILOG = f"""output:
  OUT/links/part-*.parquet  one row for each input row, in order: input, row (from 1), id, links (i-j, from 0)
  OUT/table.npz             the alignment table, for `align --table` and --table
  OUT/errors.parquet        rows that --on-error skip left out: input, row, reason, record
  OUT/manifest.json         signature, hashes of the inputs, counts

{bulk_flags.SHARDS}

examples:
  pronmetric bulk align corpus/ -o links --columns source target
  pronmetric bulk align more/ -o more-links --columns source target --table links/table.npz"""
COLUMNS = ("reference", "text")


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `bulk`."""
    made = add_command(commands, "align", help="align the words of two columns", description=DESCRIPTION, epilog=EPILOG)
    bulk_flags.add(made)
    made.add_argument(
        "--columns", nargs=2, default=COLUMNS, metavar=("A", "B"), help="the two texts (default: reference text)"
    )
    made.add_argument(
        "--symmetrize", choices=METHODS, default="mutual", help="symmetrization of the two directions (default: mutual)"
    )
    bulk_table.add(made)
    bulk_flags.add_workers(made)
    made.set_defaults(run=partial(run_align, made))


def run_align(made: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    """Align; the exit code."""
    bulk_table.check(made, args)
    if len({*args.columns, "id"}) < 3:
        made.error("--columns needs two different columns other than id")
    note = output.Notes(quiet=args.quiet)
    folder, sources = bulk_flags.find(args, note, read=[args.table])
    a, b = args.columns
    task = Aligning(a, b, args.symmetrize)
    named = {"aligner": "agreement", "a": a, "b": b, "symmetrize": args.symmetrize}
    signed = Signature.of(version=__version__, **named, **bulk_table.fields(args))
    surveyed = bulk_flags.survey(args, sources, task.form)
    planned = run.prepare(folder, surveyed, signed, align.RESULTS, rows=args.shard_rows)
    note.begin()
    bulk_table.provide(args, planned, Reader(sources, task.form), lambda row: row.tokens, note)
    job = Job(folder.url, sources, planned.shards, args.on_error == "skip", task)
    connect, track = bulk_flags.connection(args, planned, note)
    bulk_flags.report(align.align(planned, job, connect, track=track), note)
    note(f"signature: {signed}")
    return 0
