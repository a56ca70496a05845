"""`pronmetric bulk prepare`: the pronoun pairs of the rows of many files, each pair of texts once."""

from __future__ import annotations

import argparse
import hashlib
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from data_prep.filters import GRAMMAR, NONE
from data_prep.row_pairs import RowPairs
from pronmetric import __version__
from pronmetric.bulk import inputs, pairs, parts, run
from pronmetric.bulk.counted import CountedRows
from pronmetric.bulk.job import Job
from pronmetric.bulk.pairs import Preparing
from pronmetric.bulk.rows import Reader
from pronmetric.cli import bulk_flags, bulk_table, flags, output
from pronmetric.cli.parser import add_command, number_up_to_one, whole_from_zero
from pronmetric.signature import Signature

DESCRIPTION = """Make pronoun pairs of the rows of Parquet and JSONL files (.parquet, .jsonl, .jsonl.gz, .jsonl.zst)
on Ray: on all cores of this machine, or on a cluster. INPUT is a file, a pattern, a folder, or a URL of fsspec or
Arrow (s3://...).

A row has "id", "reference" and "text" (the translation), and optionally "context" and "system_context": lists of the
previous sentences of the reference and of the translation, oldest first. "system", "testset", "lp", "doc", "seg" and
"ref" are copied into the pairs; other fields are not read. Pairs are those of `prepare` for the same rows and alignment
table, which is trained on a sample of the rows, or given."""
EPILOG = f"""output:
  OUT/pairs/part-*.parquet  the pairs, in order, with the columns of `prepare`; "id" is that of the row
  OUT/confusion.json        pronouns of the reference, and how often which other one stands in the translation
  OUT/table.npz             the alignment table
  OUT/errors.parquet        rows that --on-error skip left out: input, row, reason, record
  OUT/manifest.json         signature, hashes of the inputs, counts with the reasons for dropped pairs

All pairs are in one set: give the rows of training and of development to runs of their own. OUT holds the pairs twice
until the end, since of repeated ones (the same two texts) only the first is kept.

{bulk_flags.SHARDS}

examples:
  pronmetric bulk prepare corpus/ -o pairs
  pronmetric bulk prepare 's3://bucket/corpus/*.parquet' -o s3://bucket/pairs --address auto --table table.npz"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `bulk`."""
    made = add_command(
        commands, "prepare", help="make pronoun pairs of many files", description=DESCRIPTION, epilog=EPILOG
    )
    bulk_flags.add(made)
    group = made.add_argument_group("pairs (defaults: those of `prepare`)")
    group.add_argument("--target", metavar="LANG|FILE", help="language of the texts, or a table of its pronouns")
    group.add_argument("--inventory", choices=["all", "paper"], help="the pronouns")
    flags.both(group, "context-size", type=whole_from_zero, metavar="N", help="sentences of a context")
    group.add_argument("--agreement", metavar="grammar|none|FILE", help="the filter of pairs that are no errors")
    flags.both(group, "min-agreement", type=number_up_to_one, metavar="AC1", help="minimum in the FILE of --agreement")
    bulk_table.add(made)
    bulk_flags.add_workers(made)
    made.set_defaults(run=partial(run_prepare, made))


def run_prepare(made: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    """Prepare; the exit code."""
    bulk_table.check(made, args)
    note = output.Notes(quiet=args.quiet)
    maker = _maker(args)
    named = [maker.target, maker.agreement]
    folder, sources = bulk_flags.find(args, note, read=[args.table, *(name for name in named if Path(name).is_file())])
    maker.check()
    signed = Signature.of(version=__version__, **_fields(maker), **bulk_table.fields(args))
    surveyed = bulk_flags.survey(args, sources, pairs.form(maker))
    planned = run.prepare(folder, surveyed, signed, pairs.RESULTS, rows=args.shard_rows)
    note.begin()
    bulk_table.provide(args, planned, Reader(sources, pairs.form(maker)), maker.tokens, note)
    task = Preparing(maker, parts.buckets(inputs.rows_of(surveyed)))
    job = Job(folder.url, sources, planned.shards, args.on_error == "skip", task)
    connect, track = bulk_flags.connection(args, planned, note)
    _report(pairs.make(planned, job, task, connect, track=track), note)
    note(f"signature: {signed}")
    return 0


def _maker(args: argparse.Namespace) -> RowPairs:
    """The settings: flags, else those of conf/prepare.yaml; paths are absolute, for workers."""
    conf = {name: _conf(f"{name}.yaml") for name in ("prepare", "data/wmt")}
    given = {
        "target": (args.target, conf["data/wmt"]["target"]),
        "inventory": (args.inventory, conf["prepare"]["inventory"]),
        "context_size": (args.context_size, conf["prepare"]["context"]["size"]),
        "agreement": (args.agreement, conf["prepare"]["filter"]["agreement"]),
        "min_agreement": (args.min_agreement, conf["prepare"]["filter"]["min_agreement"]),
    }
    chosen: dict[str, Any] = {name: default if flag is None else flag for name, (flag, default) in given.items()}
    for name in ("target", "agreement"):
        if Path(chosen[name]).is_file():
            chosen[name] = str(Path(chosen[name]).resolve())
    return RowPairs(**chosen)


def _conf(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(files("pronmetric.conf").joinpath(name).read_text(encoding="utf-8")))


def _fields(maker: RowPairs) -> dict[str, object]:
    """The fields of the signature; files by their hash."""
    found = {"aligner": "agreement", "target": maker.target, "inventory": maker.inventory}
    found |= {"context_size": str(maker.context_size), "agreement": maker.agreement}
    if maker.agreement not in (GRAMMAR, NONE):
        found["min_agreement"] = str(maker.min_agreement)
    return {name: _hash(value) if name in ("target", "agreement") else value for name, value in found.items()}


def _hash(value: str) -> str:
    path = Path(value)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else value


def _report(found: CountedRows, note: output.Notes) -> None:
    print(f"rows\t{found.rows}")
    for kind in ("system", "noisy"):
        print(f"{kind} pairs\t{found.counts.get(f'kept.{kind}', 0)}")
    bulk_flags.note_skipped(found, note)
