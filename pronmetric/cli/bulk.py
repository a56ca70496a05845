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

from data_prep import filters
from data_prep.row_pairs import RowPairs
from pronmetric import __version__
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.aligner import TokenPair
from pronmetric.alignment.links import METHODS
from pronmetric.bulk import align, cluster, inputs, pairs, parts, rows, run, score, storage, table
from pronmetric.bulk.align import Aligning
from pronmetric.bulk.counted import CountedRows
from pronmetric.bulk.inputs import Source, Surveyed
from pronmetric.bulk.job import Job, Step
from pronmetric.bulk.pairs import Preparing
from pronmetric.bulk.plan import Shard
from pronmetric.bulk.rows import Form, Reader
from pronmetric.bulk.run import Planned, Track, Work
from pronmetric.bulk.shards import Statistics
from pronmetric.bulk.statistics import ShardStatistics
from pronmetric.bulk.storage import Place
from pronmetric.bulk.worker import Model, Scoring
from pronmetric.checkpoint import locate
from pronmetric.cli import flags, output
from pronmetric.cli.flags import ModelFlags
from pronmetric.cli.parser import (
    add_command,
    group_parser,
    number_above_zero,
    number_up_to_one,
    run_command,
    whole_from_one,
    whole_from_zero,
)
from pronmetric.cli.run import choose_context, load_config, load_metric
from pronmetric.output import targets
from pronmetric.output.display import visible
from pronmetric.report.score_text import format_score, note_system
from pronmetric.scoring.score import Counts
from pronmetric.signature import Signature
from pronmetric.text.context import GIVEN, NONE

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


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its commands."""
    return group_parser("bulk", DESCRIPTION, EPILOG, commands=(add_score, add_align, add_prepare))


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return run_command(parser(), argv)


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


def add_score(commands: argparse._SubParsersAction) -> None:
    """Add the command to `bulk`."""
    made = add_command(
        commands, "score", help="score the records of many files", description=SCORE, epilog=SCORE_EPILOG
    )
    _add_inputs(made)
    made.add_argument(
        "--dedupe", action="store_true", help="encode each distinct text once for all shards, not once for each shard"
    )
    made.add_argument("--context", choices=[GIVEN, NONE], help="none ignores the contexts (default: given)")
    flags.add_source_lang(made)
    workers = _add_workers(made)
    flags.both(workers, "gpus-per-worker", type=_gpus, metavar="F", help="GPUs of a process, e.g. 1 or 0.5")
    ModelFlags.add(made, seed=False, gpus=False)
    flags.both(made, "model-storage-path", metavar="DIR", help="folder for a --model of the hub")
    made.add_argument("--verbose", action="store_true", help="also numbers and intervals of each system on stderr")
    made.set_defaults(run=run_score)


def run_score(args: argparse.Namespace) -> int:
    """Score; the exit code."""
    note = output.Notes(quiet=args.quiet, verbose=args.verbose)
    folder, sources = _find(args, note, read=[args.model])
    model = ModelFlags.of(args)
    context = choose_context(args.context, load_config(model), GIVEN, note)
    metric = load_metric(replace(model, gpus=0), note)  # only for its signature
    with_source = metric.with_source
    signed = metric.signature(context=context, counts=Counts(with_source=1))
    del metric
    surveyed = _survey(args, sources, rows.to_score(with_source=with_source))
    planned = run.prepare(folder, surveyed, signed, score.RESULTS, rows=args.shard_rows)
    buckets = parts.buckets(inputs.rows_of(surveyed)) if args.dedupe else 0
    task = Scoring(_worker_model(args), context, args.batch_size, buckets, str(signed), with_source)
    job = Job(folder.url, sources, planned.shards, args.on_error == "skip", task)
    connect, track = _connect(args, planned, note)
    _print_scores(score.score(planned, job, connect, buckets=buckets, track=track), note)
    note(f"signature: {signed}")
    return 0


def _worker_model(args: argparse.Namespace) -> Model:
    """The metric that workers load; local paths are absolute."""
    local = args.model is not None and not locate.of_hub(args.model) and Path(args.model).exists()
    model = str(Path(args.model).resolve()) if local else args.model
    source = args.source_lang
    source = str(Path(source).resolve()) if source is not None and Path(source).is_file() else source
    gpus = math.ceil(args.gpus_per_worker or 0)
    return Model(model, args.precision, gpus, args.allow_network, args.model_storage_path, source, args.no_source)


def _gpus(text: str) -> float:
    """A number above 0: a part of a GPU, or a whole number."""
    value = number_above_zero(text)
    if value > 1 and not value.is_integer():
        raise argparse.ArgumentTypeError(f"expected a part of a GPU, or a whole number, got {text!r}")
    return value


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


def add_align(commands: argparse._SubParsersAction) -> None:
    """Add the command to `bulk`."""
    made = add_command(commands, "align", help="align the words of two columns", description=ALIGN, epilog=ALIGN_EPILOG)
    _add_inputs(made)
    made.add_argument(
        "--columns", nargs=2, default=COLUMNS, metavar=("A", "B"), help="the two texts (default: reference text)"
    )
    made.add_argument(
        "--symmetrize", choices=METHODS, default="mutual", help="symmetrization of the two directions (default: mutual)"
    )
    _add_table(made)
    _add_workers(made)
    made.set_defaults(run=partial(run_align, made))


def run_align(made: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    """Align; the exit code."""
    _check_table(made, args)
    if len({*args.columns, "id"}) < 3:
        made.error("--columns needs two different columns other than id")
    note = output.Notes(quiet=args.quiet)
    folder, sources = _find(args, note, read=[args.table])
    a, b = args.columns
    task = Aligning(a, b, args.symmetrize)
    named = {"aligner": "agreement", "a": a, "b": b, "symmetrize": args.symmetrize}
    signed = Signature.of(version=__version__, **named, **_table_fields(args))
    surveyed = _survey(args, sources, task.form)
    planned = run.prepare(folder, surveyed, signed, align.RESULTS, rows=args.shard_rows)
    note.begin()
    _provide_table(args, planned, Reader(sources, task.form), lambda row: row.tokens, note)
    job = Job(folder.url, sources, planned.shards, args.on_error == "skip", task)
    connect, track = _connect(args, planned, note)
    _print_counts(align.align(planned, job, connect, track=track), note)
    note(f"signature: {signed}")
    return 0


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


def add_prepare(commands: argparse._SubParsersAction) -> None:
    """Add the command to `bulk`."""
    made = add_command(
        commands, "prepare", help="make pronoun pairs of many files", description=PREPARE, epilog=PREPARE_EPILOG
    )
    _add_inputs(made)
    group = made.add_argument_group("pairs (defaults: those of `prepare`)")
    group.add_argument("--target", metavar="LANG|FILE", help="language of the texts, or a table of its pronouns")
    group.add_argument("--inventory", choices=["all", "paper"], help="the pronouns")
    flags.both(group, "context-size", type=whole_from_zero, metavar="N", help="sentences of a context")
    group.add_argument("--agreement", metavar="grammar|none|FILE", help="the filter of pairs that are no errors")
    flags.both(group, "min-agreement", type=number_up_to_one, metavar="AC1", help="minimum in the FILE of --agreement")
    _add_table(made)
    _add_workers(made)
    made.set_defaults(run=partial(run_prepare, made))


def run_prepare(made: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    """Prepare; the exit code."""
    _check_table(made, args)
    note = output.Notes(quiet=args.quiet)
    maker = _pair_maker(args)
    named = [maker.target, maker.agreement]
    folder, sources = _find(args, note, read=[args.table, *(name for name in named if Path(name).is_file())])
    maker.check()
    signed = Signature.of(version=__version__, **_pair_fields(maker), **_table_fields(args))
    surveyed = _survey(args, sources, pairs.form(maker))
    planned = run.prepare(folder, surveyed, signed, pairs.RESULTS, rows=args.shard_rows)
    note.begin()
    _provide_table(args, planned, Reader(sources, pairs.form(maker)), maker.tokens, note)
    task = Preparing(maker, parts.buckets(inputs.rows_of(surveyed)))
    job = Job(folder.url, sources, planned.shards, args.on_error == "skip", task)
    connect, track = _connect(args, planned, note)
    _print_pairs(pairs.make(planned, job, task, connect, track=track), note)
    note(f"signature: {signed}")
    return 0


def _pair_maker(args: argparse.Namespace) -> RowPairs:
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


def _pair_fields(maker: RowPairs) -> dict[str, object]:
    """The fields of the signature; files by their hash."""
    named = {"aligner": "agreement", "target": maker.target, "inventory": maker.inventory}
    named |= {"context_size": str(maker.context_size), "agreement": maker.agreement}
    if maker.agreement not in (filters.GRAMMAR, filters.NONE):
        named["min_agreement"] = str(maker.min_agreement)
    return {name: _hash(value) if name in ("target", "agreement") else value for name, value in named.items()}


def _hash(value: str) -> str:
    path = Path(value)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else value


def _print_pairs(counted: CountedRows, note: output.Notes) -> None:
    print(f"rows\t{counted.rows}")
    for kind in ("system", "noisy"):
        print(f"{kind} pairs\t{counted.counts.get(f'kept.{kind}', 0)}")
    _note_skipped(counted, note)


def _add_inputs(made: argparse.ArgumentParser) -> None:
    """The inputs, the output, and what happens to bad rows."""
    made.add_argument("inputs", nargs="+", metavar="INPUT", help="files, patterns, folders or URLs")
    made.add_argument("-o", "--output", required=True, metavar="OUT", help="the folder to write, or its URL")
    flags.both(made, "on-error", choices=["fail", "skip"], default="fail", help="bad rows (default: fail)")
    flags.both(made, "shard-rows", type=whole_from_one, metavar="N", help="rows of a shard (default: by all rows)")


def _add_workers(made: argparse.ArgumentParser) -> argparse._ActionsContainer:
    """The processes; the group, for further flags."""
    workers = made.add_argument_group("workers")
    workers.add_argument("--address", metavar="auto|HOST:PORT|ray://...", help="a Ray cluster (default: a local Ray)")
    workers.add_argument(
        "--workers", type=whole_from_one, metavar="N", help="processes (default: cores, or what the cluster gives)"
    )
    made.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    made.set_defaults(gpus_per_worker=None)
    return workers


def _find(args: argparse.Namespace, note: output.Notes, *, read: list[str | None]) -> tuple[Place, list[Source]]:
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


def _survey(args: argparse.Namespace, sources: list[Source], form: Form[Any]) -> list[Surveyed]:
    """Read the inputs once, with progress; unless bad rows are skipped, the first of each file must be good."""
    with output.bar(args.quiet, total=len(sources), label="read", unit="files", short=True) as bar:
        surveyed = inputs.survey(sources, form.columns, advance=bar.update)
    if args.on_error == "fail":
        rows.check_first(surveyed, form)
    return surveyed


def _connect(
    args: argparse.Namespace, planned: Planned[Any], note: output.Notes
) -> tuple[Callable[[], AbstractContextManager[Work]], Track]:
    """What starts or joins a Ray, and what shows the progress."""
    pool = cluster.Pool(args.address, args.workers, args.gpus_per_worker or 0.0)
    if done := len(planned.shards) - len(planned.unfinished):
        note(f"{done} of {len(planned.shards)} shards are finished")
    if args.address is not None and planned.unfinished:
        note(f"Ray cluster: {args.address}")
    return partial(cluster.connect, pool), partial(_track, args, planned.shards)


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
def _track(args: argparse.Namespace, shards: Sequence[Shard], step: Step) -> Iterator[Callable[[int], None]]:
    """Progress of a step, by rows, with the number of shards; of buckets by their number."""
    if step.buckets:
        with output.bar(args.quiet, total=len(step.numbers), label=step.name, unit="buckets") as bar:
            yield lambda _: bar.update(1)
        return
    sizes = [shard.stop - shard.start for shard in shards]
    left = sum(sizes[number] for number in step.numbers)
    done = len(shards) - len(step.numbers)
    with output.bar(args.quiet, total=sum(sizes), label=step.name, unit="rows", done=sum(sizes) - left) as bar:

        def advance(number: int) -> None:
            nonlocal done
            done += 1
            bar.set_postfix_str(f"{done}/{len(shards)} shards", refresh=False)
            bar.update(sizes[number])

        yield advance


def _add_table(made: argparse.ArgumentParser) -> None:
    """The flags of the alignment table."""
    group = made.add_argument_group("alignment table")
    group.add_argument("--table", metavar="FILE", help="a table written by `align --save-table`, or by an earlier run")
    group.add_argument(
        "--sample",
        type=whole_from_one,
        metavar="N",
        help=f"train the table on at most N rows, drawn from all (default: {LINES:,})",
    )
    group.add_argument("--seed", type=whole_from_zero, metavar="N", help=f"seed of the sample (default: {SEED})")


def _check_table(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Refuse flags that exclude each other."""
    if args.table is not None and (args.sample is not None or args.seed is not None):
        made.error("--table replaces training: leave out --sample and --seed")


def _table_fields(args: argparse.Namespace) -> Mapping[str, object]:
    """The fields of the signature: the given table, or how it is trained.

    Raises:
        InputError: the given table is missing or broken.
    """
    if args.table is None:
        return _table_sample(args)
    AgreementAligner.load(args.table)
    with open(args.table, "rb") as file:
        return {"table": hashlib.file_digest(file, "sha256").hexdigest()[:16]}


def _provide_table(
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
    drawn = list(table.draw(planned.shards, **_table_sample(args)))
    total = sum(shard.stop - shard.start for shard, _ in drawn)
    with output.bar(args.quiet, total=total, label="sample", unit="rows", short=True) as bar:
        found = [pair for row in table.rows(reader, drawn, advance=bar.update) if (pair := tokens(row)) is not None]
    reader.close()
    note(f"training the alignment table on {len(found):,} rows")
    with output.bar(args.quiet, total=len(found) * AgreementAligner().iterations, label="learn", unit="rows") as bar:
        table.train(planned.folder, found, advance=bar.update)


def _table_sample(args: argparse.Namespace) -> dict[str, int]:
    return {
        "sample": LINES if args.sample is None else args.sample,
        "seed": SEED if args.seed is None else args.seed,
    }
