"""`pronmetric average`: several checkpoints as one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import locate
from pronmetric.checkpoint.config import read, reads_source
from pronmetric.cli.parser import Command, Flags, UsageError, argument, flag, number, switch, whole
from pronmetric.data import arrow
from pronmetric.errors import PronmetricError
from pronmetric.output import targets

DESCRIPTION = """Average the weights of checkpoints trained from the same encoder, with other settings or seeds.

The average is as fast as a single checkpoint and often more accurate. It is calibrated on the development split of
--data, and its development figures are printed. Compare them with those of its parts. Of checkpoints with the same
weights and a reader of sources each, the readers are averaged. Those of several languages, which read sources
themselves, take prepared data of each language."""
EPILOG = """example:
  pronmetric average runs/a/checkpoint runs/b/checkpoint --data runs/wmt21-23 -o runs/average"""


class AverageFlags(Flags):
    """The checkpoints, their weights, and where the average is written."""

    checkpoints: Sequence[str] = argument(
        nargs="+", metavar="CHECKPOINT", help="two or more checkpoint folders or names"
    )
    data: Sequence[Path] = flag(
        nargs="+",
        type=Path,
        required=True,
        metavar="DIR",
        help="prepared data (written by `pronmetric prepare`); of checkpoints of several languages that of each",
    )
    output: Path = flag("-o", "--output", type=Path, required=True, metavar="DIR", help="output folder")
    shares: Sequence[float] | None = flag(
        nargs="+", type=number(above=0), metavar="X", help="weight of each checkpoint (default: equal weights)"
    )
    full: bool = switch(help="store the weights in single precision (default: half precision)")
    seed: int = flag(type=whole(0), default=1, metavar="N", help="seed of the calibration (default: 1)")

    def check(self) -> None:
        """Refuse a single checkpoint, and another number of weights than of checkpoints."""
        number = len(self.checkpoints)
        if number < 2:
            raise UsageError(f"expected two or more checkpoints, got {number}")
        if self.shares and len(self.shares) != number:
            raise UsageError(f"--shares: expected {number} numbers, got {len(self.shares)}")


def run(task: AverageFlags) -> None:
    """Average the weights, and print the development figures."""
    folders = [locate.locate(name).folder for name in task.checkpoints]
    targets.check([], read=[*folders, *task.data], folders=[task.output])
    locate.refuse_taken(task.output)
    for data in task.data:
        arrow.read_manifest(data)
    scorers = [reads_source(read(folder / locate.CONFIG)) for folder in folders]
    if not all(scorers) and len(task.data) > 1:
        raise PronmetricError(f"--data: these checkpoints take one prepared folder, got {len(task.data)}")

    from pronmetric.training.average import average, average_readers, average_scorers

    given: dict[str, Any] = {"data": task.data[0], "shares": task.shares, "half": not task.full}
    readers = [locate.reader_of(folder) is not None for folder in folders]
    if all(scorers):
        result = average_scorers(folders, task.output, **{**given, "data": task.data})
    elif all(readers):
        result = average_readers(folders, task.output, **given)
    else:
        result = average(folders, task.output, **given, seed=task.seed)
        if any(readers):
            print("left out: the readers of sources, which not all checkpoints have", file=sys.stderr)
    for name, value in sorted(result.figures.items()):
        print(f"{name}\t{value:.4f}")
    print(f"checkpoint {result.folder} ({result.hash})", file=sys.stderr)


VERB = Command("average", AverageFlags, run, DESCRIPTION, EPILOG)
