"""Table 4: which settings make up the grid, how long they take, and one of them trained and tested.

A cell is one setting: a column (an encoder, how it is trained), a row (context and head) and a seed. A finished cell
leaves `cell.json`, its figures on the test pairs of the sample, and is not run again; one that was killed goes on.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import pronmetric
from pronmetric.checkpoint import files
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.eval.accuracy import decide
from pronmetric.text import strict_json
from pronmetric.training import examples
from pronmetric.training.datamodule import Labeller
from pronmetric.training.encoder_cache import fill, stored
from pronmetric.training.module import score_pairs
from pronmetric.training.run import BEST, EXPORT, FREE, LAST, train
from pronmetric.training.table4 import sample

FILE = "cell.json"
DATA, STATES = "data", "states"  # beside the cells: the sample, and what frozen encoders say of its texts


class Cell(NamedTuple):
    """One setting of the grid."""

    column: str
    context: str
    head: str
    seed: int

    @property
    def name(self) -> str:
        """Its folder's."""
        return f"{self.column}-{self.context}-{self.head}-{self.seed}"

    @property
    def row(self) -> str:
        """Context and head, as `table.rows` of `conf/experiment/table4.yaml` names them."""
        return f"{self.context}-{self.head}"


def wanted(cell: Cell, table: Mapping[str, Any]) -> bool:
    """Whether a cell belongs to the grid, and what it needs is given."""
    column = table["columns"][cell.column]
    known = cell.row in table["rows"] and cell.row in column.get("rows", table["rows"])
    return known and cell.seed in column.get("seeds", [cell.seed]) and column.get("needs", "") is not None


def finished(cell: Cell, root: Path) -> bool:
    """Whether the cell's figures stand below `root`."""
    return (root / cell.name / FILE).is_file()


def minutes(cells: Sequence[Cell], table: Mapping[str, Any], *, pairs: Mapping[str, int]) -> float:
    """How long `cells` take at most on two CPU cores, by the costs of `table`.

    pairs: how many of each split. A column's `cost`: `cell`, seconds whatever its size; `pair`, milliseconds for a
    training pair of an epoch, without and with context; `text`, milliseconds to store what its encoder says of a text.
    """
    seconds = 0.0
    stored: dict[tuple[Any, ...], float] = {}
    for cell in cells:
        column = table["columns"][cell.column]
        cost, with_context = column["cost"], cell.context != "none"
        seconds += cost["cell"] + column["epochs"] * pairs["train"] * cost["pair"][with_context] / 1000
        read = cost["text"][with_context]
        stored[(cell.context, *cost["text"])] = 2 * sum(pairs.values()) * read / 1000
    return (seconds + sum(stored.values())) / 60


def run(out: Path, *, cell: Cell, table: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Train and test one cell in its folder `out`, or read what it left before; what `cell.json` says.

    None in the further processes of a run on several devices.

    Args:
        out: its folder.
        cell: the setting.
        table: the node `table` of `conf/experiment/table4.yaml`.
        options: of `pronmetric.training.run.train`, `data.dir` being the whole prepared folder.

    Raises:
        PronmetricError: other data, or a finished cell of other settings, stand there.
    """
    began = time.monotonic()
    data = out.parent / DATA
    drawn = sample.draw(Path(options["data"]["dir"]), data, sizes=table["sample"], seed=0)
    states = str(out.parent / STATES) if table["store"] and options["optim"]["frozen"] else None
    options = {**options, "data": {**options["data"], "dir": str(data)}, "states": states}
    settings = _settings(options)
    path = out / FILE
    if path.is_file():
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["settings"] != settings:
            raise InputError("a finished cell of other settings: give another out=, or delete it", file=path)
        return found
    result = train(out, **options)
    if result is None:
        return None
    figures, training = _tested(result.folder, data, options), files.load(result.folder).config["training"]
    column, splits = table["columns"][cell.column], drawn["splits"]
    told = {
        "version": pronmetric.__version__,
        **cell._asdict(),
        "name": column["name"],
        "row": 1 + table["rows"].index(cell.row),
        "test": figures,
        "development": result.figures,
        "pairs": {split: {kind: each["pairs"] for kind, each in kinds.items()} for split, kinds in splits.items()},
        "prepared": drawn["prepared"],
        "steps": training["steps"],
        "best_step": training["best_step"],
        "seconds": round(time.monotonic() - began, 1),
        "settings": settings,
    }
    part = path.with_suffix(".part")
    part.write_text(strict_json.dump(told, indent=1) + "\n", encoding="utf-8")
    part.replace(path)
    if not table["keep"]:
        shutil.rmtree(out / EXPORT)
        for name in (BEST, LAST):
            (out / f"{name}.ckpt").unlink()
    return told


def _settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """What the figures of a cell hang on; where it ran and where its files lie is none of it."""
    told = {key: value for key, value in options.items() if key != "states"}
    told["data"] = {key: value for key, value in options["data"].items() if key != "dir"}
    told["trainer"] = {key: value for key, value in options["trainer"].items() if key not in FREE}
    return json.loads(json.dumps(told))


def _tested(folder: Path, data: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Pair accuracy of the checkpoint in `folder` on the test pairs, R vs R' and R vs S, in its context.

    Equal and null scores are wrong, and so are pairs with a text that is read in windows (`windowed`). surplus: texts
    with more pronouns than the head has slots. won: of each pair, in the order of `sample.json`, whether it is right.
    """
    loaded, context = files.load(folder), options["context"]
    scorer, collator = loaded.model, loaded.collator
    device = "cuda" if options["trainer"]["accelerator"] != "cpu" and torch.cuda.is_available() else "cpu"
    rows = arrow.read_pairs(data, "test")
    if options["states"] is not None:
        scorer.encoder, states = stored(scorer.encoder.to(device), Path(options["states"]))  # type: ignore[attr-defined]
        fill(states, scorer.encoder.encoder, collator, examples.texts(rows, context=context))
    scorer.to(device).eval()
    slots = getattr(scorer.head, "slots", np.inf)
    labeller = Labeller(collator, forms=loaded.config["pronouns"])
    figures = {}
    for kind in sample.KINDS:
        mine = rows.select([number for number, found in enumerate(rows["kind"]) if found == kind])
        (better, worse, *counts), numbers = score_pairs(scorer, labeller, mine, context=context)
        found = decide(better.tolist(), worse.tolist())
        won = np.zeros(len(mine), dtype=int)
        won[numbers] = found.right
        figures[kind] = {
            "pairs": len(mine),
            "right": int(found.right.sum()),
            "equal": int(found.equal.sum()),
            "null": int(found.null.sum()),
            "windowed": len(mine) - len(better),
            "surplus": int((np.array(counts) > slots).sum()),
            "accuracy": float(found.right.sum()) / len(mine),
            "won": "".join(map(str, won)),
        }
    return figures
