"""`pronmetric average`: several checkpoints as one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import locate
from pronmetric.cli.parser import number_above_zero, verb_parser, whole_from_zero
from pronmetric.data import arrow
from pronmetric.output import targets

DESCRIPTION = """Average the weights of checkpoints trained from the same encoder, with other settings or seeds.

The average is as fast as a single checkpoint and often more accurate. It is calibrated on the development split of
--data, and its development figures are printed. Compare them with those of its parts. Of checkpoints with the same
weights and a reader of sources each, the readers are averaged."""
EPILOG = """example:
  pronmetric average runs/a/checkpoint runs/b/checkpoint --data runs/wmt21-23 -o runs/average"""


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    made = parser()
    args = made.parse_args(argv)
    if len(args.checkpoints) < 2:
        made.error(f"expected two or more checkpoints, got {len(args.checkpoints)}")
    if args.shares and len(args.shares) != len(args.checkpoints):
        made.error(f"--shares: expected {len(args.checkpoints)} numbers, got {len(args.shares)}")
    folders = [locate.locate(name).folder for name in args.checkpoints]
    targets.check([], read=[*folders, args.data], folders=[args.output])
    locate.refuse_taken(args.output)
    arrow.read_manifest(args.data)

    from pronmetric.training.average import average, average_readers

    given: dict[str, Any] = {"data": args.data, "shares": args.shares, "half": not args.full}
    readers = [locate.reader_of(folder) is not None for folder in folders]
    if all(readers):
        result = average_readers(folders, args.output, **given)
    else:
        result = average(folders, args.output, **given, seed=args.seed)
        if any(readers):
            print("left out: the readers of sources, which not all checkpoints have", file=sys.stderr)
    for name, value in sorted(result.figures.items()):
        print(f"{name}\t{value:.4f}")
    print(f"checkpoint {result.folder} ({result.hash})", file=sys.stderr)
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = verb_parser("average", DESCRIPTION, EPILOG)
    parser.add_argument("checkpoints", nargs="+", metavar="CHECKPOINT", help="two or more checkpoint folders or names")
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="prepared data (written by `pronmetric prepare`)"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="output folder")
    parser.add_argument(
        "--shares",
        nargs="+",
        type=number_above_zero,
        metavar="X",
        help="weight of each checkpoint (default: equal weights)",
    )
    parser.add_argument(
        "--full", action="store_true", help="store the weights in single precision (default: half precision)"
    )
    parser.add_argument(
        "--seed", type=whole_from_zero, default=1, metavar="N", help="seed of the calibration (default: 1)"
    )
    return parser
