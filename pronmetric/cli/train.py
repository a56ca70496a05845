"""`pronmetric train` and `pronmetric pretrain`: a metric from prepared data, an ELMo from plain documents."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pronmetric.cli.hydra import HydraCommand, given_overrides, named_below
from pronmetric.cli.stages import compose
from pronmetric.errors import PronmetricError
from pronmetric.output import targets
from pronmetric.training.groups import Table
from pronmetric.training.paper.pretrain_settings import Pretrain
from pronmetric.training.settings import Train

TRAIN = """Train the metric on the output of `pronmetric prepare` (data.dir=DIR;
data.dir=[DIR,DIR] with experiment=targets, which trains one scorer of several languages).

Writes to out=DIR: checkpoint/ (for `score --model`), logs (CSV, TensorBoard), and best.ckpt and last.ckpt. The same
command resumes a stopped run from last.ckpt. Of a training in stages (experiment=base, experiment=reader) each stage
writes them to DIR/STAGE; KEY=VALUE holds for every stage, stages.STAGE.KEY=VALUE for one.

With --multirun experiment=table4 it trains and tests the settings of the paper's Table 4, each in a folder of OUT.
Finished settings are not run again. `pronmetric report tables OUT` shows the figures. The groups table4/setup and
table4/size belong to this sweep."""


def _announce_table(settings: Train, jobs: Sequence[Mapping[str, str]]) -> None:
    """For Table 4: draw the sample, and print the number of cells."""
    table = settings.table
    if table is None:
        return
    source, root = _check_prepared(settings), Path(settings.out)
    targets.check([], read=[source], folders=[root])

    from pronmetric.training.paper.table4 import grid

    for line in grid.plan(jobs, table, source=source, root=root):
        print(line, file=sys.stderr)


def _train(settings: Train) -> None:
    _check_prepared(settings)

    from pronmetric.checkpoint import locate

    named_by = {"init": settings.init, "teacher": settings.teacher}
    folders: dict[str, Any] = {key: str(locate.locate(name).folder) for key, name in named_by.items() if name}
    if settings.source is not None and settings.source.model is not None:
        model = str(locate.locate(settings.source.model).folder)
        folders["source"] = settings.source.model_copy(update={"model": model})
    settings = settings.model_copy(update=folders)
    out = Path(settings.out)
    read = [*settings.data.folders, settings.init, settings.teacher]
    read += [] if settings.source is None else [settings.source.model]
    read += [getattr(settings.encoder, name, None) for name in ("options", "weights", "vectors")]
    targets.check([], read=read, folders=[out, out / "checkpoint"])
    if settings.table is not None:
        _cell(settings, settings.table)
        return

    overrides = given_overrides()
    staged = None if settings.stages is None else compose(settings, overrides)

    from pronmetric.schema import FIDELITY
    from pronmetric.training import run, stages
    from pronmetric.training.examples.datamodule import COREFERENCE

    named = named_below("objective.source_share")
    if settings.objective.antecedent and any(each.startswith("objective.antecedent=") for each in overrides):
        named |= {COREFERENCE}
    if any(each == "experiment=fidelity" or each.startswith("objective.fidelity.share=") for each in overrides):
        named |= {FIDELITY}
    given: dict[str, Any] = {"required_sources": named, "overrides": overrides, "note": _note_train}
    if staged is None:
        result = run.train(settings, **given)
    else:
        result = stages.train(staged, settings, **given)
    if result is None:  # the first process of several prints it
        return
    for name, value in sorted(result.figures.items()):
        print(f"{name}\t{value:.4f}")
    if settings.source is None:
        from pronmetric.training.development_table import development_table, shipped_figures

        print(development_table(result.figures, shipped_figures()), file=sys.stderr)
    if settings.source is None and settings.head.kind == "logit" and result.calibration is None:
        print("not calibrated: too few natural errors in the development set, or an untrained model", file=sys.stderr)
    print(f"checkpoint {result.folder} ({result.hash})", file=sys.stderr)


def _note_train(line: str) -> None:
    print(line, file=sys.stderr)


def _check_prepared(settings: Train) -> Path:
    """The folder of prepared data, checked; of several the first."""
    from pronmetric.data import arrow

    for folder in settings.data.folders:
        arrow.read_manifest(Path(folder))
    return Path(settings.data.folder)


def _cell(settings: Train, table: Table) -> None:
    """One setting of Table 4; one that is not a cell of it is skipped."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    from pronmetric.training.paper.table4 import grid

    if HydraConfig.get().mode != RunMode.MULTIRUN:
        raise PronmetricError("experiment=table4 is a sweep: add --multirun")
    cell = grid.cell_of(settings, table)
    if not grid.is_wanted(cell, table):
        Path(settings.out).rmdir()  # Hydra made it
        return
    record = grid.run(settings, table)
    if record is not None:
        print(grid.format_record(cell, record), flush=True)


PRETRAIN = """Pretrain an ELMo-like encoder on English documents (data.english=DIR). It is not the official ELMo.

Writes to out=DIR: options.json and weights.hdf5 in AllenNLP's layout (for `pronmetric train encoder=elmo`),
pretrain.json (its training data and perplexity), logs (CSV, TensorBoard), and best.ckpt and last.ckpt. The same command
resumes a stopped run from last.ckpt."""


def _pretrain(settings: Pretrain) -> None:
    from data_prep import documents, manifest, passages

    folder, out = Path(settings.data.english), Path(settings.out)
    files = documents.files(folder)
    targets.check([], read=[folder, *files], folders=[out])

    from pronmetric.checkpoint.elmo import hdf5
    from pronmetric.training.paper.pretrain import pretrain

    hdf5("to write an ELMo")
    data = settings.data
    rows = passages.read_rows(folder, words_of_row=data.row, held_out=data.development_share, seed=settings.seed)
    (trained, train), (held_out, development) = rows
    _note(f"{trained} documents to train on ({len(train)} rows), {held_out} held out ({len(development)} rows)")
    inputs = manifest.hashes(folder, files)
    result = pretrain(settings, train=train, development=development, inputs=inputs)
    if result is None:  # the first process of several prints it
        return
    record = result.record
    for name, value in sorted(record["figures"].items()):
        print(f"{name}\t{value:.2f}")
    if cut := sum(record["cut"].values()):
        _note(f"words cut to 48 bytes: {cut}")
    _note(f"{record['vocabulary']['unknown']:.1%} of the held-out words are unknown, one word to the perplexity")
    _note(f"encoder=elmo encoder.options={result.options} encoder.weights={result.weights}")


def _note(line: str) -> None:
    print(f"pronmetric pretrain: {line}", file=sys.stderr)


VERBS = (
    HydraCommand("train", _train, Train, TRAIN, before=_announce_table),
    HydraCommand("pretrain", _pretrain, Pretrain, PRETRAIN),
)
