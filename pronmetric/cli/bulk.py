"""`pronmetric bulk`: work on many files in many processes."""

from __future__ import annotations

import argparse
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import yaml

from data_prep.rows_to_pairs import RowPairs, joined
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.links import METHODS, Symmetrize
from pronmetric.bulk import align, cluster, inputs, pairs, parts, rows, run, score, storage, table
from pronmetric.bulk.align import Aligning
from pronmetric.bulk.inputs import Source, Surveyed
from pronmetric.bulk.job import Job, Step
from pronmetric.bulk.pairs import Preparing
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.rows import Form, Reader
from pronmetric.bulk.run import Planned, Track, Work
from pronmetric.bulk.shards import Statistics
from pronmetric.bulk.statistics import CountedRows, ShardStatistics
from pronmetric.bulk.storage import Place
from pronmetric.bulk.worker import Model, Scoring, sign
from pronmetric.checkpoint import locate
from pronmetric.cli import flags, output
from pronmetric.cli.flags import ModelFlags
from pronmetric.cli.parser import Command, Flags, Group, UsageError, argument, flag, number, part, switch, whole
from pronmetric.cli.run import choose_context, load_config, load_metric
from pronmetric.output import targets
from pronmetric.output.display import visible
from pronmetric.pronouns.known_words import CHECKED_LINES, check_texts
from pronmetric.report.score_text import format_score, note_system
from pronmetric.signature import Signature
from pronmetric.text.context import GIVEN, NONE
from pronmetric.version import __version__

DESCRIPTION = """Work on many files in many processes, on this machine or on a Ray cluster
(pip install "pronmetric[ray]"). A run that was stopped goes on when the same command is given again."""
EPILOG = """examples:
  pronmetric bulk score corpus/*.parquet -o scores --workers 4
  pronmetric bulk align corpus/*.parquet -o links --columns source target
  pronmetric bulk prepare corpus/*.parquet -o pairs"""
SHARDS = """A shard is a range of rows of one file, and is written completely or not at all. A run that was stopped goes
on at the first unfinished shard if the same command is given again. A folder of other inputs, or of another signature,
is refused."""
LINES, SEED = 100_000, 1
R = TypeVar("R")


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
    gpus_per_worker: float | None = None


class TableFlags(Flags):
    """The alignment table."""

    table: str | None = flag(metavar="FILE", help="a table written by `align --save-table`, or by an earlier run")
    sample: int | None = flag(
        type=whole(1), metavar="N", help=f"train the table on at most N rows, drawn from all (default: {LINES:,})"
    )
    seed: int | None = flag(type=whole(0), metavar="N", help=f"seed of the sample (default: {SEED})")

    def check(self) -> None:
        """Refuse flags that exclude each other."""
        if self.table is not None and (self.sample is not None or self.seed is not None):
            raise UsageError("--table replaces training: leave out --sample and --seed")

    @property
    def drawn(self) -> dict[str, int]:
        """The size and the seed of the sample."""
        return {
            "sample": LINES if self.sample is None else self.sample,
            "seed": SEED if self.seed is None else self.seed,
        }

    def signed(self) -> Mapping[str, object]:
        """The fields of the signature: the given table, or how it is trained.

        Raises:
            InputError: the given table is missing or broken.
        """
        if self.table is None:
            return self.drawn
        AgreementAligner.load(self.table)
        with open(self.table, "rb") as file:
            return {"table": hashlib.file_digest(file, "sha256").hexdigest()[:16]}


SCORE = """Score the records of Parquet and JSONL files (.parquet, .jsonl, .jsonl.gz, .jsonl.zst) on Ray: on all
cores of this machine, or on a cluster. INPUT is a file, a pattern, a folder, or a URL of fsspec or Arrow (s3://...).

Records have the fields of `score --jsonl`: "id", "text", and optionally "context" (a list of previous sentences),
"source" and "source_context", the name of a "system" and of a "doc". Scores are those of `score --jsonl`."""
SCORE_EPILOG = f"""output:
  OUT/scores/part-*.parquet  one row for each input row, in order: input, row (from 1), id, system, score, errors,
                             preference, words, pronouns
  OUT/errors.parquet         rows that --on-error skip left out: input, row, reason, record
  OUT/manifest.json          signature, hashes of the inputs, counts, scores of systems with 95 % intervals

{SHARDS}

--dedupe first cuts the texts of all rows into buckets by their hash, and scores each distinct text of a bucket once.
OUT then holds the texts until the end.

The interval of a system is that of `score`: over documents where all its records have a "doc", else over segments.

examples:
  pronmetric bulk score corpus/ -o scores
  pronmetric bulk score 's3://bucket/corpus/*.parquet' -o s3://bucket/scores --address auto --gpus-per-worker 1"""


class ScoreFlags(Flags):
    """What is scored, and by which model."""

    files: InputFlags = part(InputFlags)
    dedupe: bool = switch(help="encode each distinct text once for all shards, not once for each shard")
    context: str | None = flag(choices=[GIVEN, NONE], help="none ignores the contexts (default: given)")
    source_lang: str | None = flags.source_lang_flag()
    workers: WorkerFlags = part(WorkerFlags)
    gpus_per_worker: float | None = flag(
        group="workers", type=_gpus, metavar="F", help="GPUs of a process, e.g. 1 or 0.5"
    )
    model: ModelFlags = part(
        ModelFlags, flags.MODEL, only=("model", "lang", "allow_network", "batch_size", "no_source")
    )
    precision: str | None = flags.precision_flag(flags.MODEL, gpus=False)
    model_storage_path: str | None = flag(metavar="DIR", help="folder for a --model of the hub")
    verbose: bool = switch(help="also numbers and intervals of each system on stderr")


def run_score(task: ScoreFlags) -> None:
    """Score the records."""
    note = output.Notes(quiet=task.workers.quiet, verbose=task.verbose)
    model = task.model
    folder, sources = _find(task.files, task.workers, note, read=[model.model])
    context = choose_context(task.context, load_config(model), GIVEN, note)
    metric = load_metric(replace(model, gpus=0), note)  # only for its signature
    with_source, evidence, language = metric.with_source, metric.reader is not None, metric.language
    signed = sign(metric, context=context)
    del metric
    form = rows.to_score(with_source=with_source)
    surveyed = _survey(task.files, sources, form, note)
    planned = run.prepare(folder, surveyed, signed, score.RESULTS, rows=task.files.shard_rows)
    first = rows.first_good(Reader(sources, form), planned.shards, CHECKED_LINES)
    check_texts({"the first rows": [row.text.text for row in first]}, language, note, strict=False)
    buckets = parts.buckets(inputs.rows_of(surveyed)) if task.dedupe else 0
    gpus = math.ceil(task.gpus_per_worker or 0)
    worker = _worker_model(model, gpus)
    scoring = Scoring(worker, context, model.batch_size, buckets, str(signed), with_source, evidence)
    job = Job(folder.url, sources, planned.shards, task.files.skips, scoring)
    connect, track = _connect(task.workers, planned, note)
    _print_scores(score.score(planned, job, connect, buckets=buckets, track=track), note)
    note(f"signature: {signed}")


def _worker_model(flags: ModelFlags, gpus: int) -> Model:
    """The metric that workers load; local paths are absolute."""
    local = flags.model is not None and not locate.of_hub(flags.model) and Path(flags.model).exists()
    model = _absolute(flags.model) if local and flags.model is not None else flags.model
    source = flags.source_lang
    source = _absolute(source) if source is not None and Path(source).is_file() else source
    return Model(
        model=model,
        lang=flags.lang,
        precision=flags.precision,
        gpus=gpus,
        allow_network=flags.allow_network,
        storage=flags.model_storage_path,
        source_lang=source,
        no_source=flags.no_source,
    )


def _absolute(path: str) -> str:
    return str(Path(path).resolve())


def _print_scores(statistics: ShardStatistics, note: output.Notes) -> None:
    for name, sums in statistics.systems.items():
        shown, total = score.NO_SYSTEM if name is None else name, sums.system_score()
        print(f"{visible(shown)}\tscore: {format_score(total.score)}")
        note_system(shown, total, note.detail)
    _note_skipped(statistics, note)
    note.lengths(statistics.counts)


ALIGN = """Align the words of two columns of Parquet and JSONL files (.parquet, .jsonl, .jsonl.gz, .jsonl.zst) on
Ray: on all cores of this machine, or on a cluster. INPUT is a file, a pattern, a folder, or a URL of fsspec or Arrow
(s3://...).

Both columns hold tokenized text, as the lines of `align`: tokens separated by spaces. "id" is optional. The links are
those of `align` with the same table, which is trained on a sample of the rows, or given."""
ALIGN_EPILOG = f"""output:
  OUT/links/part-*.parquet  one row for each input row, in order: input, row (from 1), id, links (i-j, from 0)
  OUT/table.npz             the alignment table, for `align --table` and --table
  OUT/errors.parquet        rows that --on-error skip left out: input, row, reason, record
  OUT/manifest.json         signature, hashes of the inputs, counts

{SHARDS}

examples:
  pronmetric bulk align corpus/ -o links --columns source target
  pronmetric bulk align more/ -o more-links --columns source target --table links/table.npz"""
COLUMNS = ("reference", "text")


class AlignFlags(Flags):
    """The two texts, and how they are aligned."""

    files: InputFlags = part(InputFlags)
    columns: Sequence[str] = flag(
        nargs=2, default=COLUMNS, metavar=("A", "B"), help="the two texts (default: reference text)"
    )
    symmetrize: Symmetrize = flag(
        choices=METHODS, default="mutual", help="symmetrization of the two directions (default: mutual)"
    )
    table: TableFlags = part(TableFlags, "alignment table")
    workers: WorkerFlags = part(WorkerFlags)

    def check(self) -> None:
        """Refuse columns that cannot be told apart."""
        if len({*self.columns, "id"}) < 3:
            raise UsageError("--columns needs two different columns other than id")


def run_align(task: AlignFlags) -> None:
    """Align the rows."""
    note = output.Notes(quiet=task.workers.quiet)
    folder, sources = _find(task.files, task.workers, note, read=[task.table.table])
    a, b = task.columns
    aligning = Aligning(a, b, task.symmetrize)
    named = {"aligner": "agreement", "a": a, "b": b, "symmetrize": task.symmetrize}
    signed = Signature.of(version=__version__, **named, **task.table.signed())
    surveyed = _survey(task.files, sources, aligning.form, note)
    planned = run.prepare(folder, surveyed, signed, align.RESULTS, rows=task.files.shard_rows)
    note.begin()
    _provide_table(task.table, planned, Reader(sources, aligning.form), lambda row: row.tokens, note)
    job = Job(folder.url, sources, planned.shards, task.files.skips, aligning)
    connect, track = _connect(task.workers, planned, note)
    _print_counts(align.align(planned, job, connect, track=track), note)
    note(f"signature: {signed}")


PREPARE = """Make pronoun pairs of the rows of Parquet and JSONL files (.parquet, .jsonl, .jsonl.gz, .jsonl.zst)
on Ray: on all cores of this machine, or on a cluster. INPUT is a file, a pattern, a folder, or a URL of fsspec or
Arrow (s3://...).

A row has "id", "reference" and "text" (the translation), and optionally "context" and "system_context": lists of the
previous sentences of the reference and of the translation, oldest first. "system", "testset", "lp", "doc", "seg" and
"ref" are copied into the pairs; other fields are not read. Pairs are those of `prepare` for the same rows and alignment
table, which is trained on a sample of the rows, or given."""
PREPARE_EPILOG = f"""output:
  OUT/pairs/part-*.parquet  the pairs, in order, with the columns of `prepare`; "id" is that of the row
  OUT/confusion.json        pronouns of the reference, and how often which other one stands in the translation
  OUT/table.npz             the alignment table
  OUT/errors.parquet        rows that --on-error skip left out: input, row, reason, record
  OUT/manifest.json         signature, hashes of the inputs, counts with the reasons for dropped pairs

All pairs are in one set: give the rows of training and of development to runs of their own. OUT holds the pairs twice
until the end, since of repeated ones (the same two texts) only the first is kept.

{SHARDS}

examples:
  pronmetric bulk prepare corpus/ -o pairs
  pronmetric bulk prepare 's3://bucket/corpus/*.parquet' -o s3://bucket/pairs --address auto --table table.npz"""


class PairFlags(Flags):
    """Which pairs are made of the rows."""

    target: str | None = flag(metavar="LANG|FILE", help="language of the texts, or a table of its pronouns")
    inventory: str | None = flag(choices=["all", "paper"], help="the pronouns")
    context_size: int | None = flag(type=whole(0), metavar="N", help="sentences of a context")
    agreement: str | None = flag(metavar="grammar|none|FILE", help="the filter of pairs that are no errors")
    min_agreement: float | None = flag(type=number(0, 1), metavar="AC1", help="minimum in the FILE of --agreement")

    def maker(self) -> RowPairs:
        """The settings: flags, else those of conf/prepare.yaml; paths are absolute, for workers."""
        conf, wmt = _conf("prepare.yaml"), _conf("data/wmt.yaml")
        chosen: dict[str, Any] = {
            "target": wmt["target"],
            "inventory": conf["inventory"],
            "context_size": conf["context"]["size"],
            "agreement": conf["filter"]["agreement"],
            "min_agreement": conf["filter"]["min_agreement"],
        }
        given = vars(self)
        chosen |= {name: given[name] for name in chosen if given[name] is not None}
        for name in ("target", "agreement"):
            if Path(chosen[name]).is_file():
                chosen[name] = _absolute(chosen[name])
        return RowPairs(**chosen)


class PrepareFlags(Flags):
    """The rows, the pairs, and how they are made."""

    files: InputFlags = part(InputFlags)
    pairs: PairFlags = part(PairFlags, "pairs (defaults: those of `prepare`)")
    table: TableFlags = part(TableFlags, "alignment table")
    workers: WorkerFlags = part(WorkerFlags)


def run_prepare(task: PrepareFlags) -> None:
    """Make the pairs."""
    note = output.Notes(quiet=task.workers.quiet)
    maker = task.pairs.maker()
    named = [maker.target, maker.agreement]
    read = [task.table.table, *(name for name in named if Path(name).is_file())]
    folder, sources = _find(task.files, task.workers, note, read=read)
    maker.check()
    signed = Signature.of(version=__version__, aligner="agreement", **maker.signed(), **task.table.signed())
    surveyed = _survey(task.files, sources, pairs.form(maker), note)
    planned = run.prepare(folder, surveyed, signed, pairs.RESULTS, rows=task.files.shard_rows)
    note.begin()
    _provide_table(task.table, planned, Reader(sources, pairs.form(maker)), maker.tokens, note)
    preparing = Preparing(maker, parts.buckets(inputs.rows_of(surveyed)))
    job = Job(folder.url, sources, planned.shards, task.files.skips, preparing)
    connect, track = _connect(task.workers, planned, note)
    _print_pairs(pairs.make(planned, job, preparing, connect, track=track), note)
    note(f"signature: {signed}")


def _conf(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(files("pronmetric.conf").joinpath(name).read_text(encoding="utf-8")))


def _print_pairs(counted: CountedRows, note: output.Notes) -> None:
    print(f"rows\t{counted.rows}")
    for kind in ("system", "noisy"):
        number = counted.counts.get(joined("kept", kind), 0)
        print(f"{kind} pairs\t{number}")
    _note_skipped(counted, note)


def _find(
    files: InputFlags, workers: WorkerFlags, note: output.Notes, *, read: list[str | None]
) -> tuple[Place, list[Source]]:
    """The output folder and the input files. read: files that the run reads besides.

    Raises:
        PronmetricError: Ray is not installed, or an input or the output cannot be used.
    """
    folder = storage.place(files.output)
    targets.check([], read=[*files.inputs, *read], folders=[folder.path] if storage.is_local(folder) else [])
    cluster.require(workers.address)
    sources, ignored = inputs.find(files.inputs, output=folder)
    if ignored:
        note(f"{ignored} files of the input folders have another suffix and are not read")
    return folder, sources


def _survey(files: InputFlags, sources: list[Source], form: Form[Any], note: output.Notes) -> list[Surveyed]:
    """Read the inputs once, with progress; unless bad rows are skipped, the first of each file must be good."""
    with output.bar(note.quiet, total=len(sources), label="read", unit="files", short=True) as bar:
        surveyed = inputs.survey(sources, form.columns, advance=bar.update)
    if not files.skips:
        rows.check_first(surveyed, form)
    return surveyed


def _connect(
    workers: WorkerFlags, planned: Planned[Any], note: output.Notes
) -> tuple[Callable[[], AbstractContextManager[Work]], Track]:
    """What starts or joins a Ray, and what shows the progress."""
    pool = cluster.Pool(workers.address, workers.workers, workers.gpus_per_worker or 0.0)
    if done := len(planned.shards) - len(planned.unfinished):
        note(f"{done} of {len(planned.shards)} shards are finished")
    if workers.address is not None and planned.unfinished:
        note(f"Ray cluster: {workers.address}")
    return partial(cluster.connect, pool), partial(_track, planned.shards, note.quiet)


def _print_counts(counted: CountedRows, note: output.Notes) -> None:
    """Print the counts."""
    print(f"rows\t{counted.rows}")
    for name, count in sorted(counted.counts.items()):
        print(f"{name.replace('_', ' ')}\t{count}")
    _note_skipped(counted, note)


def _note_skipped(statistics: Statistics, note: output.Notes) -> None:
    """Note how many rows were skipped."""
    if statistics.skipped:
        note(f"bad rows skipped, see errors.parquet: {statistics.skipped} of {statistics.rows}")


@contextmanager
def _track(shards: Sequence[Shard], quiet: bool, step: Step) -> Iterator[Callable[[int], None]]:
    """Progress of a step, by rows, with the number of shards; of buckets by their number."""
    if step.buckets:
        with output.bar(quiet, total=len(step.numbers), label=step.name, unit="buckets") as bar:
            yield lambda _: bar.update(1)
        return
    sizes = [shard.stop - shard.start for shard in shards]
    left = sum(sizes[number] for number in step.numbers)
    done = len(shards) - len(step.numbers)
    with output.bar(quiet, total=sum(sizes), label=step.name, unit="rows", done=sum(sizes) - left) as bar:

        def advance(number: int) -> None:
            nonlocal done
            done += 1
            bar.set_postfix_str(f"{done}/{len(shards)} shards", refresh=False)
            bar.update(sizes[number])

        yield advance


def _provide_table(
    flags: TableFlags,
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
    if flags.table is not None:
        table.take(planned.folder, flags.table)
        return
    drawn = list(table.draw(planned.shards, **flags.drawn))
    total = sum(shard.stop - shard.start for shard, _ in drawn)
    with output.bar(note.quiet, total=total, label="sample", unit="rows", short=True) as bar:
        sample = [pair for row in table.rows(reader, drawn, advance=bar.update) if (pair := tokens(row)) is not None]
    reader.close()
    note(f"training the alignment table on {len(sample):,} rows")
    with output.bar(note.quiet, total=len(sample) * AgreementAligner().iterations, label="learn", unit="rows") as bar:
        table.train(planned.folder, sample, advance=bar.update)


VERB = Group(
    "bulk",
    DESCRIPTION,
    EPILOG,
    [
        Command("score", ScoreFlags, run_score, SCORE, SCORE_EPILOG, help="score the records of many files"),
        Command("align", AlignFlags, run_align, ALIGN, ALIGN_EPILOG, help="align the words of two columns"),
        Command("prepare", PrepareFlags, run_prepare, PREPARE, PREPARE_EPILOG, help="make pronoun pairs of many files"),
    ],
)
