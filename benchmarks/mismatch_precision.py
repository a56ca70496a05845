"""Precision of the pronoun-pronoun mismatches: draw a sample for manual judgement, or count the judgements.

    python benchmarks/mismatch_precision.py draw OUT [--number 100] [--seed 1]   prints the texts to read, to stdout
    python benchmarks/mismatch_precision.py count [benchmarks/mismatch-precision.tsv]

A mismatch is right if the two pronouns have the same referent and role in both texts. The table holds
ids, forms and verdicts, no text: WMT data may not be passed on.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pronmetric.data import arrow
from pronmetric.schema import Mismatch, Pair

TABLE = Path(__file__).with_name("mismatch-precision.tsv")
SPLITS = ("train", "development", "test")


def sample(folder: Path, number: int, seed: int) -> Iterator[tuple[Pair, Mismatch]]:
    """`number` pronoun-pronoun mismatches of the unique (reference, output) pairs of all splits, each as likely."""
    splits = {split: arrow.read_pairs(folder, split) for split in SPLITS}
    places = [
        (split, row, k)
        for split, rows in splits.items()
        for row, (kind, found) in enumerate(zip(rows["kind"], rows["mismatches"], strict=True))
        for k, mismatch in enumerate(found)
        if kind == "system" and mismatch["kind"] == "pronoun"
    ]
    for split, row, k in random.Random(seed).sample(places, number):
        pair = arrow.to_pair(splits[split][row])
        yield pair, pair.mismatches[k]


def draw(folder: Path, number: int, seed: int) -> None:
    """Print the sample, each with its context and the pronouns marked."""
    for count, (pair, found) in enumerate(sample(folder, number, seed), start=1):
        print(f"{count}\t{pair.id}\t{found.ref_start}\t{found.hyp_start}\t{found.ref_form}\t{found.hyp_form}")
        print("  before:", " ".join(pair.context)[-300:])
        print("  ref:   ", marked(pair.better, found.ref_start, found.ref_end))
        print("  system:", marked(pair.worse, found.hyp_start, found.hyp_end))


def marked(text: str, start: int, end: int) -> str:
    """The text with a span in double brackets."""
    return f"{text[:start]}[[{text[start:end]}]]{text[end:]}"


def count(table: Path) -> None:
    """Print how many verdicts are right."""
    with table.open(encoding="utf-8", newline="") as file:
        verdicts = Counter(row["verdict"] for row in csv.DictReader(file, delimiter="\t"))
    total = sum(verdicts.values())
    print(f"{verdicts['right']} of {total} right: {100 * verdicts['right'] / total:.0f} %", dict(verdicts))


def main() -> None:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("folder", type=Path)
    drawing.add_argument("--number", type=int, default=100)
    drawing.add_argument("--seed", type=int, default=1)
    commands.add_parser("count").add_argument("table", type=Path, nargs="?", default=TABLE)
    given = parser.parse_args()
    if given.command == "draw":
        draw(given.folder, given.number, given.seed)
    else:
        count(given.table)


if __name__ == "__main__":
    main()
