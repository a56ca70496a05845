"""`pronmetric bulk`: score many files in many processes."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

from pronmetric.bulk import cluster, inputs, rows, run, score, storage
from pronmetric.bulk.inputs import InputFile, Source
from pronmetric.bulk.job import Job
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.rows import Form, Reader
from pronmetric.bulk.run import PlannedRun, Track, Work
from pronmetric.bulk.statistics import ShardStatistics
from pronmetric.bulk.storage import Place
from pronmetric.bulk.worker import Model, Scoring, sign
from pronmetric.cli import flags, output
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.parser import Command, Flags, Group, argument, flag, number, part, switch, whole
from pronmetric.cli.run import ScoringRun
from pronmetric.errors import PronmetricError
from pronmetric.output import targets
from pronmetric.output.display import visible
from pronmetric.pronouns.known_words import CHECKED_LINES
from pronmetric.report.score_text import format_score, note_system
from pronmetric.text.context import GIVEN, NONE

DESCRIPTION = """Score many files in many processes, on this machine or on a Ray cluster
(extra ray). A run that was stopped goes on when the same command is given again."""
EPILOG = """examples:
  pronmetric bulk score corpus/*.parquet -o scores --workers 4"""
SHARDS = """A shard is a range of rows of one file, and is written completely or not at all. A run that was stopped goes
on at the first unfinished shard if the same command is given again. A folder of other inputs, or of another signature,
is refused."""


def _gpus(text: str) -> float:
    """A number above 0: a part of a GPU, or a whole number."""
    value = number(above=0)(text)
    if value > 1 and not value.is_integer():
        raise argparse.ArgumentTypeError(f"expected a part of a GPU, or a whole number, got {text!r}")
    return value


class InputFlags(Flags):
    """The inputs, the output, and what happens to bad rows."""

    inputs: Sequence[str] = argument(nargs="+", metavar="INPUT", help="files, patterns, folders or URLs")
    output: str = flag("-o", "--output", required=True, metavar="OUT", help="the folder to write, or its URL")
    on_error: str = flag(choices=["fail", "skip"], default="fail", help="bad rows (default: fail)")
    shard_rows: int | None = flag(type=whole(1), metavar="N", help="rows of a shard (default: by all rows)")

    @property
    def skips(self) -> bool:
        """Whether bad rows are skipped."""
        return self.on_error == "skip"


class WorkerFlags(Flags):
    """The processes."""

    address: str | None = flag(
        group="workers", metavar="auto|HOST:PORT|ray://...", help="a Ray cluster (default: a local Ray)"
    )
    workers: int | None = flag(
        group="workers", type=whole(1), metavar="N", help="processes (default: cores, or what the cluster gives)"
    )
    quiet: bool = switch(help="no progress and notes on stderr")
    gpus_per_worker: float | None = flag(
        group="workers", type=_gpus, metavar="F", help="GPUs of a process, e.g. 1 or 0.5"
    )


SCORE = """Score the records of Parquet and JSONL files (.parquet, .jsonl, .jsonl.gz, .jsonl.zst) on Ray: on all
cores of this machine, or on a cluster. INPUT is a file, a pattern, a folder, or a URL of fsspec or Arrow (s3://...).

Records have the fields of `score --jsonl`: "id", "text", and optionally "context" (a list of previous sentences),
"speaker" and "context_speakers", "source" and "source_context", the name of a "system" and of a "doc". Scores are those
of `score --jsonl`."""
SCORE_EPILOG = f"""output:
  OUT/scores/part-*.parquet  one row for each input row, in order: input, row (from 1), id, system, score, errors,
                             preference, words, pronouns; with a reader of sources that finds missing pronouns also
                             expected_wrong, expected_surplus (null where it is not told), expected_missing, gaps
  OUT/errors.parquet         rows that --on-error skip left out: input, row, reason, record
  OUT/manifest.json          signature, hashes of the inputs, counts, scores of systems with 95 % intervals

{SHARDS}

The interval of a system is that of `score`: over documents where all its records have a "doc", else over segments.

examples:
  pronmetric bulk score corpus/ -o scores
  pronmetric bulk score 's3://bucket/corpus/*.parquet' -o s3://bucket/scores --address auto --gpus-per-worker 1"""


class ScoreFlags(Flags):
    """What is scored, and by which model."""

    files: InputFlags = part(InputFlags)
    context: str | None = flag(choices=[GIVEN, NONE], help="none ignores the contexts (default: given)")
    source_lang: str | None = flags.source_lang_flag()
    workers: WorkerFlags = part(WorkerFlags)
    strict: bool = flags.strict_flag()
    model: ModelFlags = part(
        ModelFlags, flags.MODEL, only=("model", "lang", "allow_network", "batch_size", "no_source")
    )
    precision: str | None = flags.precision_flag(flags.MODEL, gpus=False)
    model_storage_path: str | None = flag(metavar="DIR", help="folder for a --model of the hub")
    verbose: bool = switch(help="also numbers and intervals of each system on stderr")
    out: OutputFlags = part(OutputFlags, only=())


def run_score(task: ScoreFlags) -> None:
    """Score the records."""
    model = task.model
    opened = ScoringRun(replace(model, gpus=0), task.out, strict=task.strict)
    note = opened.note
    folder, sources = _find(task, note)
    context = opened.choose_context(task.context, GIVEN)
    metric = opened.metric  # only for its signature
    with_source, evidence = metric.with_source, metric.reader is not None
    gaps, limit = metric.finds_missing, metric.context_limit
    signed = sign(metric, context=context)
    del metric, opened.metric
    form = rows.to_score(with_source=with_source, context_size=limit)
    surveyed = _survey(task.files, sources, form, note)
    planned = run.prepare(folder, surveyed, signed, rows=task.files.shard_rows)
    first = rows.first_good(Reader(sources, form), planned.shards, CHECKED_LINES)
    opened.check_texts("the first rows", [row.text for row in first])
    opened.note_unread_source(None)
    opened.note_unread_sources("the first rows", [row.text for row in first])
    gpus = math.ceil(task.workers.gpus_per_worker or 0)
    worker = _worker_model(model, gpus)
    scoring = Scoring(worker, context, model.batch_size, str(signed), with_source, evidence, gaps, limit)
    job = Job(folder.url, sources, planned.shards, task.files.skips, scoring)
    connect, track = _connect(task.workers, planned, note)
    found = score.score(planned, job, connect, track=track)
    _print_scores(found, note)
    note(f"signature: {score.signature(planned, found)}")


def _worker_model(flags: ModelFlags, gpus: int) -> Model:
    """The metric that workers load; local paths are absolute."""
    given = flags.arguments | {"gpus": gpus}
    if flags.model is not None and Path(flags.model).exists():
        given["model"] = str(Path(flags.model).resolve())
    if flags.source_lang is not None and Path(flags.source_lang).is_file():
        given["source_lang"] = str(Path(flags.source_lang).resolve())
    return Model(**given)


def _print_scores(statistics: ShardStatistics, note: output.Notes) -> None:
    for name, sums in statistics.systems.items():
        shown, total = score.NO_SYSTEM if name is None else name, sums.system_score()
        print(f"{visible(shown)}\tscore: {format_score(total.score)}")
        note_system(shown, total, note, note.detail)
    if statistics.skipped:
        note(f"bad rows skipped, see errors.parquet: {statistics.skipped} of {statistics.rows}")
    note.lengths(statistics.counts)


def _find(task: ScoreFlags, note: output.Notes) -> tuple[Place, list[Source]]:
    """The output folder and the input files.

    Raises:
        PronmetricError: Ray is not installed, or an input or the output cannot be used.
    """
    folder, named = storage.place(task.files.output), task.files.inputs
    targets.check([], read=[*named, task.model.model], folders=[task.files.output] if storage.is_local(folder) else [])
    cluster.require(task.workers.address)
    sources, ignored = inputs.find(named, output=folder)
    if ignored:
        note(f"{ignored} files of the input folders have another suffix and are not read")
    return folder, sources


def _survey(files: InputFlags, sources: list[Source], form: Form, note: output.Notes) -> list[InputFile]:
    """Read the inputs once, with progress; unless bad rows are skipped, the first of each file must be good."""
    with output.bar(note.quiet, total=len(sources), label="read", unit="files", short=True) as bar:
        surveyed = inputs.survey(sources, form.columns, advance=bar.update)
    if not files.skips:
        rows.check_first(surveyed, form)
    return surveyed


def _connect(
    workers: WorkerFlags, planned: PlannedRun, note: output.Notes
) -> tuple[Callable[[], AbstractContextManager[Work]], Track]:
    """What starts or joins a Ray, and what shows the progress."""
    pool = cluster.Pool(workers.address, workers.workers, workers.gpus_per_worker or 0.0)
    if done := len(planned.shards) - len(planned.unfinished):
        note(f"{done} of {len(planned.shards)} shards are finished")
    if workers.address is not None and planned.unfinished:
        note(f"Ray cluster: {workers.address}")
    return partial(cluster.connect, pool), partial(_track, planned.shards, note.quiet)


@contextmanager
def _track(shards: Sequence[Shard], quiet: bool, numbers: Sequence[int]) -> Iterator[Callable[[int], None]]:
    """Progress by rows, with the number of shards."""
    sizes = [shard.stop - shard.start for shard in shards]
    left = sum(sizes[number] for number in numbers)
    done = len(shards) - len(numbers)
    with output.bar(quiet, total=sum(sizes), label="score", unit="rows", done=sum(sizes) - left) as bar:

        def advance(number: int) -> None:
            nonlocal done
            done += 1
            bar.set_postfix_str(f"{done}/{len(shards)} shards", refresh=False)
            bar.update(sizes[number])

        yield advance


class _Removed(NamedTuple):
    """A command that is no longer there."""

    name: str

    def main(self, argv: Sequence[str]) -> NoReturn:
        """Say so."""
        raise PronmetricError(f"`{self.name}` was removed in 1.0.0; `{self.name.split()[1]}` does it in one process")


VERBS = (
    Group(
        "bulk",
        DESCRIPTION,
        EPILOG,
        [Command("score", ScoreFlags, run_score, SCORE, SCORE_EPILOG, help="score the records of many files")],
    ),
    _Removed("bulk align"),
    _Removed("bulk prepare"),
)
