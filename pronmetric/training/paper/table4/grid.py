"""Table 4: the cells of the grid, and training and testing of one cell.

A cell is a combination of an encoder set-up (an encoder and how it is trained), a row (context and head) and a seed. A
finished cell has a `cell.json` with its figures on the test pairs of the sample, and is not run again; a killed one is
resumed.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from pronmetric.checkpoint import files
from pronmetric.data import arrow
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.accuracy import decide
from pronmetric.eval.decision import SCORE
from pronmetric.text import strict_json
from pronmetric.training.after.pair_scorer import PairScorer
from pronmetric.training.examples import labelled as examples
from pronmetric.training.examples.batches import Labeller
from pronmetric.training.fit import BEST, EXPORT, LAST
from pronmetric.training.groups import Table
from pronmetric.training.paper.encoder_cache import cached_encoder, fill
from pronmetric.training.paper.table4 import sample
from pronmetric.training.run import train
from pronmetric.training.settings import Train
from pronmetric.version import __version__

FILE = "cell.json"
DATA, STATES = "data", "states"  # next to the cells: the sample, and the states of frozen encoders


class Cell(NamedTuple):
    """A cell of the grid."""

    setup: str
    context: str
    head: str
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.setup}-{self.context}-{self.head}-{self.seed}"

    @property
    def row(self) -> str:
        """Context and head, as `table.rows` of `conf/experiment/table4.yaml` names them."""
        return f"{self.context}-{self.head}"


def is_wanted(cell: Cell, table: Table) -> bool:
    """Whether a cell belongs to the grid and its files are given."""
    setup = table.setups[cell.setup]
    given = setup.needs is not None or "needs" not in setup.model_fields_set
    in_rows = cell.row in table.rows and (setup.rows is None or cell.row in setup.rows)
    return in_rows and given and (setup.seeds is None or cell.seed in setup.seeds)


def is_finished(cell: Cell, root: Path) -> bool:
    """Whether the cell is finished below `root`."""
    return (root / cell.name / FILE).is_file()


def plan(jobs: Sequence[Mapping[str, str]], table: Table, *, source: Path, root: Path) -> Iterator[str]:
    """Draw the sample, and say how many cells of a sweep below `root` are left.

    jobs: the overrides of each, by their keys. source: the prepared folder.

    Raises:
        PronmetricError: none of the jobs is a cell.
    """
    named = [Cell(job["table4/setup"], job["context"], job["head"], int(job["seed"])) for job in jobs]
    cells = [cell for cell in dict.fromkeys(named) if is_wanted(cell, table)]
    if not cells:
        raise PronmetricError("these settings contain no cell of the table (table4/setup=elmo needs table.elmo=FOLDER)")
    sample.draw(source, root / DATA, sizes=table.sample.model_dump(), seed=0)
    if "elmo" in {cell.setup for cell in named} - {cell.setup for cell in cells}:
        yield "left out: table4/setup=elmo, which needs table.elmo=FOLDER of pronmetric pretrain"
    yield f"{len(cells)} cells, {sum(is_finished(cell, root) for cell in cells)} finished"


def format_record(cell: Cell, record: Mapping[str, Any]) -> str:
    """The accuracy of a finished cell on the pairs of each kind, in percent."""
    figures = [f"{name}\t{100 * record['test'][kind]['accuracy']:.1f}" for kind, name in sample.KINDS.items()]
    return "\t".join([cell.name, *figures])


def run(settings: Train, table: Table) -> dict[str, Any] | None:
    """Train and test one cell in its folder `settings.out`, or read its finished figures: the content of `cell.json`.

    On several devices all processes but the first return None. `settings.data.dir` is the whole prepared folder.

    Raises:
        PronmetricError: the folder has a finished cell, or a sample, with other settings or data.
    """
    began = time.monotonic()
    out, cell = Path(settings.out), cell_of(settings, table)
    data = out.parent / DATA
    drawn = sample.draw(Path(settings.data.folder), data, sizes=table.sample.model_dump(), seed=0)
    cache = str(out.parent / STATES) if table.store and settings.optim.frozen else None
    in_sample = settings.data.model_copy(update={"dir": str(data)})
    settings = settings.model_copy(update={"data": in_sample, "encoder_cache": cache})
    recorded = {**settings.results(), "half": settings.half}
    path = out / FILE
    if path.is_file():
        finished = strict_json.read(path, "expected the figures of a cell")
        if finished["settings"] != recorded:
            raise InputError("a finished cell of other settings: give another out=, or delete it", file=path)
        return finished
    result = train(settings)
    if result is None:
        return None
    training = files.load(result.folder).config["training"]
    record = {
        "version": __version__,
        "column": cell.setup,
        "context": cell.context,
        "head": cell.head,
        "seed": cell.seed,
        "name": table.setups[cell.setup].name,
        "row": 1 + table.rows.index(cell.row),
        "test": _test(result.folder, data, settings),
        "development": result.figures,
        "pairs": {
            split: {kind: each["pairs"] for kind, each in kinds.items()} for split, kinds in drawn["splits"].items()
        },
        "prepared": drawn["prepared"],
        "steps": training["steps"],
        "best_step": training["best_step"],
        "seconds": round(time.monotonic() - began, 1),
        "settings": recorded,
    }
    part = path.with_suffix(".part")
    part.write_text(strict_json.dump(record, indent=1) + "\n", encoding="utf-8")
    part.replace(path)
    if not table.keep:
        shutil.rmtree(out / EXPORT)
        for name in (BEST, LAST):
            (out / f"{name}.ckpt").unlink()
    return record


def cell_of(settings: Train, table: Table) -> Cell:
    """The cell of a run's settings."""
    return Cell(table.setup, settings.context.name, settings.head.kind, settings.seed)


def _test(folder: Path, data: Path, settings: Train) -> dict[str, Any]:
    """Pair accuracy of the checkpoint in `folder` on the test pairs, R vs R' and R vs S, in its context.

    Equal and null scores are wrong, and so are pairs with a text that is split into windows (`windowed`). surplus:
    texts with more pronouns than the head has slots. won: whether each pair is right, in the order of `sample.json`.
    """
    loaded, context = files.load(folder), settings.context.name
    scorer, collator = loaded.model, loaded.collator
    device = "cuda" if settings.trainer.accelerator != "cpu" and torch.cuda.is_available() else "cpu"
    rows = arrow.read_pairs(data, "test")
    if settings.encoder_cache is not None:
        scorer.encoder, states = cached_encoder(scorer.encoder.to(device), Path(settings.encoder_cache))  # type: ignore[attr-defined]
        fill(states, scorer.encoder.encoder, collator, examples.texts(rows, context=context))
    slots = getattr(scorer.head, "slots", np.inf)
    pairs = PairScorer(scorer.to(device), Labeller(collator, forms=loaded.config["pronouns"]))
    figures = {}
    for kind in sample.KINDS:
        mine = rows.select([number for number, each in enumerate(rows["kind"]) if each == kind])
        columns, numbers = pairs.columns(mine, context=context)
        better, worse, *counts = columns[SCORE]
        decisions = decide(better.tolist(), worse.tolist())
        won = np.zeros(len(mine), dtype=int)
        won[numbers] = decisions.right
        figures[kind] = {
            "pairs": len(mine),
            "right": int(decisions.right.sum()),
            "equal": int(decisions.equal.sum()),
            "null": int(decisions.null.sum()),
            "windowed": len(mine) - len(better),
            "surplus": int((np.array(counts) > slots).sum()),
            "accuracy": float(decisions.right.sum()) / len(mine),
            "won": "".join(map(str, won)),
        }
    return figures
