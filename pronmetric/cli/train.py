"""`pronmetric train`: prepared data to a metric."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pronmetric.cli import hydra_app
from pronmetric.data import arrow
from pronmetric.errors import PronmetricError
from pronmetric.output import targets
from pronmetric.training.settings import Table, Train

DESCRIPTION = """Train the metric on what `pronmetric prepare` wrote (data.dir=DIR).

Writes to out=DIR: checkpoint/ (what `score --model` takes), logs (CSV, TensorBoard), and best.ckpt and last.ckpt. A
run that was stopped goes on from last.ckpt when the same command is given again.

With --multirun experiment=table4 it trains and tests the settings of the paper's Table 4, each in a folder of OUT; what
is finished is not run again, and `pronmetric report tables OUT` shows the figures."""


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    return hydra_app.parser("train", DESCRIPTION)


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return hydra_app.run("train", argv, _job, settings=Train, description=DESCRIPTION, before=_before)


def _before(settings: Train, jobs: Sequence[Mapping[str, str]]) -> None:
    """Of Table 4: draw the sample, and tell what will be run and how long it takes."""
    if settings.table is None:
        return
    source, root = _prepared(settings), Path(settings.out)
    targets.check([], read=[source], folders=[root])

    from pronmetric.training.table4 import grid, sample

    table = _table(settings.table)
    named = [grid.Cell(job["column"], job["context"], job["head"], int(job["seed"])) for job in jobs]
    cells = [cell for cell in dict.fromkeys(named) if grid.wanted(cell, table)]
    if not cells:
        raise PronmetricError("no cell of the table is among these settings (or its files are not given: table.elmo=)")
    drawn = sample.draw(source, root / grid.DATA, sizes=table["sample"], seed=0)
    pairs = {split: sum(part["pairs"] for part in kinds.values()) for split, kinds in drawn["splits"].items()}
    left = [cell for cell in cells if not grid.finished(cell, root)]
    minutes = grid.minutes(left, table, pairs=pairs)
    if "elmo" in {cell.column for cell in named} - {cell.column for cell in cells}:
        print("left out: the column elmo, which needs table.elmo=FOLDER of pronmetric pretrain", file=sys.stderr)
    print(
        f"{len(cells)} cells, {len(cells) - len(left)} of them finished; the others take at most about "
        f"{minutes:.0f} minutes on two CPU cores",
        file=sys.stderr,
    )


def _job(settings: Train) -> None:
    _prepared(settings)

    from pronmetric.checkpoint import locate

    options = settings.options()
    if settings.init is not None:
        options["init"] = locate.locate(settings.init, allow_network=False).folder
    out, encoder = Path(settings.out), options["encoder"]
    read = [settings.data.dir, settings.data.coreference, options["init"]]
    read += [encoder.get(name) for name in ("options", "weights", "vectors")]
    targets.check([], read=read, folders=[out, out / "checkpoint"])
    if settings.table is not None:
        _cell(settings, settings.table, options)
        return

    from pronmetric.training.run import train

    result = train(out, **options)
    if result is None:  # the first process of several says it
        return
    for name, value in sorted(result.figures.items()):
        print(f"{name}\t{value:.4f}")
    if settings.head.kind == "logit" and result.calibration is None:
        print("not calibrated: too few natural errors in the development set, or nothing learned", file=sys.stderr)
    print(f"checkpoint {result.folder} ({result.hash})", file=sys.stderr)


def _prepared(settings: Train) -> Path:
    """The folder of prepared data, which is one."""
    folder = Path(settings.data.dir)
    arrow.read_manifest(folder)
    return folder


def _table(table: Table) -> dict[str, Any]:
    """The node of the config; what a column leaves out stays out."""
    return table.model_dump(exclude_unset=True)


def _cell(settings: Train, node: Table, options: Mapping[str, Any]) -> None:
    """One setting of Table 4; one that is no cell of it is passed over."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    from pronmetric.training.table4 import grid, sample

    if HydraConfig.get().mode != RunMode.MULTIRUN:
        raise PronmetricError("experiment=table4 is a sweep: add --multirun")
    table = _table(node)
    cell = grid.Cell(node.column, settings.context.name, settings.head.kind, settings.seed)
    out = Path(settings.out)
    if not grid.wanted(cell, table):
        out.rmdir()  # Hydra made it
        return
    told = grid.run(out, cell=cell, table=table, options=options)
    if told is not None:
        figures = [f"{name}\t{100 * told['test'][kind]['accuracy']:.1f}" for kind, name in sample.KINDS.items()]
        print("\t".join([cell.name, *figures]), flush=True)
