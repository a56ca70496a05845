"""`pronmetric bulk score`: score the records of many files, each row once."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path

from pronmetric.bulk import inputs, parts, rows, run, score
from pronmetric.bulk.job import Job
from pronmetric.bulk.statistics import ShardStatistics
from pronmetric.bulk.worker import Model, Scoring
from pronmetric.checkpoint import locate
from pronmetric.cli import bulk_flags, flags, output
from pronmetric.cli.flags import ModelFlags
from pronmetric.cli.parser import add_command, number_above_zero
from pronmetric.cli.run import choose_context, load_config, load_metric
from pronmetric.output.display import visible
from pronmetric.report.score_text import format_score, note_system
from pronmetric.text.context import GIVEN, NONE

DESCRIPTION = """Score the records of Parquet and JSONL files (.parquet, .jsonl, .jsonl.gz, .jsonl.zst) on Ray: on all
cores of this machine, or on a cluster. INPUT is a file, a pattern, a folder, or a URL of fsspec or Arrow (s3://...).

Records have the fields of `score --jsonl`: "id", "text", and optionally "context" (a list of previous sentences),
"source" and "source_context", the name of a "system" and of a "doc". Scores are those of `score --jsonl`."""
EPILOG = f"""output:
  OUT/scores/part-*.parquet  one row for each input row, in order: input, row (from 1), id, system, score, errors,
                             preference, words, pronouns
  OUT/errors.parquet         rows that --on-error skip left out: input, row, reason, record
  OUT/manifest.json          signature, hashes of the inputs, counts, scores of systems with 95 % intervals

{bulk_flags.SHARDS}

--dedupe first cuts the texts of all rows into buckets by their hash, and scores each distinct text of a bucket once.
OUT then holds the texts until the end.

The interval of a system is that of `score`: over documents where all its records have a "doc", else over segments.

examples:
  pronmetric bulk score corpus/ -o scores
  pronmetric bulk score 's3://bucket/corpus/*.parquet' -o s3://bucket/scores --address auto --gpus-per-worker 1"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `bulk`."""
    made = add_command(
        commands, "score", help="score the records of many files", description=DESCRIPTION, epilog=EPILOG
    )
    bulk_flags.add(made)
    made.add_argument(
        "--dedupe", action="store_true", help="encode each distinct text once for all shards, not once for each shard"
    )
    made.add_argument("--context", choices=[GIVEN, NONE], help="none ignores the contexts (default: given)")
    flags.add_source_lang(made)
    workers = bulk_flags.add_workers(made)
    flags.both(workers, "gpus-per-worker", type=_gpus, metavar="F", help="GPUs of a process, e.g. 1 or 0.5")
    ModelFlags.add(made, seed=False, gpus=False)
    flags.both(made, "model-storage-path", metavar="DIR", help="folder for a --model of the hub")
    made.add_argument("--verbose", action="store_true", help="also numbers and intervals of each system on stderr")
    made.set_defaults(run=run_score)


def run_score(args: argparse.Namespace) -> int:
    """Score; the exit code."""
    note = output.Notes(quiet=args.quiet, verbose=args.verbose)
    folder, sources = bulk_flags.find(args, note, read=[args.model])
    model = ModelFlags.of(args)
    context = choose_context(args.context, load_config(model), GIVEN, note)
    metric = load_metric(replace(model, gpus=0), note)  # only for its signature
    signed = metric.signature(context=context)
    del metric
    surveyed = bulk_flags.survey(args, sources, rows.to_score(with_source=args.source_lang is not None))
    planned = run.prepare(folder, surveyed, signed, score.RESULTS, rows=args.shard_rows)
    buckets = parts.buckets(inputs.rows_of(surveyed)) if args.dedupe else 0
    task = Scoring(_model(args), context, args.batch_size, buckets, str(signed))
    job = Job(folder.url, sources, planned.shards, args.on_error == "skip", task)
    connect, track = bulk_flags.connection(args, planned, note)
    _report(score.score(planned, job, connect, buckets=buckets, track=track), note)
    note(f"signature: {signed}")
    return 0


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
    value = number_above_zero(text)
    if value > 1 and not value.is_integer():
        raise argparse.ArgumentTypeError(f"expected a part of a GPU, or a whole number, got {text!r}")
    return value


def _report(found: ShardStatistics, note: output.Notes) -> None:
    for name, sums in found.systems.items():
        shown, made = score.NO_SYSTEM if name is None else name, sums.system_score()
        print(f"{visible(shown)}\tscore: {format_score(made.score)}")
        note_system(shown, made, note.detail)
    bulk_flags.note_skipped(found, note)
    note.lengths(found.counts)
