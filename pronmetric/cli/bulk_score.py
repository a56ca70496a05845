"""`pronmetric bulk score`: score the records of many files, each row once."""

from __future__ import annotations

import argparse
import math
from functools import partial
from pathlib import Path

from pronmetric.bulk import cluster, dedupe, inputs, run, storage
from pronmetric.bulk.job import Job, Model
from pronmetric.bulk.statistics import ShardStatistics
from pronmetric.bulk.worker import signature
from pronmetric.checkpoint import locate
from pronmetric.cli import bulk_progress, context_flag, load, numbers, options, output
from pronmetric.cli.score_text import format_score, note_system
from pronmetric.cli.verb_parser import add_command
from pronmetric.output import targets
from pronmetric.output.display import visible
from pronmetric.text.context import GIVEN, NONE

DESCRIPTION = """Score the records of Parquet and JSONL files (.parquet, .jsonl, .jsonl.gz, .jsonl.zst) on Ray: on all
cores of this machine, or on a cluster. INPUT is a file, a pattern, a folder, or a URL of fsspec or Arrow (s3://...).

Records have the fields of `score --jsonl`: "id", "text", and optionally "context" (a list of previous sentences),
"source" and "source_context", and the name of a "system". Scores are those of `score --jsonl`."""
EPILOG = """output:
  OUT/scores/part-*.parquet  one row for each input row, in order: input, row (from 1), id, system, score, errors,
                             preference, words, pronouns
  OUT/errors.parquet         rows that --on-error skip left out: input, row, reason, record
  OUT/manifest.json          signature, hashes of the inputs, counts, scores of systems with 95 % intervals

A shard is a range of rows of one file, and is written completely or not at all. A run that was stopped goes on at the
first unfinished shard if the same command is given again. A folder of other inputs, or of another signature, is
refused.

--dedupe first cuts the texts of all rows into buckets by their hash, and scores each distinct text of a bucket once.
OUT then holds the texts until the end.

The interval of a system is the normal interval of a ratio over segments.

examples:
  pronmetric bulk score corpus/ -o scores
  pronmetric bulk score 's3://bucket/corpus/*.parquet' -o s3://bucket/scores --address auto --gpus-per-worker 1"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `bulk`."""
    made = add_command(
        commands, "score", help="score the records of many files", description=DESCRIPTION, epilog=EPILOG
    )
    made.add_argument("inputs", nargs="+", metavar="INPUT", help="files, patterns, folders or URLs")
    made.add_argument("-o", "--output", required=True, metavar="OUT", help="the folder to write, or its URL")
    options.both(made, "on-error", choices=["fail", "skip"], default="fail", help="bad rows (default: fail)")
    options.both(made, "shard-rows", type=numbers.positive, metavar="N", help="rows of a shard (default: by all rows)")
    made.add_argument(
        "--dedupe", action="store_true", help="encode each distinct text once for all shards, not once for each shard"
    )
    made.add_argument("--context", choices=[GIVEN, NONE], help="none ignores the contexts (default: given)")
    options.add_source_lang(made)
    workers = made.add_argument_group("workers")
    workers.add_argument("--address", metavar="auto|HOST:PORT|ray://...", help="a Ray cluster (default: a local Ray)")
    workers.add_argument(
        "--workers", type=numbers.positive, metavar="N", help="processes (default: cores, or what the cluster gives)"
    )
    options.both(workers, "gpus-per-worker", type=_gpus, metavar="F", help="GPUs of a process, e.g. 1 or 0.5")
    options.add_model(made, seed=False, gpus=False)
    options.both(made, "model-storage-path", metavar="DIR", help="folder for a --model of the hub")
    made.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    made.set_defaults(run=run_score, gpus=0, disable_bar=False)


def run_score(args: argparse.Namespace) -> int:
    """Score; the exit code."""
    note = output.Notes(quiet=args.quiet)
    folder = storage.place(args.output)
    local = storage.is_local(folder)
    targets.check([], read=[*args.inputs, args.model], folders=[folder.path] if local else [])
    cluster.require()
    sources, ignored = inputs.find(args.inputs, output=folder)
    if ignored:
        note(f"{ignored} files of the input folders have another suffix and are not read")
    context = context_flag.choose(args, load.config(args), GIVEN, note)
    metric = load.metric(args, note)
    signed = signature(metric, context=context)
    del metric
    columns = ["source"] if args.source_lang is not None else []
    with output.bar(args, total=len(sources), label="read", unit="files", short=True) as bar:
        surveyed = inputs.survey(sources, required=columns, advance=bar.update)
    planned = run.prepare(folder, surveyed, signed, rows=args.shard_rows)
    job = Job(
        output=folder.url,
        sources=sources,
        shards=planned.shards,
        buckets=dedupe.buckets(inputs.rows_of(surveyed)) if args.dedupe else 0,
        model=_model(args),
        context=context,
        batch_size=args.batch_size,
        skip=args.on_error == "skip",
        signature=str(signed),
    )
    _report(_score(args, planned, job, note), note)
    note(f"signature: {signed}")
    return 0


def _score(args: argparse.Namespace, planned: run.Planned, job: Job, note: output.Notes) -> ShardStatistics:
    pool = cluster.Pool(args.address, args.workers, args.gpus_per_worker or 0.0)
    if done := len(planned.shards) - len(planned.unfinished):
        note(f"{done} of {len(planned.shards)} shards are finished")
    if args.address is not None and planned.unfinished:
        note(f"Ray cluster: {args.address}")
    track = partial(bulk_progress.track, args, planned.shards)
    return run.score(planned, job, partial(cluster.connect, pool), track=track)


def _model(args: argparse.Namespace) -> Model:
    """The metric that workers load; local paths are absolute."""
    local = args.model is not None and not locate.of_hub(args.model) and Path(args.model).exists()
    model = str(Path(args.model).resolve()) if local else args.model
    source = args.source_lang
    source = str(Path(source).resolve()) if source is not None and Path(source).is_file() else source
    gpus = math.ceil(args.gpus_per_worker or 0)
    return Model(model, args.precision, gpus, args.allow_network, args.model_storage_path, source)


def _gpus(text: str) -> float:
    """A number above 0: a part of a GPU, or a whole number."""
    value = numbers.above_zero(text)
    if value > 1 and not value.is_integer():
        raise argparse.ArgumentTypeError(f"expected a part of a GPU, or a whole number, got {text!r}")
    return value


def _report(found: ShardStatistics, note: output.Notes) -> None:
    for name, sums in found.systems.items():
        shown, score = run.NO_SYSTEM if name is None else name, sums.system_score()
        print(f"{visible(shown)}\tscore: {format_score(score.score)}")
        note_system(shown, score, note)
    if found.skipped:
        note(f"bad rows skipped, see errors.parquet: {found.skipped} of {found.rows}")
    note.lengths(found.counts)
